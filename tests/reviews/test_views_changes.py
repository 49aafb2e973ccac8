"""What an open page of a review asks every two seconds, and what it gets."""

from __future__ import annotations

import json

import pytest
from django.db import connection
from django.http import HttpResponse
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from pytest_django import DjangoAssertNumQueries
from pytest_django.asserts import assertRedirects, assertTemplateNotUsed, assertTemplateUsed

from ethos_review.accounts.models import User
from ethos_review.reviews import operations
from ethos_review.reviews.changes import state_of
from ethos_review.reviews.models import Review
from tests.factories import decide_as_shown
from tests.web.html import attributes_of, has, text_of
from tests.web.people import make_person
from tests.web.world import World, make_world

pytestmark = pytest.mark.django_db
HTMX = {"HX-Request": "true", "HX-Request-Type": "partial"}
BEGINNING = "0.0.0"
LIFT = "10-lift-offer"  # claims 2 and 6 need a person


@pytest.fixture
def world() -> World:
    return make_world(LIFT)


@pytest.fixture
def reviewer(client: Client, world: World) -> Client:
    client.force_login(world.reviewer)
    return client


def seen_on(response: HttpResponse) -> str:
    return attributes_of(response, "seen")["value"] or ""


def ask(client: Client, world: World, seen: str, open_claims: str = "") -> HttpResponse:
    address = reverse("review_changes", args=[world.reviews[LIFT]])
    return client.get(address, {"seen": seen, "open": open_claims}, headers=HTMX)


def ask_plainly(client: Client, world: World) -> HttpResponse:
    return client.get(reverse("review_changes", args=[world.reviews[LIFT]]), {"seen": BEGINNING})


def test_the_page_asks_every_two_seconds(reviewer: Client, world: World) -> None:
    asked = attributes_of(reviewer.get(world.page(LIFT)), "live")
    assert (asked["hx-get"], asked["hx-trigger"]) == ("changes/", "every 2s")


def test_nothing_changed_is_no_content(reviewer: Client, world: World) -> None:
    response = ask(reviewer, world, seen_on(reviewer.get(world.page(LIFT))))
    assert (response.status_code, response.content) == (204, b"")


