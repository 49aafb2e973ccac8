"""The Verify page gives the answer of the command, and says whether a release is the one that was sealed here."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse
from pytest_django.asserts import assertContains, assertNotContains, assertTemplateUsed
from securesystemslib.signer import CryptoSigner

from ethos_review import cli
from ethos_review.accounts.roles import SUBMITTER
from ethos_review.engine.contracts import check_against_schema
from ethos_review.engine.envelope import public_key_pem, sign_payload, unverified_payload
from ethos_review.engine.keys import read_key_set
from ethos_review.engine.statement import canonical_payload
from ethos_review.reviews import operations, signing
from ethos_review.reviews.models import Release
from ethos_review.reviews.views import verify
from tests.web.html import has, text_of
from tests.web.people import make_person
from tests.web.world import SEALED, World, make_world

pytestmark = pytest.mark.django_db
STRANGER = CryptoSigner.generate_ed25519()
OPEN = "10-lift-offer"


@pytest.fixture
def world() -> World:
    return make_world(SEALED, OPEN)


@pytest.fixture
def reviewer(client: Client, world: World) -> Client:
    client.force_login(world.reviewer)
    return client


def envelope() -> bytes:
    return bytes(Release.objects.get().envelope)


def statement() -> dict[str, Any]:
    value: dict[str, Any] = json.loads(unverified_payload(envelope()))
    return value


def signed_here(value: dict[str, Any]) -> bytes:
    return signing.sign(canonical_payload(value))


def file(name: str, content: bytes) -> SimpleUploadedFile:
    return SimpleUploadedFile(name, content, "application/json")


def ask(client: Client, content: bytes, **form: Any) -> HttpResponse:
    return client.post(reverse("verify"), {"envelope": file("release.dsse.json", content), **form})


def altered() -> bytes:
    value = json.loads(envelope())
    payload = base64.b64decode(value["payload"])
    return json.dumps({**value, "payload": base64.b64encode(payload + b" ").decode()}).encode()


ENVELOPES = {
    "valid": envelope,
    "stranger": lambda: sign_payload(unverified_payload(envelope()), STRANGER),
    "altered": altered,
    "another attestation": lambda: signed_here({**statement(), "predicateType": "urn:other"}),
    "another statement": lambda: signed_here({**statement(), "_type": "urn:other"}),
    "no release": lambda: signed_here({**statement(), "predicate": {}}),
    "after the end": lambda: signed_here(
        {**statement(), "predicate": {**statement()["predicate"], "sealed_at": "2099-01-01T00:00:00Z"}}
    ),
    "no envelope": lambda: b"{}",
    "no JSON": lambda: b"\xff",
}


@pytest.mark.parametrize("retired", [False, True])
@pytest.mark.parametrize("kind", ENVELOPES)
def test_the_page_and_the_command_give_the_same_answer(
    reviewer: Client, tmp_path: Path, capfd: pytest.CaptureFixture[str], kind: str, retired: bool
) -> None:
    content = ENVELOPES[kind]()
    if retired:
        signing.retire_key(key_id=Release.objects.get().signing_key.key_id, actor=None)
    (tmp_path / "release.json").write_bytes(content)
    (tmp_path / "keys.json").write_bytes(reviewer.get(reverse("key_set")).content)

    verification = ask(reviewer, content).context["verification"]
    status = cli.main(
        ["verify", str(tmp_path / "release.json"), "--keys", str(tmp_path / "keys.json"), "--json"]
    )

    said = json.loads(capfd.readouterr().out)
    del said["envelope"]
    assert said == verification.to_json()
    assert status == (0 if verification.valid else cli._EXIT_CODES[verification.code])
    assert verification.valid == (kind == "valid" or (kind == "after the end" and not retired))


def test_a_valid_release_is_shown_with_what_it_releases(reviewer: Client, world: World) -> None:
    response = ask(reviewer, envelope())
    assertTemplateUsed(response, "reviews/verify.html")
    predicate = statement()["predicate"]
    assertContains(response, "Signature valid")
    assertContains(response, "It equals, byte for byte, what was sealed here")
    assertContains(response, world.page(SEALED, "release"))
    assertContains(response, Release.objects.get().signing_key.key_id)
    assertContains(response, predicate["sealed_by"]["name"])
    assertContains(response, "Ethos verified citation grounding.")
    for claim_id in predicate["release"]["released_claim_ids"]:
        assertContains(response, claim_id)


def test_pasted_text_is_verified_too(reviewer: Client) -> None:
    response = reviewer.post(reverse("verify"), {"text": f"\r\n  {envelope().decode()}\r\n"})
    assertContains(response, "It equals, byte for byte, what was sealed here")


def test_an_envelope_that_is_refused_shows_nothing_of_what_it_says(reviewer: Client) -> None:
    value = statement()
    value["predicate"]["question"] = "Would you believe this?"
    response = ask(reviewer, sign_payload(canonical_payload(value), STRANGER))
    assertContains(response, "Not valid")
    assertContains(response, "unknown_key")
    assertNotContains(response, "Would you believe this?")


def test_a_release_that_differs_from_the_one_sealed_here_is_told(reviewer: Client) -> None:
    value = statement()
    value["predicate"]["sealed_by"]["name"] = "<b>Nobody</b>"
    response = ask(reviewer, signed_here(value))
    assertContains(response, "It differs from what was sealed here")
    assertContains(response, "&lt;b&gt;Nobody")


def test_a_release_of_a_review_that_is_still_open_is_told(reviewer: Client, world: World) -> None:
    value = statement()
    value["predicate"]["review_id"] = str(world.reviews[OPEN])
    assertContains(ask(reviewer, signed_here(value)), "is not sealed here")


@pytest.mark.parametrize("review_id", ["5f0c9a52-6d0b-4f6e-9d7c-0c8f2f6f7a11", "no id"])
def test_a_review_that_is_not_here_is_not_compared(reviewer: Client, review_id: str) -> None:
    value = statement()
    value["predicate"]["review_id"] = review_id
    assertContains(ask(reviewer, signed_here(value)), "is not here, or not yours to see")


def test_who_may_not_see_a_review_does_not_learn_that_it_is_here(client: Client, world: World) -> None:
    client.force_login(make_person(SUBMITTER, "someone-else"))
    response = ask(client, envelope())
    assertContains(response, "Signature valid")
    assertContains(response, "is not here, or not yours to see")


def test_a_kept_envelope_that_was_changed_is_not_equal(reviewer: Client) -> None:
    content = envelope()
    with connection.cursor() as cursor:
        cursor.execute("UPDATE reviews_release SET envelope = %s", [b"{}"])
    assertContains(ask(reviewer, content), "It differs from what was sealed here")


def test_documents_are_held_against_the_subjects(reviewer: Client) -> None:
    uploads = operations.sample_uploads(operations.SAMPLE / SEALED)
    right = [file(upload.name, upload.content) for upload in uploads]
    verification = ask(reviewer, envelope(), documents=right).context["verification"]
    assert verification.valid
    assert set(verification.documents_checked) == {upload.name for upload in uploads}
    wrong = [file("other.json", b"{}")]
    response = ask(reviewer, envelope(), documents=wrong)
    assert response.context["verification"].code == "foreign_document"
    assert not response.context["verification"].valid
    assert "For programs: foreign_document" in text_of(response, "verify-result")
    assert text_of(response, "verify-heading") == (
        "Valid release, but other.json is not one of its documents"
    )
    two = ask(reviewer, envelope(), documents=[file("a.json", b"{}"), file("b.json", b"[]")])
    assert text_of(two, "verify-heading") == (
        "Valid release, but a.json and b.json are none of its documents"
    )


def test_a_released_claim_is_called_by_its_text_and_its_id_is_named_as_one(reviewer: Client) -> None:
    response = ask(reviewer, envelope())
    released = response.context["predicate"]["release"]["released_claim_ids"]
    said = text_of(response, "verify-result")
    assert [f"Certified. Claim id {claim_id}" in said for claim_id in released] == [True] * len(released)


def test_withheld_claims_are_named(reviewer: Client, world: World) -> None:
    assert "Ids of withheld claims none" in text_of(ask(reviewer, envelope()), "verify-result")
    uploads = operations.sample_uploads(operations.SAMPLE / "04-lease-break")
    review = operations.submit_review(actor=world.submitter, uploads=uploads).review
    sealed = operations.seal_review(actor=world.reviewer, review_id=review.review_id)
    response = ask(reviewer, bytes(sealed.envelope))
    withheld = response.context["predicate"]["release"]["withheld_claim_ids"]
    assert withheld
    assert " ".join(["Ids of withheld claims", *withheld]) in text_of(response, "verify-result")


@pytest.mark.parametrize("form", [{}, {"text": " \r\n"}])
def test_nothing_given_is_nothing_verified(reviewer: Client, form: dict[str, str]) -> None:
    assertContains(reviewer.post(reverse("verify"), form), "Choose the file of an envelope")


def test_a_file_that_is_too_large_is_left_to_the_command(
    reviewer: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(verify, "LARGEST", 10)
    assertContains(ask(reviewer, b"x" * 11), "Verify it with the command below")


def test_under_htmx_only_the_result_comes_back(reviewer: Client) -> None:
    response = reviewer.post(
        reverse("verify"),
        {"text": envelope().decode()},
        headers={"HX-Request": "true", "HX-Request-Type": "partial"},
    )
    assertTemplateUsed(response, "reviews/_verify_answer.html")
    assertNotContains(response, "<html")
    assert json.loads(response["HX-Trigger"]) == {"review:answered": {"focus": "verify-result"}}


def test_everyone_gets_the_key_set_and_it_is_a_document(client: Client, world: World) -> None:
    response = client.get("/.well-known/ethos-review-keys.json")
    assert response["Content-Type"] == "application/json"
    assert "max-age=300" in response["Cache-Control"]
    check_against_schema("key_set", response.json(), "key-set")
    (key,) = read_key_set("keys.json", response.content)
    assert key.key.keyid == Release.objects.get().signing_key.key_id
    assert public_key_pem(key.key).decode() == Release.objects.get().signing_key.public_pem


def test_the_key_set_never_holds_a_private_key(client: Client, signing_key_file: Path) -> None:
    content = client.get(reverse("key_set")).content.decode()
    secret = "".join(signing_key_file.read_text().splitlines()[1:-1])
    assert "PRIVATE" not in content
    assert secret not in content.replace("\\n", "")


def test_that_the_key_was_retired_since_is_said_unless_it_equals_what_was_sealed(
    reviewer: Client, world: World
) -> None:
    elsewhere = signed_here(
        statement() | {"predicate": statement()["predicate"] | {"review_id": str(uuid4())}}
    )
    assert not has(ask(reviewer, elsewhere), "key-retired")
    signing.retire_key(key_id=Release.objects.get().signing_key.key_id, actor=None)
    assert "only the audit chain" in text_of(ask(reviewer, elsewhere), "key-retired")
    assert not has(ask(reviewer, envelope()), "key-retired")
