"""Headers, limits and logs: what holds for every answer, whoever asks (spec 6.3)."""

from __future__ import annotations

import io
import re
from pathlib import Path

import pytest
from django.conf import settings
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import OperationalError
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse

import ethos_review
from ethos_review.accounts.models import User
from ethos_review.accounts.roles import REVIEWER, SUBMITTER
from ethos_review.reviews import operations, policies, uploads
from ethos_review.web import health
from tests.factories import decide_as_shown
from tests.web.people import make_person
from tests.web.world import make_world

pytestmark = pytest.mark.django_db
POLICY = {
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self'",
    "font-src 'self'",
    "connect-src 'self'",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
}


def assert_hardened(response: HttpResponse) -> None:
    assert {part.strip() for part in response["Content-Security-Policy"].split(";")} == POLICY
    assert response["X-Content-Type-Options"] == "nosniff"
    assert response["Referrer-Policy"] == "same-origin"
    assert response["Cross-Origin-Opener-Policy"] == "same-origin"


# Headers -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("get", "/healthz", 200),
        ("get", "/sign-in/", 200),
        ("get", "/", 302),
        ("post", "/upload/", 403),
        ("get", "/nowhere/", 404),
        ("delete", "/healthz", 405),
        ("get", "/sign-in/?next=%00", 400),
    ],
)
def test_every_answer_has_the_policy_errors_included(
    client: Client, method: str, path: str, status: int
) -> None:
    response = getattr(client, method)(path)
    assert response.status_code == status
    assert_hardened(response)


def test_a_refused_form_has_the_policy() -> None:
    response = Client(enforce_csrf_checks=True).post("/sign-in/")
    assert response.status_code == 403
    assert_hardened(response)


@pytest.mark.parametrize(("fault", "status"), [(ZeroDivisionError(), 500), (OperationalError(), 503)])
def test_a_failure_has_the_policy(monkeypatch: pytest.MonkeyPatch, fault: Exception, status: int) -> None:
    def fail() -> None:
        raise fault

    monkeypatch.setattr(health.connection, "ensure_connection", fail)
    response = Client(raise_request_exception=False).get("/healthz")
    assert response.status_code == status
    assert_hardened(response)


def test_a_static_file_has_the_policy() -> None:
    file = Path(settings.STATIC_ROOT) / "hardened.txt"
    file.write_text("x")
    try:
        response = Client().get("/static/hardened.txt")
    finally:
        file.unlink()
    assert response.status_code == 200
    response.close()
    assert_hardened(response)


def test_pages_and_downloads_have_the_policy_and_no_frame_around_them(client: Client) -> None:
    world = make_world("01-quarterly-report")
    client.force_login(world.reviewer)
    for name in ("review", "release", "download_envelope", "download_contract_decision"):
        response = client.get(world.page("01-quarterly-report", name))
        assert response.status_code == 200
        assert_hardened(response)
        assert response["X-Frame-Options"] == "DENY"


# Uploads -------------------------------------------------------------------------------------------------------------


