"""Who is let in: programs with a token of the right scope and role, and nobody by a session."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.conf import settings
from django.contrib.sessions.models import Session
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import OperationalError
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from ethos_review.accounts import operations as accounts
from ethos_review.accounts.models import ApiToken
from ethos_review.accounts.roles import AUDITOR, OPERATOR, REVIEWER, ROLES, SUBMITTER
from ethos_review.api import access
from ethos_review.reviews import operations, uploads
from ethos_review.web.permissions import ANYONE, PROGRAM
from tests.api.programs import Program, assert_described, assert_problem, make_program, token_of
from tests.factories import bundle, four_claims, make_review, make_user
from tests.web.people import make_people
from tests.web.test_permissions import PATTERNS, PERMISSIONS, address

pytestmark = pytest.mark.django_db
METHODS = ("get", "head", "post", "put", "patch", "delete", "options", "trace")
LIST, CHECK, SUBMIT = reverse("api_reviews"), reverse("api_check"), reverse("api_reviews")
OF_PROGRAMS = {name for name, permission in PERMISSIONS.items() if permission == PROGRAM}


@pytest.fixture
def program() -> Program:
    return make_program()


def content() -> bytes:
    return bundle({"question": "Why?", "claims": []})[0].content


# No token ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", sorted(OF_PROGRAMS))
def test_without_a_token_nothing_is_answered(client: Client, name: str) -> None:
    for method in METHODS:
        answer = getattr(client, method)(address(name))
        assert answer.status_code == 401, method
        assert answer["WWW-Authenticate"] == 'Bearer realm="Ethos Review"'


@pytest.mark.parametrize("role", ROLES)
def test_a_session_lets_nobody_in(client: Client, role: str) -> None:
    client.force_login(make_people()[role])
    for name in OF_PROGRAMS:
        for method in METHODS:
            assert getattr(client, method)(address(name)).status_code == 401, (name, method)


@pytest.mark.parametrize(
    "header",
    [
        "",
        "Bearer",
        "Bearer ",
        "Bearer none",
        "Basic cGlwZWxpbmU6c2VjcmV0",
        "Token ethosr_0000000000000000_" + "0" * 64,
        "Bearer ethosr_0000000000000000_" + "0" * 64,
        "Bearer ethosr_\xe9",
    ],
)
def test_another_header_lets_nobody_in(client: Client, header: str) -> None:
    answer = client.get(LIST, headers={"Authorization": header})
    assert_described(answer, "get", LIST)
    assert answer.status_code == 401
    assert answer["WWW-Authenticate"].endswith('error="invalid_token"')


def test_a_token_elsewhere_than_in_the_header_lets_nobody_in(client: Client, program: Program) -> None:
    client.cookies["token"] = client.cookies[settings.SESSION_COOKIE_NAME] = program.text
    for answer in (
        client.get(LIST, {"access_token": program.text}),
        client.post(CHECK, {"access_token": program.text}),
    ):
        assert_problem(answer, 401)


@pytest.mark.parametrize("scheme", ["Bearer", "bearer", "BEARER"])
def test_the_scheme_is_read_in_any_case(program: Program, scheme: str) -> None:
    answer = program.send("get", LIST, headers={"Authorization": f"{scheme} {program.text}"})
    assert answer.status_code == 200


def test_a_token_that_ended_says_why(program: Program) -> None:
    assert program.get(LIST).status_code == 200
    ApiToken.objects.update(
        created_at=timezone.now() - timedelta(9), expires_at=timezone.now() - timedelta(8)
    )
    assert "expired on" in program.get(LIST).json()["detail"]
    accounts.revoke_token(actor=make_user("operator", OPERATOR), key_id=program.token.key_id)
    answer = program.get(LIST)
    assert "revoked" in answer.json()["detail"]
    assert answer["WWW-Authenticate"] == 'Bearer realm="Ethos Review", error="invalid_token"'


def test_a_closed_account_has_no_program(program: Program) -> None:
    accounts.deactivate_person(actor=make_user("operator", OPERATOR), person_id=program.account.pk)
    assert program.get(LIST).status_code == 401


# What a token opens --------------------------------------------------------------------------------------------------


def test_a_token_opens_the_api_and_nothing_else() -> None:
    """Of every address and method: elsewhere a program is nobody, whatever roles its account has."""
    program = make_program(roles=tuple(ROLES))
    program.client.raise_request_exception = False
    nobody = Client()
    opened = set()
    for name in sorted(PATTERNS):
        for method in METHODS:
            asked = getattr(program.client, method)
            answer = asked(address(name), headers={"Authorization": f"Bearer {program.text}"})
            if name in OF_PROGRAMS:
                opened |= {name} if answer.status_code not in (401, 403) else set()
            else:
                assert answer.status_code == getattr(nobody, method)(address(name)).status_code, (
                    name,
                    method,
                )
                assert answer.status_code in {302, 403, 405} or PERMISSIONS[name] == ANYONE, (name, method)
    assert opened == OF_PROGRAMS
    assert not Session.objects.exists()


def test_the_api_has_no_act_but_to_submit_and_to_read() -> None:
    acts = {
        (method, act.scope): act.__name__
        for name in OF_PROGRAMS
        for method, act in PATTERNS[name][0].callback.acts.items()
    }
    assert set(acts) == {("get", "read"), ("post", "submit")}


def test_no_session_is_made(program: Program) -> None:
    for answer in (program.get(LIST), program.post(SUBMIT, content())):
        assert answer.status_code in (200, 201)
        assert not answer.cookies
        assert "Cookie" not in answer.get("Vary", "")
    assert not Session.objects.exists()


def test_a_form_of_another_site_reaches_nothing(program: Program) -> None:
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(program.account)
    answer = strict.post(
        SUBMIT, content(), content_type="text/plain", headers={"Origin": "https://elsewhere.example"}
    )
    assert_problem(answer, 401)


def test_a_program_needs_no_csrf_token(program: Program) -> None:
    program.client = Client(enforce_csrf_checks=True)
    assert program.post(SUBMIT, content()).status_code == 201


def test_what_is_sent_without_a_token_is_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_reading(*_: Any, **__: Any) -> None:
        raise AssertionError("the form was read")

    monkeypatch.setattr(uploads.BoundedUploadHandler, "handle_raw_input", no_reading)
    for who in (Program(make_user("reads"), "read").headers, {}):
        answer = Client().post(SUBMIT, {"claims": SimpleUploadedFile("claims.json", b"{}")}, headers=who)
        assert answer.status_code == (403 if who else 401)


# Scopes and roles ----------------------------------------------------------------------------------------------------


def asked(program: Program, name: str, method: str) -> HttpResponse:
    return program.post(address(name), content()) if method == "post" else program.get(address(name))


@pytest.mark.parametrize("scope", ["read", "submit"])
def test_an_act_of_another_scope_is_refused_with_what_is_missing(scope: str) -> None:
    program = make_program(scope)
    for name in OF_PROGRAMS:
        for method, act in PATTERNS[name][0].callback.acts.items():
            answer = asked(program, name, method)
            assert (answer.status_code == 403) == (act.scope != scope), (name, method)
            if answer.status_code == 403:
                assert answer.json()["missing_scope"] == act.scope
                assert f'scope="{act.scope}"' in answer["WWW-Authenticate"]


@pytest.mark.parametrize(
    ("role", "reads"), [(REVIEWER, True), (AUDITOR, True), (OPERATOR, True), (None, False)]
)
def test_what_the_roles_do_not_allow_no_scope_does(role: str | None, reads: bool) -> None:
    program = make_program(roles=[role] if role else [])
    assert (program.get(LIST).status_code == 200) == reads
    answer = program.post(SUBMIT, content())
    assert answer.status_code == 403
    assert "role Submitter" in answer.json()["detail"]


def test_a_role_that_is_taken_meanwhile_is_told(program: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(**_: Any) -> None:
        raise operations.NotAllowed("Your role does not let you submit reviews.")

    monkeypatch.setattr(operations, "submit_review", refuse)
    assert program.post(SUBMIT, content()).status_code == 403


def test_the_review_of_another_is_not_found_whatever_the_role_sees() -> None:
    review = make_review(make_user("other", SUBMITTER), four_claims())
    program = make_program(roles=tuple(ROLES))
    assert program.get(LIST).json()["reviews"] == []
    for name in ("api_review", "api_release", "api_contract_decision"):
        assert program.get(reverse(name, args=[review.review_id])).status_code == 404
    assert program.get(reverse("api_document", args=[review.review_id, "claims"])).status_code == 404


# Methods, addresses, failures ----------------------------------------------------------------------------------------


def test_another_method_is_told_which_ones_there_are(program: Program) -> None:
    answer = program.send("delete", LIST)
    assert_problem(answer, 405)
    assert answer["Allow"] == "GET, POST, HEAD"
    assert program.send("get", CHECK)["Allow"] == "POST"


def test_head_is_answered_like_get(program: Program) -> None:
    answer = program.client.head(LIST, headers={"Authorization": f"Bearer {program.text}"})
    assert (answer.status_code, answer.content) == (200, b"")


@pytest.mark.parametrize(
    "path",
    [
        "/api/",
        "/api/v1/",
        "/api/v2/reviews",
        "/api/v1/reviews/",
        "/api/v1/reviews/7",
        "/api/v1/reviews/x/release",
    ],
)
def test_an_address_that_is_none_is_told_in_json(program: Program, path: str) -> None:
    assert_problem(program.client.get(path), 404)


@pytest.mark.parametrize("path", ["/api/v1/reviews?cursor=%00", "/api/v1/reviews/%00", "/api/%00"])
def test_nul_in_an_address_is_told_in_json(program: Program, path: str) -> None:
    assert_problem(program.client.get(path), 400)


def test_another_host_is_told_in_json(program: Program) -> None:
    answer = program.client.get(
        LIST, headers={"Host": "elsewhere.example", "Authorization": f"Bearer {program.text}"}
    )
    assert_problem(answer, 400)


def test_a_parameter_that_is_not_known_is_refused(program: Program) -> None:
    assert "known are: `status`, `cursor`" in program.get(LIST, stauts="sealed").json()["detail"]
    path = reverse("api_review", args=[uuid4()])
    assert program.get(path, status="sealed").status_code == 400


@pytest.mark.parametrize(("fault", "status"), [(ZeroDivisionError(), 500), (OperationalError(), 503)])
def test_a_failure_is_told_in_json(
    program: Program, monkeypatch: pytest.MonkeyPatch, fault: Exception, status: int
) -> None:
    def fail(text: str) -> None:
        raise fault

    monkeypatch.setattr(access, "accepted", fail)
    client = Client(raise_request_exception=False)
    answer = client.get(LIST, headers={"Authorization": f"Bearer {program.text}"})
    assert_problem(answer, status)
    assert ("Retry-After" in answer) == (status == 503)


# Use -----------------------------------------------------------------------------------------------------------------


def test_the_first_use_of_a_day_is_noted_and_no_other_writes(
    program: Program, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    with django_assert_num_queries(4):  # token with its account, the day, roles, reviews
        program.get(LIST)
    assert token_of(program).last_used_on == timezone.now().date()
    with django_assert_num_queries(3):
        program.get(LIST)
