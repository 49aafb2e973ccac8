"""Signing in through an OpenID provider: roles from its claim, nothing believed that it did not sign."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from urllib.parse import parse_qs, urlsplit

import pytest
from cryptography.hazmat.primitives.asymmetric.rsa import generate_private_key
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse
from pytest_django import Settings
from pytest_django.asserts import assertContains, assertRedirects, assertTemplateUsed

from ethos_review.accounts.models import User
from ethos_review.accounts.roles import AUDITOR, REVIEWER
from ethos_review.audit.models import Event
from tests.accounts.openid_provider import Provider, running_provider, settings_for
from tests.web.people import make_person

pytestmark = pytest.mark.django_db


@pytest.fixture
def provider(settings: Settings) -> Iterator[Provider]:
    with running_provider() as started:
        settings.OIDC = settings_for(started, {"claim-reviewers": REVIEWER, "claim-auditors": AUDITOR})
        yield started


def ask(client: Client, provider: Provider, **query: str) -> dict[str, list[str]]:
    """What the browser is sent to the provider with."""
    response = client.get(reverse("openid_sign_in"), query)
    assert response["Location"].startswith(f"{provider.issuer}/authorize?")
    asked = parse_qs(urlsplit(response["Location"]).query)
    provider.challenge = asked["code_challenge"][0]
    return asked


def sign_in(client: Client, provider: Provider, **query: str) -> HttpResponse:
    state = ask(client, provider, **query)["state"][0]
    return client.get(reverse("openid_callback"), {"code": "a-code", "state": state})


def roles_of(username: str) -> set[str]:
    return set(User.objects.get(username=username).groups.values_list("name", flat=True))


def test_without_a_provider_there_is_no_such_road(client: Client) -> None:
    assert client.get(reverse("openid_sign_in")).status_code == 404
    assert client.get(reverse("openid_callback"), {"code": "x", "state": "y"}).status_code == 404
    assert b"Sign in with" not in client.get(reverse("sign_in")).content


def test_the_sign_in_page_offers_the_provider_by_name(client: Client, provider: Provider) -> None:
    assertContains(client.get(reverse("sign_in")), "Sign in with Example ID")


def test_only_what_is_needed_is_asked_for(client: Client, provider: Provider) -> None:
    asked = ask(client, provider)
    assert set(asked["scope"][0].split()) == {"openid", "profile"}
    assert asked["response_type"] == ["code"]
    assert asked["redirect_uri"] == ["http://testserver/sign-in/openid/callback/"]
    assert asked["code_challenge_method"] == ["S256"]


def test_a_query_cannot_change_what_is_asked_for(client: Client, provider: Provider) -> None:
    asked = ask(client, provider, scope="everything", auth_params="prompt=none", process="connect")
    assert set(asked["scope"][0].split()) == {"openid", "profile"}
    assert "prompt" not in asked


def test_a_new_person_gets_an_account_with_the_mapped_roles(client: Client, provider: Provider) -> None:
    provider.claims = {
        "preferred_username": "rosa",
        "name": "Rosa Lind",
        "groups": ["claim-reviewers", "choir"],
    }
    assertRedirects(sign_in(client, provider), reverse("queue"), fetch_redirect_response=False)
    assert roles_of("rosa") == {REVIEWER}
    person = User.objects.get(username="rosa")
    assert (person.name, person.has_usable_password()) == ("Rosa Lind", False)
    assert [(event.actor_name, event.action) for event in Event.objects.order_by("sequence")] == [
        ("Example ID", "role_changed"),
        ("Rosa Lind", "signed_in"),
    ]


@pytest.mark.parametrize(
    "groups", [None, [], ["choir"], "choir", {"claim-reviewers": True}, [["claim-reviewers"]], [1], REVIEWER]
)
def test_what_is_not_mapped_gives_no_role(client: Client, provider: Provider, groups: object) -> None:
    provider.claims = {"preferred_username": "rosa", "groups": groups}
    sign_in(client, provider)
    assert roles_of("rosa") == set()
    assert client.get(reverse("queue")).status_code == 403


def test_a_role_taken_away_at_the_provider_is_gone_at_the_next_sign_in(provider: Provider) -> None:
    for groups in (["claim-reviewers"], "claim-auditors", []):
        provider.claims = {"preferred_username": "rosa", "groups": groups}
        sign_in(Client(), provider)
    assert roles_of("rosa") == set()
    assert User.objects.count() == 1
    assert Event.objects.filter(action="role_changed").count() == 3


def test_a_name_that_is_taken_here_opens_nobody_elses_account(client: Client, provider: Provider) -> None:
    local = make_person(REVIEWER, "rosa")
    local.email = "rosa@example.org"
    local.save()
    provider.claims = {
        "preferred_username": "rosa",
        "email": "rosa@example.org",
        "email_verified": True,
        "groups": ["claim-auditors"],
    }
    sign_in(client, provider)
    assert roles_of("rosa") == {REVIEWER}
    assert int(client.session["_auth_user_id"]) != local.pk


@pytest.mark.parametrize("name", ["Rosa Lind", "rosa  LIND", "r.lind", "Rosa Li\u0578d"])
def test_nobody_is_shown_under_the_name_of_another_account(
    client: Client, provider: Provider, name: str
) -> None:
    User.objects.create_user("r.lind", display_name="Rosa Lind")
    provider.claims = {"preferred_username": "rosa", "name": name}
    sign_in(client, provider)
    assert User.objects.get(username="rosa").name == "rosa"


@pytest.mark.parametrize("username", ["r\u043esa", "Rosa", "..", "l\u0456nd", "Lind"])
def test_a_username_that_can_be_taken_for_anothers_is_made_anew(
    client: Client, provider: Provider, username: str
) -> None:
    User.objects.create_user("rosa", display_name="Lind")
    provider.claims = {"preferred_username": username}
    sign_in(client, provider)
    made = User.objects.exclude(username="rosa").get().username
    assert made.isascii()
    assert made.lower() not in (username.lower(), "rosa", "lind")


def test_a_person_who_comes_again_keeps_the_name(client: Client, provider: Provider) -> None:
    provider.claims = {"preferred_username": "rosa", "name": "Rosa Lind"}
    for visit in (client, Client()):
        sign_in(visit, provider)
    assert User.objects.get().name == "Rosa Lind"


def test_a_closed_account_stays_closed(client: Client, provider: Provider) -> None:
    provider.claims = {"preferred_username": "rosa", "groups": ["claim-reviewers"]}
    sign_in(client, provider)
    User.objects.update(is_active=False)
    other = Client()
    assertContains(sign_in(other, provider), "This account is closed", status_code=403)
    assert "_auth_user_id" not in other.session


FAULTS = {
    "another key": {"signing_key": generate_private_key(65537, 2048)},
    "no signature": {"header": {"alg": "none", "kid": "first"}, "signing_key": None},
    "another algorithm": {"header": {"alg": "HS256", "kid": "first"}, "signing_key": "x" * 32},
    "an unknown key id": {"header": {"alg": "RS256", "kid": "second"}},
    "no key id": {"header": {"alg": "RS256"}},
    "another audience": {"claims": {"aud": "another-service"}},
    "another issuer": {"claims": {"iss": "https://example.org"}},
    "a token that has expired": {"claims": {"exp": 1}},
    "no subject": {"claims": {"sub": None}},
    "no ID token": {"without_id_token": True},
    "a description of another issuer": {"said_issuer": "https://example.org"},
}


@pytest.mark.parametrize("fault", FAULTS)
def test_what_the_provider_did_not_sign_for_us_signs_nobody_in(
    client: Client, provider: Provider, fault: str, caplog: pytest.LogCaptureFixture
) -> None:
    state = ask(client, provider)["state"][0]
    for name, value in FAULTS[fault].items():
        setattr(provider, name, value)
    with caplog.at_level(logging.WARNING):
        response = client.get(reverse("openid_callback"), {"code": "a-code", "state": state})
    assertTemplateUsed(response, "accounts/openid_failed.html")
    assert response.status_code == 403
    assert "_auth_user_id" not in client.session
    assert not User.objects.exists()
    assert "opaque" not in caplog.text


def test_an_answer_that_nobody_asked_for_signs_nobody_in(client: Client, provider: Provider) -> None:
    """A link with another person's code must not sign the reader in as that person."""
    state = ask(Client(), provider)["state"][0]
    for answer in ({"code": "c", "state": state}, {"code": "c"}, {"code": "c", "state": "x"}):
        assert client.get(reverse("openid_callback"), answer).status_code == 403
    assert not User.objects.exists()


