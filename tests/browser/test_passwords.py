"""From an operator's form to a person who signed in with a password of their own, in a real browser."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import expect

from ethos_review.accounts.roles import OPERATOR, REVIEWER
from tests.browser.conftest import Visit
from tests.browser.test_passkeys import picture
from tests.web.people import PASSWORD, make_person


@pytest.mark.parametrize("java_script", [True, False])
def test_a_new_person_gets_a_link_chooses_a_password_and_signs_in(
    visit: Visit, live_server: Any, java_script: bool
) -> None:
    page = visit("/people/", make_person(OPERATOR), java_script_enabled=java_script)
    page.get_by_role("link", name="Create an account").click()
    page.get_by_label("Username").fill("operator")
    page.get_by_label("Name", exact=True).fill("M. Okafor")
    page.get_by_role("button", name="Create the account").click()
    expect(page.get_by_label("Username")).to_have_accessible_description(
        "What the person types to sign in: letters, digits and @ . + - _ There is an account with this name."
    )
    expect(page.get_by_label("Name", exact=True)).to_have_value("M. Okafor")
    page.get_by_label("Username").fill("m.okafor")
    page.get_by_label("Reviewer").check()
    page.get_by_role("button", name="Create the account").click()
    expect(page.get_by_role("heading", name="Confirm that it is you")).to_be_visible()
    expect(page.locator("#asked")).to_contain_text("To create the account m.okafor for M. Okafor")
    expect(page.get_by_label("Password")).to_be_focused()
    if java_script:
        picture(page, "confirm-to-create")
    page.get_by_label("Password").fill("not the password")
    page.get_by_role("button", name="Confirm").click()
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Confirm").click()
    expect(page.get_by_role("heading", name="A link for M. Okafor")).to_be_focused()
    link = page.locator("#link").inner_text()
    copy = page.get_by_role("button", name="Copy the link")
    expect(copy).to_be_visible(visible=java_script)
    if java_script:
        page.context.grant_permissions(["clipboard-read", "clipboard-write"])
        copy.click()
        expect(page.locator("#link-copied")).to_have_text("Copied.")
        assert page.evaluate("navigator.clipboard.readText()") == link
        picture(page, "password-link")
    page.reload()
    expect(page.get_by_text("The account m.okafor is created.")).to_be_focused()
    expect(page.get_by_role("button", name="Make a link")).to_be_visible()
    expect(page).to_have_url(re.compile(r"/people/\d+/$"))

    theirs = visit(link, java_script_enabled=java_script)
    theirs.get_by_label("New password", exact=True).fill("short")
    theirs.get_by_label("New password confirmation").fill("short")
    theirs.get_by_role("button", name="Set the password").click()
    expect(theirs.get_by_text("This password is too short.")).to_be_visible()
    if java_script:
        picture(theirs, "choose-password")
    for label in ("New password", "New password confirmation"):
        theirs.get_by_label(label, exact=True).fill("another long passphrase")
    theirs.get_by_role("button", name="Set the password").click()
    if java_script:
        picture(theirs, "password-chosen")
    theirs.get_by_role("link", name="Go to sign-in").click()
    theirs.get_by_label("Username").fill("m.okafor")
    theirs.get_by_label("Password").fill("another long passphrase")
    theirs.get_by_role("button", name="Sign in").click()
    expect(theirs.get_by_role("heading", name="Queue")).to_be_visible()

    again = visit(link, java_script_enabled=java_script)
    expect(again.get_by_role("heading", name="This link does not work any more")).to_be_visible()
    if java_script:
        picture(again, "password-link-void")


@pytest.mark.parametrize("java_script", [True, False])
def test_who_gives_roles_confirms_once_and_they_are_given_as_they_were_ticked(
    visit: Visit, live_server: Any, java_script: bool
) -> None:
    person = make_person(REVIEWER)
    page = visit(f"/people/{person.pk}/", make_person(OPERATOR), java_script_enabled=java_script)
    page.get_by_label("Auditor").check()
    page.get_by_role("button", name="Save roles").click()
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Confirm").click()
    expect(page.get_by_text("The roles are saved.")).to_be_visible()
    for role in ("Auditor", "Reviewer"):
        expect(page.get_by_label(role)).to_be_checked()
    expect(page).to_have_url(re.compile(f"/people/{person.pk}/$"))
    page.get_by_label("Auditor").uncheck()
    page.get_by_role("button", name="Save roles").click()
    expect(page.get_by_text("The roles are saved.")).to_be_visible()
    expect(page.get_by_label("Auditor")).not_to_be_checked()
