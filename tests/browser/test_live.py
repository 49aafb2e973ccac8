"""What colleagues decide on the same open review appears by itself, and disturbs nobody who is at work."""

from __future__ import annotations

import time
from datetime import timedelta

import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect

from ethos_review.reviews import assessments, leases, operations
from ethos_review.reviews.models import Document, ReviewLease
from tests.browser.conftest import Visit
from tests.factories import decide_as_shown
from tests.reviews.test_commands import change, flipped
from tests.web.world import World

REVIEW = "10-lift-offer"  # claims 2 and 6 need a person
TEXT = "I compared it with the tender."
WITHIN = 3_000  # milliseconds (issue: within three seconds)

pytestmark = pytest.mark.parametrize("world", [(REVIEW,)], indirect=True)


def focus_id(page: Page) -> str:
    return str(page.evaluate("document.activeElement.id || document.activeElement.tagName"))


def test_a_decision_in_one_browser_appears_in_the_other_within_three_seconds(
    visit: Visit, world: World
) -> None:
    mine = visit(f"{world.page(REVIEW)}?claim=2", world.reviewer)
    theirs = visit(f"{world.page(REVIEW)}?claim=6", world.colleague)
    theirs.locator("#claim-6-rationale").fill("The tender asks for 36 months.")
    theirs.locator("#claim-6 [value=approve]").click()
    expect(theirs.locator("#claim-6 .decision")).to_contain_text("Approved by reviewer2")
    start = time.monotonic()
    expect(mine.locator("#claim-6 .decision")).to_contain_text("Approved by reviewer2", timeout=WITHIN)
    assert time.monotonic() - start < WITHIN / 1_000
    expect(mine.locator("#group-needs_review")).to_contain_text("1 of 2 left")
    expect(mine.locator("#answer-preview .reviewed")).to_contain_text("The warranty of 36 months")
    expect(mine.locator("#progress")).to_contain_text("1 claim is still undecided.")
    expect(mine.locator("#announcement")).to_contain_text("reviewer2 approved: The warranty of 36 months")
    expect(mine.locator("#announcement")).to_contain_text("1 claim is still undecided.")
    assert focus_id(mine) == "BODY"


def test_the_claim_in_focus_keeps_the_focus_and_stays_open(visit: Visit, world: World) -> None:
    page = visit(f"{world.page(REVIEW)}?claim=6", world.reviewer)
    page.locator("#claim-6").focus()
    decide_as_shown(world.colleague, world.reviews[REVIEW], 6, "approve")
    expect(page.locator("#claim-6 .decision")).to_contain_text("Approved by reviewer2", timeout=WITHIN)
    expect(page.locator("#claim-6-body")).to_be_visible()
    expect(page.locator("#claim-6")).to_be_focused()


def test_a_button_that_goes_away_leaves_the_focus_on_its_claim(visit: Visit, world: World) -> None:
    decide_as_shown(world.reviewer, world.reviews[REVIEW], 6, "approve")
    page = visit(world.page(REVIEW), world.reviewer)
    page.locator("#claim-6 [data-go=undo]").focus()
    operations.undo_decision(actor=world.colleague, review_id=world.reviews[REVIEW], position=6, based_on=1)
    expect(page.locator("#group-needs_review")).to_contain_text("2 of 2 left", timeout=WITHIN)
    expect(page.locator("#claim-6")).to_be_focused()


def test_a_claim_in_which_someone_types_stays_and_says_who_decided(visit: Visit, world: World) -> None:
    page = visit(f"{world.page(REVIEW)}?claim=6", world.reviewer)
    page.locator("#claim-6-rationale").press_sequentially(TEXT[:10])
    decide_as_shown(world.colleague, world.reviews[REVIEW], 6, "block", "The tender says nothing of it.")
    page.locator("#claim-6-rationale").press_sequentially(TEXT[10:], delay=100)
    expect(page.locator("#claim-6-news")).to_contain_text("reviewer2 blocked this claim", timeout=WITHIN)
    expect(page.locator("#claim-6-rationale")).to_have_value(TEXT)
    expect(page.locator("#claim-6-rationale")).to_be_focused()
    expect(page.locator("#group-needs_review")).to_contain_text("1 of 2 left")
    page.locator("#claim-6 [value=approve]").click()
    expect(page.locator("#claim-6-obstacle")).to_contain_text("A colleague decided this claim first.")
    expect(page.locator("#claim-6-typed")).to_have_value(TEXT)


def test_text_that_was_typed_and_left_is_not_swapped_away(visit: Visit, world: World) -> None:
    page = visit(f"{world.page(REVIEW)}?claim=6", world.reviewer)
    page.locator("#claim-6-rationale").fill(TEXT)
    page.locator("#claim-2").focus()
    decide_as_shown(world.colleague, world.reviews[REVIEW], 6, "block", "No.")
    expect(page.locator("#claim-6-news")).to_contain_text("reviewer2 blocked this claim", timeout=WITHIN)
    expect(page.locator("#claim-6-rationale")).to_have_value(TEXT)
    expect(page.locator("#claim-2")).to_be_focused()