@pytest.fixture
def small_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if documents had 250 bytes at most: 1,000 and 100 for the rest may come."""
    policy = policies.current_policy()
    limits = type(policy.limits)(document_bytes=250)
    small = type(policy)(name=policy.name, version=policy.version, limits=limits)
    monkeypatch.setattr(uploads, "current_policy", lambda: small)
    monkeypatch.setattr(uploads, "ENVELOPE", 100)


def no_parsing(*args: object, **kwargs: object) -> None:
    raise AssertionError("the request was parsed")


@pytest.mark.usefixtures("small_bounds")
def test_more_bytes_than_an_upload_needs_are_refused_before_they_are_parsed(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    client.force_login(make_person(SUBMITTER))
    monkeypatch.setattr(uploads.BoundedUploadHandler, "new_file", no_parsing)
    response = client.post("/upload/", {"claims": SimpleUploadedFile("claims.json", b"x" * 1_200)})
    assert response.status_code == 413
    assert b"too much at once" in response.content


@pytest.mark.usefixtures("small_bounds")
def test_a_document_over_its_own_limit_is_still_refused_by_name(client: Client) -> None:
    client.force_login(make_person(SUBMITTER))
    response = client.post("/upload/", {"claims": SimpleUploadedFile("claims.json", b"x" * 400)})
    assert response.status_code == 400


@pytest.mark.parametrize("who", ["nobody", REVIEWER])
def test_files_of_people_who_may_not_submit_are_not_parsed(
    client: Client, monkeypatch: pytest.MonkeyPatch, who: str
) -> None:
    if who != "nobody":
        client.force_login(make_person(who))
    monkeypatch.setattr(settings, "DATA_UPLOAD_MAX_MEMORY_SIZE", 500)
    monkeypatch.setattr(uploads.BoundedUploadHandler, "new_file", no_parsing)
    strict = Client(enforce_csrf_checks=True)
    for where in ("/upload/", "/sign-in/"):
        for browser in (client, strict):
            response = browser.post(where, {"claims": SimpleUploadedFile("claims.json", b"x" * 600)})
            assert response.status_code in (302, 403, 413), (
                where
            )  # 302: someone signed in leaves the sign-in page


@pytest.mark.parametrize(
    "form",
    [
        {f"field{number}": "x" for number in range(settings.DATA_UPLOAD_MAX_NUMBER_FIELDS + 1)},
        {
            f"file{number}": SimpleUploadedFile("f.json", b"{}")
            for number in range(settings.DATA_UPLOAD_MAX_NUMBER_FILES + 1)
        },
        {"rationale": "x" * (settings.DATA_UPLOAD_MAX_MEMORY_SIZE + 1)},
    ],
    ids=["fields", "files", "bytes of fields"],
)
def test_too_many_parts_are_refused(client: Client, form: dict[str, object]) -> None:
    client.force_login(make_person(SUBMITTER))
    response = client.post("/upload/", form)
    assert response.status_code == 413
    assert_hardened(response)


# Roads to a decision -------------------------------------------------------------------------------------------------


def modules_with(pattern: str) -> set[str]:
    package = Path(ethos_review.__file__).parent
    return {
        str(module.relative_to(package))
        for module in package.rglob("*.py")
        if not {"engine", "migrations"} & set(module.parts)
        and re.search(pattern, module.read_text(encoding="utf-8"))
    }


def test_one_operation_makes_decisions_and_only_the_reviewers_page_calls_it() -> None:
    makes_a_row = r"ReviewerDecision(\.objects\.\w*create|\((?!AppendOnlyModel))"
    assert modules_with(makes_a_row) == {"reviews/operations.py"}
    assert modules_with(r"operations\.decide_claim\(|import [^#\n]*\bdecide_claim\b") == {
        "reviews/views/review.py"
    }


def test_not_even_a_superuser_decides_on_what_they_submitted() -> None:
    root = User.objects.create_superuser("root")
    review = operations.submit_review(
        actor=root, uploads=operations.sample_uploads(operations.SAMPLE / "02-pump-maintenance")
    ).review
    position = review.claims.filter(action="needs_review").first().position
    with pytest.raises(operations.NotAllowed):
        decide_as_shown(root, review.review_id, position, "approve", "seen")


# Logs ----------------------------------------------------------------------------------------------------------------

CANARY = "the-heron-by-the-weir"


def test_every_line_of_production_is_formatted_so() -> None:
    assert settings.LOGGING["root"]["handlers"] == ["console"]
    assert settings.LOGGING["handlers"]["console"]["formatter"] == "plain"


def test_a_failure_is_logged_with_its_place_and_kind_and_without_its_message(
    log: io.StringIO, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail() -> None:
        try:
            raise ValueError(CANARY)
        except ValueError as cause:
            raise KeyError(CANARY) from cause

    monkeypatch.setattr(health.connection, "ensure_connection", fail)
    Client(raise_request_exception=False).get("/healthz")
    said = log.getvalue()
    assert "Internal Server Error: /healthz" in said
    assert said.index("builtins.KeyError") < said.index("caused by:") < said.index("builtins.ValueError")
    assert "test_security.py" in said
    assert CANARY not in said


def test_no_claim_text_rationale_password_or_code_is_logged(client: Client, log: io.StringIO) -> None:
    world = make_world("02-pump-maintenance")
    text = operations.sample_uploads(operations.SAMPLE / "02-pump-maintenance")[0].content[:40].decode()
    client.post("/sign-in/", {"username": "reviewer", "password": CANARY})
    client.post(f"/sign-in/?next=/{CANARY}", {"username": CANARY, "password": CANARY})
    client.force_login(world.submitter)
    decide = reverse("decide_claim", args=[world.reviews["02-pump-maintenance"], 0])
    for person in (world.submitter, world.reviewer):
        client.force_login(person)
        client.post(
            decide, {"outcome": "approve", "rationale": CANARY, "shown_sha256": "0" * 64, "based_on": 0}
        )
        client.get("/", {"q": CANARY})
    client.force_login(world.submitter)
    client.post("/upload/", {"claims": SimpleUploadedFile(f"{CANARY}.json", CANARY.encode())})
    said = log.getvalue()
    assert "New login failure" in said
    assert CANARY not in said
    assert text not in said