def test_that_nothing_changed_takes_one_small_query(
    world: World, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    review_id = world.reviews[LIFT]
    assert world.reviewer.has_perm("reviews.view_every_review")
    with django_assert_num_queries(1) as captured:
        assert state_of(world.reviewer, review_id) == (0, "0")
    assert "content" not in captured.captured_queries[0]["sql"]


def test_a_decision_of_a_colleague_comes_with_all_that_changed(reviewer: Client, world: World) -> None:
    seen = seen_on(reviewer.get(world.page(LIFT)))
    decide_as_shown(world.colleague, world.reviews[LIFT], 6, "approve")
    response = ask(reviewer, world, seen)
    assertTemplateUsed(response, "reviews/_changes.html")
    assertTemplateNotUsed(response, "base.html")
    assert "Approved by reviewer2" in text_of(response, "claim-6")
    assert not has(response, "claim-2")
    assert not has(response, "claim-6-body")
    assert text_of(response, "group-needs_review") == "Needs review 1 of 2 left"
    assert "The warranty of 36 months" in text_of(response, "answer-preview")
    told = "reviewer2 approved: The warranty of 36 months"
    assert told in response.content.decode()
    assert ask(reviewer, world, seen_on(response)).status_code == 204


def test_a_claim_that_stands_open_comes_with_its_evidence(reviewer: Client, world: World) -> None:
    decide_as_shown(world.colleague, world.reviews[LIFT], 6, "approve")
    assert has(ask(reviewer, world, BEGINNING, "2 6"), "claim-6-body")


def test_ones_own_decisions_are_shown_and_not_told(reviewer: Client, world: World) -> None:
    decide_as_shown(world.reviewer, world.reviews[LIFT], 6, "approve")
    response = ask(reviewer, world, BEGINNING)
    assert has(response, "claim-6")
    assert "#announcement" not in response.content.decode()


def test_several_decisions_are_told_as_one_sentence(reviewer: Client, world: World) -> None:
    decide_as_shown(world.colleague, world.reviews[LIFT], 6, "approve")
    decide_as_shown(world.colleague, world.reviews[LIFT], 2, "block", "No.")
    response = ask(reviewer, world, BEGINNING)
    assert "Colleagues decided on 2 claims. No claim is undecided." in response.content.decode()


def test_a_claim_decided_twice_comes_once_as_it_is_now(reviewer: Client, world: World) -> None:
    decide_as_shown(world.colleague, world.reviews[LIFT], 6, "approve")
    operations.undo_decision(actor=world.colleague, review_id=world.reviews[LIFT], position=6, based_on=1)
    response = ask(reviewer, world, BEGINNING)
    assert response.content.decode().count('id="claim-6"') == 1
    assert "reviewer2 undid the decision on: The warranty" in response.content.decode()


def test_a_seal_is_told_and_the_page_asks_no_more(reviewer: Client, world: World) -> None:
    for position in (2, 6):
        decide_as_shown(world.colleague, world.reviews[LIFT], position, "block", "No.")
    seen = seen_on(reviewer.get(world.page(LIFT)))
    operations.seal_review(actor=world.colleague, review_id=world.reviews[LIFT])
    response = ask(reviewer, world, seen)
    assert "reviewer2 sealed this review; it is final." in response.content.decode()
    assert json.loads(response["HX-Trigger"]) == {"review:answered": {"sealed": True}}
    assert "hx-trigger" not in attributes_of(response, "live")
    assert "hx-trigger" not in attributes_of(reviewer.get(world.page(LIFT)), "live")


def test_a_review_that_was_derived_anew_asks_people_to_load_the_page(reviewer: Client, world: World) -> None:
    seen = seen_on(reviewer.get(world.page(LIFT)))
    review = Review.objects.get(review_id=world.reviews[LIFT])
    review.revision += 1
    review.save(update_fields=["revision"])
    response = ask(reviewer, world, seen)
    assert "Another policy or another version of the engine came into force" in response.content.decode()
    assert not has(response, "review-status")


def test_after_ones_own_decision_the_page_knows_how_far_it_is(reviewer: Client, world: World) -> None:
    page = reviewer.get(f"{world.page(LIFT)}?claim=6")
    form = {
        "outcome": "approve",
        "based_on": 0,
        "shown_sha256": page.context["page"].opened.shown_sha256,
        "seen": seen_on(page),
    }
    address = reverse("decide_claim", args=[world.reviews[LIFT], 6])
    assert seen_on(reviewer.post(address, form, headers=HTMX)) == f"1.1.{world.reviewer.pk}"


def test_a_decision_that_meets_others_leaves_them_to_be_asked_for(reviewer: Client, world: World) -> None:
    page = reviewer.get(f"{world.page(LIFT)}?claim=6")
    decide_as_shown(world.colleague, world.reviews[LIFT], 2, "block", "No.")
    form = {
        "outcome": "approve",
        "based_on": 0,
        "shown_sha256": page.context["page"].opened.shown_sha256,
        "seen": seen_on(page),
    }
    address = reverse("decide_claim", args=[world.reviews[LIFT], 6])
    assert not has(reviewer.post(address, form, headers=HTMX), "seen")


@pytest.mark.parametrize("seen", ["", "x", "1", "1.0", "1.x.0", "-1.0.0", "1.٣.0", "1.0.0s0", "9" * 40])
def test_what_no_page_says_is_refused(reviewer: Client, world: World, seen: str) -> None:
    assert ask(reviewer, world, seen).status_code == 400


def test_a_browser_that_opens_the_address_gets_the_page(reviewer: Client, world: World) -> None:
    assertRedirects(ask_plainly(reviewer, world), world.page(LIFT))


def test_a_colleagues_review_is_not_there_for_a_submitter(client: Client, world: World) -> None:
    client.force_login(make_person("Submitter", "other"))
    assert ask(client, world, BEGINNING).status_code == 404


def test_the_number_of_queries_does_not_grow_with_the_claims(reviewer: Client, world: World) -> None:
    with CaptureQueriesContext(connection) as nothing:
        ask(reviewer, world, BEGINNING)
    counts = []
    for folder in ("02-pump-maintenance", "11-campus-energy"):
        world.reviews[LIFT] = make_another(world.submitter, folder)
        waiting = list(
            Review.objects.get(review_id=world.reviews[LIFT])
            .claims.filter(action="needs_review")
            .values_list("position", flat=True)
        )
        for position in waiting:
            decide_as_shown(world.colleague, world.reviews[LIFT], position, "block", "No.")
        with CaptureQueriesContext(connection) as captured:
            assert ask(reviewer, world, BEGINNING).status_code == 200
        counts.append(len(captured))
    assert counts[0] == counts[1]
    assert len(nothing) <= 5  # session, person, permissions, and the one question


def make_another(submitter: User, folder: str) -> object:
    uploads = operations.sample_uploads(operations.SAMPLE / folder)
    return operations.submit_review(actor=submitter, uploads=uploads).review.review_id
