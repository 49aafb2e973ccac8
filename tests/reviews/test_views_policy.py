"""The policy as people see it, and each of its settings at work through the pages."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse
from pytest_django import Settings
from pytest_django.asserts import assertContains, assertRedirects, assertTemplateUsed

from ethos_review.accounts.roles import REVIEWER, SUBMITTER
from ethos_review.engine.policy import DEFAULT_POLICY, Policy
from ethos_review.reviews import operations
from ethos_review.reviews.models import Release, Review
from ethos_review.reviews.policies import current_policy
from tests.engine.wrapping import pem, wrapped
from tests.factories import (
    answer,
    check,
    claim,
    four_claims,
    make_review,
    make_user,
    parts,
    report,
    synthesis,
)
from tests.reviews.policies import PutInForce
from tests.web.html import has, text_of

pytestmark = pytest.mark.django_db
ONE_FACT = answer(claim("fact", "v0001"))


@pytest.fixture
def person(client: Client) -> Client:
    """Someone who may submit and review."""
    client.force_login(make_user("both", SUBMITTER, REVIEWER))
    return client


def upload(client: Client, uploads: list[operations.Upload]) -> HttpResponse:
    files = {upload.role: SimpleUploadedFile(upload.name, upload.content) for upload in uploads}
    return client.post(reverse("upload"), {"action": "submit", **files})


def page(name: str) -> str:
    """The address of a page of the only review."""
    return reverse(name, args=[Review.objects.get().review_id])


def settings_of(policy: Policy) -> dict[str, Any]:
    members = policy.to_json()
    limits = {f"limits.{name}": limit for name, limit in members.pop("limits").items()}  # type: ignore[union-attr]
    return {name: value for name, value in members.items() if name not in ("name", "version")} | limits


def as_written(value: object) -> str:
    return json.dumps(value) if not isinstance(value, str) else value


# To read ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "members",
    [
        {},
        {
            "separate_duties": False,
            "reviewed_synthesis": False,
            "auto_seal": "nothing_to_review",
            "contract_version": "1.1.0",
            "require_signed_reports": True,
            "limits": {"document_bytes": 101, "nesting_depth": 31, "entries": 41, "string_bytes": 51}
            | {"numeral_digits": 61, "numeral_exponent": 71},
        },
    ],
    ids=["defaults", "everything else"],
)
def test_the_page_names_every_setting_in_force_with_its_value(
    person: Client, put_in_force: PutInForce, members: dict[str, Any]
) -> None:
    put_in_force(**members)
    policy = current_policy()

    response = person.get(reverse("policy"))

    assertTemplateUsed(response, "reviews/policy.html")
    assertContains(response, "test 1")
    assert text_of(response, "policy-state").startswith("In force.")
    assert text_of(response, "policy-digest") == policy.sha256
    table = text_of(response, "policy-settings")
    for name, value in settings_of(policy).items():
        assert f"{name} {as_written(value)} " in table, name


def test_a_policy_that_was_used_before_stays_readable(person: Client, put_in_force: PutInForce) -> None:
    make_review(make_user("someone", SUBMITTER))
    put_in_force(reviewed_synthesis=False)

    assertContains(person.get(reverse("policy")), DEFAULT_POLICY.sha256)
    response = person.get(reverse("policy_with_digest", args=[DEFAULT_POLICY.sha256]))

    assert text_of(response, "policy-digest") == DEFAULT_POLICY.sha256
    assert "No longer in force" in text_of(response, "policy-state")
    assert "reviewed_synthesis true" in text_of(response, "policy-settings")


def test_the_policy_in_force_has_an_address_of_its_own_also_before_its_first_use(person: Client) -> None:
    response = person.get(reverse("policy_with_digest", args=[DEFAULT_POLICY.sha256]))
    assert text_of(response, "policy-state").startswith("In force.")


def test_a_policy_that_nobody_used_is_not_found(person: Client) -> None:
    assert person.get(reverse("policy_with_digest", args=["0" * 64])).status_code == 404


def test_the_policy_line_of_a_review_leads_to_the_policy_it_is_decided_under(person: Client) -> None:
    upload(person, parts(ONE_FACT))
    link = f'href="{reverse("policy_with_digest", args=[DEFAULT_POLICY.sha256])}"'
    for name in ("review", "seal_review"):
        assertContains(person.get(page(name)), link)


# At work ---------------------------------------------------------------------------------------------------------


def test_auto_seal_releases_an_upload_that_needs_no_review(person: Client, put_in_force: PutInForce) -> None:
    put_in_force(auto_seal="nothing_to_review")
    assertRedirects(upload(person, parts(ONE_FACT)), page("review"))
    assertContains(person.get(page("release")), "by <b>test</b>")


@pytest.mark.parametrize(
    ("auto_seal", "uploads"), [("never", parts(ONE_FACT)), ("nothing_to_review", four_claims())]
)
def test_otherwise_an_upload_waits_for_a_person(
    person: Client, put_in_force: PutInForce, auto_seal: str, uploads: list[operations.Upload]
) -> None:
    put_in_force(auto_seal=auto_seal)
    upload(person, uploads)
    assert person.get(page("release")).status_code == 404
    assert not Release.objects.exists()


@pytest.mark.parametrize(
    ("pinned", "shown"), [("auto", "version 1.0.0"), ("1.0.0", "version 1.0.0"), ("1.1.0", "version 1.1.0")]
)
def test_a_pinned_contract_version_is_applied(
    person: Client, put_in_force: PutInForce, pinned: str, shown: str
) -> None:
    put_in_force(contract_version=pinned)
    upload(person, parts(ONE_FACT))
    assertContains(person.get(page("review")), shown)


def test_a_label_that_the_pinned_contract_does_not_know_is_refused(
    person: Client, put_in_force: PutInForce
) -> None:
    put_in_force(contract_version="1.0.0")
    response = upload(person, parts(answer(claim("fact", "v0001", claim_support="supported"))))
    assert response.status_code == 400
    assert "contract 1.0.0 does not know" in text_of(response, "upload-result")
    assert not Review.objects.exists()


def test_unsigned_reports_are_refused_where_signatures_are_required(
    person: Client, put_in_force: PutInForce, settings: Settings, tmp_path: Path
) -> None:
    put_in_force(require_signed_reports=True)
    response = upload(person, parts(ONE_FACT))
    assert response.status_code == 400
    assert "sign" in text_of(response, "upload-result")
    assert not Review.objects.exists()

    (tmp_path / "verifier.pem").write_bytes(pem())
    settings.VERIFIER_KEY_FILES = [str(tmp_path / "verifier.pem")]
    signed = wrapped(report(check("v0001")), "dsse")
    assertRedirects(upload(person, parts(ONE_FACT, signed)), page("review"))


@pytest.mark.parametrize("separate", [True, False])
def test_a_submitter_finds_forms_only_where_duties_are_not_separate(
    person: Client, put_in_force: PutInForce, separate: bool
) -> None:
    put_in_force(separate_duties=separate)
    upload(person, parts(answer(synthesis("joined", "v0001"))))
    assert has(person.get(f"{page('review')}?claim=0"), "claim-0-form") != separate


@pytest.mark.parametrize("allowed", [True, False])
def test_reviewed_synthesis_is_released_only_where_the_policy_allows_it(
    person: Client, put_in_force: PutInForce, allowed: bool
) -> None:
    put_in_force(reviewed_synthesis=allowed, separate_duties=False)
    upload(person, parts(answer(synthesis("joined", "v0001"))))
    opened = person.get(f"{page('review')}?claim=0").context["page"].opened
    form = {"outcome": "approve", "rationale": "", "shown_sha256": opened.shown_sha256, "based_on": 0}
    person.post(reverse("decide_claim", args=[Review.objects.get().review_id, 0]), form)
    person.post(page("seal_review"), {"based_on": Review.objects.get().revision})
    assert text_of(person.get(page("release")), "released-title") == f"Released {int(allowed)}"


@pytest.mark.parametrize(
    ("limit", "value", "claims"),
    [
        ("document_bytes", 100, ONE_FACT),
        (
            "nesting_depth",
            4,
            answer(claim("fact", "v0001", delivers=[{"entity": "e", "field": "f", "value": [1]}])),
        ),
        ("entries", 2, answer(*[claim(f"fact-{number}", "v0001") for number in range(3)])),
        ("string_bytes", 200, answer(claim("fact", "v0001", text="x" * 201))),
        (
            "numeral_digits",
            3,
            answer(claim("fact", "v0001", delivers=[{"entity": "e", "field": "f", "value": 1234}])),
        ),
        (
            "numeral_exponent",
            5,
            answer(claim("fact", "v0001", delivers=[{"entity": "e", "field": "f", "value": 1e30}])),
        ),
    ],
)
def test_over_a_limit_the_upload_is_refused_naming_the_setting(
    person: Client, put_in_force: PutInForce, limit: str, value: int, claims: dict[str, Any]
) -> None:
    put_in_force(limits={limit: value})
    response = upload(person, parts(claims))
    assert response.status_code == 400
    assert f"limits.{limit}" in text_of(response, "upload-result")
    assert not Review.objects.exists()