def test_the_seal_of_a_colleague_is_told(visit: Visit, world: World) -> None:
    for position in (2, 6):
        decide_as_shown(world.colleague, world.reviews[REVIEW], position, "block", "No.")
    page = visit(world.page(REVIEW), world.reviewer)
    operations.seal_review(actor=world.colleague, review_id=world.reviews[REVIEW])
    expect(page.locator("#announcement")).to_have_text(
        "reviewer2 sealed this review; it is final.", timeout=WITHIN
    )
    expect(page.locator("#progress").get_by_role("link", name="See the release")).to_be_visible()


def test_a_seal_by_a_colleague_takes_the_forms_away_but_no_typed_text(visit: Visit, world: World) -> None:
    for position in (2, 6):
        decide_as_shown(world.reviewer, world.reviews[REVIEW], position, "block", "No.")
    page = visit(f"{world.page(REVIEW)}?claim=0", world.reviewer)
    page.locator("#claim-0-rationale").fill(TEXT)
    page.locator("#claim-1-toggle").click()
    expect(page.locator("#claim-1-form")).to_be_visible()
    page.locator("#claim-6 [data-go=undo]").focus()
    operations.seal_review(actor=world.colleague, review_id=world.reviews[REVIEW])
    expect(page.locator("[data-go=undo]")).to_have_count(0, timeout=WITHIN)
    expect(page.locator("#claim-6")).to_be_focused()
    expect(page.locator("#claim-1-form")).to_have_count(0)
    expect(page.locator("#claim-0-rationale")).to_have_value(TEXT)
    page.locator("#claim-0 [value=block]").click()
    expect(page.locator("#claim-0-obstacle")).to_contain_text("reviewer2 sealed this review")
    expect(page.locator("#claim-0-typed")).to_have_value(TEXT)


def test_documents_that_changed_are_named_where_they_were_asked_for(
    visit: Visit, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = visit(world.page(REVIEW), world.reviewer)
    document = Document.objects.with_content().get(role="claims")
    change(Document, "content", flipped(bytes(document.content)), f"id = {document.pk}")
    monkeypatch.setattr(assessments, "_cache", assessments._Cache(0))
    page.locator("#claim-6-toggle").click()
    expect(page.locator("#notice")).to_contain_text("The kept document claims.json is not what was received.")
    expect(page.locator("#claim-2-form")).to_be_visible()


def test_a_hidden_page_asks_for_nothing(visit: Visit, world: World) -> None:
    page = visit(world.page(REVIEW), world.reviewer)
    asked: list[str] = []
    page.on("request", lambda request: "/changes/" in request.url and asked.append(request.url))
    page.evaluate("Object.defineProperty(document, 'hidden', { value: true, configurable: true })")
    page.wait_for_timeout(2_500)
    assert asked == []
    with page.expect_request("**/changes/**", timeout=500):
        page.evaluate("delete document.hidden; document.dispatchEvent(new Event('visibilitychange'))")


def test_a_server_that_does_not_answer_is_told_quietly(
    visit: Visit, world: World, complaints: list[str]
) -> None:
    page = visit(world.page(REVIEW), world.reviewer)
    page.context.set_offline(True)
    expect(page.locator("#live-state")).to_contain_text("does not arrive at the moment", timeout=WITHIN)
    expect(page.locator("#notice")).to_be_empty()
    page.context.set_offline(False)
    expect(page.locator("#live-state")).to_be_empty(timeout=WITHIN)
    complaints.clear()


def test_asking_for_changes_leaves_messages_and_shortcuts_alone(visit: Visit, world: World) -> None:
    page = visit(world.page(REVIEW), world.reviewer)
    page.locator("#seal").focus()
    page.keyboard.press("Enter")
    expect(page.locator("#announcement")).to_have_text("2 claims are still undecided.")
    with page.expect_response("**/changes/**") as answer:
        page.keyboard.press("j")
    assert answer.value.status == 204
    expect(page.locator("#announcement")).to_have_text("2 claims are still undecided.")


def test_a_colleague_who_takes_the_review_over_is_told(visit: Visit, world: World) -> None:
    page = visit(world.page(REVIEW), world.reviewer)
    expect(page.locator("#presence")).to_contain_text("Colleagues see that you are at work here.")
    leases.take_lease(actor=world.colleague, review_id=world.reviews[REVIEW], over=True)
    expect(page.locator("#presence")).to_contain_text("reviewer2 is here.", timeout=WITHIN)
    expect(page.locator("#announcement")).to_have_text("reviewer2 is at work on this review, too.")


def test_a_hold_that_is_about_to_end_warns_and_can_be_kept(visit: Visit, world: World) -> None:
    page = visit(world.page(REVIEW), world.reviewer)
    ReviewLease.objects.update(expires_at=timezone.now() + timedelta(seconds=90))
    expect(page.locator("#announcement")).to_contain_text("is about to end", timeout=WITHIN)
    page.get_by_role("button", name="Keep it").click()
    expect(page.locator("#presence")).to_contain_text("Colleagues see that you are at work here.")
    assert ReviewLease.objects.get().expires_at - timezone.now() > timedelta(minutes=9)
