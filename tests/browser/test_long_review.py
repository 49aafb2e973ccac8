"""A review of many claims: its cards arrive as one scrolls or walks, and the work goes on past every part."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from ethos_review.reviews.models import Review
from ethos_review.reviews.views.parts import CARDS_AT_ONCE
from tests.browser.conftest import Visit
from tests.factories import large_bundle, make_review
from tests.web.world import World

REVIEW = "10-lift-offer"
CLAIMS = 4 * CARDS_AT_ONCE  # every second one needs review: two parts of them

pytestmark = pytest.mark.parametrize("world", [(REVIEW,)], indirect=True)


@pytest.fixture
def review(world: World) -> Review:
    return make_review(world.submitter, large_bundle(CLAIMS))


def test_cards_arrive_as_one_scrolls(visit: Visit, world: World, review: Review) -> None:
    page = visit(f"/reviews/{review.review_id}/", world.reviewer)
    expect(page.locator(".needs_review")).to_have_count(CARDS_AT_ONCE)
    page.locator(".needs_review").last.scroll_into_view_if_needed()
    expect(page.locator(".needs_review")).to_have_count(2 * CARDS_AT_ONCE)
    expect(page.locator(".group").first.locator(".more")).to_have_count(0)


def test_the_keyboard_walks_on_into_what_was_not_there_yet(
    visit: Visit, world: World, review: Review
) -> None:
    last, following = 2 * CARDS_AT_ONCE - 2, 2 * CARDS_AT_ONCE
    page = visit(f"/reviews/{review.review_id}/", world.reviewer)
    page.locator(f"#claim-{last}").focus()
    expect(page.locator(f"#claim-{following}")).to_be_attached()
    page.keyboard.press("j")
    expect(page.locator(f"#claim-{following}")).to_be_focused()


def test_earlier_claims_come_by_a_button_and_take_the_focus(
    visit: Visit, world: World, review: Review
) -> None:
    following = 2 * CARDS_AT_ONCE
    page = visit(f"/reviews/{review.review_id}/?claim={following}", world.reviewer)
    page.get_by_role("link", name=f"{CARDS_AT_ONCE} earlier claims").focus()
    page.keyboard.press("Enter")
    expect(page.locator(f"#claim-{following - 2}")).to_be_focused()
    expect(page.locator("#claim-0")).to_be_attached()


def test_a_decision_leads_on_to_a_claim_that_is_not_on_the_page(
    visit: Visit, world: World, review: Review
) -> None:
    last, following = 2 * CARDS_AT_ONCE - 2, 2 * CARDS_AT_ONCE
    page = visit("/", world.reviewer)
    page.route("**/claims/?around=*", lambda route: route.fulfill(status=204))
    page.goto(f"/reviews/{review.review_id}/?claim={last}")
    page.locator(f"#claim-{last} [value=approve]").click()
    page.wait_for_url(f"**/?claim={following}#claim-{following}")
    expect(page.locator(f"#claim-{following}-form")).to_be_visible()


def test_without_a_script_a_link_leads_to_the_next_claims(visit: Visit, world: World, review: Review) -> None:
    page = visit(f"/reviews/{review.review_id}/", world.reviewer, java_script_enabled=False)
    page.get_by_role("link", name=f"{CARDS_AT_ONCE} later claims").first.click()
    expect(page.locator(f"#claim-{2 * CARDS_AT_ONCE}")).to_be_visible()
