"""Submitting, checking and following reviews as a program does."""

from __future__ import annotations

import hashlib
import io
import json
import logging
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from django.conf import settings
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.handlers.wsgi import WSGIRequest
from django.test import Client, RequestFactory
from django.urls import reverse
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from ethos_review import __version__, cli
from ethos_review.accounts.roles import REVIEWER, SUBMITTER
from ethos_review.api.requests import Unusable, uploads_in
from ethos_review.audit.models import Event
from ethos_review.reviews import operations, own_reviews
from ethos_review.reviews.models import Document, Release, Review
from ethos_review.reviews.operations import Upload
from tests.api.programs import Files, Program, assert_problem, make_program
from tests.factories import (
    answer,
    bundle,
    claim,
    decide,
    four_claims,
    make_review,
    make_reviewer,
    make_user,
    parts,
    reading,
    synthesis,
)
from tests.reviews.policies import PutInForce

pytestmark = pytest.mark.django_db
LIST, CHECK = reverse("api_reviews"), reverse("api_check")
CANARY = "the-heron-by-the-weir"


@pytest.fixture
def program() -> Program:
    return make_program()


def one_bundle(question: str = "What changed?", **members: Any) -> bytes:
    claims = answer(claim("fact", "v0001"), synthesis("joined", "v0001"), question=question)
    return bundle(claims, **members)[0].content


def files(uploads: list[Upload]) -> Files:
    return {upload.role: SimpleUploadedFile(upload.name, upload.content) for upload in uploads}


def nothing_is_stored() -> bool:
    return not (
        Review.objects.exists() or Document.objects.exists() or Event.objects.filter(object_type="review")
    )


# Submitting ----------------------------------------------------------------------------------------------------------


def test_a_bundle_becomes_a_review_whose_bytes_are_kept(program: Program) -> None:
    content = one_bundle(external_id="run 7")
    told = program.post(LIST, content)
    review = Review.objects.get()
    assert told.status_code == 201
    assert told["Location"] == reverse("api_review", args=[review.review_id])
    assert bytes(Document.objects.with_content().get().content) == content
    assert review.submitter == program.account
    assert told.json() | {"submitted_at": None} == {
        "review_id": str(review.review_id),
        "external_id": "run 7",
        "supersedes": None,
        "status": "needs_review",
        "submitted_at": None,
        "engine_version": __version__,
        "app_status": "partial_certified",
        "counts": {"claims": 2, "undecided": 1, "released": 1, "withheld": 0},
        "sealed_at": None,
        "answer_status": None,
        "documents": [
            {
                "role": "bundle",
                "name": "bundle.json",
                "size": len(content),
                "sha256": hashlib.sha256(content).hexdigest(),
                "href": f"{told['Location']}/documents/bundle",
            }
        ],
        "links": {
            "self": told["Location"],
            "contract_decision": f"{told['Location']}/contract-decision",
            "release": None,
        },
        "already_submitted": False,
    }


def test_separate_documents_become_a_review(program: Program) -> None:
    uploads = four_claims()
    told = program.post(LIST, files(uploads))
    assert told.status_code == 201
    kept = {document.role: bytes(document.content) for document in Document.objects.with_content()}
    assert kept == {upload.role: upload.content for upload in uploads}
    assert [document["role"] for document in told.json()["documents"]] == [upload.role for upload in uploads]


def test_a_bundle_may_come_as_a_part_too(program: Program) -> None:
    first = program.post(LIST, one_bundle())
    again = program.post(LIST, {"bundle": SimpleUploadedFile("other name.json", one_bundle())})
    assert again.json()["review_id"] == first.json()["review_id"]


def test_the_same_bytes_lead_to_the_review_they_have(program: Program) -> None:
    first = program.post(LIST, one_bundle())
    again = program.post(LIST, one_bundle())
    assert again.status_code == 200
    assert again.json() == first.json() | {"already_submitted": True}
    assert Review.objects.count() == 1


def test_a_token_that_only_submits_is_led_there_too() -> None:
    program = make_program("submit")
    assert [program.post(LIST, one_bundle()).status_code for _ in range(2)] == [201, 200]


