"""The review page and its actions: open a claim, decide, undo; as page, as fragment, and as a plain form."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.db import connection
from django.http import HttpResponse
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from pytest_django.asserts import (
    assertContains,
    assertNumQueries,
    assertRedirects,
    assertTemplateNotUsed,
    assertTemplateUsed,
)

from ethos_review.accounts.models import User
from ethos_review.accounts.roles import REVIEWER, SUBMITTER
from ethos_review.reviews import operations, queries
from ethos_review.reviews.models import ReviewerDecision
from tests import factories
from tests.factories import decide_as_shown
from tests.web.html import attributes_of, has, text_of
from tests.web.people import make_person
from tests.web.world import World, make_world

pytestmark = pytest.mark.django_db
HTMX = {"HX-Request": "true", "HX-Request-Type": "partial"}
FULL_HTMX = {"HX-Request": "true", "HX-Request-Type": "full"}

LIFT = "10-lift-offer"  # claims 2 and 6 need a person, 0, 1 and 5 are final, 3 and 4 are blocked
CLADDING = "06-cladding-sheet"  # claim 2 is unsettled by readings: approving it needs a rationale


@pytest.fixture
def world() -> World:
    return make_world(LIFT, CLADDING)


@pytest.fixture
def reviewer(client: Client, world: World) -> Client:
    client.force_login(world.reviewer)
    return client


def form_of(
    world: World, position: int, outcome: str, rationale: str = "", folder: str = LIFT
) -> dict[str, Any]:
    opened = queries.open_card(world.reviewer, world.reviews[folder], position)
    return {
        "outcome": outcome,
        "rationale": rationale,
        "shown_sha256": opened.shown_sha256,
        "based_on": opened.card.latest_sequence,
    }


def post(
    client: Client, world: World, name: str, position: int, data: dict[str, Any], **kwargs: Any
) -> HttpResponse:
    folder = kwargs.pop("folder", LIFT)
    return client.post(reverse(name, args=[world.reviews[folder], position]), data, **kwargs)


def facts_for_script(response: HttpResponse) -> dict[str, str]:
    return json.loads(response["HX-Trigger"])["review:answered"]  # type: ignore[no-any-return]


# The page --------------------------------------------------------------------------------------------------------


def test_the_page_shows_the_question_the_wording_and_the_groups(reviewer: Client, world: World) -> None:
    response = reviewer.get(world.page(LIFT))
    assertTemplateUsed(response, "reviews/review.html")
    wording = "Ethos verified citation grounding. Answer relevance: direct."
    assert text_of(response, "review-status").startswith(wording)
    assert text_of(response, "group-needs_review") == "Needs review 2 of 2 left"
    assert text_of(response, "group-final") == "Final 3"
    assert text_of(response, "group-blocked") == "Blocked 2"


def test_limits_of_the_proof_are_visible_without_opening_anything(reviewer: Client, world: World) -> None:
    status = text_of(reviewer.get(world.page(LIFT)), "review-status")
    assert "Limitation: non-grounded checks" in status
    assert "Warning: hidden text in the source" in status


def test_the_first_claim_that_waits_stands_open(reviewer: Client, world: World) -> None:
    response = reviewer.get(world.page(LIFT))
    assert attributes_of(response, "claim-2-toggle")["aria-expanded"] == "true"
    assert not has(response, "claim-6-body")


def test_another_claim_can_be_opened_by_its_address(reviewer: Client, world: World) -> None:
    response = reviewer.get(f"{world.page(LIFT)}?claim=3")
    assert "mismatch" in text_of(response, "claim-3-body")
    assert not has(response, "claim-2-body")


@pytest.mark.parametrize("claim", ["99", "-1", "x", "٣", "9" * 30])
def test_a_claim_that_is_not_there_opens_nothing_wrong(reviewer: Client, world: World, claim: str) -> None:
    assert reviewer.get(world.page(LIFT), {"claim": claim}).status_code == 200


def test_the_answer_preview_shows_what_a_reader_would_see(reviewer: Client, world: World) -> None:
    preview = text_of(reviewer.get(world.page(LIFT)), "answer-preview")
    assert "The fixed price for both lifts is EUR 186,400" in preview
    assert "warranty" not in preview
    assert "This answer is partial" in preview


def test_an_override_in_a_claim_is_shown_as_its_code_point(reviewer: Client, world: World) -> None:
    response = reviewer.get(world.page(LIFT))
    assert "U+202E" in text_of(response, "claim-2-text")
    assert "Hidden characters" in text_of(response, "claim-2")
    assert "\u202e" not in response.content.decode()


def test_markup_in_a_claim_is_text(reviewer: Client, world: World) -> None:
    response = reviewer.get(world.page(LIFT))
    assert "<b>No further conditions apply.</b> See https://offers.example/" in text_of(
        response, "claim-5-text"
    )
    assert "&lt;b&gt;No further conditions" in response.content.decode()
    assert 'href="https://offers' not in response.content.decode()


def test_the_number_of_queries_does_not_grow_with_the_claims(reviewer: Client) -> None:
    small = make_another("02-pump-maintenance")
    large = make_another("11-campus-energy")
    for review_id in (small, large):
        page = reverse("review", args=[review_id])
        reviewer.get(page)  # and holds it from now on
        with assertNumQueries(6):
            reviewer.get(page)


def make_another(folder: str) -> Any:
    submitter = User.objects.get(username="submitter")
    uploads = operations.sample_uploads(operations.SAMPLE / folder)
    return operations.submit_review(actor=submitter, uploads=uploads).review.review_id


def test_a_submitter_does_not_find_the_review_of_another(client: Client, world: World) -> None:
    client.force_login(make_person(SUBMITTER, "someone-else"))
    assert client.get(world.page(LIFT)).status_code == 404


def test_a_submitter_sees_why_they_may_not_decide(client: Client, world: World) -> None:
    client.force_login(world.submitter)
    response = client.get(f"{world.page(LIFT)}?claim=2")
    assert text_of(response, "claim-2-refusal") == "Your role does not let you decide claims."
    assert not has(response, "claim-2-form")


# One claim -------------------------------------------------------------------------------------------------------


def test_opening_a_claim_answers_with_the_card_alone(reviewer: Client, world: World) -> None:
    response = reviewer.get(reverse("claim_card", args=[world.reviews[LIFT], 6]), headers=HTMX)
    assertTemplateUsed(response, "reviews/_card.html")
    assertTemplateNotUsed(response, "base.html")
    assert response.content.decode().lstrip().startswith('<article class="card needs_review" id="claim-6"')


@pytest.mark.parametrize("headers", [{}, FULL_HTMX], ids=["plain", "full htmx request"])
def test_a_claim_without_its_page_leads_to_the_page(
    reviewer: Client, world: World, headers: dict[str, str]
) -> None:
    response = reviewer.get(reverse("claim_card", args=[world.reviews[LIFT], 6]), headers=headers)
    assertRedirects(response, f"{world.page(LIFT)}?claim=6#claim-6", fetch_redirect_response=False)


def test_a_claim_that_is_not_there_is_not_found(reviewer: Client, world: World) -> None:
    assert (
        reviewer.get(reverse("claim_card", args=[world.reviews[LIFT], 99]), headers=HTMX).status_code == 404
    )


def test_the_evidence_names_the_place_and_marks_the_differences(reviewer: Client, world: World) -> None:
    response = reviewer.get(f"{world.page(LIFT)}?claim=3")
    body = text_of(response, "claim-3-body")
    assert "v0008" in body
    assert "page p0002, element e0005" in body
    assert "<mark>" in response.content.decode()


def test_readings_stand_as_received_and_say_how_they_compared(reviewer: Client, world: World) -> None:
    body = text_of(reviewer.get(f"{world.page(CLADDING)}?claim=2"), "claim-2-body")
    assert "wind_calculator" in body or "null" in body
    assert "in doubt" in body


# Deciding --------------------------------------------------------------------------------------------------------


def test_an_approval_by_htmx_updates_card_counts_status_preview_and_progress(
    reviewer: Client, world: World
) -> None:
    response = post(reviewer, world, "decide_claim", 6, form_of(world, 6, "approve"), headers=HTMX)
    decision = ReviewerDecision.objects.get()
    assert (decision.outcome, decision.reviewer, decision.claim.position) == ("approve", world.reviewer, 6)
    assertTemplateUsed(response, "reviews/_decided.html")
    assertTemplateNotUsed(response, "base.html")
    assert "Approved by reviewer" in text_of(response, "claim-6")
    assert text_of(response, "group-needs_review") == "Needs review 1 of 2 left"
    assert "The warranty of 36 months" in text_of(response, "answer-preview")
    assert "Reviewed synthesis" in text_of(response, "answer-preview")
    assert "1 claim is still undecided." in text_of(response, "progress")
    assert has(response, "review-status")


def test_after_a_decision_the_next_claim_stands_open_and_is_named_for_the_focus(
    reviewer: Client, world: World
) -> None:
    response = post(reviewer, world, "decide_claim", 6, form_of(world, 6, "approve"), headers=HTMX)
    assert facts_for_script(response) == {"focus": "claim-2", "settled": f"{world.reviews[LIFT]}/6"}
    assert has(response, "claim-2-form")


def test_after_the_last_decision_the_focus_goes_to_the_seal(reviewer: Client, world: World) -> None:
    decide_as_shown(world.reviewer, world.reviews[LIFT], 2, "block", "Too much.")
    response = post(reviewer, world, "decide_claim", 6, form_of(world, 6, "approve"), headers=HTMX)
    assert facts_for_script(response)["focus"] == "seal"
    assert attributes_of(response, "seal")["href"] == world.page(LIFT, "seal_review")


def test_a_plain_form_leads_to_the_page_with_the_next_claim(reviewer: Client, world: World) -> None:
    response = post(reviewer, world, "decide_claim", 6, form_of(world, 6, "approve"))
    assertRedirects(response, f"{world.page(LIFT)}?claim=2#claim-2", fetch_redirect_response=False)
    assertContains(reviewer.get(response["Location"]), "1 claim is still undecided.")


def test_the_same_form_sent_twice_is_one_decision(reviewer: Client, world: World) -> None:
    form = form_of(world, 6, "approve")
    assert [post(reviewer, world, "decide_claim", 6, form).status_code for _ in range(2)] == [302, 302]
    assert ReviewerDecision.objects.count() == 1


@pytest.mark.parametrize("headers", [{}, HTMX], ids=["plain", "htmx"])
def test_blocking_without_a_rationale_says_so_at_the_field(
    reviewer: Client, world: World, headers: dict[str, str]
) -> None:
    response = post(reviewer, world, "decide_claim", 6, form_of(world, 6, "block"), headers=headers)
    assert (response.status_code, ReviewerDecision.objects.count()) == (422, 0)
    assert "Write why" in text_of(response, "claim-6-error")
    field = attributes_of(response, "claim-6-rationale")
    assert (field["aria-invalid"], field["aria-describedby"]) == ("true", "claim-6-error")


def test_under_htmx_the_focus_goes_to_the_field_that_is_wrong(reviewer: Client, world: World) -> None:
    response = post(reviewer, world, "decide_claim", 6, form_of(world, 6, "block"), headers=HTMX)
    assert facts_for_script(response)["focus"] == "claim-6-rationale"


@pytest.mark.parametrize("telling", [40, None, {"kind": "known"}, {"kind": "unknown", "reason": "gone"}])
def test_among_many_readings_those_that_do_not_agree_are_shown(client: Client, telling: object) -> None:
    delivers = [{"entity": "acme", "field": "revenue", "value": 42}]
    rows = [factories.reading(42, tool_call_id=f"call-{number}") for number in range(300)]
    rows[280] = factories.reading(telling, tool_call_id="the-telling-call")
    uploads = factories.bundle(
        factories.answer(factories.claim("a", "v0001", delivers=delivers)), readings=rows
    )
    review = factories.make_review(factories.make_submitter(), uploads)
    client.force_login(factories.make_reviewer())
    response = client.get(reverse("claim_card", args=[review.review_id, 0]), headers=HTMX)
    assertContains(response, "the-telling-call")
    assertContains(response, "200 of 300 readings")


def test_of_many_delivered_values_those_that_withhold_are_shown(client: Client) -> None:
    delivers = [{"entity": "acme", "field": f"field {number}", "value": 42} for number in range(300)]
    uploads = factories.bundle(
        factories.answer(factories.claim("a", "v0001", delivers=delivers)),
        readings=[factories.reading(None, field="field 250")],
    )
    review = factories.make_review(factories.make_submitter(), uploads)
    client.force_login(factories.make_reviewer())
    response = client.get(reverse("claim_card", args=[review.review_id, 0]), headers=HTMX)
    assertContains(response, "acme · field 250</bdi>")
    assertContains(response, "50 of 300 delivered values")
    assert response.text.count("Readings of <bdi") == 50
    assertContains(response, "The first and the last 50 of")


def test_approving_what_readings_leave_unsettled_needs_a_rationale(reviewer: Client, world: World) -> None:
    form = form_of(world, 2, "approve", folder=CLADDING)
    response = post(reviewer, world, "decide_claim", 2, form, folder=CLADDING)
    assert (response.status_code, ReviewerDecision.objects.count()) == (422, 0)


def test_a_rationale_that_is_too_long_is_kept_in_the_form(reviewer: Client, world: World) -> None:
    typed = "long " * 3_000
    response = post(reviewer, world, "decide_claim", 6, form_of(world, 6, "block", typed))
    assert (response.status_code, ReviewerDecision.objects.count()) == (422, 0)
    assert text_of(response, "claim-6-rationale") == typed.strip()


@pytest.mark.parametrize("headers", [{}, HTMX], ids=["plain", "htmx"])
def test_who_comes_second_sees_who_was_first_and_keeps_the_typed_text(
    reviewer: Client, world: World, headers: dict[str, str]
) -> None:
    form = form_of(world, 6, "approve", "I compared <both> passages.")
    decide_as_shown(world.colleague, world.reviews[LIFT], 6, "block", "Not in the source.")
    response = post(reviewer, world, "decide_claim", 6, form, headers=headers)
    assert (response.status_code, ReviewerDecision.objects.count()) == (409, 1)
    told = text_of(response, "claim-6-obstacle")
    assert "A colleague decided this claim first." in told
    assert "Blocked by reviewer2" in told
    assert "Not in the source." in told
    assert f"{world.page(LIFT)}?claim=6#claim-6" in response.content.decode()
    assert text_of(response, "claim-6-typed") == "I compared <both> passages."


def test_who_comes_second_under_htmx_also_gets_the_counts_as_they_are(reviewer: Client, world: World) -> None:
    form = form_of(world, 6, "approve")
    decide_as_shown(world.colleague, world.reviews[LIFT], 6, "block", "Not in the source.")
    response = post(reviewer, world, "decide_claim", 6, form, headers=HTMX)
    assert text_of(response, "group-needs_review") == "Needs review 1 of 2 left"
    assert facts_for_script(response)["focus"] == "claim-6-obstacle"


def test_an_undo_by_a_colleague_in_between_is_told(reviewer: Client, world: World) -> None:
    review_id = world.reviews[LIFT]
    form = form_of(world, 6, "approve", "mine")
    decide_as_shown(world.colleague, review_id, 6, "block", "Not in the source.")
    operations.undo_decision(actor=world.colleague, review_id=review_id, position=6, based_on=1)
    response = post(reviewer, world, "decide_claim", 6, form)
    assert response.status_code == 409
    assert "A colleague undid the decision" in text_of(response, "claim-6-obstacle")
    assert text_of(response, "claim-6-rationale") == "mine"


def test_a_form_that_showed_something_else_is_stale(reviewer: Client, world: World) -> None:
    form = form_of(world, 6, "approve", "mine") | {"shown_sha256": "0" * 64}
    response = post(reviewer, world, "decide_claim", 6, form)
    assert (response.status_code, ReviewerDecision.objects.count()) == (409, 0)
    assert "decide again" in text_of(response, "claim-6-obstacle")
    assert text_of(response, "claim-6-rationale") == "mine"


@pytest.mark.parametrize(
    "spoiled",
    [{"outcome": "undo"}, {"outcome": ""}, {"based_on": "x"}, {"based_on": "-1"}, {"shown_sha256": "0" * 63}],
)
def test_an_incomplete_form_changes_nothing_and_keeps_the_text(
    reviewer: Client, world: World, spoiled: dict[str, str]
) -> None:
    response = post(reviewer, world, "decide_claim", 6, form_of(world, 6, "block", "mine") | spoiled)
    assert (response.status_code, ReviewerDecision.objects.count()) == (400, 0)
    assert text_of(response, "claim-6-rationale") == "mine"


@pytest.mark.parametrize(
    ("spoiled", "place"),
    [({"rationale": ""}, "claim-6-rationale"), ({"shown_sha256": "0" * 64}, "claim-6-obstacle")],
    ids=["no rationale", "stale"],
)
def test_a_page_that_begins_far_above_the_form_says_at_its_top_what_stopped_it(
    reviewer: Client, world: World, spoiled: dict[str, str], place: str
) -> None:
    response = post(reviewer, world, "decide_claim", 6, form_of(world, 6, "block", "mine") | spoiled)
    assert text_of(response, "stopped").startswith(response.context["obstacle"].message)
    assert attributes_of(response, "stopped")["role"] == "alert"
    assertContains(response, f'<a href="#{place}">', count=1, status_code=response.status_code)
    assert has(response, place)


def test_what_stopped_a_decision_has_the_focus_also_without_the_script(
    reviewer: Client, world: World
) -> None:
    form = form_of(world, 6, "block", "mine") | {"shown_sha256": "0" * 64}
    response = post(reviewer, world, "decide_claim", 6, form)
    assert "autofocus" in attributes_of(response, "claim-6-obstacle")
    assert response.text.count("autofocus") == 1


def test_a_page_on_which_nothing_was_stopped_says_nothing_at_its_top(reviewer: Client, world: World) -> None:
    assert not has(reviewer.get(f"{world.page(LIFT)}?claim=6"), "stopped")


def test_a_final_claim_can_only_be_held_back(reviewer: Client, world: World) -> None:
    assert post(reviewer, world, "decide_claim", 0, form_of(world, 0, "approve")).status_code == 409
    response = post(
        reviewer, world, "decide_claim", 0, form_of(world, 0, "block", "Price is old."), headers=HTMX
    )
    assert "Blocked by reviewer" in text_of(response, "claim-0")
    assert "186,400" not in text_of(response, "answer-preview")
    assert "Claims were withheld by a reviewer." in text_of(response, "answer-preview")


def test_a_blocked_claim_offers_no_form_and_takes_no_decision(reviewer: Client, world: World) -> None:
    assert not has(reviewer.get(f"{world.page(LIFT)}?claim=3"), "claim-3-form")
    response = post(reviewer, world, "decide_claim", 3, form_of(world, 3, "approve", "please"))
    assert (response.status_code, ReviewerDecision.objects.count()) == (409, 0)


def test_nobody_decides_on_what_they_submitted(client: Client) -> None:
    both = make_person(SUBMITTER, "both")
    both.groups.add(make_person(REVIEWER, "other").groups.get())
    uploads = operations.sample_uploads(operations.SAMPLE / LIFT)
    review_id = operations.submit_review(actor=both, uploads=uploads).review.review_id
    world = World(both, both, both, both, {LIFT: review_id})
    client.force_login(both)
    response = client.get(f"{world.page(LIFT)}?claim=6")
    assert (
        text_of(response, "claim-6-refusal")
        == "You submitted this review, so someone else decides its claims."
    )
    response = post(client, world, "decide_claim", 6, form_of(world, 6, "approve"))
    assert (response.status_code, ReviewerDecision.objects.count()) == (403, 0)


def test_a_sealed_review_takes_no_decision(reviewer: Client, world: World) -> None:
    form = form_of(world, 6, "approve")
    decide_as_shown(world.reviewer, world.reviews[LIFT], 2, "block", "Too much.")
    decide_as_shown(world.reviewer, world.reviews[LIFT], 6, "block", "Too much.")
    operations.seal_review(actor=world.colleague, review_id=world.reviews[LIFT])
    response = post(reviewer, world, "decide_claim", 6, form)
    assert (response.status_code, ReviewerDecision.objects.count()) == (409, 2)
    assert "reviewer2 sealed this review" in text_of(response, "claim-6-obstacle")
    assert not has(response, "claim-6-form")


def test_a_decision_asks_no_more_queries_of_a_larger_review(reviewer: Client, world: World) -> None:
    counts = []
    for folder, position in (("02-pump-maintenance", 3), ("11-campus-energy", 2)):
        world.reviews[folder] = make_another(folder)
        form = form_of(world, position, "block", "No.", folder=folder)
        with CaptureQueriesContext(
            connection,
        ) as captured:
            post(reviewer, world, "decide_claim", position, form, folder=folder, headers=HTMX)
        counts.append(len(captured))
    assert counts[1] - counts[0] in (0, 1)  # the history of the next claim, where there is one


def test_the_heading_of_the_final_group_counts_what_is_held_back(reviewer: Client, world: World) -> None:
    form = form_of(world, 0, "block", "The page says otherwise.")
    response = post(reviewer, world, "decide_claim", 0, form, headers=HTMX)
    assert text_of(response, "group-final") == "Final 3, 1 held back"
    assert text_of(reviewer.get(world.page(LIFT)), "group-final") == "Final 3, 1 held back"


def test_a_line_at_the_top_says_how_many_are_undecided_and_leads_to_the_seal(
    reviewer: Client, world: World
) -> None:
    response = reviewer.get(world.page(LIFT))
    assert text_of(response, "to-progress") == "2 claims are still undecided. Progress and seal"
    assertContains(response, '<a href="#progress">Progress and seal</a>')
    answer = post(reviewer, world, "decide_claim", 6, form_of(world, 6, "approve"), headers=HTMX)
    assert text_of(answer, "to-progress") == "1 claim is still undecided. Progress and seal"


# Undoing ---------------------------------------------------------------------------------------------------------


def test_undo_brings_the_claim_back_and_stays_on_record(reviewer: Client, world: World) -> None:
    decide_as_shown(world.reviewer, world.reviews[LIFT], 6, "approve")
    response = post(reviewer, world, "undo_decision", 6, {"based_on": 1}, headers=HTMX)
    assert list(ReviewerDecision.objects.order_by("sequence").values_list("outcome", flat=True)) == [
        "approve",
        "undo",
    ]
    assert text_of(response, "group-needs_review") == "Needs review 2 of 2 left"
    assert has(response, "claim-6-form")
    assert facts_for_script(response)["focus"] == "claim-6"


@pytest.mark.parametrize("undone_by", ["reviewer", "colleague"])
def test_who_takes_back_a_decision_goes_on_from_its_rationale(
    reviewer: Client, world: World, undone_by: str
) -> None:
    review_id = world.reviews[LIFT]
    decide_as_shown(world.reviewer, review_id, 6, "approve", "Read <both> pages.")
    operations.undo_decision(actor=getattr(world, undone_by), review_id=review_id, position=6, based_on=1)
    response = reviewer.get(f"{world.page(LIFT)}?claim=6")
    own = undone_by == "reviewer"
    assertContains(response, ">Read &lt;both&gt; pages.</textarea>", count=1 if own else 0)
    decide_as_shown(world.reviewer, review_id, 6, "block", "No.")
    assertContains(reviewer.get(f"{world.page(LIFT)}?claim=6"), "</textarea>", count=0)


def test_undo_as_a_plain_form_leads_back_to_the_claim(reviewer: Client, world: World) -> None:
    decide_as_shown(world.reviewer, world.reviews[LIFT], 6, "approve")
    response = post(reviewer, world, "undo_decision", 6, {"based_on": 1})
    assertRedirects(response, f"{world.page(LIFT)}?claim=6#claim-6")


def test_undoing_the_decision_of_a_colleague_names_whose_it_is(reviewer: Client, world: World) -> None:
    decide_as_shown(world.reviewer, world.reviews[LIFT], 2, "approve")
    decide_as_shown(world.colleague, world.reviews[LIFT], 6, "approve")
    response = reviewer.get(world.page(LIFT))
    assertContains(response, ">Undo</button>", count=1)
    assertContains(response, ">Undo reviewer2’s decision</button>", count=1)


def test_undo_of_what_a_colleague_changed_meanwhile_is_told(reviewer: Client, world: World) -> None:
    decide_as_shown(world.reviewer, world.reviews[LIFT], 6, "approve")
    operations.undo_decision(actor=world.colleague, review_id=world.reviews[LIFT], position=6, based_on=1)
    decide_as_shown(world.colleague, world.reviews[LIFT], 6, "block", "No.")
    response = post(reviewer, world, "undo_decision", 6, {"based_on": 1}, headers=HTMX)
    assert (response.status_code, ReviewerDecision.objects.count()) == (409, 3)
    assert "Blocked by reviewer2" in text_of(response, "claim-6-obstacle")


@pytest.mark.parametrize("name", ["decide_claim", "undo_decision"])
def test_deciding_needs_a_post(reviewer: Client, world: World, name: str) -> None:
    assert reviewer.get(reverse(name, args=[world.reviews[LIFT], 6])).status_code == 405


@pytest.mark.parametrize("name", ["decide_claim", "undo_decision"])
def test_a_claim_that_is_not_there_takes_no_decision(reviewer: Client, world: World, name: str) -> None:
    assert post(reviewer, world, name, 99, form_of(world, 6, "approve") | {"based_on": 1}).status_code == 404


# An answer without claims ----------------------------------------------------------------------------------------


def test_an_answer_without_claims_releases_nothing_and_says_so(client: Client) -> None:
    submitter, reviewer = make_person(SUBMITTER), make_person(REVIEWER)
    report, claims = operations.sample_uploads(operations.SAMPLE / "02-pump-maintenance")[:2]
    content = json.dumps({"question": "What happened?", "claims": []}).encode()
    uploads = [report, operations.Upload(claims.role, claims.name, claims.media_type, content)]
    review_id = operations.submit_review(actor=submitter, uploads=uploads).review.review_id
    client.force_login(reviewer)
    response = client.get(reverse("review", args=[review_id]))
    assertContains(response, "The claims document holds no claims, so nothing can be released.")
    assert "The sources do not support an answer." in text_of(response, "answer-preview")
    assert "Cannot answer from the sources" in text_of(response, "review-status")
