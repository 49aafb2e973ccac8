"""Every address and method, for every role and for nobody: the one table of who may ask for what (spec 6.3)."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec
from uuid import uuid4

import pytest
from django.apps import apps
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver, reverse

from ethos_review.accounts.models import User
from ethos_review.accounts.roles import AUDITOR, OPERATOR, REVIEWER, ROLES, SUBMITTER
from ethos_review.reviews import operations
from ethos_review.web.permissions import ANYONE, PROGRAM, SIGNED_IN
from tests.web.people import make_people

NOBODY = "nobody"
COLUMNS = (NOBODY, SUBMITTER, REVIEWER, AUDITOR, OPERATOR)
GROUPS = (("get", "head"), ("post",), ("put", "patch", "delete"))

# 302 for nobody is sign-in with the way back; 403 is refused; 404 is allowed, and there is no such review here.
# 401 is told to programs without a token: tests/api/test_access.py says what a token opens.
TABLE = """
queue                        302 200 200 200 200 | 403 405 405 405 405 | 302 405 405 405 405
next_review                  302 403 405 403 403 | 403 403 302 403 403 | 302 403 405 403 403
insights                     302 403 200 200 200 | 403 403 405 405 405 | 302 403 405 405 405
help                         302 200 200 200 200 | 403 405 405 405 405 | 302 405 405 405 405
upload                       302 200 403 403 403 | 403 400 403 403 403 | 302 405 403 403 403
recognise                    302 405 403 403 403 | 403 200 403 403 403 | 302 405 403 403 403
load_sample                  302 405 403 403 403 | 403 302 403 403 403 | 302 405 403 403 403
review                       302 404 404 404 404 | 403 405 405 405 405 | 302 405 405 405 405
lease                        302 403 405 403 403 | 403 403 404 403 403 | 302 403 405 403 403
review_changes               302 302 302 302 302 | 403 405 405 405 405 | 302 405 405 405 405
more_claims                  302 302 302 302 302 | 403 405 405 405 405 | 302 405 405 405 405
answer                       302 404 404 404 404 | 403 405 405 405 405 | 302 405 405 405 405
released                     302 404 404 404 404 | 403 405 405 405 405 | 302 405 405 405 405
withheld                     302 404 404 404 404 | 403 405 405 405 405 | 302 405 405 405 405
claim_card                   302 302 302 302 302 | 403 405 405 405 405 | 302 405 405 405 405
decide_claim                 302 403 405 403 403 | 403 403 404 403 403 | 302 403 405 403 403
undo_decision                302 403 405 403 403 | 403 403 404 403 403 | 302 403 405 403 403
seal_review                  302 403 404 403 403 | 403 403 404 403 403 | 302 403 405 403 403
release                      302 404 404 404 404 | 403 405 405 405 405 | 302 405 405 405 405
replay                       302 404 404 404 404 | 403 405 405 405 405 | 302 405 405 405 405
policy                       302 200 200 200 200 | 403 405 405 405 405 | 302 405 405 405 405
policy_with_digest           302 404 404 404 404 | 403 405 405 405 405 | 302 405 405 405 405
download_document            302 404 404 404 404 | 403 405 405 405 405 | 302 405 405 405 405
download_contract_decision   302 404 404 404 404 | 403 405 405 405 405 | 302 405 405 405 405
download_envelope            302 404 404 404 404 | 403 405 405 405 405 | 302 405 405 405 405
keys                         302 403 403 200 200 | 403 403 403 405 405 | 302 403 403 405 405
download_public_key          302 404 404 404 404 | 403 405 405 405 405 | 302 405 405 405 405
sign_in                      200 302 302 302 302 | 200 302 302 302 302 | 405 302 302 302 302
account_login                200 302 302 302 302 | 200 302 302 302 302 | 405 302 302 302 302
mfa_authenticate             302 302 302 302 302 | 302 302 302 302 302 | 405 405 405 405 405
openid_sign_in               404 302 302 302 302 | 405 405 405 405 405 | 405 405 405 405 405
openid_callback              404 404 404 404 404 | 405 405 405 405 405 | 405 405 405 405 405
choose_password              404 404 404 404 404 | 404 404 404 404 404 | 405 405 405 405 405
sign_in_end                  302 302 302 302 302 | 403 302 302 302 302 | 302 405 405 405 405
sign_out                     302 200 200 200 200 | 302 302 302 302 302 | 405 405 405 405 405
sign_out_everywhere          302 405 405 405 405 | 403 302 302 302 302 | 302 405 405 405 405
preferences                  302 200 200 200 200 | 403 302 302 302 302 | 302 405 405 405 405
change_password              302 200 200 200 200 | 403 200 200 200 200 | 302 405 405 405 405
account_reauthenticate       302 200 200 200 200 | 403 200 200 200 200 | 302 405 405 405 405
mfa_reauthenticate           302 302 302 302 302 | 403 302 302 302 302 | 302 405 405 405 405
mfa_reauthenticate_webauthn  302 302 302 302 302 | 403 302 302 302 302 | 302 405 405 405 405
confirm_by_openid            302 302 302 302 302 | 403 405 405 405 405 | 302 405 405 405 405
confirm_at_openid_provider   302 404 404 404 404 | 403 405 405 405 405 | 302 405 405 405 405
mfa_index                    302 200 200 200 200 | 403 405 405 405 405 | 302 405 405 405 405
mfa_list_webauthn            302 200 200 200 200 | 403 405 405 405 405 | 302 405 405 405 405
mfa_activate_totp            302 302 302 302 302 | 403 302 302 302 302 | 302 405 405 405 405
mfa_deactivate_totp          302 404 404 404 404 | 403 404 404 404 404 | 302 405 405 405 405
mfa_add_webauthn             302 302 302 302 302 | 403 302 302 302 302 | 302 405 405 405 405
mfa_edit_webauthn            302 302 302 302 302 | 403 302 302 302 302 | 302 405 405 405 405
mfa_remove_webauthn          302 302 302 302 302 | 403 302 302 302 302 | 302 405 405 405 405
mfa_view_recovery_codes      302 404 404 404 404 | 403 405 405 405 405 | 302 405 405 405 405
mfa_generate_recovery_codes  302 302 302 302 302 | 403 302 302 302 302 | 302 405 405 405 405
people                       302 403 403 403 200 | 403 403 403 403 405 | 302 403 403 403 405
new_person                   302 403 403 403 200 | 403 403 403 403 200 | 302 403 403 403 405
person                       302 403 403 403 404 | 403 403 403 403 404 | 302 403 403 403 405
tokens                       302 403 403 403 200 | 403 403 403 403 405 | 302 403 403 403 405
new_token                    302 403 403 403 200 | 403 403 403 403 200 | 302 403 403 403 405
revoke_token                 302 403 403 403 405 | 403 403 403 403 404 | 302 403 403 403 405
verify                       302 200 200 200 200 | 403 200 200 200 200 | 302 405 405 405 405
key_set                      200 200 200 200 200 | 405 405 405 405 405 | 405 405 405 405 405
export_audit                 302 403 403 200 200 | 403 403 403 405 405 | 302 403 403 405 405
download_checkpoint          302 403 403 404 404 | 403 403 403 405 405 | 302 403 403 405 405
audit                        302 403 403 200 200 | 403 403 403 405 405 | 302 403 403 405 405
api_description              200 200 200 200 200 | 405 405 405 405 405 | 405 405 405 405 405
api_check                    401 401 401 401 401 | 401 401 401 401 401 | 401 401 401 401 401
api_reviews                  401 401 401 401 401 | 401 401 401 401 401 | 401 401 401 401 401
api_review                   401 401 401 401 401 | 401 401 401 401 401 | 401 401 401 401 401
api_release                  401 401 401 401 401 | 401 401 401 401 401 | 401 401 401 401 401
api_contract_decision        401 401 401 401 401 | 401 401 401 401 401 | 401 401 401 401 401
api_document                 401 401 401 401 401 | 401 401 401 401 401 | 401 401 401 401 401
healthz                      200 200 200 200 200 | 405 405 405 405 405 | 405 405 405 405 405
"""
ANSWERS = {
    row.split()[0]: [part.split() for part in row.split(maxsplit=1)[1].split("|")]
    for row in TABLE.strip().splitlines()
}
OPEN = {
    "sign_in",
    "account_login",
    "mfa_authenticate",
    "openid_sign_in",
    "openid_callback",
    "choose_password",
    "sign_out",
    "healthz",
    "key_set",
    "api_description",
}
ARGUMENTS = {
    "review_id": uuid4(),
    "position": 0,
    "role": "claims",
    "key_id": "0" * 64,
    "sha256": "0" * 64,
    "person_id": 0,
    "pk": 0,
}


def patterns(
    resolver: URLResolver, outer: frozenset[str] = frozenset()
) -> Iterator[tuple[URLPattern, set[str]]]:
    """Each with the arguments of its whole address."""
    for entry in resolver.url_patterns:
        wanted = outer | entry.pattern.converters.keys()
        if isinstance(entry, URLResolver):
            yield from patterns(entry, frozenset(wanted))
        else:
            yield entry, set(wanted)


PATTERNS = {pattern.name: (pattern, wanted) for pattern, wanted in patterns(get_resolver())}
PERMISSIONS = {name: getattr(pattern.callback, "permission", None) for name, (pattern, _) in PATTERNS.items()}


def address(name: str) -> str:
    return reverse(name, kwargs={key: ARGUMENTS[key] for key in PATTERNS[name][1]})


def test_every_address_has_a_name_and_states_its_permission() -> None:
    assert {name: permission for name, permission in PERMISSIONS.items() if not name or not permission} == {}


def test_what_is_open_to_everyone_is_open_on_purpose() -> None:
    assert {name for name, permission in PERMISSIONS.items() if permission == ANYONE} == OPEN


def test_the_permissions_named_are_those_of_roles() -> None:
    known = set().union(*ROLES.values()) | {SIGNED_IN, ANYONE, PROGRAM}
    assert set(PERMISSIONS.values()) <= known


def test_every_address_has_a_row_in_the_table() -> None:
    assert PATTERNS.keys() - ANSWERS.keys() == set()


@pytest.mark.parametrize("name", sorted(PATTERNS.keys() & ANSWERS.keys()))
def test_the_table_lets_in_whom_the_permission_names(name: str) -> None:
    """The rows cannot drift from what the view states: refused are exactly those without the permission."""
    for column, role in enumerate(COLUMNS[1:], start=1):
        allowed = PERMISSIONS[name] in {SIGNED_IN, ANYONE} | ROLES[role]
        refused = "401" if PERMISSIONS[name] == PROGRAM else "403"
        assert all((group[column] != refused) == allowed for group in ANSWERS[name]), role


@pytest.mark.django_db
@pytest.mark.parametrize("who", COLUMNS)
def test_each_address_answers_each_method_as_the_table_says(
    who: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(operations, "load_sample", lambda actor: 0)
    people = make_people()
    for name in sorted(PATTERNS.keys() & ANSWERS.keys()):
        column = COLUMNS.index(who)
        for methods, statuses in zip(GROUPS, ANSWERS[name], strict=True):
            for method in methods:
                client = Client()
                if who != NOBODY:
                    client.force_login(User.objects.get(pk=people[who].pk))
                response = getattr(client, method)(address(name))
                assert str(response.status_code) == statuses[column], (name, method)
                if who == NOBODY and response.status_code == 302:
                    assert response["Location"].startswith("/sign-in/"), (name, method)


def test_there_is_no_admin_and_no_other_road_to_its_pages(client: Client) -> None:
    assert not apps.is_installed("django.contrib.admin")
    assert find_spec("ethos_review.reviews.admin") is None
    assert client.get("/admin/").status_code == 404
