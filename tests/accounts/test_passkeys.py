"""A passkey after the password: bound to this host and this person, throttled, and its changes in the audit chain."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from allauth.mfa.models import Authenticator
from allauth.mfa.webauthn.internal import auth
from axes.models import AccessAttempt
from django.db import OperationalError
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse
from fido2.utils import websafe_decode, websafe_encode
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from pytest_django import Settings
from pytest_django.asserts import assertContains, assertRedirects, assertTemplateUsed

from ethos_review.accounts import second_factor
from ethos_review.accounts.models import User
from ethos_review.accounts.passkeys import LONGEST_ANSWER
from ethos_review.accounts.roles import REVIEWER
from ethos_review.audit.models import Event
from tests.accounts.authenticator import Passkey
from tests.web.people import PASSWORD, make_person

pytestmark = pytest.mark.django_db
INDEX, ADD, USE = reverse("mfa_index"), reverse("mfa_add_webauthn"), reverse("mfa_authenticate")


@pytest.fixture
def client() -> Client:
    return browser()


@pytest.fixture
def person() -> User:
    return make_person(REVIEWER)


@pytest.fixture
def passkey(client: Client, person: User) -> Passkey:
    """Of someone who is signed out again."""
    passkey = Passkey()
    sign_in(client)
    assert add(client, passkey).status_code == 302
    client.post(reverse("sign_out"))
    return passkey


def browser() -> Client:
    """Under a host name that passkeys can be bound to without HTTPS."""
    return Client(SERVER_NAME="localhost")


def sign_in(client: Client, username: str = "reviewer") -> HttpResponse:
    return client.post(reverse("sign_in"), {"username": username, "password": PASSWORD})


def confirm(client: Client) -> None:
    client.post(reverse("account_reauthenticate"), {"password": PASSWORD})


def asked(response: HttpResponse) -> dict[str, Any]:
    """What the page has the browser ask its passkeys for."""
    found = re.search(
        '<script id="passkey-options" type="application/json">(.*?)</script>', content(response)
    )
    assert found
    options: dict[str, Any] = json.loads(found[1])
    return options


def content(response: HttpResponse) -> str:
    return response.content.decode()


def add(client: Client, passkey: Passkey, name: str = "Blue key", **changed: Any) -> HttpResponse:
    confirm(client)
    answer = passkey.create(asked(client.get(ADD))) | changed
    return client.post(ADD, {"name": name, "credential": json.dumps(answer)})


def use(client: Client, passkey: Passkey, **otherwise: Any) -> HttpResponse:
    answer = passkey.get(asked(client.get(USE)), **otherwise)
    return client.post(USE, {"credential": json.dumps(answer)})


def is_signed_in(client: Client) -> bool:
    return client.get(reverse("preferences")).status_code == 200


def test_a_passkey_is_asked_for_after_the_password_and_signs_in(client: Client, passkey: Passkey) -> None:
    assertRedirects(sign_in(client), USE)
    assert not is_signed_in(client)
    assertRedirects(use(client, passkey), reverse("queue"))
    assert is_signed_in(client)


def test_adding_one_shows_recovery_codes_once_and_one_of_them_signs_in_without_it(
    client: Client, person: User
) -> None:
    sign_in(client)
    assertRedirects(add(client, Passkey()), reverse("mfa_view_recovery_codes"), fetch_redirect_response=False)
    codes = re.findall(r"<li>(\d{8})</li>", content(client.get(reverse("mfa_view_recovery_codes"))))
    client.post(reverse("sign_out"))
    sign_in(client)
    client.post(USE, {"code": codes[0]})
    assert is_signed_in(client)


def test_the_passkey_without_the_password_is_worth_nothing(client: Client, passkey: Passkey) -> None:
    assertRedirects(client.post(USE, {"credential": "{}"}), reverse("sign_in"))


OTHER_ORIGINS = [
    "https://localhost.example.org",
    "http://127.0.0.1",
    "http://example.org",
    "http://evil.localhost",
    "http://localhost:8001",
    "https://localhost",
    "http://LOCALHOST/",
    "http://[",
    "",
    None,
    7,
    [1],
]


@pytest.mark.parametrize("origin", OTHER_ORIGINS)
def test_what_was_signed_for_another_site_signs_nobody_in(
    client: Client, passkey: Passkey, origin: object
) -> None:
    sign_in(client)
    assertContains(use(client, passkey, origin=origin), "This passkey was not accepted.")
    assert not is_signed_in(client)


@pytest.mark.parametrize("origin", OTHER_ORIGINS)
def test_what_was_made_for_another_site_is_not_added(client: Client, person: User, origin: object) -> None:
    sign_in(client)
    confirm(client)
    answer = Passkey().create(asked(client.get(ADD)), origin=origin)
    assertContains(client.post(ADD, {"credential": json.dumps(answer)}), "could not be added")
    assert not Authenticator.objects.exists()


def test_what_was_signed_for_another_site_counts_towards_the_lockout(
    client: Client, passkey: Passkey
) -> None:
    sign_in(client)
    use(client, passkey, origin="http://evil.localhost")
    assert AccessAttempt.objects.get().failures_since_start == 1


def test_behind_a_proxy_that_hides_the_port_the_origin_is_the_one_whose_forms_are_accepted(
    client: Client, passkey: Passkey, settings: Settings
) -> None:
    settings.CSRF_TRUSTED_ORIGINS = ["http://localhost:8443"]
    sign_in(client)
    use(client, passkey, origin="http://localhost:8443")
    assert is_signed_in(client)


def test_a_passkey_is_added_once_and_to_one_person(client: Client, passkey: Passkey) -> None:
    sign_in(client)
    use(client, passkey)
    assertContains(add(client, passkey), "This passkey was added before.")
    other_name = websafe_encode(b"another name")
    assertContains(add(client, passkey, id=other_name, rawId=other_name), "could not be added")
    make_person(REVIEWER, "colleague")
    theirs = browser()
    sign_in(theirs, "colleague")
    assertContains(add(theirs, passkey), "This passkey was added before.")
    assert Authenticator.objects.filter(type="webauthn").count() == 1


def test_an_answer_works_once(client: Client, passkey: Passkey) -> None:
    sign_in(client)
    answer = {"credential": json.dumps(passkey.get(asked(client.get(USE))))}
    client.post(USE, answer)
    client.post(reverse("sign_out"))
    sign_in(client)
    client.get(USE)
    assertContains(client.post(USE, answer), "This passkey was not accepted.")
    assert not is_signed_in(client)


def test_the_passkey_of_another_person_signs_nobody_in(client: Client, passkey: Passkey) -> None:
    make_person(REVIEWER, "colleague")
    theirs, other = Passkey(), browser()
    sign_in(other, "colleague")
    add(other, theirs)
    sign_in(client)
    assertContains(use(client, theirs), "This passkey was not accepted.")
    theirs.credential_id = passkey.credential_id
    assertContains(use(client, theirs), "This passkey was not accepted.")
    assert not is_signed_in(client)


def test_ten_wrong_passkeys_close_the_account_from_there(client: Client, passkey: Passkey) -> None:
    sign_in(client)
    wrong = Passkey()
    for _ in range(10):
        response = use(client, wrong)
    assert response.status_code == 429
    assertTemplateUsed(use(client, passkey), "accounts/locked_out.html")
    assert not is_signed_in(client)


def test_adding_and_removing_ask_who_one_is(client: Client, passkey: Passkey) -> None:
    sign_in(client)
    use(client, passkey)
    pk = Authenticator.objects.get(type="webauthn").pk
    for name, arguments in (
        ("mfa_add_webauthn", []),
        ("mfa_edit_webauthn", [pk]),
        ("mfa_remove_webauthn", [pk]),
    ):
        where = reverse(name, args=arguments)
        assert client.get(where)["Location"].startswith(reverse("account_reauthenticate"))
        assert client.post(where)["Location"].startswith(reverse("account_reauthenticate"))


def test_a_passkey_confirms_who_one_is(client: Client, passkey: Passkey) -> None:
    sign_in(client)
    use(client, passkey)
    where = f"{reverse('mfa_reauthenticate_webauthn')}?next={ADD}"
    wrong = Passkey().get(asked(client.get(where)))
    assertContains(client.post(where, {"credential": json.dumps(wrong)}), "This passkey was not accepted.")
    right = passkey.get(asked(client.get(where)))
    assertRedirects(client.post(where, {"credential": json.dumps(right)}), ADD)


def test_a_wrong_passkey_when_confirming_counts_once_towards_the_lockout(
    client: Client, passkey: Passkey
) -> None:
    sign_in(client)
    use(client, passkey)
    where = reverse("mfa_reauthenticate_webauthn")
    statuses = []
    for _ in range(10):
        wrong = Passkey().get(asked(client.get(where)))
        statuses.append(client.post(where, {"credential": json.dumps(wrong)}).status_code)
    assert statuses == [200] * 9 + [429]


def test_a_person_sees_renames_and_removes_it(client: Client, passkey: Passkey) -> None:
    sign_in(client)
    use(client, passkey)
    confirm(client)
    pk = Authenticator.objects.get(type="webauthn").pk
    assertContains(client.get(INDEX), "<bdi>Blue key</bdi>")
    assertRedirects(client.post(reverse("mfa_edit_webauthn", args=[pk]), {"name": "<b>Green</b>"}), INDEX)
    assertContains(client.get(INDEX), "<bdi>&lt;b&gt;Green&lt;/b&gt;</bdi>")
    assertRedirects(client.post(reverse("mfa_remove_webauthn", args=[pk])), INDEX)
    assert not Authenticator.objects.exists()  # the recovery codes went with the last one
    client.post(reverse("sign_out"))
    sign_in(client)
    assert is_signed_in(client)


def test_another_persons_passkey_is_not_found(client: Client, passkey: Passkey) -> None:
    make_person(REVIEWER, "colleague")
    sign_in(client, "colleague")
    confirm(client)
    pk = Authenticator.objects.get(type="webauthn").pk
    for name in ("mfa_edit_webauthn", "mfa_remove_webauthn"):
        for missing in (pk, 0, 10**30):
            assert client.get(reverse(name, args=[missing])).status_code == 404
            assert client.post(reverse(name, args=[missing]), {"name": "Mine"}).status_code == 404
    assert Authenticator.objects.filter(type="webauthn").exists()


def test_adding_and_removing_are_events_that_hold_no_name(client: Client, passkey: Passkey) -> None:
    sign_in(client)
    use(client, passkey)
    confirm(client)
    pk = Authenticator.objects.get(type="webauthn").pk
    client.post(reverse("mfa_remove_webauthn", args=[pk]))
    told = Event.objects.filter(action__startswith="second_factor").order_by("sequence")
    assert [(event.actor_name, event.action, event.object_id, event.details) for event in told] == [
        ("reviewer", "second_factor_added", "reviewer", '{"type":"webauthn"}'),
        ("reviewer", "second_factor_removed", "reviewer", '{"type":"webauthn"}'),
    ]


def test_no_passkey_is_added_or_removed_without_its_event(
    client: Client, passkey: Passkey, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(**event: Any) -> None:
        raise ZeroDivisionError

    sign_in(client)
    use(client, passkey)
    confirm(client)
    monkeypatch.setattr(second_factor, "record_event", fail)
    client.raise_request_exception = False
    before = set(Authenticator.objects.values_list("pk", flat=True))
    assert add(client, Passkey()).status_code == 500
    pk = Authenticator.objects.get(type="webauthn").pk
    assert client.post(reverse("mfa_remove_webauthn", args=[pk])).status_code == 500
    assert set(Authenticator.objects.values_list("pk", flat=True)) == before


def test_names_are_proposed_and_may_be_left_empty_but_not_long(client: Client, person: User) -> None:
    sign_in(client)
    confirm(client)
    assertContains(client.get(ADD), 'value="Passkey"')
    add(client, Passkey(), name="")
    assertContains(client.get(ADD), 'value="Passkey 2"')
    assertContains(add(client, Passkey(), name="x" * 61), "at most 60 characters")


def test_only_what_the_specification_names_is_kept(client: Client, person: User) -> None:
    sign_in(client)
    add(client, Passkey(), more={"\0": ["\0"]}, clientExtensionResults={"credProps": {"rk": "\0"}})
    kept = Authenticator.objects.get(type="webauthn").data["credential"]
    assert kept.keys() == {"id", "rawId", "type", "response"}
    assert kept["response"].keys() == {"clientDataJSON", "attestationObject"}


KEYS_THAT_NOBODY_CAN_CHECK: dict[str, dict[int, Any]] = {
    "of an unknown algorithm": {3: -100},
    "on another curve": {-1: 2},
    "not on its curve": {-2: bytes(32)},
    "with a number for a coordinate": {-2: 7},
}


@pytest.mark.parametrize("changed", KEYS_THAT_NOBODY_CAN_CHECK.values(), ids=KEYS_THAT_NOBODY_CAN_CHECK)
def test_a_key_that_nobody_can_check_is_not_added(
    client: Client, person: User, changed: dict[int, Any]
) -> None:
    sign_in(client)
    confirm(client)
    answer = Passkey().create(asked(client.get(ADD)), changed_key=changed)
    assertContains(client.post(ADD, {"credential": json.dumps(answer)}), "could not be added")
    assert not Authenticator.objects.exists()


def test_a_failure_of_the_database_is_not_said_to_be_a_wrong_passkey(
    client: Client, passkey: Passkey, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*arguments: Any) -> None:
        raise OperationalError

    sign_in(client)
    used = {"credential": json.dumps(passkey.get(asked(client.get(USE))))}
    client.raise_request_exception = False
    with monkeypatch.context() as broken:
        broken.setattr(auth, "get_credentials", fail)
        assert client.post(USE, used).status_code == 503
    assert not AccessAttempt.objects.exists()
    client.post(USE, used)
    confirm(client)
    added = {"credential": json.dumps(Passkey().create(asked(client.get(ADD))))}
    with monkeypatch.context() as broken:
        broken.setattr(auth, "complete_registration", fail)
        assert client.post(ADD, added).status_code == 503


NO_ANSWERS = {
    "nothing": "",
    "no JSON": "{",
    "a number": "1",
    "a list": "[]",
    "an empty object": "{}",
    "null": "null",
    "only an id": '{"id": "AA"}',
    "too deep": "[" * 20_000,
    "a half surrogate": '{"rawId": "\\ud800"}',
    "too long": json.dumps({"rawId": "A" * LONGEST_ANSWER}),
}


@pytest.mark.parametrize("sent", NO_ANSWERS.values(), ids=NO_ANSWERS)
def test_what_is_no_answer_of_a_passkey_is_refused(client: Client, passkey: Passkey, sent: str) -> None:
    sign_in(client)
    client.get(USE)
    assertContains(client.post(USE, {"credential": sent}), "This passkey was not accepted.")
    use(client, passkey)
    confirm(client)
    client.get(ADD)
    assertContains(client.post(ADD, {"credential": sent}), "This passkey could not be added.")
    assert Authenticator.objects.filter(type="webauthn").count() == 1


Damage = tuple[str, float, int, bool]
DAMAGE = st.tuples(
    st.sampled_from(["missing", "another type", "other bytes"]),
    st.floats(0, 1, exclude_max=True),
    st.integers(1, 255),
    st.booleans(),
)
OTHER_TYPES = (None, 0, True, [], {}, "", "é", "\0")


def damaged(answer: dict[str, Any], member: str, damage: Damage) -> str:
    """As JSON, with one member that is missing, of another type, or has another byte and perhaps an early end."""
    kind, where, change, is_cut = damage
    holder = answer if member == "rawId" else answer["response"]
    if kind == "missing":
        del holder[member]
    elif kind == "another type":
        holder[member] = OTHER_TYPES[int(where * len(OTHER_TYPES))]
    else:
        content = bytearray(websafe_decode(holder[member]))
        place = int(where * len(content))
        content[place] ^= change
        holder[member] = websafe_encode(bytes(content[: place + 1 if is_cut else None]))
    return json.dumps(answer)


many = hypothesis_settings(
    max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


@many
@given(member=st.sampled_from(["rawId", "clientDataJSON", "authenticatorData", "signature"]), damage=DAMAGE)
def test_a_damaged_answer_signs_nobody_in_and_is_no_fault(
    passkey: Passkey, member: str, damage: Damage
) -> None:
    other = browser()
    sign_in(other)
    answer = passkey.get(asked(other.get(USE)))
    assertContains(other.post(USE, {"credential": damaged(answer, member, damage)}), "was not accepted")
    assert not is_signed_in(other)
    AccessAttempt.objects.all().delete()  # or the account is locked out


@many
@given(member=st.sampled_from(["rawId", "clientDataJSON", "attestationObject"]), damage=DAMAGE)
def test_whatever_was_added_can_be_asked_for(person: User, member: str, damage: Damage) -> None:
    """Of a new passkey some bytes may be others, such as those of its id or its counter."""
    Authenticator.objects.all().delete()
    other = browser()
    sign_in(other)
    confirm(other)
    answer = Passkey().create(asked(other.get(ADD)))
    sent = {"name": "", "credential": damaged(answer, member, damage)}
    is_added = other.post(ADD, sent).status_code == 302
    assert is_added == Authenticator.objects.exists()
    other.post(reverse("sign_out"))
    sign_in(other)
    if is_added:
        assertContains(use(other, Passkey()), "was not accepted")
        AccessAttempt.objects.all().delete()


def test_pages_with_a_passkey_keep_the_content_security_policy(client: Client, passkey: Passkey) -> None:
    sign_in(client)
    pages = [client.get(USE)]
    use(client, passkey)
    confirm(client)
    pages += [client.get(ADD), client.get(reverse("mfa_reauthenticate_webauthn"))]
    for page in pages:
        assert not re.search(
            r'style=|<style|\son\w+=|<script(?! src| id="passkey-options" type="application/json")',
            content(page),
        )
