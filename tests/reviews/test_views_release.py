"""The last look, the seal, the release page, and the downloads."""

from __future__ import annotations

import base64
import hashlib
import json
import re

import pytest
from django.conf import settings
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse
from pytest_django.asserts import assertContains, assertNumQueries, assertRedirects, assertTemplateUsed

from ethos_review.accounts.roles import SUBMITTER
from ethos_review.engine.envelope import load_public_key, open_envelope
from ethos_review.engine.explain import explain
from ethos_review.reviews import operations
from ethos_review.reviews.assessments import assessment_of
from ethos_review.reviews.models import Document, Release, Review
from tests.factories import decide_as_shown
from tests.web.html import attributes_of, has, text_of
from tests.web.people import make_person
from tests.web.world import SEALED, World, make_world

pytestmark = pytest.mark.django_db
LIFT = "10-lift-offer"


@pytest.fixture
def world() -> World:
    return make_world(SEALED, LIFT)


@pytest.fixture
def reviewer(client: Client, world: World) -> Client:
    client.force_login(world.reviewer)
    return client


def decide_all(world: World) -> None:
    decide_as_shown(world.colleague, world.reviews[LIFT], 2, "block", "It concludes too much.")
    decide_as_shown(world.colleague, world.reviews[LIFT], 6, "approve", "Compared with the tender.")


def seal(client: Client, world: World) -> HttpResponse:
    """As the form of the last look does."""
    page = client.get(world.page(LIFT, "seal_review"))
    return client.post(world.page(LIFT, "seal_review"), {"based_on": page.context["review"].revision})


# Sealing ---------------------------------------------------------------------------------------------------------


def test_the_last_look_shows_what_will_be_signed(reviewer: Client, world: World) -> None:
    decide_all(world)
    response = reviewer.get(world.page(LIFT, "seal_review"))
    assertTemplateUsed(response, "reviews/seal.html")
    assertContains(response, "Compared with the tender.")
    assertContains(response, "It concludes too much.")
    assertContains(response, "Marked passages were released by a reviewer.")
    for document in Document.objects.filter(review__review_id=world.reviews[LIFT]):
        assertContains(response, document.sha256)


def test_sealing_leads_to_the_release(reviewer: Client, world: World) -> None:
    decide_all(world)
    assertRedirects(seal(reviewer, world), world.page(LIFT, "release"))
    assert Release.objects.get(review__review_id=world.reviews[LIFT]).sealed_by == world.reviewer


def test_an_undecided_claim_stops_the_seal_and_the_page_says_so(reviewer: Client, world: World) -> None:
    page = reviewer.get(world.page(LIFT, "seal_review"))
    assert text_of(page, "seal-refusal") == "2 claims are still undecided."
    assert seal(reviewer, world).status_code == 409
    assert not Release.objects.filter(review__review_id=world.reviews[LIFT]).exists()


def test_what_changed_since_the_last_look_is_looked_at_again(reviewer: Client, world: World) -> None:
    decide_all(world)
    seen = reviewer.get(world.page(LIFT, "seal_review")).context["review"].revision
    decide_as_shown(world.colleague, world.reviews[LIFT], 0, "block", "The price is out of date.")
    response = reviewer.post(world.page(LIFT, "seal_review"), {"based_on": seen})
    assertContains(response, "changed", status_code=409)
    assertContains(response, "The price is out of date.", status_code=409)
    assert not Release.objects.filter(review__review_id=world.reviews[LIFT]).exists()


@pytest.mark.parametrize("based_on", ["", "x", "-1", "9" * 5000])
def test_a_seal_without_a_last_look_is_refused(reviewer: Client, world: World, based_on: str) -> None:
    decide_all(world)
    response = reviewer.post(world.page(LIFT, "seal_review"), {"based_on": based_on})
    assert response.status_code == 409


def test_the_same_seal_sent_twice_is_one_release(reviewer: Client, world: World) -> None:
    decide_all(world)
    revision = reviewer.get(world.page(LIFT, "seal_review")).context["review"].revision
    for _ in range(2):
        response = reviewer.post(world.page(LIFT, "seal_review"), {"based_on": revision})
        assertRedirects(response, world.page(LIFT, "release"))
    assert Release.objects.filter(review__review_id=world.reviews[LIFT]).count() == 1


