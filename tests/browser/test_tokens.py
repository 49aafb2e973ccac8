"""An operator makes a token for a program, copies it, and revokes it, with and without JavaScript."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from ethos_review.accounts.api_tokens import NotAccepted, accepted
from ethos_review.accounts.roles import OPERATOR, SUBMITTER
from tests.browser.conftest import Visit
from tests.browser.test_passkeys import picture
from tests.web.people import PASSWORD, make_person


@pytest.mark.usefixtures("live_server")
@pytest.mark.parametrize("java_script", [True, False])
def test_a_token_is_made_copied_and_revoked(visit: Visit, java_script: bool) -> None:
    account = make_person(SUBMITTER)
    page = visit("/people/", make_person(OPERATOR), java_script_enabled=java_script)
    page.get_by_role("link", name="API tokens").click()
    page.get_by_role("link", name="Make a token").click()
    page.get_by_label("Account").select_option(label="submitter (Submitter)")
    page.get_by_label("Name", exact=True).fill("nightly pipeline")
    page.get_by_role("button", name="Make the token").click()
    expect(page.get_by_role("group", name="Scopes")).to_have_accessible_description(
        "Without a scope a token lets nobody do anything. Choose one."
    )
    if java_script:
        picture(page, "new-token-refused")
    page.get_by_label("submit").check()
    page.get_by_role("button", name="Make the token").click()
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Confirm").click()
    token = page.locator("#token").inner_text()
    assert accepted(token).account == account
    copy = page.get_by_role("button", name="Copy the token")
    expect(copy).to_be_visible(visible=java_script)
    if java_script:
        page.context.grant_permissions(["clipboard-read", "clipboard-write"])
        copy.click()
        expect(page.locator("#token-copied")).to_have_text("Copied.")
        assert page.evaluate("navigator.clipboard.readText()") == token
        picture(page, "token")
    page.get_by_role("link", name="I have copied it").click()
    expect(page.get_by_role("row", name="nightly pipeline")).to_contain_text("In use")
    page.get_by_role("button", name="Revoke nightly pipeline").click()
    expect(page.get_by_text("is revoked: it lets nobody in any more.")).to_be_visible()
    expect(page.get_by_role("row", name="nightly pipeline")).to_contain_text("Revoked on")
    with pytest.raises(NotAccepted):
        accepted(token)