def test_one_more_review_is_made_once_for_each_uuid(program: Program) -> None:
    first = program.post(LIST, one_bundle()).json()["review_id"]
    where = f"{LIST}?again={uuid4()}"
    second, repeated = program.post(where, one_bundle()), program.post(where, one_bundle())
    assert (second.status_code, repeated.status_code) == (201, 200)
    assert second.json()["review_id"] == repeated.json()["review_id"] != first
    assert program.post(f"{LIST}?again=once", one_bundle()).status_code == 400
    assert Review.objects.count() == 2


def test_bytes_that_another_submitted_are_refused_until_asked_for_again(program: Program) -> None:
    make_review(make_user("other", SUBMITTER), bundle(answer(), external_id="same"))
    content = bundle(answer(), external_id="same")[0].content
    refused = program.post(LIST, content)
    assert refused.status_code == 422
    assert [problem["code"] for problem in refused.json()["problems"]] == ["already_submitted"]
    assert program.post(f"{LIST}?again={uuid4()}", content).status_code == 201


def test_a_review_is_superseded_by_its_submitter(program: Program) -> None:
    fact = answer(claim("fact", "v0001"))
    old = program.post(LIST, bundle(fact)[0].content).json()["review_id"]
    correction = bundle(fact, supersedes=old)[0].content
    assert program.post(LIST, correction).json()["problems"][0]["code"] == "review_not_sealed"
    operations.seal_review(actor=make_reviewer(), review_id=old)
    assert program.post(LIST, correction).json()["supersedes"] == old


def test_what_the_policy_seals_by_itself_is_sealed_in_the_answer(
    program: Program, put_in_force: PutInForce
) -> None:
    put_in_force(auto_seal="nothing_to_review")
    told = program.post(LIST, bundle(answer(claim("fact", "v0001")))[0].content).json()
    assert (told["status"], told["answer_status"]) == ("sealed", "complete")
    assert told["links"]["release"] == f"{told['links']['self']}/release"
    assert Release.objects.get().sealed_by is None


# Refusals ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("where", [LIST, CHECK])
@pytest.mark.parametrize(
    ("content", "code", "pointer"),
    [
        (b" ", "empty_document", ""),
        (b"{", "syntax_error", ""),
        (b'{"a": 1, "a": 2}', "duplicate_member", "/a"),
        (b"\xff\xfe{\x00", "not_utf8", ""),
        (
            one_bundle().replace(b'"claim_type"', b'"claim_typ"', 1),
            "unknown_member",
            "/claims/claims/0/claim_typ",
        ),
        (
            one_bundle().replace(b'"v0001"]', b'"v0009"]', 1),
            "unknown_check_id",
            "/claims/claims/0/check_ids/0",
        ),
    ],
    ids=["empty", "no JSON", "twice", "UTF-16", "misspelt", "unknown check"],
)
def test_a_refusal_names_document_place_code_and_next_step_and_stores_nothing(
    program: Program, where: str, content: bytes, code: str, pointer: str
) -> None:
    refused = program.post(where, content)
    assert_problem(refused, 422)
    problems = refused.json()["problems"]
    assert (code, pointer) in [(problem["code"], problem["pointer"]) for problem in problems]
    assert {problem["document"] for problem in problems} == {"bundle"}
    assert nothing_is_stored()


def test_the_only_reader_of_json_is_the_strict_one(program: Program) -> None:
    """Python's own would take NaN, a member twice, and the last of two."""
    for content in (one_bundle().replace(b'"What changed?"', b"NaN"), one_bundle() + b" {}"):
        assert program.post(LIST, content).status_code == 422


@pytest.mark.parametrize(
    ("roles", "codes"),
    [
        (["claims"], {"missing_document"}),
        (["verification_report", "readings"], {"missing_document"}),
        (["bundle", "claims"], {"not_beside_a_bundle"}),
    ],
)
def test_parts_that_are_no_submission_are_refused(
    program: Program, roles: list[str], codes: set[str]
) -> None:
    uploads = {upload.role: upload for upload in [*four_claims(), *bundle(answer())]}
    refused = program.post(LIST, files([uploads[role] for role in roles]))
    assert refused.status_code == 422
    assert {problem["code"] for problem in refused.json()["problems"]} == codes
    assert nothing_is_stored()