def test_without_a_signing_key_the_page_says_what_is_missing(
    reviewer: Client, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    decide_all(world)
    monkeypatch.setattr(settings, "SIGNING_KEY_FILE", "")
    page = reviewer.get(world.page(LIFT))
    assert text_of(page, "seal-refusal") == "No signing key is configured, so no review can be sealed."
    assert attributes_of(page, "seal")["aria-disabled"] == "true"


# The release -----------------------------------------------------------------------------------------------------


def test_the_release_says_what_was_released_and_why(reviewer: Client, world: World) -> None:
    decide_all(world)
    seal(reviewer, world)
    response = reviewer.get(world.page(LIFT, "release"))
    assertTemplateUsed(response, "reviews/release.html")
    assert text_of(response, "released-title") == "Released 4"
    assert text_of(response, "withheld-title") == "Withheld 3"
    assertContains(response, "Approved</b> by reviewer2")


def test_each_claim_of_the_release_leads_to_the_rules_that_the_engine_gives_for_it(
    reviewer: Client, world: World
) -> None:
    content = reviewer.get(world.page(SEALED, "release")).content.decode()
    links = re.findall(r'href="([^"]*)">Evidence and rules<', content)
    kept = Review.objects.select_related("policy").get(review_id=world.reviews[SEALED])
    claims = assessment_of(kept).claims
    assert len(links) == len(claims)
    for link in links:
        position = int(link.partition("?claim=")[2].partition("#")[0])
        card = text_of(reviewer.get(link), f"claim-{position}-body")
        for rule in explain(claims[position]):
            assert rule.sentence in card


def test_the_command_names_the_files_that_are_downloaded(reviewer: Client, world: World) -> None:
    response = reviewer.get(world.page(SEALED, "release"))
    assert text_of(response, "verify-command") == "ethos-review verify release.dsse.json --key public.pem"
    key_id = Release.objects.get().signing_key.key_id
    pem = reviewer.get(reverse("download_public_key", args=[key_id]))
    assert pem["Content-Disposition"] == 'attachment; filename="public.pem"'
    assertContains(response, "The command comes with the Python package")


def test_a_review_that_is_not_sealed_has_no_release(reviewer: Client, world: World) -> None:
    assert reviewer.get(world.page(LIFT, "release")).status_code == 404
    assert reviewer.get(world.page(LIFT, "download_envelope")).status_code == 404


def test_a_sealed_review_shows_its_seal_instead_of_forms(reviewer: Client, world: World) -> None:
    response = reviewer.get(f"{world.page(SEALED)}?claim=0")
    assert "Sealed by reviewer2" in text_of(response, "progress")
    assert not has(response, "claim-0-form")


def test_the_number_of_queries_does_not_grow_with_the_claims(reviewer: Client, world: World) -> None:
    decide_all(world)
    seal(reviewer, world)
    for folder in (SEALED, LIFT):
        reviewer.get(world.page(folder, "release"))
        with assertNumQueries(7):
            reviewer.get(world.page(folder, "release"))


# Downloads -------------------------------------------------------------------------------------------------------


def test_documents_come_back_byte_for_byte(reviewer: Client, world: World) -> None:
    for upload in operations.sample_uploads(operations.SAMPLE / LIFT):
        response = reviewer.get(reverse("download_document", args=[world.reviews[LIFT], upload.role]))
        assert response.content == upload.content
        assert response["Content-Disposition"] == f'attachment; filename="{upload.name}"'


def test_nothing_uploaded_is_rendered_by_a_browser(client: Client) -> None:
    submitter = make_person(SUBMITTER)
    uploads = operations.sample_uploads(operations.SAMPLE / "08-kitchen-inspection")
    hostile = operations.Upload("bundle", 'x".html', "text/html", uploads[0].content)
    review_id = operations.submit_review(actor=submitter, uploads=[hostile]).review.review_id
    client.force_login(submitter)
    response = client.get(reverse("download_document", args=[review_id, "bundle"]))
    assert response["Content-Type"] == "application/json"
    assert response["X-Content-Type-Options"] == "nosniff"
    assert response["Content-Disposition"] == 'attachment; filename="x\\".html"'


def test_the_envelope_verifies_with_the_key_beside_it(reviewer: Client, world: World) -> None:
    envelope = reviewer.get(world.page(SEALED, "download_envelope"))
    key_id = Release.objects.get().signing_key.key_id
    pem = reviewer.get(reverse("download_public_key", args=[key_id]))
    payload = open_envelope(envelope.content, [load_public_key(pem.content)]).payload
    assert payload == base64.b64decode(json.loads(envelope.content)["payload"])
    assert hashlib.sha256(envelope.content).hexdigest() == Release.objects.get().envelope_sha256


def test_the_contract_decision_is_the_one_that_was_signed(reviewer: Client, world: World) -> None:
    decision = json.loads(reviewer.get(world.page(SEALED, "download_contract_decision")).content)
    envelope = json.loads(reviewer.get(world.page(SEALED, "download_envelope")).content)
    signed = json.loads(base64.b64decode(envelope["payload"]))
    assert decision == signed["predicate"]["contract_decision"]


@pytest.mark.parametrize(
    "name", ["download_contract_decision", "download_envelope", "release", "seal_review"]
)
def test_another_submitter_finds_none_of_it(client: Client, world: World, name: str) -> None:
    client.force_login(make_person(SUBMITTER, "someone-else"))
    assert client.get(world.page(SEALED, name)).status_code in (403, 404)


@pytest.mark.parametrize("role", ["readings.json", "nothing", "bundle"])
def test_a_document_that_is_not_there_is_not_found(reviewer: Client, world: World, role: str) -> None:
    assert reviewer.get(reverse("download_document", args=[world.reviews[LIFT], role])).status_code == 404
