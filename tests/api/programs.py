"""Programs with tokens, for tests; every answer is held against the description of the API."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache
from typing import Any
from unittest.mock import patch

from django.http import HttpResponse
from django.test import Client
from django.test.client import ClientHandler
from jsonschema import Draft202012Validator
from referencing import Registry
from referencing.jsonschema import DRAFT202012

from ethos_review.accounts.models import ApiToken, User
from ethos_review.accounts.operations import create_token
from ethos_review.accounts.roles import OPERATOR, SUBMITTER
from ethos_review.api.description import description
from ethos_review.web.handler import Utf8Request
from tests.factories import make_user

Files = dict[str, Any]
WHOLE: dict[str, Any] = json.loads(description())
DESCRIBED = "urn:description"


class Utf8Handler(ClientHandler):
    """Reads a request as production does, where Django's own test client does not."""

    def __call__(self, environ: dict[str, Any]) -> HttpResponse:
        with patch("django.test.client.WSGIRequest", Utf8Request):
            return super().__call__(environ)  # type: ignore[no-any-return]


class Program:
    """A client that sends its token with every request, and believes no answer that is not described."""

    def __init__(self, account: User, *scopes: str) -> None:
        self.account = account
        operator = User.objects.filter(username="who-makes-tokens").first()
        self.token, self.text = create_token(
            actor=operator or make_user("who-makes-tokens", OPERATOR),
            account_id=account.pk,
            name="pipeline",
            scopes=scopes or ("read", "submit"),
            days=90,
        )
        self.client = Client()
        self.client.handler = Utf8Handler(enforce_csrf_checks=False)

    def get(self, path: str, **query: str) -> HttpResponse:
        return self.send("get", path, query)

    def post(self, path: str, content: Any, content_type: str = "", **options: Any) -> HttpResponse:
        """`content` is files by part, or bytes of JSON."""
        if not isinstance(content, bytes):
            return self.send("post", path, content, **options)
        kind = content_type or "application/json"
        sent = self.client.generic("POST", path, content, kind, headers=self.headers, **options)
        return checked(sent, "post", path)

    def send(self, method: str, path: str, data: Any = None, **options: Any) -> HttpResponse:
        headers = self.headers | options.pop("headers", {})
        return checked(getattr(self.client, method)(path, data, headers=headers, **options), method, path)

    @property
    def headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.text}"}


def make_program(*scopes: str, roles: Sequence[str] = (SUBMITTER,), name: str = "pipeline") -> Program:
    return Program(make_user(name, *roles), *scopes)


def token_of(program: Program) -> ApiToken:
    return ApiToken.objects.get(pk=program.token.pk)


def checked(answer: HttpResponse, method: str, path: str) -> HttpResponse:
    assert_described(answer, method, path)
    return answer


def assert_described(answer: HttpResponse, method: str, path: str) -> None:
    """Its status is one of the operation, its headers and its body are as described there."""
    if answer.status_code == 405:
        assert "Allow" in answer
        assert_problem(answer, 405)
        return
    response = resolved(operation(method, path)["responses"][str(answer.status_code)])
    for header, described in response.get("headers", {}).items():
        assert header in answer or not described.get("required"), header
    ((media_type, content),) = response["content"].items()
    assert answer["Content-Type"] == media_type
    validator(json.dumps(content["schema"])).validate(json.loads(answer.content))
    assert "no-store" in answer["Cache-Control"]
    assert not answer.cookies


def assert_problem(answer: HttpResponse, status: int) -> None:
    assert answer.status_code == status
    assert answer["Content-Type"] == "application/problem+json"
    told = json.loads(answer.content)
    validator('{"$ref": "#/components/schemas/Problem"}').validate(told)
    assert told["status"] == status
    assert told["detail"].endswith(".")


def operation(method: str, path: str) -> dict[str, Any]:
    """As described; of an address that is not, its errors are those of a review."""
    asked = path.partition("?")[0].removeprefix("/api/v1").split("/")
    for described, item in WHOLE["paths"].items():
        parts = described.split("/")
        fits = zip(parts, asked, strict=False)
        if len(parts) == len(asked) and all(part in (given, f"{{{part[1:-1]}}}") for part, given in fits):
            return dict(item["get" if method == "head" else method])
    return {"responses": WHOLE["paths"]["/reviews/{review_id}"]["get"]["responses"]}


def resolved(node: dict[str, Any]) -> dict[str, Any]:
    if "$ref" not in node:
        return node
    found: Any = WHOLE
    for token in node["$ref"].removeprefix("#/").split("/"):
        found = found[token]
    return dict(found)


@cache
def validator(schema: str) -> Any:
    """Of one schema of the description, in which references are to the whole."""
    registry: Registry[Any] = Registry().with_resource(DESCRIBED, DRAFT202012.create_resource(WHOLE))
    wanted = json.loads(schema.replace('"#/', f'"{DESCRIBED}#/'))
    return Draft202012Validator(wanted, registry=registry, format_checker=Draft202012Validator.FORMAT_CHECKER)
