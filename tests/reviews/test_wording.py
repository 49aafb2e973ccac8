"""What pages say about a claim, a decision and an answer: once, about what is meant, and only while it is true."""

from __future__ import annotations

import json

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse
from django.utils.html import strip_tags
from pytest_django.asserts import assertContains, assertNotContains

from ethos_review.accounts.models import User
from ethos_review.engine.contracts import SCHEMAS
from ethos_review.engine.documents import Json
from ethos_review.engine.report import Check
from ethos_review.reviews import operations, queries
from ethos_review.reviews.models import Review
from ethos_review.reviews.templatetags.review_words import WORDS, badges, compare_texts, says, words
from tests.factories import (
    answer,
    bundle,
    check,
    claim,
    decide,
    four_claims,
    make_review,
    make_submitter,
    parts,
    reading,
    report,
    synthesis,
)
from tests.web.html import text_of

pytestmark = pytest.mark.django_db
HTMX = {"HX-Request": "true", "HX-Request-Type": "partial"}
FACT, JOINED, UNSETTLED = 0, 1, 2  # of `four_claims`


@pytest.fixture
def review() -> Review:
    return make_review(make_submitter())


def unsettled_fact() -> Review:
    """A source fact that readings leave unsettled, and one that is blocked."""
    delivers = [{"entity": "acme", "field": "revenue", "value": 12.4}]
    claims = answer(claim("unsettled", "v0001", delivers=delivers), claim("missing", "v0002"))
    checks = report(check("v0001"), check("v0002", "not_found"))
    return make_review(make_submitter(), parts(claims, checks, [reading(None)]))


# A decided claim -------------------------------------------------------------------------------------------------


def test_a_decided_claim_says_what_a_person_decided_and_not_that_one_will(
    signed_in: Client, reviewer: User, review: Review
) -> None:
    address = reverse("claim_card", args=[review.review_id, JOINED])
    before = text_of(signed_in.get(address, headers=HTMX), f"claim-{JOINED}")
    assert "Needs review. Grounded and relevant, but it combines 2 passages. A person decides." in before

    decide(reviewer, review, JOINED)

    after = text_of(signed_in.get(address, headers=HTMX), f"claim-{JOINED}")
    assert "Needed review. Grounded and relevant, but it combines 2 passages. Approved by reviewer" in after
    assert "Needs review: a person decides. reviewer approved it." in after
    assert "A person decides." not in after


def test_a_final_claim_that_is_held_back_is_final_no_more(
    signed_in: Client, reviewer: User, review: Review
) -> None:
    decide(reviewer, review, FACT, "block")
    said = text_of(signed_in.get(reverse("review", args=[review.review_id])), f"claim-{FACT}")
    assert "Was final." in said
    assert "Blocked by reviewer" in said


# What a release says ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["review", "answer", "seal_review", "release"])
def test_only_synthesis_is_called_reviewed_synthesis(signed_in: Client, reviewer: User, name: str) -> None:
    review = unsettled_fact()
    decide(reviewer, review, 0)
    if name == "release":
        operations.seal_review(actor=reviewer, review_id=review.review_id)
    response = signed_in.get(reverse(name, args=[review.review_id]))
    assertContains(response, "Released after review")
    assertContains(response, "Marked passages were released by a reviewer.")
    assertNotContains(response, "eviewed synthesis")


def test_the_verify_page_calls_them_the_same(signed_in: Client, reviewer: User) -> None:
    review = unsettled_fact()
    decide(reviewer, review, 0)
    release = operations.seal_review(actor=reviewer, review_id=review.review_id)
    response = signed_in.post(reverse("verify"), {"text": bytes(release.envelope).decode()})
    assertContains(response, "Released after review.")
    assertNotContains(response, "eviewed synthesis")


