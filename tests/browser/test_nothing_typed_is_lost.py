"""Whatever goes wrong, the typed rationale is still there, one message says what happened, and focus stays put."""

from __future__ import annotations

import pytest
from django.contrib.sessions.models import Session
from playwright.sync_api import Page, expect

from ethos_review.reviews import operations
from ethos_review.reviews.models import ReviewerDecision
from tests.browser.conftest import Visit, session_cookie
from tests.factories import decide_as_shown
from tests.web.people import PASSWORD
from tests.web.world import World

REVIEW, CLAIM, OTHER = "10-lift-offer", 6, 0
TEXT = "I compared it with the tender."

pytestmark = pytest.mark.parametrize("world", [(REVIEW,)], indirect=True)


@pytest.fixture
def page(visit: Visit, world: World) -> Page:
    """The review page with a rationale typed on a claim."""
    page = visit(f"{world.page(REVIEW)}?claim={CLAIM}", world.reviewer)
    page.locator(f"#claim-{CLAIM}-rationale").fill(TEXT)
    return page


def approve(page: Page) -> None:
    page.locator(f"#claim-{CLAIM} [value=approve]").click()


def is_kept(page: Page) -> None:
    expect(page.locator(f"#claim-{CLAIM}-rationale")).to_have_value(TEXT)


def test_a_reload_by_accident(page: Page) -> None:
    page.reload()
    is_kept(page)
    expect(page.locator("#announcement")).to_have_text(
        "What you typed before is back in its field. Nothing was decided."
    )


def test_a_look_at_another_page(page: Page) -> None:
    page.get_by_role("link", name="Queue").first.click()
    page.go_back()
    is_kept(page)


def test_closing_and_opening_the_claim(page: Page) -> None:
    page.locator(f"#claim-{CLAIM}-toggle").click()
    expect(page.locator(f"#claim-{CLAIM}-body")).not_to_be_visible()
    page.locator(f"#claim-{CLAIM}-toggle").click()
    is_kept(page)


def test_a_text_on_a_claim_that_stands_closed_is_told_of(page: Page, world: World) -> None:
    page.get_by_role("link", name="Queue").first.click()
    page.goto(f"{world.page(REVIEW)}?claim={OTHER}")
    told = page.locator(f"#claim-{CLAIM} .unsent")
    expect(told).to_contain_text(TEXT)
    page.locator(f"#claim-{CLAIM}-toggle").click()
    is_kept(page)
    expect(told).to_have_count(0)
    page.locator(f"#claim-{CLAIM}-toggle").click()
    expect(told).to_contain_text(TEXT)


def test_a_text_can_be_discarded(page: Page, world: World) -> None:
    page.goto(f"{world.page(REVIEW)}?claim={OTHER}")
    page.get_by_role("button", name="Discard").click()
    expect(page.locator("#announcement")).to_contain_text("discarded")
    expect(page.locator(f"#claim-{CLAIM}")).to_be_focused()
    page.goto(f"{world.page(REVIEW)}?claim={CLAIM}")
    expect(page.locator(f"#claim-{CLAIM}-rationale")).to_have_value("")


@pytest.mark.parametrize("lost", ["session", "cookies"])
def test_the_end_of_the_session_leads_to_sign_in_and_back(page: Page, world: World, lost: str) -> None:
    if lost == "session":
        Session.objects.all().delete()
    else:
        page.context.clear_cookies()
    approve(page)
    page.wait_for_url("**/sign-in/**")
    expect(page.locator("#main")).to_contain_text(
        "Your sign-in ended. Nothing was decided; your text is kept."
    )
    page.get_by_label("Username").fill("reviewer")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url(f"**{world.page(REVIEW)}?claim={CLAIM}")
    is_kept(page)
    expect(page.locator(f"#claim-{CLAIM}-rationale")).to_be_focused()
    expect(page.locator(f"#claim-{CLAIM}-rationale")).to_be_in_viewport(ratio=1)
    expect(page.locator("#notice")).to_contain_text("nothing was decided. Your text is kept")
    approve(page)
    expect(page.locator(f"#claim-{CLAIM} .decision")).to_contain_text("Approved by reviewer")
    expect(page.locator("#notice")).to_be_empty()


