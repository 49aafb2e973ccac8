"""Uploading: what is wrong is told by document, place and sentence; nothing is stored unless all is well."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse
from pytest_django.asserts import assertContains, assertRedirects, assertTemplateNotUsed, assertTemplateUsed

from ethos_review.accounts.roles import REVIEWER, SUBMITTER
from ethos_review.reviews import operations
from ethos_review.reviews.models import Document, Review
from tests.factories import answer, claim, make_review, make_reviewer, make_user, parts
from tests.reviews.policies import PutInForce
from tests.web.html import attributes_of, has, text_of
from tests.web.people import make_person

pytestmark = pytest.mark.django_db
HTMX = {"HX-Request": "true", "HX-Request-Type": "partial"}
PUMP, KITCHEN = "02-pump-maintenance", "08-kitchen-inspection"  # three documents; one bundle


@pytest.fixture
def submitter(client: Client) -> Client:
    client.force_login(make_person(SUBMITTER))
    return client


def files_of(folder: str, **replaced: bytes) -> dict[str, Any]:
    uploads = operations.sample_uploads(operations.SAMPLE / folder)
    contents = {upload.role: upload.content for upload in uploads} | replaced
    return {role: SimpleUploadedFile(f"{role}.json", content) for role, content in contents.items()}


def upload(client: Client, files: dict[str, Any], action: str = "submit", **kwargs: Any) -> HttpResponse:
    headers = kwargs.pop("headers", {})
    return client.post(reverse("upload"), {"action": action, **files, **kwargs}, headers=headers)


def test_the_page_asks_for_the_documents(submitter: Client) -> None:
    assertTemplateUsed(submitter.get(reverse("upload")), "reviews/upload.html")


@pytest.mark.parametrize("folder", [PUMP, KITCHEN], ids=["separate documents", "one bundle"])
def test_good_documents_lead_to_their_review(submitter: Client, folder: str) -> None:
    response = upload(submitter, files_of(folder))
    review = Review.objects.get()
    assertRedirects(response, reverse("review", args=[review.review_id]))
    kept = {document.role: bytes(document.content) for document in Document.objects.all()}
    assert kept == {u.role: u.content for u in operations.sample_uploads(operations.SAMPLE / folder)}


@pytest.mark.parametrize(
    ("folder", "roles", "policy", "said"),
    [
        (
            "10-lift-offer",
            (SUBMITTER,),
            {},
            "Submitted for review. 2 claims need a decision. A reviewer can decide, and seal when all is decided; "
            "until then no reader sees any of it.",
        ),
        (PUMP, (SUBMITTER, REVIEWER), {}, "1 claim needs a decision. Another reviewer can decide"),
        (
            PUMP,
            (SUBMITTER, REVIEWER),
            {"separate_duties": False},
            "You or another reviewer can decide",
        ),
        ("01-quarterly-report", (SUBMITTER,), {}, "No claim needs a decision. A reviewer can seal it;"),
        (
            "01-quarterly-report",
            (SUBMITTER,),
            {"auto_seal": "nothing_to_review"},
            "the policy sealed it at once",
        ),
    ],
)
def test_after_submitting_one_reads_what_comes_next_and_who_does_it(
    client: Client,
    put_in_force: PutInForce,
    folder: str,
    roles: tuple[str, ...],
    policy: dict[str, Any],
    said: str,
) -> None:
    put_in_force(**policy)
    client.force_login(make_user("both", *roles))
    files = {"action": "submit", **files_of(folder)}
    assertContains(client.post(reverse("upload"), files, follow=True), said)


@pytest.mark.parametrize("role", Document.Role.values)
@pytest.mark.parametrize("headers", [{}, HTMX], ids=["plain", "htmx"])
def test_a_release_among_the_files_is_told_and_leads_to_verify(
    submitter: Client, role: str, headers: dict[str, str]
) -> None:
    review = make_review(make_user("other", SUBMITTER), parts(answer(claim("fact", "v0001"))))
    envelope = bytes(operations.seal_review(actor=make_reviewer(), review_id=review.review_id).envelope)

    def file() -> SimpleUploadedFile:
        return SimpleUploadedFile("release.dsse.json", envelope)

    chosen = submitter.post(reverse("recognise", args=[role]), {role: file()}, headers=headers)
    sent = upload(submitter, {role: file()}, headers=headers)
    for response in (chosen, sent):
        assertContains(response, "This is a signed release. The page Verify and the command", status_code=400)


def test_under_htmx_the_whole_page_is_led_to_the_review(submitter: Client) -> None:
    response = upload(submitter, files_of(PUMP), headers=HTMX)
    assert response["HX-Redirect"] == reverse("review", args=[Review.objects.get().review_id])


def test_the_same_bytes_lead_to_the_review_they_already_have(submitter: Client) -> None:
    upload(submitter, files_of(PUMP))
    response = submitter.post(reverse("upload"), {"action": "submit", **files_of(PUMP)}, follow=True)
    assert Review.objects.count() == 1
    assertContains(response, "These bytes were submitted before")
    assertContains(response, f'<a href="{reverse("upload")}#again">upload page</a> and tick “Make a second')


def test_the_same_bytes_make_a_second_review_when_asked(submitter: Client) -> None:
    upload(submitter, files_of(PUMP))
    again = submitter.get(reverse("upload")).context["again"]
    response = upload(submitter, files_of(PUMP), again=again)
    assert Review.objects.count() == 2

    assert upload(submitter, files_of(PUMP), again=again).url == response.url  # the same form, sent twice
    assert Review.objects.count() == 2


@pytest.mark.parametrize("name", ["n" * 300 + ".json", "n." + "e" * 300])
def test_a_long_file_name_is_no_failure(submitter: Client, name: str) -> None:
    part = f'Content-Disposition: form-data; name="claims"; filename="{name}"'
    body = f"--x\r\n{part}\r\n\r\n{{}}\r\n--x--\r\n"
    response = submitter.generic("POST", reverse("upload"), body, "multipart/form-data; boundary=x")
    assert response.status_code == 400


def test_checking_shows_the_decision_and_stores_nothing(submitter: Client) -> None:
    response = upload(submitter, files_of(PUMP), action="check")
    told = text_of(response, "upload-result")
    assert (response.status_code, Review.objects.count()) == (200, 0)
    assert "Accepted; nothing was stored" in told
    assert "Partial – certified claims only" in told
    assert "Needs review. Grounded and relevant" in told


@pytest.mark.parametrize("action", ["check", "submit"])
@pytest.mark.parametrize("headers", [{}, HTMX], ids=["plain", "htmx"])
def test_a_problem_is_told_with_its_place_and_nothing_is_stored(
    submitter: Client, action: str, headers: dict[str, str]
) -> None:
    claims = files_of(PUMP)["claims"].read().replace(b'"v0001"', b'"v9999"', 1)
    response = upload(submitter, files_of(PUMP, claims=claims), action=action, headers=headers)
    told = text_of(response, "upload-result")
    assert (response.status_code, Review.objects.count(), Document.objects.count()) == (400, 0, 0)
    assert "claims /claims/0/check_ids/0" in told
    assert "v9999" in told


@pytest.mark.parametrize("action", ["check", "submit"])
def test_what_is_wrong_with_the_given_file_stands_before_what_is_missing(
    submitter: Client, action: str
) -> None:
    readme = {"claims": SimpleUploadedFile("README.md", b"# Ethos Review")}
    told = text_of(upload(submitter, readme, action=action), "upload-result")
    assert "2 problems found" in told
    assert told.index("claims whole document This is not JSON") < told.index("Add the verification report")


@pytest.mark.parametrize(("folder", "role"), [(PUMP, "claims"), (KITCHEN, "bundle")])
def test_a_file_in_the_wrong_place_is_told_so_and_nothing_is_said_to_be_missing(
    submitter: Client, folder: str, role: str
) -> None:
    files = {"verification_report": files_of(folder)[role]}
    told = text_of(upload(submitter, files), "upload-result")
    assert "1 problem found" in told
    assert f"Choose it as {role}" in told


def test_a_file_too_many_is_told_also_beside_one_in_the_wrong_place(submitter: Client) -> None:
    files = files_of(PUMP)
    swapped = {"verification_report": files["claims"], "claims": files["claims"], "bundle": files["readings"]}
    assert "send it alone" in text_of(upload(submitter, swapped), "upload-result")


def test_under_htmx_only_the_result_is_answered(submitter: Client) -> None:
    response = upload(submitter, files_of(PUMP), action="check", headers=HTMX)
    assertTemplateUsed(response, "reviews/_upload_answer.html")
    assertTemplateNotUsed(response, "base.html")


@pytest.mark.parametrize(
    "files",
    [
        {},
        {"claims": b"{}"},
        {"verification_report": b""},
        {"bundle": b"\xff\xfe{"},
        {"bundle": b'{"a": 1, "a": 2}'},
        {"bundle": b"[NaN]"},
        {"claims": b"[]", "bundle": b"{}"},
        {"bundle": b"[" * 100_000},
    ],
    ids=[
        "nothing",
        "claims alone",
        "empty",
        "UTF-16",
        "doubled name",
        "NaN",
        "bundle and claims",
        "too deep",
    ],
)
def test_a_bad_upload_is_refused_with_a_sentence(submitter: Client, files: dict[str, bytes]) -> None:
    named = {role: SimpleUploadedFile(f"{role}.json", content) for role, content in files.items()}
    response = upload(submitter, named)
    assert (response.status_code, Review.objects.count()) == (400, 0)
    assert "Nothing was stored" in text_of(response, "upload-result")


def test_a_file_over_the_limit_is_refused(submitter: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    limit = operations.current_policy().limits.document_bytes
    big = SimpleUploadedFile("bundle.json", b" " * (limit + 2))
    response = upload(submitter, {"bundle": big})
    assert response.status_code == 400
    assert "document_bytes" in text_of(response, "upload-result")


def test_a_file_name_that_is_too_long_is_refused(submitter: Client) -> None:
    response = upload(submitter, {"bundle": SimpleUploadedFile("x" * 300 + ".json", b"{}")})
    assert (response.status_code, Review.objects.count()) == (400, 0)


def test_what_a_document_calls_itself_is_escaped(submitter: Client) -> None:
    response = upload(submitter, {"bundle": SimpleUploadedFile("b.json", b'{"<script>": 1}')})
    assertContains(response, "&lt;script&gt;", status_code=400)
    assert b"<script>" not in response.content.split(b'id="upload-result"')[1].split(b"</main>")[0]


def recognise(client: Client, role: str, files: dict[str, Any]) -> HttpResponse:
    return client.post(reverse("recognise", args=[role]), files, headers=HTMX)


@pytest.mark.parametrize(
    ("folder", "role", "said"),
    [
        (PUMP, "verification_report", "verification report 1.1.0"),
        (PUMP, "claims", "claims, "),
        (PUMP, "readings", "readings, "),
        (KITCHEN, "bundle", "bundle of a verification report"),
    ],
)
@pytest.mark.parametrize("dropped", [False, True], ids=["chosen", "dropped"])
def test_a_file_is_recognised_as_soon_as_it_is_there(
    submitter: Client, folder: str, role: str, said: str, dropped: bool
) -> None:
    files = files_of(folder)
    digest = hashlib.sha256(files[role].read()).hexdigest()
    files[role].seek(0)
    response = recognise(submitter, "any" if dropped else role, {"document": files[role]})

    told = text_of(response, f"file-{role}")
    assert said in told
    assert digest in told
    assert attributes_of(response, f"file-{role}")["data-role"] == role
    assertTemplateNotUsed(response, "base.html")
    assert not Document.objects.exists()


def test_a_file_in_the_wrong_place_is_told_where_it_belongs(submitter: Client) -> None:
    response = recognise(submitter, "claims", {"claims": files_of(PUMP)["readings"]})
    assert response.status_code == 400
    assert "Choose it as readings" in text_of(response, "file-claims")


def test_what_is_wrong_with_a_file_is_told_with_its_place_and_the_nearest_name(submitter: Client) -> None:
    claims = files_of(PUMP)["claims"].read().replace(b'"claim_type"', b'"claimtype"', 1)
    response = recognise(submitter, "claims", {"claims": SimpleUploadedFile("claims.json", claims)})
    told = text_of(response, "file-claims")
    assert response.status_code == 400
    assert "/claims/0" in told
    assert "claim_type" in told


@pytest.mark.parametrize(
    "content",
    [b"", b"\xff\xfe{", b"[NaN]", b"{}", b"3", b"[" * 100_000, b'{"<script>": 1}'],
    ids=["empty", "UTF-16", "NaN", "unknown", "number", "too deep", "markup"],
)
@pytest.mark.parametrize("role", ["claims", "any"])
def test_a_file_that_is_nothing_is_refused_with_a_sentence(
    submitter: Client, content: bytes, role: str
) -> None:
    response = recognise(submitter, role, {"document": SimpleUploadedFile("<b>.json", content)})
    assert response.status_code == 400
    assertContains(response, "Cannot be used", status_code=400)
    assertContains(response, "&lt;b&gt;.json", status_code=400)


def test_no_policy_is_taken_for_a_document_to_review(submitter: Client) -> None:
    policy = json.dumps({"artifact_type": "ethos_review.policy.v1", "name": "n", "version": "1"}).encode()
    response = recognise(submitter, "any", {"document": SimpleUploadedFile("p.json", policy)})
    assertContains(response, "Choose a verification report, claims, readings, or a bundle", status_code=400)


def test_a_choice_taken_back_empties_its_line(submitter: Client) -> None:
    response = recognise(submitter, "claims", {})
    assert (response.status_code, text_of(response, "file-claims")) == (200, "")


def test_there_is_no_document_of_another_role(submitter: Client) -> None:
    assert recognise(submitter, "policy", {}).status_code == 404


def test_recognising_a_file_over_the_limit_reads_no_further(submitter: Client) -> None:
    limit = operations.current_policy().limits.document_bytes
    big = SimpleUploadedFile("bundle.json", b" " * (limit + 2))
    response = recognise(submitter, "bundle", {"bundle": big})
    assert response.status_code == 400
    assert "document_bytes" in text_of(response, "file-bundle")


def test_checking_names_the_review_that_the_bytes_have_already(submitter: Client) -> None:
    assert not has(upload(submitter, files_of(PUMP), action="check"), "existing")
    upload(submitter, files_of(PUMP))
    response = upload(submitter, files_of(PUMP), action="check")
    assert "These bytes already have a review" in text_of(response, "existing")
    assertContains(response, reverse("review", args=[Review.objects.get().review_id]))


def test_checking_names_no_review_of_someone_else(client: Client, submitter: Client) -> None:
    upload(submitter, files_of(PUMP))
    client.force_login(make_person(SUBMITTER, "other"))
    assert not has(upload(client, files_of(PUMP), action="check"), "existing")


def test_checking_lists_what_was_received_with_digests(submitter: Client) -> None:
    files = files_of(PUMP)
    digests = [hashlib.sha256(file.read()).hexdigest() for file in files.values()]
    for file in files.values():
        file.seek(0)
    told = text_of(upload(submitter, files, action="check"), "upload-result")
    assert [digest for digest in digests if digest not in told] == []


def test_that_files_are_checked_at_once_is_said_only_where_scripts_run(submitter: Client) -> None:
    page = submitter.get(reverse("upload"))
    assert page.text.count("checked as soon as it is chosen") == 1
    assert "checked as soon as it is chosen" in text_of(page, "drop")
    assert "hidden" in attributes_of(page, "drop")
