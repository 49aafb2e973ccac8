"""Replay of sealed reviews: on the release page and for all of them at once (spec 3.8)."""

from __future__ import annotations

import base64
import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.test import Client
from django.urls import reverse
from pytest_django import Settings
from pytest_django.asserts import assertRedirects, assertTemplateNotUsed, assertTemplateUsed

from ethos_review.accounts.roles import SUBMITTER
from ethos_review.reviews import operations
from ethos_review.reviews.models import Document, Release, Review
from ethos_review.reviews.replays import replay_every_release, replay_release
from tests.factories import answer, claim, make_review, make_reviewer, make_submitter, parts
from tests.reviews.policies import PutInForce
from tests.reviews.test_commands import change, flipped
from tests.web.html import attributes_of, text_of
from tests.web.people import make_person
from tests.web.world import SEALED, World, make_world

pytestmark = pytest.mark.django_db
HTMX = {"HX-Request": "true", "HX-Request-Type": "partial"}
ROLES = ("verification_report", "claims", "readings")
EQUAL = (
    "Equal: recomputed from the kept documents under policy conservative 1, the release comes out byte for byte "
    "as it was sealed."
)


@pytest.fixture
def world() -> World:
    return make_world(SEALED)


@pytest.fixture
def reviewer(client: Client, world: World) -> Client:
    client.force_login(world.reviewer)
    return client


def change_document(role: str) -> Document:
    document = Document.objects.with_content().get(role=role)
    change(Document, "content", flipped(bytes(document.content)), f"id = {document.pk}")
    return document


def run() -> list[str]:
    """The lines of `replay_releases`; of a failed run, with its last word."""
    out = StringIO()
    try:
        call_command("replay_releases", stdout=out)
    except CommandError as failed:
        return [*out.getvalue().splitlines(), str(failed)]
    return out.getvalue().splitlines()


# On the release page ---------------------------------------------------------------------------------------------


def test_the_release_page_shows_the_replay_when_it_is_asked_for(reviewer: Client, world: World) -> None:
    page = reviewer.get(world.page(SEALED, "release"))
    assert text_of(page, "replay-result") == ""
    assert text_of(page, "replay") == "Replay now"

    replayed = reviewer.get(world.page(SEALED, "replay"))

    assertTemplateUsed(replayed, "reviews/release.html")
    assert text_of(replayed, "replay-result") == EQUAL


def test_under_htmx_only_the_result_comes_and_the_focus_goes_to_it(reviewer: Client, world: World) -> None:
    response = reviewer.get(world.page(SEALED, "replay"), headers=HTMX)

    assertTemplateUsed(response, "reviews/_replay_answer.html")
    assertTemplateNotUsed(response, "base.html")
    assert text_of(response, "replay-result") == EQUAL
    assert attributes_of(response, "replay-result")["tabindex"] == "-1"
    assert "replay-result" in response["HX-Trigger"]


def test_a_request_for_the_whole_page_gets_the_whole_page(reviewer: Client, world: World) -> None:
    headers = {"HX-Request": "true", "HX-Request-Type": "full"}
    assertTemplateUsed(reviewer.get(world.page(SEALED, "replay"), headers=headers), "base.html")


@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize("headers", [{}, HTMX], ids=["page", "fragment"])
def test_a_changed_byte_of_a_kept_document_names_the_document(
    reviewer: Client, world: World, role: str, headers: dict[str, str]
) -> None:
    document = change_document(role)

    response = reviewer.get(world.page(SEALED, "replay"), headers=headers)

    assert f"“{document.name}” is not the one uploaded." in text_of(response, "replay-result")
    assert "/subject/" in text_of(response, "replay-result")


def test_the_release_page_leads_to_the_replay_when_its_documents_changed(
    reviewer: Client, world: World
) -> None:
    change_document("claims")
    assertRedirects(reviewer.get(world.page(SEALED, "release")), world.page(SEALED, "replay"))


def test_a_document_that_is_gone_is_said_so(reviewer: Client, world: World) -> None:
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM reviews_document WHERE role = 'readings'")

    said = text_of(reviewer.get(world.page(SEALED, "replay")), "replay-result")

    assert "The release was made from another number of documents." in said


