"""A code from an app after the password: asked for, throttled, used once, and its changes in the audit chain."""

from __future__ import annotations

import re

import pytest
from allauth.mfa.models import Authenticator
from allauth.mfa.totp.internal.auth import format_hotp_value, hotp_value, yield_hotp_counters_from_time
from django.core.cache import cache
from django.test import Client
from django.urls import reverse
from pytest_django.asserts import assertContains, assertRedirects

from ethos_review.accounts import operations
from ethos_review.accounts.models import User
from ethos_review.accounts.roles import OPERATOR, REVIEWER
from ethos_review.audit.models import Event
from tests.web.html import attributes_of, text_of
from tests.web.people import PASSWORD, make_person

pytestmark = pytest.mark.django_db


def code_of(secret: str) -> str:
    return format_hotp_value(hotp_value(secret, next(iter(yield_hotp_counters_from_time()))))


def sign_in(client: Client, **data: str):  # type: ignore[no-untyped-def]
    return client.post(reverse("sign_in"), {"username": "reviewer", "password": PASSWORD, **data})


def set_up(client: Client) -> tuple[str, list[str]]:
    """As a signed-in person does. The key, and the recovery codes."""
    client.post(reverse("account_reauthenticate"), {"password": PASSWORD})
    page = client.get(reverse("mfa_activate_totp")).content.decode()
    secret: str = re.search("<code>([A-Z2-7]{32})</code>", page)[1]  # type: ignore[index]
    shown = client.post(reverse("mfa_activate_totp"), {"code": code_of(secret)}, follow=True)
    return secret, re.findall(r"<li>(\d{8})</li>", shown.content.decode())


@pytest.fixture
def person() -> User:
    return make_person(REVIEWER)


@pytest.fixture
def secret(client: Client, person: User) -> str:
    """Of someone who is signed out again."""
    sign_in(client)
    secret, _ = set_up(client)
    client.post(reverse("sign_out"))
    return secret


def test_after_the_password_the_code_is_asked_for_and_leads_where_one_wanted_to_go(
    client: Client, secret: str
) -> None:
    assertRedirects(sign_in(client, next="/preferences/"), reverse("mfa_authenticate"))
    assert client.get(reverse("preferences")).status_code == 302
    response = client.post(reverse("mfa_authenticate"), {"code": code_of(secret)})
    assertRedirects(response, "/preferences/")
    assert Event.objects.latest("sequence").details == '{"by":"password, mfa"}'


def test_a_wrong_code_signs_nobody_in(client: Client, secret: str) -> None:
    sign_in(client)
    wrong = "000000" if code_of(secret) != "000000" else "111111"
    assertContains(client.post(reverse("mfa_authenticate"), {"code": wrong}), "Incorrect code")
    assert client.get(reverse("preferences")).status_code == 302


def test_the_field_for_the_code_has_the_focus(client: Client, person: User) -> None:
    sign_in(client)
    client.post(reverse("account_reauthenticate"), {"password": PASSWORD})
    for response in (
        client.get(reverse("mfa_activate_totp")),
        client.post(reverse("mfa_activate_totp"), {"code": "000000"}),
    ):
        assert "autofocus" in attributes_of(response, "id_code")
    assert "Incorrect code" in text_of(response, "id_code_error")
    set_up(client)
    client.post(reverse("sign_out"))
    sign_in(client)
    assert "autofocus" in attributes_of(client.get(reverse("mfa_authenticate")), "id_code")


def test_the_code_without_the_password_is_worth_nothing(client: Client, secret: str) -> None:
    response = client.post(reverse("mfa_authenticate"), {"code": code_of(secret)})
    assertRedirects(response, reverse("sign_in"))


def test_ten_wrong_codes_close_the_account_from_there(client: Client, secret: str) -> None:
    sign_in(client)
    wrong = "000000" if code_of(secret) != "000000" else "111111"
    for _ in range(10):
        response = client.post(reverse("mfa_authenticate"), {"code": wrong})
    assert response.status_code == 429
    assert client.post(reverse("mfa_authenticate"), {"code": code_of(secret)}).status_code == 429
    assert client.get(reverse("preferences")).status_code == 302


def test_a_code_works_once_in_every_process(client: Client, secret: str) -> None:
    code = code_of(secret)
    sign_in(client)
    client.post(reverse("mfa_authenticate"), {"code": code})
    cache.clear()  # what another process would not know
    other = Client()
    sign_in(other)
    response = other.post(reverse("mfa_authenticate"), {"code": code})
    assertContains(response, "Incorrect code")


def test_recovery_codes_are_shown_once_and_work_once(client: Client, person: User) -> None:
    sign_in(client)
    _, codes = set_up(client)
    assert len(codes) == 10
    assert not re.search(r"<li>\d{8}</li>", client.get(reverse("mfa_view_recovery_codes")).content.decode())
    for status in (302, 200):
        client.post(reverse("sign_out"))
        sign_in(client)
        assert client.post(reverse("mfa_authenticate"), {"code": codes[0]}).status_code == status


def test_the_database_holds_no_secret_that_makes_codes(secret: str) -> None:
    assert secret not in str([authenticator.data for authenticator in Authenticator.objects.all()])


def test_changing_it_asks_who_one_is(client: Client, person: User) -> None:
    client.force_login(person)
    confirm = client.get(reverse("mfa_activate_totp"))
    assertRedirects(
        confirm, f"{reverse('account_reauthenticate')}?next=%2Fpreferences%2Fsecond-factor%2Fapp%2F"
    )
    assert client.post(confirm["Location"], {"password": "another one"}).status_code == 200
    assertRedirects(client.post(confirm["Location"], {"password": PASSWORD}), reverse("mfa_activate_totp"))


def test_confirming_never_leads_to_another_site(client: Client, person: User) -> None:
    client.force_login(person)
    response = client.post(
        f"{reverse('account_reauthenticate')}?next=https://example.org/", {"password": PASSWORD}
    )
    assertRedirects(response, reverse("queue"), fetch_redirect_response=False)


def test_wrong_passwords_when_confirming_count_towards_the_lockout(client: Client, person: User) -> None:
    client.force_login(person)
    for _ in range(10):
        response = client.post(reverse("account_reauthenticate"), {"password": "another one"})
    assert response.status_code == 429


def test_setting_it_up_and_removing_it_are_events(client: Client, person: User, secret: str) -> None:
    operations.remove_second_factor(actor=make_person(OPERATOR), person_id=person.pk)
    events = Event.objects.filter(action__startswith="second_factor").order_by("sequence")
    assert [(event.action, event.object_id) for event in events] == [
        ("second_factor_added", "reviewer"),
        ("second_factor_removed", "reviewer"),
    ]


def test_a_person_removes_it_themselves_and_the_codes_go_with_it(client: Client, secret: str) -> None:
    sign_in(client)
    client.post(reverse("mfa_authenticate"), {"code": code_of(secret)})
    client.post(reverse("account_reauthenticate"), {"password": PASSWORD})
    assertRedirects(client.post(reverse("mfa_deactivate_totp")), reverse("mfa_index"))
    assert not Authenticator.objects.exists()


def test_the_page_with_the_key_keeps_the_content_security_policy(client: Client, person: User) -> None:
    client.force_login(person)
    client.post(reverse("account_reauthenticate"), {"password": PASSWORD})
    page = client.get(reverse("mfa_activate_totp")).content.decode()
    assert "<svg" in page
    assert not re.search(r"style=|data:|<style|<script(?! src)", page)