def test_a_part_that_is_sent_twice_is_refused(program: Program) -> None:
    report, claims, _ = four_claims()
    twice = [SimpleUploadedFile(claims.name, claims.content) for _ in range(2)]
    refused = program.post(LIST, files([report]) | {"claims": twice})
    assert [problem["code"] for problem in refused.json()["problems"]] == ["too_many_files"]


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("report", "Did you mean `verification_report`?"),
        ("reading", "Did you mean `readings`?"),
        ("x" * 500, "Known are verification_report, claims, readings, bundle."),
        ("zero\u200bwidth", "Known are"),
    ],
)
def test_a_part_of_another_name_is_told_the_nearest_one(program: Program, name: str, said: str) -> None:
    refused = program.post(LIST, {name: SimpleUploadedFile("r.json", b"{}")})
    (problem,) = refused.json()["problems"]
    assert (problem["document"], problem["code"]) == ("unknown", "unknown_part")
    assert said in problem["message"]


def test_a_document_that_is_no_file_is_refused_because_its_bytes_would_be_lost(program: Program) -> None:
    refused = program.post(LIST, files(four_claims()[:1]) | {"claims": '{"question": "Why?"}'})
    (problem,) = refused.json()["problems"]
    assert (problem["document"], problem["code"]) == ("claims", "not_a_file")


@pytest.mark.parametrize(
    "media_type",
    ["text/plain", "application/xml", "application/x-www-form-urlencoded", "application/problem+json", "x"],
)
def test_another_media_type_is_told_which_ones_are_read(program: Program, media_type: str) -> None:
    refused = program.post(LIST, one_bundle(), media_type)
    assert refused.status_code == 415
    assert refused["Accept"] == "application/json, multipart/form-data"


def test_parameters_of_a_media_type_change_nothing(program: Program) -> None:
    for charset in ("utf-8", "utf-16", "hex", "nonsense"):
        assert program.post(LIST, one_bundle(), f"application/json; charset={charset}").status_code in (
            200,
            201,
        )
    assert Review.objects.count() == 1


def test_a_form_that_cannot_be_read_is_told(program: Program) -> None:
    assert program.post(LIST, b"--x\r\n", "multipart/form-data").status_code == 400
    assert program.post(LIST, b"--y\r\n", "multipart/form-data; boundary=x").status_code == 422


def test_a_body_that_came_in_part_is_refused() -> None:
    content = one_bundle()
    environ = RequestFactory()._base_environ(
        REQUEST_METHOD="POST", CONTENT_TYPE="application/json", CONTENT_LENGTH=str(len(content) + 1)
    )
    with pytest.raises(Unusable, match="Send the bundle again") as refused:
        uploads_in(WSGIRequest({**environ, "wsgi.input": io.BytesIO(content)}))
    assert refused.value.status == 400


@pytest.mark.parametrize("media_type", ["application/json", "multipart/form-data; boundary=x"])
@pytest.mark.parametrize("length", ["", "many", "-1", "²"])
def test_a_body_of_unknown_length_is_told(program: Program, media_type: str, length: str) -> None:
    refused = program.post(LIST, b"{}", media_type, CONTENT_LENGTH=length)
    assert refused.status_code == 411


def test_more_bytes_than_the_policy_accepts_are_not_read(program: Program, put_in_force: PutInForce) -> None:
    put_in_force(limits={"document_bytes": 500})
    refused = program.post(LIST, b" " * 501)
    assert refused.status_code == 413
    assert program.post(LIST, b" " * 500).status_code == 422
    assert nothing_is_stored()


def test_a_part_over_the_limit_is_too_large_and_named(program: Program, put_in_force: PutInForce) -> None:
    put_in_force(limits={"document_bytes": 500})
    refused = program.post(LIST, {"bundle": SimpleUploadedFile("bundle.json", b" " * 501)})
    assert refused.status_code == 413
    assert refused.json()["problems"][0]["code"] == "document_too_large"


@pytest.mark.parametrize("as_a_part", [False, True])
def test_a_bundle_larger_than_djangos_own_bound_is_read(program: Program, as_a_part: bool) -> None:
    filler = "x" * 60_000
    claims = [synthesis(f"claim-{number}", "v0001", text=filler) for number in range(50)]
    content = bundle(answer(*claims))[0].content
    assert len(content) > settings.DATA_UPLOAD_MAX_MEMORY_SIZE
    sent = {"bundle": SimpleUploadedFile("bundle.json", content)} if as_a_part else content
    assert program.post(LIST, sent).status_code == 201