def test_an_answer_works_once(client: Client, provider: Provider) -> None:
    state = ask(client, provider)["state"][0]
    answer = {"code": "a-code", "state": state}
    assert client.get(reverse("openid_callback"), answer).status_code == 302
    assert Client().get(reverse("openid_callback"), answer).status_code == 403


def test_cancelling_says_so(client: Client, provider: Provider) -> None:
    state = ask(client, provider)["state"][0]
    response = client.get(reverse("openid_callback"), {"error": "access_denied", "state": state})
    assertContains(response, "was cancelled", status_code=403)


def test_a_provider_that_does_not_answer_has_a_page(
    client: Client, provider: Provider, settings: Settings
) -> None:
    settings.OIDC = settings.OIDC | {"issuer": "http://127.0.0.1:9"}
    assertContains(client.get(reverse("openid_sign_in")), "did not work", status_code=403)


@pytest.mark.parametrize(
    ("wanted", "where"),
    [
        ("/preferences/", "/preferences/"),
        ("https://example.org/", "/"),
        ("//example.org/", "/"),
        ("javascript:alert(1)", "/"),
    ],
)
def test_the_way_back_never_leaves_this_site(
    client: Client, provider: Provider, wanted: str, where: str
) -> None:
    assertRedirects(sign_in(client, provider, next=wanted), where, fetch_redirect_response=False)


def test_someone_signed_in_is_not_sent_to_the_provider_again(client: Client, provider: Provider) -> None:
    client.force_login(make_person(REVIEWER))
    assertRedirects(client.get(reverse("openid_sign_in")), reverse("queue"), fetch_redirect_response=False)
