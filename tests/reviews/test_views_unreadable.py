"""A review whose stored documents were changed: each address names the document and the next step; none fails."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, TypeAlias

import pytest
from django.db import connection
from django.test import Client
from django.urls import reverse
from pytest_django.asserts import assertContains, assertRedirects

from ethos_review.accounts.models import User
from ethos_review.engine.errors import DocumentError, Problem
from ethos_review.reviews import assessments, operations
from ethos_review.reviews.models import Document, Review, ReviewerDecision
from tests.factories import decide, make_review, make_submitter
from tests.reviews.test_commands import change, flipped
from tests.web.html import text_of

pytestmark = pytest.mark.django_db
HTMX = {"HX-Request": "true", "HX-Request-Type": "partial"}
ChangeDocument: TypeAlias = Callable[[str], str]
ROLES = ("verification_report", "claims", "readings")
PAGES = ("review", "answer", "seal_review", "download_contract_decision")
JOINED, UNSETTLED = 1, 2  # of the claims of `make_review`


@pytest.fixture
def review() -> Review:
    return make_review(make_submitter())


@pytest.fixture
def sealed(review: Review, reviewer: User) -> Review:
    for position in (JOINED, UNSETTLED):
        decide(reviewer, review, position)
    operations.seal_review(actor=reviewer, review_id=review.review_id)
    return review


@pytest.fixture
def change_document(monkeypatch: pytest.MonkeyPatch) -> ChangeDocument:
    """One bit of a stored document changes behind the back of the product; gives the name of the document."""

    def act(role: str) -> str:
        document = Document.objects.with_content().get(role=role)
        change(Document, "content", flipped(bytes(document.content)), f"id = {document.pk}")
        monkeypatch.setattr(assessments, "_cache", assessments._Cache(0))  # as in another process
        return document.name

    return act


def address(name: str, review: Review) -> str:
    return reverse(name, args=[review.review_id])


def claim_address(name: str, review: Review) -> str:
    return reverse(name, args=[review.review_id, JOINED])


@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize("name", PAGES)
def test_a_page_of_an_open_review_names_the_document_and_the_next_step(
    signed_in: Client, review: Review, name: str, role: str, change_document: ChangeDocument
) -> None:
    document = change_document(role)
    response = signed_in.get(address(name, review))
    assert response.status_code == 409
    said = text_of(response, "unreadable")
    assert f"The kept document {document} is not what was received." in said
    assert "have manage.py verify_audit run." in said
    assert "no-store" in response["Cache-Control"]
    for kept in ROLES:
        assertContains(response, reverse("download_document", args=[review.review_id, kept]), status_code=409)


@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize("name", [*PAGES, "release"])
def test_every_page_of_a_sealed_review_leads_to_the_replay(
    signed_in: Client, sealed: Review, name: str, role: str, change_document: ChangeDocument
) -> None:
    document = change_document(role)
    response = signed_in.get(address(name, sealed))
    assertRedirects(response, address("replay", sealed), fetch_redirect_response=False)
    shown = text_of(signed_in.get(response["Location"]), "replay-result")
    assert f"“{document}” is not the one uploaded." in shown
    assert "manage.py verify_audit" in shown


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("UPDATE reviews_policyrecord SET content = '{'", "is not what its digest names"),
        ("DELETE FROM reviews_claim WHERE position = 3", "The kept claims are not as many"),
        ("UPDATE reviews_review SET verifier_key = 'junk'", "The kept key of the verifier is none."),
    ],
)
@pytest.mark.parametrize("name", ["review", "answer", "seal_review"])
def test_what_else_was_changed_is_told_too(
    signed_in: Client, review: Review, name: str, statement: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with connection.cursor() as cursor:
        cursor.execute(statement)
    monkeypatch.setattr(assessments, "_cache", assessments._Cache(0))
    response = signed_in.get(address(name, review))
    assert response.status_code == 409
    assert said in text_of(response, "unreadable")


def test_a_document_that_is_gone_is_told(signed_in: Client, review: Review) -> None:
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM reviews_document WHERE role = 'readings'")
    response = signed_in.get(address("review", review))
    assert "The kept documents are not those that were received." in text_of(response, "unreadable")


def test_a_fragment_of_an_open_review_says_so_in_the_page(
    signed_in: Client, review: Review, change_document: ChangeDocument
) -> None:
    change_document("claims")
    card = signed_in.get(claim_address("claim_card", review), headers=HTMX)
    more = signed_in.get(address("more_claims", review), {"around": "0"}, headers=HTMX)
    changes = signed_in.get(address("review_changes", review), {"seen": "7.0.0"}, headers=HTMX)
    for response in (card, more, changes):
        assert (response.status_code, response.content) == (409, b"")
        notice = json.loads(response["HX-Trigger"])["review:answered"]["notice"]
        assert notice.startswith("The kept document claims.json is not what was received.")


def test_a_fragment_of_a_sealed_review_leads_the_page_to_the_replay(
    signed_in: Client, sealed: Review, change_document: ChangeDocument
) -> None:
    change_document("claims")
    card = signed_in.get(claim_address("claim_card", sealed), headers=HTMX)
    assert card["HX-Redirect"] == address("replay", sealed)


@pytest.mark.parametrize("headers", [{}, HTMX], ids=["plain", "htmx"])
@pytest.mark.parametrize("name", ["decide_claim", "undo_decision"])
def test_nothing_is_decided_on_it_and_what_was_typed_is_not_lost(
    signed_in: Client,
    reviewer: User,
    review: Review,
    name: str,
    headers: dict[str, str],
    change_document: ChangeDocument,
) -> None:
    if name == "undo_decision":
        decide(reviewer, review, JOINED)
    before = ReviewerDecision.objects.count()
    document = change_document("claims")
    form: dict[str, Any] = {"outcome": "block", "rationale": "My <words>", "shown_sha256": "0" * 64}
    form["based_on"] = before
    response = signed_in.post(claim_address(name, review), form, headers=headers)
    assert (response.status_code, ReviewerDecision.objects.count()) == (409, before)
    if headers:  # the page stays, and the text in it
        assert document in response["HX-Trigger"]
    else:
        assert text_of(response, "typed") == "My <words>"
        assert document in text_of(response, "unreadable")


def test_a_form_that_was_open_when_the_review_was_sealed_keeps_its_text(
    signed_in: Client, sealed: Review, change_document: ChangeDocument
) -> None:
    change_document("claims")
    form = {"outcome": "block", "rationale": "My words", "shown_sha256": "0" * 64, "based_on": 1}
    response = signed_in.post(claim_address("decide_claim", sealed), form)
    assert response.status_code == 409
    assert text_of(response, "typed") == "My words"
    assertContains(response, address("replay", sealed), status_code=409)


def test_it_is_not_sealed(
    signed_in: Client, reviewer: User, review: Review, change_document: ChangeDocument
) -> None:
    for position in (JOINED, UNSETTLED):
        decide(reviewer, review, position)
    revision = Review.objects.get().revision
    change_document("claims")
    response = signed_in.post(address("seal_review", review), {"based_on": revision})
    assert response.status_code == 409
    assert "claims.json" in text_of(response, "unreadable")


def test_documents_that_the_engine_accepts_no_longer_are_told_with_the_reason(
    signed_in: Client, review: Review, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: Any) -> None:
        raise DocumentError([Problem("verification_report", "", "x", "It has no `checks`.")])

    monkeypatch.setattr(assessments, "assess", refuse)
    said = text_of(signed_in.get(address("review", review)), "unreadable")
    assert said == "The verification report of this review is not accepted any more. It has no checks."


def test_it_is_logged_without_what_the_documents_say(
    signed_in: Client, review: Review, caplog: pytest.LogCaptureFixture, change_document: ChangeDocument
) -> None:
    change_document("claims")
    signed_in.get(address("review", review))
    (record,) = caplog.records
    assert record.levelname == "ERROR"
    assert (
        record.getMessage() == f"The documents of review {review.review_id} cannot be read: KeptBytesChanged"
    )


def test_others_still_do_not_find_it(client: Client, review: Review, change_document: ChangeDocument) -> None:
    change_document("claims")
    client.force_login(make_submitter("someone-else"))
    assert client.get(address("review", review)).status_code == 404