def test_nothing_is_under_review_any_more_once_all_is_decided(
    signed_in: Client, reviewer: User, review: Review
) -> None:
    page = reverse("review", args=[review.review_id])
    assert "withheld or are still under review." in text_of(signed_in.get(page), "answer-preview")
    for position in (JOINED, UNSETTLED):
        decide(reviewer, review, position, "block")
    last_look = signed_in.get(reverse("seal_review", args=[review.review_id]))
    assertContains(last_look, "This answer is partial: other claims were withheld.")
    release = operations.seal_review(actor=reviewer, review_id=review.review_id)
    verified = signed_in.post(reverse("verify"), {"text": bytes(release.envelope).decode()})
    for response in (
        signed_in.get(page),
        signed_in.get(reverse("release", args=[review.review_id])),
        verified,
    ):
        assertContains(response, "This answer is partial: other claims were withheld.")
        assertNotContains(response, "still under review")


# Said once -------------------------------------------------------------------------------------------------------


def test_the_progress_box_says_once_what_is_left(signed_in: Client, reviewer: User, review: Review) -> None:
    page = reverse("review", args=[review.review_id])
    said = text_of(signed_in.get(page), "progress")
    assert said.count("2 claims") == 1
    assert said.endswith("2 claims are still undecided.")
    decide(reviewer, review, JOINED)
    assert text_of(signed_in.get(page), "progress").endswith("1 claim is still undecided.")
    decide(reviewer, review, UNSETTLED)
    assert "No claim is undecided." in text_of(signed_in.get(page), "progress")


def test_a_missing_rationale_is_said_at_its_field_alone(
    signed_in: Client, reviewer: User, review: Review
) -> None:
    opened = queries.open_card(reviewer, review.review_id, JOINED)
    form = {"outcome": "block", "rationale": "", "shown_sha256": opened.shown_sha256, "based_on": 0}
    address = reverse("decide_claim", args=[review.review_id, JOINED])
    response = signed_in.post(address, form, headers=HTMX)
    assertContains(response, "Write why, for those who read this decision later.", count=1, status_code=422)


# Several delivered values ----------------------------------------------------------------------------------------


def said_in_badges(*delivers: tuple[str, str, int], readings: int = 1) -> str:
    """Of a claim that delivers (entity, field, value); a tool read 1 of the first `readings` fields."""
    values = [{"entity": entity, "field": field, "value": value} for entity, field, value in delivers]
    rows = [reading(1, entity=entity, field=field) for entity, field, _ in delivers[:readings]]
    uploads = bundle(answer(synthesis("several", "v0001", delivers=values)), readings=rows)
    assessed = operations.check_uploads(uploads).claims[0]
    return " ".join(strip_tags(badges(assessed)).split())


def test_one_delivered_value_needs_no_name() -> None:
    assert said_in_badges(("acme", "revenue", 1)).endswith("Synthesis Readings agree")


def test_badges_of_several_delivered_values_say_which_one_is_meant() -> None:
    said = said_in_badges(("acme", "revenue", 1), ("acme", "margin", 2), ("acme", "debt", 3), readings=2)
    assert said.endswith("Readings agree: revenue Contradicted by a reading: margin No readings: debt")


def test_an_entity_is_named_where_there_are_several() -> None:
    said = said_in_badges(("acme", "revenue", 1), ("apex", "revenue", 1), readings=1)
    assert said.endswith("Readings agree: acme · revenue No readings: apex · revenue")


def test_many_values_with_one_verdict_are_counted() -> None:
    values = [("acme", f"field {number}", 1) for number in range(4)]
    assert said_in_badges(*values, readings=1).endswith("Readings agree: field 0 No readings: 3 values")


def test_a_field_name_that_hides_something_shows_it_in_a_badge() -> None:
    said = said_in_badges(("acme", "rev\u202eenue<b>", 1), ("acme", "debt", 1))
    assert "revU+202Eenue&lt;b&gt;" in said


def test_a_field_is_not_named_with_more_than_forty_characters() -> None:
    said = said_in_badges(("acme", "f" * 200, 1), ("acme", "debt", 1))
    assert "f" * 39 + "…" in said


# Uploads ---------------------------------------------------------------------------------------------------------


def test_checking_only_repeats_the_question(client: Client) -> None:
    client.force_login(make_submitter())
    (report_file, claims_file) = four_claims("What became of it?")[:2]
    files = {upload.role: _file(upload) for upload in (report_file, claims_file)}
    assertContains(client.post(reverse("upload"), {"action": "check", **files}), "What became of it?")


