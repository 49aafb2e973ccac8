"""A passkey in a real browser, kept by Chromium's virtual authenticator: added, used, renamed and removed."""

from __future__ import annotations

from typing import Any

import pytest
from django.urls import reverse
from playwright.sync_api import CDPSession, Page, expect

from ethos_review.accounts.models import User
from ethos_review.accounts.roles import REVIEWER
from ethos_review.audit.models import Event
from tests.browser.conftest import Visit
from tests.browser.pages import SCREENSHOTS
from tests.browser.test_pages import violations
from tests.web.people import PASSWORD, make_person

SECURITY_KEY = {
    "protocol": "ctap2",
    "transport": "usb",
    "hasResidentKey": True,
    "hasUserVerification": True,
    "isUserVerified": True,
    "automaticPresenceSimulation": True,
}


@pytest.fixture
def person(live_server: Any) -> User:
    return make_person(REVIEWER)


@pytest.fixture
def page(visit: Visit, person: User) -> Page:
    """Signed in under localhost: a passkey is bound to a host name."""
    page = visit("/sign-in/")
    sign_in(page)
    return page


@pytest.fixture
def authenticator(page: Page) -> tuple[CDPSession, str]:
    session = page.context.new_cdp_session(page)
    session.send("WebAuthn.enable")
    added = session.send("WebAuthn.addVirtualAuthenticator", {"options": SECURITY_KEY})
    return session, added["authenticatorId"]


def sign_in(page: Page) -> None:
    page.get_by_label("Username").fill("reviewer")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()


def add_passkey(page: Page, name: str) -> None:
    page.get_by_role("link", name="Preferences", exact=True).click()
    page.get_by_role("link", name="Second factor").click()
    page.get_by_role("link", name="Add a passkey").click()
    if page.get_by_label("Password").count():
        page.get_by_label("Password").fill(PASSWORD)
        page.get_by_role("button", name="Confirm").click()
    page.get_by_label("Name").fill(name)
    page.get_by_role("button", name="Add a passkey").click()


def picture(page: Page, name: str) -> None:
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        for size, width in (("wide", 1280), ("narrow", 360)):
            page.set_viewport_size({"width": width, "height": 900})
            page.screenshot(path=SCREENSHOTS / f"{name}-{scheme}-{size}.png", full_page=True)
            assert violations(page) == "", (name, scheme, size)
            assert page.evaluate("document.documentElement.scrollWidth") <= width, (name, size)


@pytest.mark.usefixtures("authenticator")
def test_a_passkey_is_added_asked_for_after_the_password_and_removed(page: Page, person: User) -> None:
    add_passkey(page, "Blue key")
    expect(page.get_by_role("heading", name="Recovery codes")).to_be_visible()
    page.get_by_role("link", name="I have kept them").click()
    expect(page.locator("main li bdi")).to_have_text("Blue key")
    picture(page, "second-factor-passkey")

    page.get_by_role("button", name="Sign out").click()
    sign_in(page)
    expect(page.get_by_role("heading", name="Enter a code")).to_be_visible()
    picture(page, "sign-in-passkey")
    page.get_by_role("button", name="Use a passkey").click()
    expect(page.get_by_role("heading", name="Queue")).to_be_visible()

    page.get_by_role("link", name="Preferences", exact=True).click()
    page.get_by_role("link", name="Second factor").click()
    page.get_by_role("link", name="Remove Blue key").click()
    page.get_by_role("link", name="Use a passkey").click()
    picture(page, "confirm-passkey")
    page.get_by_role("button", name="Use a passkey").click()
    picture(page, "passkey-remove")
    page.get_by_role("button", name="Remove it").click()
    expect(page.get_by_text("Signing in asks for your password only.")).to_be_visible()

    page.get_by_role("button", name="Sign out").click()
    sign_in(page)
    expect(page.get_by_role("heading", name="Queue")).to_be_visible()
    told = Event.objects.order_by("sequence").values_list("action", "details")
    assert list(told) == [
        ("signed_in", '{"by":"password"}'),
        ("second_factor_added", '{"type":"webauthn"}'),
        ("signed_in", '{"by":"password, mfa"}'),
        ("second_factor_removed", '{"type":"webauthn"}'),
        ("signed_in", '{"by":"password"}'),
    ]


@pytest.mark.usefixtures("authenticator")
def test_a_passkey_is_renamed(page: Page) -> None:
    add_passkey(page, "Blue key")
    page.get_by_role("link", name="Preferences", exact=True).click()
    page.get_by_role("link", name="Second factor").click()
    page.get_by_role("link", name="Rename Blue key").click()
    page.get_by_label("Name").fill("Green key")
    picture(page, "passkey-rename")
    page.get_by_role("button", name="Save").click()
    expect(page.locator("main li bdi")).to_have_text("Green key")


def test_a_passkey_that_is_there_is_not_added_again_and_the_name_stays(
    page: Page, authenticator: tuple[CDPSession, str]
) -> None:
    add_passkey(page, "Blue key")
    add_passkey(page, "The same")
    expect(page.get_by_role("alert").filter(has_text="This passkey is added already.")).to_be_visible()
    expect(page.get_by_label("Name")).to_have_value("The same")
    picture(page, "passkey-add")


def test_when_no_passkey_is_used_the_page_says_so_and_a_code_still_helps(
    page: Page, authenticator: tuple[CDPSession, str]
) -> None:
    add_passkey(page, "Blue key")
    code = page.locator("main li").first.inner_text()
    page.get_by_role("link", name="I have kept them").click()
    page.get_by_role("button", name="Sign out").click()
    session, name = authenticator
    session.send("WebAuthn.setUserVerified", {"authenticatorId": name, "isUserVerified": False})
    session.send("WebAuthn.clearCredentials", {"authenticatorId": name})
    sign_in(page)
    page.get_by_role("button", name="Use a passkey").click()
    expect(page.get_by_role("alert")).to_have_text("No passkey was used. Try again.")
    page.get_by_label("Code").fill(code)
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("heading", name="Queue")).to_be_visible()


def test_under_an_address_without_a_name_the_page_says_why_there_is_none(
    visit: Visit, person: User, live_server: Any
) -> None:
    page = visit(live_server.url.replace("localhost", "127.0.0.1") + "/sign-in/")
    sign_in(page)
    expect(page.get_by_role("heading", name="Queue")).to_be_visible()
    page.goto(live_server.url.replace("localhost", "127.0.0.1") + reverse("mfa_add_webauthn"))
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Confirm").click()
    by_name = page.locator("#no-host-name a")
    assert by_name.get_attribute("href") == live_server.url + reverse("mfa_add_webauthn")
    expect(page.get_by_role("button", name="Add a passkey")).to_have_count(0)


@pytest.mark.usefixtures("authenticator")
def test_without_a_script_a_code_is_asked_for(visit: Visit, page: Page) -> None:
    add_passkey(page, "Blue key")
    expect(page.get_by_role("link", name="I have kept them")).to_be_visible()
    plain = visit("/sign-in/", java_script_enabled=False)
    sign_in(plain)
    expect(plain.get_by_role("button", name="Use a passkey")).to_be_hidden()
    expect(plain.get_by_label("Code")).to_be_visible()