def test_a_changed_decision_in_the_envelope_is_found_at_the_signature(reviewer: Client, world: World) -> None:
    envelope = json.loads(bytes(Release.objects.get().envelope))
    payload = base64.b64decode(envelope["payload"]).replace(b'"complete"', b'"partial!"')
    envelope["payload"] = base64.b64encode(payload).decode()
    change(Release, "envelope", json.dumps(envelope).encode())

    said = text_of(reviewer.get(world.page(SEALED, "replay")), "replay-result")

    assert "whole release" in said
    assert "signature" in said


def test_what_a_changed_document_says_is_shown_as_text(client: Client) -> None:
    hostile = "<script>alert(1)</script>\u202e"
    reviewer = make_reviewer()
    review = make_review(make_submitter(), parts(answer(claim("fact", "v0001", text=hostile))))
    operations.seal_review(actor=reviewer, review_id=review.review_id)
    change_document("claims")
    client.force_login(reviewer)

    response = client.get(reverse("replay", args=[review.review_id]))

    assert b"<script>alert" not in response.content


@pytest.mark.parametrize("method", ["post", "put", "delete"])
def test_a_replay_only_reads(reviewer: Client, world: World, method: str) -> None:
    assert getattr(reviewer, method)(world.page(SEALED, "replay")).status_code == 405


def test_another_submitter_finds_no_replay(client: Client, world: World) -> None:
    client.force_login(make_person(SUBMITTER, "someone-else"))
    assert client.get(world.page(SEALED, "replay")).status_code == 404


def test_an_open_review_has_no_replay(reviewer: Client) -> None:
    review = make_review(make_submitter("other"))
    assert reviewer.get(reverse("replay", args=[review.review_id])).status_code == 404


# Under its own policy --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "later",
    [
        {"contract_version": "1.1.0"},
        {"reviewed_synthesis": False},
        {"require_signed_reports": True},
        {"limits": {"document_bytes": 1}},
        {"separate_duties": False},
        {"auto_seal": "nothing_to_review"},
    ],
    ids=lambda later: next(iter(later)),
)
def test_an_old_release_replays_under_its_own_policy_whatever_is_in_force_now(
    reviewer: Client, world: World, settings: Settings, tmp_path: Path, later: dict[str, Any]
) -> None:
    PutInForce(settings, tmp_path)(**later)

    replayed = reviewer.get(world.page(SEALED, "replay"))

    assert text_of(replayed, "replay-result") == EQUAL
    assert run() == ["1 releases come out byte for byte as they were sealed."]


# All of them -----------------------------------------------------------------------------------------------------


def seal_several(count: int) -> list[Review]:
    submitter, reviewer = make_submitter(), make_reviewer()
    reviews = [
        make_review(submitter, parts(answer(claim("fact", "v0001"), question=f"Question {number}?")))
        for number in range(count)
    ]
    for review in reviews:
        operations.seal_review(actor=reviewer, review_id=review.review_id)
    return reviews


def test_the_command_replays_every_release() -> None:
    make_review(make_submitter("other"))
    seal_several(3)
    assert run() == ["3 releases come out byte for byte as they were sealed."]


def test_without_a_release_the_command_has_nothing_to_say_against() -> None:
    assert run() == ["0 releases come out byte for byte as they were sealed."]


@pytest.mark.parametrize(
    ("role", "place", "named"),
    [
        ("verification_report", 0, "verification report “verification-report.json”"),
        ("claims", 1, "claims “claims.json”"),
    ],
)
def test_the_command_names_the_review_and_the_document_that_changed(
    role: str, place: int, named: str
) -> None:
    _, review, _ = seal_several(3)
    document = Document.objects.with_content().get(review=review, role=role)
    change(Document, "content", bytes(document.content).replace(b", ", b",\n", 1), f"id = {document.pk}")

    assert run() == [
        f"review {review.review_id}: /subject/{place}/digest/sha256: The {named} is not the one uploaded.",
        "1 of 3 releases come out differently.",
    ]


def test_the_command_names_the_member_that_differs() -> None:
    review, _ = seal_several(2)
    document = Document.objects.with_content().get(review=review, role="claims")
    content = bytes(document.content).replace(b"Claim fact.", b"Claim fake.")
    change(Document, "content", content, f"id = {document.pk}")

    lines = run()

    assert any("/predicate/contract_decision/claims/0/text: " in line for line in lines)
    assert all(line.startswith(f"review {review.review_id}: ") for line in lines[:-1])


def test_releases_are_replayed_one_at_a_time() -> None:
    seal_several(3)
    replayed = replay_every_release()
    first, differences = next(replayed)
    assert differences == replay_release(first) == ()
    assert len(list(replayed)) == 2
