"""A sign-in that is about to end says so on the page, and ends without taking the page or a typed word away."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.contrib.sessions.models import Session
from django.utils import timezone
from playwright.sync_api import Page, expect

from ethos_review.accounts.sign_in_end import WARNED_BEFORE
from tests.browser.conftest import Visit
from tests.browser.test_pages import violations
from tests.web.world import World

REVIEW, CLAIM, TEXT = "10-lift-offer", 6, "I compared it with the tender."

pytestmark = pytest.mark.parametrize("world", [(REVIEW,)], indirect=True)


def visit_with_seconds_left(visit: Visit, world: World, seconds: int) -> Page:
    page = visit("/", world.reviewer)
    row = Session.objects.get()
    session = row.get_session_store_class()(row.session_key)
    session.set_expiry(timezone.now() + timedelta(seconds=seconds))
    session.save()
    page.goto(f"{world.page(REVIEW)}?claim={CLAIM}")
    page.locator(f"#claim-{CLAIM}-rationale").fill(TEXT)
    return page


def test_the_warning_comes_by_itself_and_the_sign_in_can_be_extended(visit: Visit, world: World) -> None:
    page = visit_with_seconds_left(visit, world, WARNED_BEFORE + 2)
    expect(page.locator("#sign-in-end")).to_contain_text("Your sign-in ends in less than 5 minutes.")
    expect(page.locator(f"#claim-{CLAIM}-rationale")).to_be_focused()
    assert violations(page) == ""
    page.get_by_role("button", name="Stay signed in").click()
    expect(page.get_by_role("button", name="Stay signed in")).to_have_count(0)
    expect(page.locator(f"#claim-{CLAIM}-rationale")).to_be_focused()
    expect(page.locator(f"#claim-{CLAIM}-rationale")).to_have_value(TEXT)


def test_the_end_leaves_the_page_and_the_text_and_leads_to_sign_in(visit: Visit, world: World) -> None:
    page = visit_with_seconds_left(visit, world, 6)
    Session.objects.all().delete()
    expect(page.locator("#notice")).to_contain_text(
        "Your sign-in has ended. What you typed is kept.", timeout=10_000
    )
    expect(page.locator(f"#claim-{CLAIM}-rationale")).to_have_value(TEXT)
    expect(page.get_by_role("button", name="Stay signed in")).to_have_count(0)
    page.get_by_role("link", name="Sign in again").click()
    page.wait_for_url("**/sign-in/?next=*")