def _file(upload: operations.Upload) -> SimpleUploadedFile:
    return SimpleUploadedFile(upload.name, upload.content, upload.media_type)


def test_a_lookalike_letter_between_source_and_context_is_marked() -> None:
    """The source, and what stands around it, are read as one text."""
    value = check(
        "v0001", evidence={"text": "pple"}, context_echo={"before": "1 \u0410", "after": " \u0430s"}
    )
    found = compare_texts(Check(value))
    assert "Cyrillic" in found["before"]
    assert "Cyrillic" in found["after"]


# Words for codes -------------------------------------------------------------------------------------------------


def codes(name: str) -> set[str]:
    schema = json.loads((SCHEMAS / "verification-report.schema.json").read_text("utf-8"))
    return set(schema["$defs"][name]["enum"])


@pytest.mark.parametrize(("axis", "name"), [("warning", "warning"), ("capability", "capability_limit")])
def test_every_warning_and_every_limit_of_a_parser_has_plain_words(axis: str, name: str) -> None:
    assert set(WORDS[axis]) == codes(name)


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("12.4", "states"),
        (None, "states"),
        ({"kind": "large"}, "states"),
        ({"kind": "known", "value": 1, "evidence": "p. 2"}, "states"),
        ({"kind": "known", "value": None, "evidence": "p. 2"}, "declares that there is no value:"),
        ({"kind": "unknown", "reason": "not in the sources"}, "declares the value unknown:"),
        ({"kind": "not-applicable", "evidence": "p. 2"}, "declares the value not applicable:"),
        ({"kind": "not-applicable"}, "declares, in a form that is not complete:"),
    ],
)
def test_a_delivered_value_is_said_to_be_stated_or_declared(value: Json, said: str) -> None:
    assert says(value) == said


def opened(
    client: Client, reviewer: User, claims: object, checks: object, readings: object = None
) -> HttpResponse:
    review = make_review(make_submitter(), parts(claims, checks, readings))
    client.force_login(reviewer)
    return client.get(reverse("review", args=[review.review_id]), {"claim": "0"})


def test_what_an_answer_declares_stands_in_words_before_its_json(client: Client, reviewer: User) -> None:
    value = {"kind": "not-applicable", "evidence": "p. 2"}
    delivers = [{"entity": "acme", "field": "revenue", "value": value}]
    response = opened(
        client, reviewer, answer(claim("c", "v0001", delivers=delivers)), report(check("v0001"))
    )
    assert 'The answer declares the value not applicable: {"kind":"not-applicable"' in text_of(
        response, "claim-0-body"
    )


CELL = {
    "claim": {
        "kind": "table_cell",
        "text": "3",
        "citation": {"table_id": "t0001", "cell": {"row": 1, "col": 3}},
    },
    "match_method": "table_cell_lookup",
    "evidence_tier": "table_cell",
    "evidence": {"text": "3", "page": "p0008"},
}


def test_a_cell_is_called_one_once_and_its_source_names_row_and_column(
    client: Client, reviewer: User
) -> None:
    said = text_of(
        opened(client, reviewer, answer(claim("c", "v0001")), report(check("v0001", **CELL))), "claim-0"
    )
    assert said.count("table cell") == 1
    assert "Source · page p0008 · table t0001, row 2, column 4" in said


def test_a_check_says_within_what_its_text_was_found(client: Client, reviewer: User) -> None:
    found = check("v0001", match_method="exact_text_contains", warnings=["partial_parse"])
    response = opened(client, reviewer, answer(claim("c", "v0001")), report(found))
    assert "grounded by exact text within the source text" in text_of(response, "claim-0-body")
    assertContains(response, '<a class="term" href="/help/#warning">Warning: source read in part only</a>')


@pytest.mark.parametrize(
    ("wrapper", "said"), [("statement", "in an in-toto Statement"), ("dsse", "in a DSSE envelope")]
)
def test_a_wrapper_has_its_article(wrapper: str, said: str) -> None:
    assert f"in {words(wrapper, 'wrapper')}" == said
