"""The description of the API is valid OpenAPI 3.1, and what it says is what the addresses do."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any
from uuid import uuid4

import pytest
from django.db import OperationalError
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse
from jsonschema import Draft202012Validator

from ethos_review.api import access
from ethos_review.engine.contracts import SCHEMAS
from ethos_review.reviews import operations
from ethos_review.reviews.models import Document, Review
from ethos_review.web.problems import MEDIA_TYPE
from tests.api.programs import WHOLE, Program, assert_described, make_program, resolved
from tests.factories import answer, bundle, claim, make_reviewer
from tests.web.test_permissions import PATTERNS

METHODS = ("get", "put", "post", "delete", "options", "head", "patch", "trace")
OPERATIONS = [
    (method, path, operation)
    for path, item in WHOLE["paths"].items()
    for method, operation in item.items()
    if method in METHODS
]
KEPT = json.loads((SCHEMAS / "openapi.json").read_text(encoding="utf-8"))
UUID_IN_ITS_PLACE = uuid4()


def nodes(node: Any, pointer: str = "#") -> Iterator[tuple[str, dict[str, Any]]]:
    if isinstance(node, dict):
        yield pointer, node
    inner = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    for token, entry in inner:
        yield from nodes(entry, f"{pointer}/{token}")


# OpenAPI -------------------------------------------------------------------------------------------------------------


def test_it_has_what_openapi_asks_for() -> None:
    assert WHOLE["openapi"] == "3.1.0"
    assert {"title", "version"} <= WHOLE["info"].keys()
    assert WHOLE.keys() <= {"openapi", "info", "servers", "security", "paths", "components"}
    assert all(path.startswith("/") for path in WHOLE["paths"])
    assert len({operation["operationId"] for _, _, operation in OPERATIONS}) == len(OPERATIONS)
    for _, path, operation in OPERATIONS:
        assert operation["summary"], path
        assert operation["responses"], path
        assert all(status.isdecimal() and len(status) == 3 for status in operation["responses"])


def test_every_reference_leads_to_something() -> None:
    for pointer, node in nodes(WHOLE):
        target = node.get("$ref")
        if isinstance(target, str):
            assert target.startswith("#/components/"), pointer
            assert isinstance(resolved(node), dict), pointer


def test_every_part_is_used() -> None:
    used = {node["$ref"] for _, node in nodes(WHOLE) if isinstance(node.get("$ref"), str)}
    named = {f"#/components/{kind}/{name}" for kind, parts in KEPT["components"].items() for name in parts}
    assert {part for part in named if "/securitySchemes/" not in part} <= used


def test_every_schema_is_one_of_draft_2020_12() -> None:
    schemas = [
        entry
        for _, node in nodes(WHOLE)
        for entry in (node.get("schema"), node.get("contentSchema"))
        if isinstance(entry, dict)
    ]
    assert len(schemas) > 20
    for schema in [*schemas, *WHOLE["components"]["schemas"].values()]:
        Draft202012Validator.check_schema(schema)


def test_every_parameter_of_a_path_is_described() -> None:
    for path, item in WHOLE["paths"].items():
        parameters = [resolved(parameter) for parameter in item.get("parameters", ())]
        assert {f"{{{parameter['name']}}}" for parameter in parameters} == {
            part for part in path.split("/") if part.startswith("{")
        }
        assert all(parameter["in"] == "path" and parameter["required"] for parameter in parameters)


def test_every_response_says_what_it_holds() -> None:
    for _, path, operation in OPERATIONS:
        for status, response in operation["responses"].items():
            whole = resolved(response)
            assert whole["description"], (path, status)
            assert list(whole["content"]) == [MEDIA_TYPE if status >= "400" else "application/json"]


def test_it_holds_the_schemas_of_the_documents_as_they_are() -> None:
    for name in (
        "bundle",
        "claims",
        "readings",
        "verification-report",
        "contract-decision",
        "release-statement",
    ):
        schema = json.loads((SCHEMAS / f"{name}.schema.json").read_text(encoding="utf-8"))
        inside = WHOLE["components"]["schemas"][name]
        assert inside["title"] == schema["title"]
        assert inside.get("required") == schema.get("required")
        assert inside.get("$defs", {}).keys() == schema.get("$defs", {}).keys()
    assert "urn:ethos-review:schema" not in json.dumps(WHOLE)


# The addresses -------------------------------------------------------------------------------------------------------


def test_the_paths_are_the_addresses_with_their_methods() -> None:
    described = {
        f"{WHOLE['servers'][0]['url']}{path}": {method for method in METHODS if method in item}
        for path, item in WHOLE["paths"].items()
    }
    arguments = {"review_id": "{review_id}", "role": "{role}"}
    here = {}
    for name, (pattern, wanted) in PATTERNS.items():
        if name.startswith("api_"):
            values = {key: str(UUID_IN_ITS_PLACE) if key == "review_id" else arguments[key] for key in wanted}
            where = reverse(name, kwargs=values).replace(str(UUID_IN_ITS_PLACE), "{review_id}")
            where = where.replace("%7B", "{").replace("%7D", "}")
            here[where] = set(getattr(pattern.callback, "acts", {"get": None}))
    assert described == here


def test_the_parameters_and_scopes_are_those_of_the_acts() -> None:
    for method, path, operation in OPERATIONS:
        act = acts().get((path, method))
        if act is None:
            assert operation["security"] == []
            continue
        assert f"Needs the scope `{act.scope}`." in operation["description"]  # type: ignore[attr-defined]
        parameters = tuple(resolved(parameter)["name"] for parameter in operation.get("parameters", ()))
        assert parameters == act.parameters  # type: ignore[attr-defined]


def acts() -> dict[tuple[str, str], Callable[..., HttpResponse]]:
    names = {
        "/reviews": "api_reviews",
        "/check": "api_check",
        "/reviews/{review_id}": "api_review",
        "/reviews/{review_id}/release": "api_release",
        "/reviews/{review_id}/contract-decision": "api_contract_decision",
        "/reviews/{review_id}/documents/{role}": "api_document",
    }
    return {
        (path, method): act
        for path, name in names.items()
        for method, act in PATTERNS[name][0].callback.acts.items()
    }


@pytest.mark.django_db
def test_it_is_served_whole_to_everyone(client: Client) -> None:
    served = client.get(reverse("api_description"))
    assert_described(served, "get", "/api/v1/openapi.json")
    assert served.json() == WHOLE
    assert client.head(reverse("api_description")).status_code == 200
    assert_described(client.post(reverse("api_description")), "post", "/api/v1/openapi.json")


# The statuses --------------------------------------------------------------------------------------------------------


def content() -> bytes:
    return bundle(answer(claim("fact", "v0001")))[0].content


class Sealed:
    """A program with a sealed review."""

    def __init__(self) -> None:
        self.program = make_program()
        told = self.program.post(reverse("api_reviews"), content())
        self.review = Review.objects.get(review_id=told.json()["review_id"])
        operations.seal_review(actor=make_reviewer(), review_id=self.review.review_id)

    def address(self, path: str, review_id: object = None) -> str:
        wanted = path.replace("{review_id}", str(review_id or self.review.review_id))
        return "/api/v1" + wanted.replace("{role}", Document.Role.BUNDLE)

    def ask(
        self, method: str, path: str, body: bytes | None = None, kind: str = "", **options: Any
    ) -> HttpResponse:
        if method == "post":
            return self.program.post(path, content() if body is None else body, kind, **options)
        return self.program.get(path)


Meet = Callable[[Sealed, str, str, pytest.MonkeyPatch], HttpResponse]


def well(world: Sealed, method: str, path: str, _: pytest.MonkeyPatch) -> HttpResponse:
    return world.ask(method, world.address(path))


def anew(world: Sealed, method: str, path: str, _: pytest.MonkeyPatch) -> HttpResponse:
    return world.ask(method, f"{world.address(path)}?again={uuid4()}")


def unreadable(world: Sealed, method: str, path: str, _: pytest.MonkeyPatch) -> HttpResponse:
    return world.ask(method, f"{world.address(path)}?cursor=%00")


def without_token(world: Sealed, method: str, path: str, _: pytest.MonkeyPatch) -> HttpResponse:
    sent = getattr(Client(), method)(world.address(path))
    assert_described(sent, method, world.address(path))
    return sent  # type: ignore[no-any-return]


def of_another_scope(world: Sealed, method: str, path: str, _: pytest.MonkeyPatch) -> HttpResponse:
    scope = "read" if method == "post" else "submit"
    world.program = Program(world.program.account, scope)
    return world.ask(method, world.address(path))


def unknown(world: Sealed, method: str, path: str, _: pytest.MonkeyPatch) -> HttpResponse:
    return world.ask(method, world.address(path, uuid4()))


def changed(world: Sealed, method: str, path: str, _: pytest.MonkeyPatch) -> HttpResponse:
    Review.objects.update(content_sha256="0" * 64)
    return world.ask(method, world.address(path))


def of_unknown_length(world: Sealed, method: str, path: str, _: pytest.MonkeyPatch) -> HttpResponse:
    return world.ask(method, world.address(path), CONTENT_LENGTH="")


def too_large(world: Sealed, method: str, path: str, _: pytest.MonkeyPatch) -> HttpResponse:
    return world.ask(method, world.address(path), CONTENT_LENGTH=str(10**9))


def of_another_type(world: Sealed, method: str, path: str, _: pytest.MonkeyPatch) -> HttpResponse:
    return world.ask(method, world.address(path), kind="text/plain")


def refused(world: Sealed, method: str, path: str, _: pytest.MonkeyPatch) -> HttpResponse:
    return world.ask(method, world.address(path), b"{}")


def without_database(world: Sealed, method: str, path: str, patch: pytest.MonkeyPatch) -> HttpResponse:
    def fail(text: str) -> None:
        raise OperationalError

    world.program.client.raise_request_exception = False
    patch.setattr(access, "accepted", fail)
    return world.ask(method, world.address(path))


MEETS: dict[str, Meet] = {
    "200": well,
    "201": anew,
    "400": unreadable,
    "401": without_token,
    "403": of_another_scope,
    "404": unknown,
    "409": changed,
    "411": of_unknown_length,
    "413": too_large,
    "415": of_another_type,
    "422": refused,
    "503": without_database,
}


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("method", "path", "status"),
    [(method, path, status) for method, path, operation in OPERATIONS for status in operation["responses"]],
)
def test_every_status_that_is_described_can_be_met(
    method: str, path: str, status: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert MEETS[status](Sealed(), method, path, monkeypatch).status_code == int(status)