def test_a_claim_that_was_decided_while_the_session_was_over_gives_the_text_back(
    page: Page, world: World
) -> None:
    Session.objects.all().delete()
    approve(page)
    page.wait_for_url("**/sign-in/**")
    decide_as_shown(world.colleague, world.reviews[REVIEW], CLAIM, "approve")
    page.get_by_label("Username").fill("reviewer")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    expect(page.locator(f"#claim-{CLAIM}")).to_be_focused()
    expect(page.locator("#notice")).to_contain_text(
        f"it was not recorded, and this claim takes none from you now. You had typed: {TEXT}"
    )


def test_the_session_ends_while_another_claim_was_opened_last(page: Page, world: World) -> None:
    page.locator("#claim-0-toggle").click()
    expect(page.locator("#claim-0-body")).to_be_visible()
    Session.objects.all().delete()
    approve(page)
    page.wait_for_url("**/sign-in/**")
    page.get_by_label("Username").fill("reviewer")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    is_kept(page)
    expect(page.locator(f"#claim-{CLAIM}-rationale")).to_be_focused()


def test_a_form_from_before_another_sign_in_is_told_and_loaded_again(page: Page, world: World) -> None:
    site = page.url.split("/reviews/")[0]
    page.context.add_cookies(
        [{"name": "csrftoken", "value": "x" * 32, "url": site}, session_cookie(world.reviewer, site)]
    )
    approve(page)
    expect(page.get_by_text("This page was older than your sign-in")).to_be_visible()
    is_kept(page)
    expect(page.locator(f"#claim-{CLAIM}-rationale")).to_be_focused()
    expect(page.locator("#notice")).to_contain_text("Nothing was decided.")
    assert ReviewerDecision.objects.count() == 0


def test_no_network(page: Page, complaints: list[str]) -> None:
    page.context.set_offline(True)
    approve(page)
    expect(page.locator("#notice")).to_contain_text("The server could not be reached. Nothing was decided")
    is_kept(page)
    expect(page.locator(f"#claim-{CLAIM} [value=approve]")).to_be_focused()
    page.context.set_offline(False)
    approve(page)
    expect(page.locator(f"#claim-{CLAIM} .decision")).to_contain_text("Approved by reviewer")
    expect(page.locator("#notice")).to_be_empty()
    complaints.clear()


@pytest.mark.parametrize("fault", ["500", "503"])
def test_a_fault_of_the_server(
    page: Page, fault: str, monkeypatch: pytest.MonkeyPatch, complaints: list[str]
) -> None:
    page.route("**/decide/", lambda route: route.fulfill(status=int(fault), body="<h1>Fault</h1>"))
    approve(page)
    words = {"500": "Something went wrong on the server.", "503": "The database does not answer."}
    expect(page.locator("#notice")).to_contain_text(words[fault])
    is_kept(page)
    expect(page.locator(f"#claim-{CLAIM} [value=approve]")).to_be_focused()
    complaints.clear()


def test_a_decision_removes_the_draft(page: Page, world: World) -> None:
    approve(page)
    expect(page.locator(f"#claim-{CLAIM} .decision")).to_contain_text("Approved by reviewer")
    operations.undo_decision(
        actor=world.colleague, review_id=world.reviews[REVIEW], position=CLAIM, based_on=1
    )
    page.goto(f"{world.page(REVIEW)}?claim={CLAIM}")
    expect(page.locator(f"#claim-{CLAIM}-rationale")).to_have_value("")


def test_the_back_button_after_signing_out_shows_nothing(page: Page) -> None:
    page.get_by_role("button", name="Sign out").click()
    page.wait_for_url("**/sign-in/")
    page.go_back()
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
