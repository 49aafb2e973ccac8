"""Every address states who may ask for it, and refuses everyone else with every method (spec 6.3)."""

from __future__ import annotations

from collections.abc import Iterator
from uuid import uuid4

import pytest
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver, reverse

from ethos_review.accounts.roles import ROLES
from ethos_review.web.permissions import ANYONE, SIGNED_IN
from tests.web.people import make_person

OPEN = {"sign_in", "sign_out", "healthz"}
ARGUMENTS = {"review_id": uuid4(), "position": 0, "role": "claims", "key_id": "0" * 64}
METHODS = ("get", "head", "post", "put", "patch", "delete")


def patterns(resolver: URLResolver) -> Iterator[URLPattern]:
    for entry in resolver.url_patterns:
        if isinstance(entry, URLResolver):
            yield from patterns(entry)
        else:
            yield entry


PATTERNS = list(patterns(get_resolver()))
PERMISSIONS = {pattern.name: getattr(pattern.callback, "permission", None) for pattern in PATTERNS}
GUARDED = sorted(name for name, permission in PERMISSIONS.items() if permission != ANYONE and name)


def address(name: str) -> str:
    wanted = next(pattern.pattern.converters for pattern in PATTERNS if pattern.name == name)
    nested = {"review_id"} if f"{name}" in NESTED else set()
    return reverse(name, kwargs={key: ARGUMENTS[key] for key in set(wanted) | nested})


NESTED = {
    pattern.name
    for entry in get_resolver().url_patterns
    if isinstance(entry, URLResolver)
    for inner in entry.url_patterns
    if isinstance(inner, URLResolver)
    for pattern in inner.url_patterns
}


def test_every_address_has_a_name_and_states_its_permission() -> None:
    assert {name: permission for name, permission in PERMISSIONS.items() if not name or not permission} == {}


def test_what_is_open_to_everyone_is_open_on_purpose() -> None:
    assert {name for name, permission in PERMISSIONS.items() if permission == ANYONE} == OPEN


def test_the_permissions_named_are_those_of_roles() -> None:
    known = set().union(*ROLES.values()) | {SIGNED_IN, ANYONE}
    assert set(PERMISSIONS.values()) <= known


@pytest.mark.django_db
@pytest.mark.parametrize("name", GUARDED)
def test_nobody_who_is_not_signed_in_gets_anything_with_any_method(client: Client, name: str) -> None:
    for method in METHODS:
        response = getattr(client, method)(address(name))
        assert response.status_code == (403 if method == "post" else 302), method
        assert response.headers.get("Location", "/sign-in/").startswith("/sign-in/")


@pytest.mark.django_db
@pytest.mark.parametrize("role", sorted(ROLES))
def test_a_role_gets_exactly_what_its_permissions_name(client: Client, role: str) -> None:
    client.force_login(make_person(role))
    for name in GUARDED:
        if name == "load_sample":
            continue  # has a test of its own: it does what it says when it is allowed
        allowed = PERMISSIONS[name] == SIGNED_IN or PERMISSIONS[name] in ROLES[role]
        for method in METHODS:
            status = getattr(client, method)(address(name)).status_code
            assert (status != 403) == allowed, (name, method, status)


@pytest.mark.django_db
def test_a_method_that_a_page_does_not_know_is_refused(client: Client) -> None:
    client.force_login(make_person("Reviewer"))
    statuses = {name: client.put(address(name)).status_code for name in GUARDED}
    assert {name: status for name, status in statuses.items() if status not in (403, 405)} == {}