@pytest.mark.parametrize(
    "name", ["n" * 300 + ".json", "name." + "e" * 300, "a/b\\c.json", "\u202egnp.json", " "]
)
def test_any_file_name_is_taken_or_refused(program: Program, name: str) -> None:
    told = program.post(LIST, {"bundle": SimpleUploadedFile(name, one_bundle())})
    assert told.status_code in (201, 400, 422)


# Checking ------------------------------------------------------------------------------------------------------------


def test_a_check_says_what_the_command_says_and_stores_nothing(
    program: Program, tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    (report, claims, readings) = four_claims()
    for upload in (report, claims, readings):
        (tmp_path / upload.name).write_bytes(upload.content)
    told = program.post(CHECK, files([report, claims, readings]))
    command = f"decide --report {report.name} --claims {claims.name} --readings {readings.name}".split()
    words = [str(tmp_path / word) if word.endswith(".json") else word for word in command]
    assert cli.main(words) == cli.OK
    assert told.json() == json.loads(capsysbinary.readouterr().out)
    assert told.json()["claims"]["unsettled"]["action"] == "needs_review"
    assert nothing_is_stored()


def test_a_check_tells_what_a_submission_would(program: Program) -> None:
    refused = program.post(CHECK, one_bundle(supersedes=str(uuid4())))
    assert refused.status_code == 422
    assert refused.json()["problems"][0]["pointer"] == "/supersedes"


def test_numbers_keep_their_digits(program: Program) -> None:
    delivers = [{"entity": "acme", "field": "revenue", "value": 7}]
    content = bundle(answer(claim("fact", "v0001", delivers=delivers)), readings=[reading(7)])[0].content
    long = content.replace(b'"value": 7', b'"value": 7.10000000000000000000000000000001')
    assert (
        program.post(CHECK, long).json()["verdicts"][0]["delivered_value"]
        == "7.10000000000000000000000000000001"
    )


# Following -----------------------------------------------------------------------------------------------------------


def test_a_review_is_followed_from_submission_to_release(program: Program) -> None:
    where = program.post(LIST, one_bundle())["Location"]
    reviewer = make_user("reviewer", REVIEWER)
    review = Review.objects.get()
    assert program.get(f"{where}/release").json()["detail"].startswith("This review is not sealed yet.")
    decide(reviewer, review, 1)
    assert program.get(where).json()["status"] == "ready_to_seal"
    operations.seal_review(actor=reviewer, review_id=review.review_id)
    told = program.get(where).json()
    assert (told["status"], told["answer_status"]) == ("sealed", "complete")
    assert told["sealed_at"] is not None
    envelope = program.get(told["links"]["release"])
    assert envelope.content == bytes(Release.objects.get().envelope)
    assert envelope["Content-Disposition"] == 'attachment; filename="release.dsse.json"'


def test_a_decision_that_was_undone_shows(program: Program) -> None:
    where = program.post(LIST, one_bundle())["Location"]
    decide(make_user("reviewer", REVIEWER), Review.objects.get(), 1, "block")
    assert program.get(where).json()["counts"] == {"claims": 2, "undecided": 0, "released": 1, "withheld": 1}


def test_the_contract_decision_is_that_of_the_page(program: Program, client: Client) -> None:
    where = program.post(LIST, one_bundle())["Location"]
    client.force_login(program.account)
    page = client.get(reverse("download_contract_decision", args=[Review.objects.get().review_id]))
    assert program.get(f"{where}/contract-decision").content == page.content


def test_a_document_comes_back_byte_for_byte(program: Program) -> None:
    content = b"\xef\xbb\xbf  " + one_bundle() + b"\n\n"
    told = program.post(LIST, content).json()
    document = program.get(told["documents"][0]["href"])
    assert document.content == content
    assert document["Content-Type"] == "application/json"
    assert document["X-Content-Type-Options"] == "nosniff"
    assert program.get(f"{told['links']['self']}/documents/claims").status_code == 404
    assert program.get(f"{told['links']['self']}/documents/nonsense").status_code == 404


def test_changed_documents_are_told_and_not_shown(program: Program, caplog: pytest.LogCaptureFixture) -> None:
    where = program.post(LIST, one_bundle())["Location"]
    Review.objects.update(content_sha256="0" * 64)
    assert program.get(f"{where}/contract-decision").status_code == 409
    assert [record.levelname for record in caplog.records] == ["ERROR"]


@pytest.mark.parametrize("number", [1, 3])
def test_the_list_asks_as_often_for_one_review_as_for_three(
    program: Program, number: int, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    for count in range(number):
        review = make_review(program.account, parts(answer(claim("fact", "v0001"), question=f"{count}?")))
        operations.seal_review(actor=make_reviewer(f"reviewer-{count}"), review_id=review.review_id)
    program.get(LIST)
    with django_assert_num_queries(4):  # token with its account, roles, reviews with releases, documents
        assert len(program.get(LIST).json()["reviews"]) == number


def test_one_review_takes_a_fixed_number_of_queries(
    program: Program, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    where = program.post(LIST, one_bundle())["Location"]
    with django_assert_num_queries(4):  # token with its account, roles, review with its release, documents
        program.get(where)


def test_the_list_goes_on_after_a_row_while_reviews_come(
    program: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(own_reviews, "PAGE_SIZE", 2)
    submitted = [program.post(LIST, one_bundle(f"{count}?")).json()["review_id"] for count in range(5)]
    seen, where = [], LIST
    while where:
        page = program.get(where).json()
        seen.append([review["review_id"] for review in page["reviews"]])
        where = page["next"]
        program.post(LIST, one_bundle(f"while looking {len(seen)}?"))
    newest_first = submitted[::-1]
    assert seen == [newest_first[:2], newest_first[2:4], newest_first[4:]]


def test_a_review_submitted_at_the_same_moment_is_neither_lost_nor_twice(
    program: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(own_reviews, "PAGE_SIZE", 1)
    for count in range(3):
        program.post(LIST, one_bundle(f"{count}?"))
    Review.objects.update(submitted_at=timezone.now() - timedelta(days=1))
    seen, where = [], LIST
    while where:
        page = program.get(where).json()
        seen += [review["review_id"] for review in page["reviews"]]
        where = page["next"]
    assert len(seen) == len(set(seen)) == 3


def test_the_list_is_of_one_status_on_every_page(program: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(own_reviews, "PAGE_SIZE", 1)
    for count in range(2):
        program.post(LIST, bundle(answer(claim("fact", "v0001"), question=f"{count}?"))[0].content)
    program.post(LIST, one_bundle())
    first = program.get(LIST, status="ready_to_seal").json()
    second = program.get(first["next"]).json()
    assert [review["status"] for review in first["reviews"] + second["reviews"]] == ["ready_to_seal"] * 2
    assert second["next"] is None
    assert program.get(LIST, status="sealed").json() == {"reviews": [], "next": None}


@pytest.mark.parametrize(
    "query", [{"status": "open"}, {"cursor": "x"}, {"cursor": "1-2-3"}, {"cursor": "²-1"}]
)
def test_a_parameter_that_means_nothing_is_refused(program: Program, query: dict[str, str]) -> None:
    assert program.get(LIST, **query).status_code == 400


# Logs ----------------------------------------------------------------------------------------------------------------


def test_no_token_and_no_text_is_logged(program: Program, log: io.StringIO) -> None:
    program.post(LIST, one_bundle(CANARY))
    program.post(LIST, one_bundle(CANARY)[:-1])
    program.post(LIST, {CANARY: SimpleUploadedFile(f"{CANARY}.json", CANARY.encode())})
    program.get(LIST, cursor=CANARY)
    program.client.get(f"/api/v1/{CANARY}")
    program.client.get(LIST, headers={"Authorization": f"Bearer {program.text}{CANARY}"})
    logging.getLogger().info("the log is read")
    said = log.getvalue()
    assert "the log is read" in said
    assert program.text.rpartition("_")[2] not in said
    assert CANARY not in said


def test_no_refusal_is_logged(program: Program, caplog: pytest.LogCaptureFixture) -> None:
    statuses = [
        program.post(LIST, b"{}").status_code,
        program.post(LIST, b"{}", "text/plain").status_code,
        program.post(LIST, b"{}", CONTENT_LENGTH=str(10**9)).status_code,
        program.get(LIST, status="open").status_code,
        program.client.get(LIST).status_code,
    ]
    assert statuses == [422, 415, 413, 400, 401]
    assert caplog.records == []
