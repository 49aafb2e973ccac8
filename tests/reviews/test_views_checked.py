"""“Check only”: the whole decision, as the review would show it, of documents that nobody keeps."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.apps import apps
from django.core.files.uploadedfile import SimpleUploadedFile
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse
from hypothesis import HealthCheck, assume, given, settings
from pytest_django import DjangoAssertNumQueries

from ethos_review.accounts.roles import REVIEWER, SUBMITTER
from ethos_review.engine.assessment import Submission
from ethos_review.engine.claims import Claim
from ethos_review.engine.values import json_text
from ethos_review.reviews import operations
from ethos_review.reviews.views.checked import ROOM_FOR_CARDS
from tests.engine.strategies import claim_to_json, submissions
from tests.factories import (
    Upload,
    answer,
    bundle,
    check,
    claim,
    four_claims,
    large_bundle,
    make_review,
    make_reviewer,
    make_user,
    parts,
    reading,
    report,
    synthesis,
    upload,
)
from tests.reviews.policies import PutInForce
from tests.web.html import HEAVIEST, has, text_of, weight_with_files

pytestmark = pytest.mark.django_db
HTMX = {"HX-Request": "true", "HX-Request-Type": "partial"}


@pytest.fixture
def person(client: Client) -> Client:
    """Who submits, and sees how the review is shown to who decides."""
    client.force_login(make_user("both", SUBMITTER, REVIEWER))
    return client


def sent(client: Client, uploads: list[Upload], action: str = "check", **headers: str) -> HttpResponse:
    files = {part.role: SimpleUploadedFile(part.name, part.content) for part in uploads}
    return client.post(reverse("upload"), {"action": action, **files}, headers=headers)


def result_of(response: HttpResponse) -> str:
    return response.content.decode().split('id="upload-result"')[1].split("</main>")[0]


def cards_in(html: str) -> list[tuple[str, int]]:
    """The group and the place of each card, in the order of the page."""
    found = re.findall(r'<article class="card (\w+)" id="claim-(\d+)"', html)
    return [(group, int(place)) for group, place in found]


def uploads_of(submission: Submission) -> list[Upload]:
    made = submission.report
    checks = report(
        *(check.value for check in made.checks),
        fingerprint_stale=made.fingerprint_stale,
        all_evidence_grounded=made.all_evidence_grounded,
        capability_limits=list(made.capability_limits),
        unsupported_claim_kinds=list(made.unsupported_claim_kinds),
        warnings=list(made.warnings),
    )
    rows = [reading(row.value, row.entity, row.field) for row in submission.readings]
    labelled = [claim_to_json(claim) | {"delivers": delivers_of(claim)} for claim in submission.answer.claims]
    contents = {"verification_report": checks, "claims": answer(*labelled), "readings": rows}
    return [upload(role, json_text(value).encode()) for role, value in contents.items()]


def delivers_of(claim: Claim) -> list[dict[str, Any]]:
    return [
        {"entity": value.entity, "field": value.field, "normalization": value.normalization}
        | ({"value": value.value} if value.stated else {})
        for value in claim.delivers
    ]


@given(submission=submissions())
@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)  # each example sends bytes of its own
def test_a_check_shows_what_the_review_of_the_same_bytes_shows(
    person: Client, submission: Submission
) -> None:
    checked = sent(person, uploads_of(submission))
    assume(checked.status_code == 200)
    address = sent(person, uploads_of(submission), "submit")["Location"]
    review = person.get(address)

    assert cards_in(result_of(checked)) == cards_in(review.content.decode())
    for key in ("needs_review", "final", "blocked"):
        assert heading(checked, key) == heading(review, key)
    for part in ("review-status", "answer-preview"):
        assert text_of(checked, part) == text_of(review, part)
    for _, place in cards_in(result_of(checked)):
        opened = person.get(f"{address}claims/{place}/", headers=HTMX)
        assert text_of(opened, f"claim-{place}-text") == text_of(checked, f"claim-{place}-text")
        assert evidence_and_rules(opened, place) == evidence_and_rules(checked, place)


def heading(response: HttpResponse, key: str) -> str:
    """A review says how many of those at Needs review are left; before the first decision that is all of them."""
    if not has(response, f"group-{key}"):
        return ""
    return re.sub(r"(\d+) of \1 left", r"\1", text_of(response, f"group-{key}"))


def evidence_and_rules(response: HttpResponse, place: int) -> str:
    """All that an opened claim shows before its form."""
    return response.content.decode().split(f'id="claim-{place}-body">')[1].split("</ol>")[0]


@pytest.mark.parametrize("headers", [{}, HTMX], ids=["plain", "htmx"])
def test_a_check_stores_nothing(person: Client, headers: dict[str, str]) -> None:
    before = rows_of_every_table()
    assert sent(person, four_claims(), **headers).status_code == 200
    assert rows_of_every_table() == before


def rows_of_every_table() -> dict[str, list[Any]]:
    models = apps.get_models(include_auto_created=True)
    return {model._meta.db_table: list(model._base_manager.order_by("pk").values_list()) for model in models}


def test_a_claim_opens_to_its_evidence_and_rules_without_a_form_or_a_request(person: Client) -> None:
    response = sent(person, four_claims())
    told = text_of(response, "claim-3-body")
    assert "v0003 not found no such element" in told
    assert "Why Not grounded: check v0003 found nothing (no such element). Relevance is" in told
    assert "Readings of acme · revenue" in text_of(response, "claim-2-body")
    assert re.findall(r"<form|<button|<textarea|hx-[a-z]+=|\?claim=", result_of(response)) == []


def test_the_preview_is_what_a_reader_would_get_before_anyone_decides(person: Client) -> None:
    told = text_of(sent(person, four_claims()), "answer-preview")
    assert told.startswith("What a reader would see now Claim fact.")
    assert "Claim joined." not in told
    assert "This answer is partial: other claims were withheld or are still under review." in told


def test_hidden_characters_are_made_visible(person: Client) -> None:
    uploads = operations.sample_uploads(operations.SAMPLE / "10-lift-offer")
    html = result_of(sent(person, uploads))
    assert "U+202E" in html
    assert not re.search("[\u200b\u202a-\u202e]", html)


def test_an_answer_without_claims_is_told(person: Client) -> None:
    assert "holds no claims, so nothing can be released" in result_of(sent(person, parts(answer())))


def test_what_the_bundle_says_of_itself_is_shown(person: Client) -> None:
    sealed = make_review(make_user("other", SUBMITTER), parts(answer(claim("old", "v0001"))))
    operations.seal_review(actor=make_reviewer(), review_id=sealed.review_id)
    named = {"external_id": "bridges/7", "supersedes": str(sealed.review_id)}
    told = text_of(sent(person, bundle(answer(claim("new", "v0001")), **named)), "upload-result")
    assert f"External id bridges/7 Supersedes {str(sealed.review_id)[:8]}" in told


@pytest.mark.parametrize(("auto_seal", "said"), [("never", False), ("nothing_to_review", True)])
def test_that_the_policy_would_seal_it_at_once_is_said(
    person: Client, put_in_force: PutInForce, auto_seal: str, said: bool
) -> None:
    put_in_force(auto_seal=auto_seal)
    told = text_of(sent(person, parts(answer(claim("fact", "v0001")))), "upload-result")
    assert ("once submitted, the policy seals it at once" in told) == said


class TestWhatFitsOnOnePage:
    @pytest.mark.parametrize("count", [1_000, 10_000])
    @pytest.mark.parametrize("headers", [{}, HTMX], ids=["plain", "htmx"])
    def test_a_check_of_many_claims_is_light(
        self, person: Client, count: int, headers: dict[str, str]
    ) -> None:
        form = person.get(reverse("upload"))
        response = sent(person, large_bundle(count), **headers)
        loaded = (
            weight_with_files(response) if not headers else weight_with_files(form) + len(response.content)
        )
        assert loaded <= HEAVIEST
        groups = {group for group, _ in cards_in(result_of(response))}
        assert groups == {"needs_review", "final"}
        assert_the_room_is_used(response)

    @pytest.mark.parametrize(
        "text",
        ["\u202e" * 500, "é" * 5_000, "long " * 10_000],
        ids=["hidden characters", "two bytes each", "endless"],
    )
    @pytest.mark.parametrize("count", [1, 40])
    def test_long_and_hostile_texts_do_not_make_it_heavier(
        self, person: Client, text: str, count: int
    ) -> None:
        quoted = {"kind": "quote", "text": text, "citation": {"page": "p0001"}}
        checks = report(check("v0001", claim=quoted, evidence={"text": text, "page": "p0001"}))
        labelled = (claim(f"c{number}", "v0001", text=text) for number in range(count))
        response = sent(person, parts(answer(*labelled), checks))
        assert weight_with_files(response) <= HEAVIEST
        assert text_of(response, "group-final") == f"Final {count}"

    def test_the_first_claims_of_each_group_are_shown_and_the_rest_is_counted(self, person: Client) -> None:
        response = sent(person, large_bundle(1_000))
        group, *_ = response.context["checked"].groups
        with_evidence, without = len(group.with_evidence), len(group.without_evidence)
        places = [place for key, place in cards_in(result_of(response)) if key == "needs_review"]
        assert places == list(range(0, 2 * (with_evidence + without), 2))
        assert [has(response, f"claim-{place}-body") for place in places] == (
            [True] * with_evidence + [False] * without
        )
        assert min(with_evidence, without) > 0
        assert f"{500 - with_evidence - without} more claims are not shown here." in result_of(response)

    def test_it_is_said_how_to_see_the_rest(self, person: Client) -> None:
        response = sent(person, large_bundle(1_000))
        page = response.context["checked"]
        said = text_of(response, "not-all")
        assert said.startswith(
            f"This page shows {page.shown_count} of 1000 claims, {page.with_evidence_count} of them with evidence"
        )
        assert "submit for review, or run ethos-review decide on these files" in said
        assert f"{500 - len(page.preview_claims)} more passages are not shown here." in result_of(response)

    def test_nothing_is_said_to_be_left_out_where_all_is_shown(self, person: Client) -> None:
        response = sent(person, four_claims())
        assert not has(response, "not-all")
        assert "not shown here" not in result_of(response)

    @pytest.mark.parametrize("others", [(), ("final",), ("final", "blocked")], ids=len)
    def test_what_a_short_group_leaves_over_is_for_the_longer_ones(
        self, person: Client, others: tuple[str, ...]
    ) -> None:
        short = {"final": claim("fact", "v0001"), "blocked": claim("missing", "v0002")}
        claims = [synthesis(f"s{number}", "v0001") for number in range(99)] + [short[key] for key in others]
        checks = report(check("v0001"), check("v0002", "not_found"))
        response = sent(person, parts(answer(*claims), checks))
        assert_the_room_is_used(response)
        groups = [group for group, _ in cards_in(result_of(response))]
        assert groups == ["needs_review"] * (len(groups) - len(others)) + list(others)

    def test_a_check_asks_the_database_the_same_whatever_the_size(
        self, person: Client, django_assert_num_queries: DjangoAssertNumQueries
    ) -> None:
        sent(person, four_claims())
        for uploads in (four_claims(), large_bundle(1_000)):
            with django_assert_num_queries(3):
                sent(person, uploads)


def assert_the_room_is_used(response: HttpResponse) -> None:
    """To less than one more opened card for each group."""
    groups = response.context["checked"].groups
    cards = [card for group in groups for card in group.with_evidence + group.without_evidence]
    assert ROOM_FOR_CARDS - 3_000 * len(groups) < sum(len(card.encode()) for card in cards) <= ROOM_FOR_CARDS
