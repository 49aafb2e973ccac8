"""Whoever widens rights confirms first that it is them: a stolen session alone makes nobody an operator."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest
from allauth.mfa.models import Authenticator
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse
from pytest_django import Settings
from pytest_django.asserts import assertContains, assertNotContains, assertRedirects

from ethos_review.accounts.models import ApiToken, User
from ethos_review.accounts.roles import AUDITOR, OPERATOR, REVIEWER
from ethos_review.audit.models import Event
from tests.accounts.openid_provider import Provider, running_provider, settings_for
from tests.accounts.test_passkeys import Passkey, asked, browser
from tests.accounts.test_passkeys import add as add_passkey
from tests.accounts.test_second_factor import code_of, set_up
from tests.web.html import attributes_of, text_of
from tests.web.people import PASSWORD, confirm, make_person

pytestmark = pytest.mark.django_db
NEW = reverse("new_person")
NEW_PERSON = {"username": "m.okafor", "display_name": "M. Okafor", "roles": [OPERATOR, AUDITOR]}


@pytest.fixture
def operator(client: Client) -> User:
    """The client has a session of theirs, and nothing else."""
    found = make_person(OPERATOR)
    client.force_login(found)
    return found


@pytest.fixture
def person() -> User:
    return make_person(REVIEWER)


@pytest.fixture
def where(person: User) -> str:
    return reverse("person", args=[person.pk])


def roles_of(person: User) -> set[str]:
    return set(person.groups.values_list("name", flat=True))


def state_of(person: User) -> dict[str, Any]:
    """Whatever an operator can change of them."""
    row = User.objects.values("is_active", "password", "password_links", "sign_outs").get(pk=person.pk)
    factors = Authenticator.objects.filter(user=person).count()
    return row | {"roles": roles_of(person), "factors": factors}


WIDENING = {
    "roles": {"action": "roles", "roles": [OPERATOR]},
    "a link": {"action": "password-link"},
    "opening": {"action": "reactivate"},
    "no second factor": {"action": "remove-second-factor"},
}
NARROWING = {"closing": {"action": "deactivate"}, "signing out": {"action": "sign-out"}}


@pytest.mark.parametrize("act", WIDENING)
def test_a_stolen_session_widens_nobodys_rights(
    client: Client, operator: User, person: User, where: str, act: str
) -> None:
    Authenticator.objects.create(user=person, type="totp", data={"secret": "x"})
    User.objects.filter(pk=person.pk).update(is_active=act != "opening")
    before, told = state_of(person), Event.objects.count()
    assertRedirects(client.post(where, WIDENING[act]), f"{reverse('account_reauthenticate')}?next={where}")
    assert (state_of(person), Event.objects.count()) == (before, told)


def test_a_stolen_session_creates_no_account(client: Client, operator: User) -> None:
    assertRedirects(client.post(NEW, NEW_PERSON), f"{reverse('account_reauthenticate')}?next={NEW}")
    assert (User.objects.count(), Event.objects.count()) == (1, 0)


@pytest.mark.parametrize("act", NARROWING)
def test_what_takes_rights_is_not_held_up(client: Client, operator: User, where: str, act: str) -> None:
    assertRedirects(client.post(where, NARROWING[act]), where)
    assert Event.objects.count() == 1


@pytest.mark.parametrize("act", WIDENING)
def test_after_the_password_it_is_done_as_it_was_asked(
    client: Client, operator: User, person: User, where: str, act: str
) -> None:
    Authenticator.objects.create(user=person, type="totp", data={"secret": "x"})
    User.objects.filter(pk=person.pk).update(is_active=act != "opening")
    before = state_of(person)
    asks = client.post(where, WIDENING[act])
    done = client.post(asks["Location"], {"password": PASSWORD})
    assert done.status_code == (200 if act == "a link" else 302)
    assert state_of(person) != before


def test_no_typed_word_is_lost_on_the_way(client: Client, operator: User) -> None:
    asks = client.post(NEW, NEW_PERSON)
    wrong = client.post(asks["Location"], {"password": "a wrong password"})
    assertContains(wrong, "Confirm that it is you")
    assertContains(client.post(asks["Location"], {"password": PASSWORD}), 'id="link"')
    made = User.objects.get(username="m.okafor")
    assert (made.display_name, roles_of(made)) == ("M. Okafor", {OPERATOR, AUDITOR})


def test_a_form_with_a_fault_is_told_before_anybody_is_asked(client: Client, operator: User) -> None:
    response = client.post(NEW, NEW_PERSON | {"username": "two words"})
    assertContains(response, 'value="two words"')


@pytest.mark.parametrize(
    ("form", "said"),
    [
        ({"username": "Operator"}, "There is an account with this name."),
        ({"display_name": "operator"}, "Another account has this name"),
    ],
)
def test_a_name_that_is_taken_is_told_before_anybody_is_asked(
    client: Client, operator: User, form: dict[str, str], said: str
) -> None:
    assertContains(client.post(NEW, NEW_PERSON | form), said)


def test_a_refusal_after_the_detour_shows_the_form_which_is_sent_to_its_own_address(
    client: Client, operator: User
) -> None:
    asks = client.post(NEW, NEW_PERSON)
    make_person(REVIEWER, "M.Okafor")  # another operator is faster
    User.objects.filter(username="M.Okafor").update(username="m.okafor")
    refused = client.post(asks["Location"], {"password": PASSWORD})
    assertContains(refused, "There is an account with this name.")
    assertContains(refused, 'value="M. Okafor"')
    assertContains(refused, f'method="post" action="{NEW}"')


def test_the_page_that_asks_says_why_for_how_long_and_what_to_do_if_it_was_not_you(
    client: Client, operator: User, settings: Settings
) -> None:
    page = client.post(NEW, NEW_PERSON, follow=True)
    said = text_of(page, "main")
    assert "It holds for 10 minutes." in said
    assert "nothing that you typed is lost" in said
    assert "do not confirm, and sign out everywhere" in said
    settings.ACCOUNT_REAUTHENTICATION_TIMEOUT = 60
    assert "It holds for 1 minute." in text_of(client.get(reverse("account_reauthenticate")), "main")


SAID = {
    "roles": "To leave the account reviewer with the role Operator, say",
    "no role": "To leave the account reviewer with no role, say",
    "a link": "To make a link with which reviewer chooses a password, say",
    "opening": "To open the account reviewer again, say",
    "no second factor": "To remove the second factor of reviewer, say",
}


@pytest.mark.parametrize("act", SAID)
def test_the_page_that_asks_says_what_will_be_done(
    client: Client, operator: User, where: str, act: str
) -> None:
    page = client.post(where, WIDENING.get(act, {"action": "roles"}), follow=True)
    assert text_of(page, "asked").startswith(SAID[act])
    assert "autofocus" in attributes_of(page, "id_password")


def test_the_account_that_will_be_created_is_named_with_its_roles(client: Client, operator: User) -> None:
    page = client.post(NEW, NEW_PERSON, follow=True)
    said = "To create the account m.okafor for M. Okafor with the roles Operator and Auditor, say"
    assert text_of(page, "asked").startswith(said)


def test_the_token_that_will_be_made_is_told_with_its_account_scopes_and_time(
    client: Client, operator: User, person: User
) -> None:
    form = {"account": person.pk, "name": "nightly", "scopes": ["read", "submit"], "days": "90"}
    page = client.post(reverse("new_token"), form, follow=True)
    said = "To make the token nightly for the account reviewer with the scopes read and submit, which works"
    assert text_of(page, "asked").startswith(f"{said} for 90 days, say")


@pytest.mark.parametrize(
    ("name", "said"),
    [("mfa_activate_totp", "set up an app that shows codes"), ("mfa_add_webauthn", "add a passkey")],
)
def test_a_page_of_ones_own_account_that_waits_is_named(
    client: Client, operator: User, name: str, said: str
) -> None:
    page = client.get(reverse(name), follow=True)
    assert text_of(page, "asked").startswith(f"To {said}, say")
    assert "as you asked" not in text_of(page, "main")  # a page is shown, and nothing done


def test_a_form_that_would_not_be_gone_on_with_is_not_told(client: Client, operator: User) -> None:
    client.post(NEW, NEW_PERSON)  # by who stole the session
    for where in (reverse("mfa_activate_totp"), reverse("people"), "https://example.org/", "", "/nowhere/"):
        assert "okafor" not in client.get(reverse("account_reauthenticate"), {"next": where}).text


def test_hidden_characters_of_what_will_be_done_are_shown(
    client: Client, operator: User, person: User, where: str
) -> None:
    page = client.post(where, {"action": "roles", "roles": ["Audi\u202etor"]}, follow=True)
    assertContains(page, "U+202E")


def test_after_confirming_the_focus_is_on_what_was_done(client: Client, operator: User, where: str) -> None:
    asks = client.post(where, WIDENING["roles"])
    page = client.post(asks["Location"], {"password": PASSWORD}, follow=True)
    assertContains(page, '<p class="message success" tabindex="-1" autofocus>The roles are saved.')
    made = client.post(NEW, NEW_PERSON)
    assertContains(made, '<h1 tabindex="-1" autofocus>')


# Loaded again ----------------------------------------------------------------------------------------------------


def showing(page: HttpResponse) -> str:
    """Of the form that asks for the most."""
    return re.findall('name="showing" value="([^"]+)"', page.text)[-1]


def test_the_page_that_showed_a_link_leads_to_the_person_when_it_is_loaded_again(
    client: Client, operator: User
) -> None:
    confirm(client)
    form = NEW_PERSON | {"showing": showing(client.get(NEW))}
    assertContains(client.post(NEW, form), 'id="link"')
    theirs = reverse("person", args=[User.objects.get(username="m.okafor").pk])
    again = client.post(NEW, form, follow=True)
    assertRedirects(again, theirs)
    assertContains(again, "The account m.okafor is created.")
    assertContains(again, "Make a link")


def test_so_does_the_page_that_showed_it_after_confirming(client: Client, operator: User) -> None:
    asks = client.post(NEW, NEW_PERSON | {"showing": showing(client.get(NEW))})
    form = {"password": PASSWORD, "showing": showing(client.get(asks["Location"]))}
    assertContains(client.post(asks["Location"], form), 'id="link"')
    theirs = reverse("person", args=[User.objects.get(username="m.okafor").pk])
    assertRedirects(client.post(asks["Location"], form), theirs)


def test_a_link_that_was_given_is_not_void_because_its_page_was_loaded_again(
    client: Client, operator: User, person: User, where: str
) -> None:
    confirm(client)
    form = {"action": "password-link", "showing": showing(client.get(where))}
    client.post(where, form)
    before = state_of(person)
    assertRedirects(client.post(where, form), where)
    assert state_of(person) == before


def test_no_second_token_is_made_when_the_page_is_loaded_again(
    client: Client, operator: User, person: User
) -> None:
    confirm(client)
    page = reverse("new_token")
    form = {"account": person.pk, "name": "nightly", "scopes": ["read"], "days": "90"}
    form |= {"showing": showing(client.get(page))}
    assertContains(client.post(page, form), 'id="token"')
    assertRedirects(client.post(page, form), reverse("tokens"))
    assert ApiToken.objects.count() == 1


def test_another_showing_of_the_form_makes_another(client: Client, operator: User, person: User) -> None:
    confirm(client)
    page = reverse("new_token")
    form = {"account": person.pk, "name": "nightly", "scopes": ["read"], "days": "90"}
    for _ in range(2):
        client.post(page, form | {"showing": showing(client.get(page))})
    assert ApiToken.objects.count() == 2


def test_no_session_keeps_what_was_shown_once(client: Client, operator: User) -> None:
    confirm(client)
    shown = client.post(NEW, NEW_PERSON | {"showing": showing(client.get(NEW))})
    token = text_of(shown, "link").rpartition("=")[2]
    assert token not in json.dumps(dict(client.session.items()))


def test_it_holds_for_some_minutes_and_no_longer(
    client: Client, operator: User, where: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    confirm(client)
    started = time.time()
    for minutes, leads_to in (
        (9, where),
        (11, f"{reverse('account_reauthenticate')}?{urlencode({'next': where})}"),
    ):
        monkeypatch.setattr(time, "time", lambda later=started + minutes * 60: later)
        assert client.post(where, WIDENING["roles"])["Location"] == leads_to


def test_it_holds_in_the_session_in_which_it_was_given_alone(
    client: Client, operator: User, where: str
) -> None:
    confirm(client)
    stolen = Client()
    stolen.force_login(operator)
    assert stolen.post(where, WIDENING["roles"])["Location"].startswith(reverse("account_reauthenticate"))


def test_it_does_not_hold_for_who_signs_in_next(client: Client, operator: User, where: str) -> None:
    confirm(client)
    client.force_login(make_person(OPERATOR, "colleague"))
    assert client.post(where, WIDENING["roles"])["Location"].startswith(reverse("account_reauthenticate"))


def test_signing_in_is_not_confirming(client: Client, where: str) -> None:
    make_person(OPERATOR)
    client.post(reverse("sign_in"), {"username": "operator", "password": PASSWORD})
    assert client.post(where, WIDENING["roles"])["Location"].startswith(reverse("account_reauthenticate"))


def test_what_was_asked_elsewhere_is_not_done_by_confirming_something_else(
    client: Client, operator: User
) -> None:
    client.post(NEW, NEW_PERSON)  # by who stole the session
    own = client.get(reverse("mfa_activate_totp"))["Location"]
    assertRedirects(client.post(own, {"password": PASSWORD}), reverse("mfa_activate_totp"))
    assert not User.objects.filter(username="m.okafor").exists()


def test_guessing_the_password_there_closes_the_account_from_there(client: Client, operator: User) -> None:
    asks = client.post(NEW, NEW_PERSON)["Location"]
    statuses = [client.post(asks, {"password": f"guess {number}"}).status_code for number in range(10)]
    assert statuses == [200] * 9 + [429]


def test_a_code_confirms_too(client: Client, operator: User, where: str, person: User) -> None:
    _, codes = set_up(client)
    stolen = Client()
    stolen.force_login(operator)
    asks = stolen.post(where, WIDENING["roles"])
    by_code = f"{reverse('mfa_reauthenticate')}?{urlencode({'next': where})}"
    assertContains(stolen.get(asks["Location"]), f'href="{by_code}">Use a code')
    assert stolen.post(by_code, {"code": "00000000"}).status_code == 200
    assert roles_of(person) == {REVIEWER}
    assertRedirects(stolen.post(by_code, {"code": codes[0]}), where)
    assert roles_of(person) == {OPERATOR}


def test_a_passkey_confirms_too(operator: User, where: str, person: User) -> None:
    passkey, owner, session = Passkey(), browser(), browser()
    owner.force_login(operator)
    assert add_passkey(owner, passkey).status_code == 302
    session.force_login(operator)
    session.post(where, WIDENING["roles"])
    by_passkey = f"{reverse('mfa_reauthenticate_webauthn')}?{urlencode({'next': where})}"
    wrong = Passkey().get(asked(session.get(by_passkey)))
    assert session.post(by_passkey, {"credential": json.dumps(wrong)}).status_code == 200
    assert roles_of(person) == {REVIEWER}
    right = passkey.get(asked(session.get(by_passkey)))
    assertRedirects(session.post(by_passkey, {"credential": json.dumps(right)}), where)
    assert roles_of(person) == {OPERATOR}


# Through the OpenID provider -----------------------------------------------------------------------------------------


BY_OPENID = reverse("confirm_by_openid")


@pytest.fixture
def provider(settings: Settings) -> Iterator[Provider]:
    with running_provider() as started:
        settings.OIDC = settings_for(started, {"claim-operators": OPERATOR})
        started.claims = {"preferred_username": "rosa", "groups": ["claim-operators"]}
        yield started


@pytest.fixture
def rosa(client: Client, provider: Provider) -> User:
    """Signed in through the provider, with no password and no second factor here."""
    come_back(client, provider, client.get(reverse("openid_sign_in")))
    return User.objects.get(username="rosa")


def come_back(client: Client, provider: Provider, to_provider: HttpResponse) -> HttpResponse:
    query = parse_qs(urlsplit(to_provider["Location"]).query)
    provider.challenge = query["code_challenge"][0]
    return client.get(reverse("openid_callback"), {"code": "a-code", "state": query["state"][0]})


def confirm_there(client: Client, provider: Provider, where: str) -> HttpResponse:
    page = client.get(f"{BY_OPENID}?{urlencode({'next': where})}")
    link = f"{reverse('confirm_at_openid_provider')}?{urlencode({'next': where})}"
    assertContains(page, f'href="{link}">Sign in again with Example ID')
    return come_back(client, provider, client.get(link))


def test_who_signs_in_through_openid_confirms_there_and_it_is_done_as_it_was_asked(
    client: Client, provider: Provider, rosa: User
) -> None:
    assertRedirects(client.post(NEW, NEW_PERSON), f"{BY_OPENID}?next={NEW}")
    provider.claims["auth_time"] = int(time.time())
    back = confirm_there(client, provider, NEW)
    assertRedirects(back, f"{BY_OPENID}?{urlencode({'next': NEW})}", fetch_redirect_response=False)
    assertContains(client.get(back["Location"]), 'id="link"')
    made = User.objects.get(username="m.okafor")
    assert (made.display_name, roles_of(made)) == ("M. Okafor", {OPERATOR, AUDITOR})
    assertRedirects(client.get(back["Location"]), NEW)  # loaded again, it does nothing more


def test_the_provider_is_asked_to_ask_again(client: Client, provider: Provider, rosa: User) -> None:
    to_provider = client.get(reverse("confirm_at_openid_provider"))
    query = parse_qs(urlsplit(to_provider["Location"]).query)
    assert (query["prompt"], query["max_age"]) == (["login"], ["0"])


@pytest.mark.parametrize(
    "said",
    [
        {},
        {"auth_time": None},
        {"auth_time": "now"},
        {"auth_time": True},
        {"auth_time": [1]},
        {"auth_time": -3600},
        {"auth_time": 3600},
        {"auth_time": 0, "sub": "another"},
    ],
)
def test_without_a_fresh_sign_in_of_the_same_person_there_nothing_is_done(
    client: Client, provider: Provider, rosa: User, said: dict[str, Any]
) -> None:
    client.post(NEW, NEW_PERSON)
    if type(said.get("auth_time")) is int:
        said = said | {"auth_time": int(time.time()) + said["auth_time"]}
    provider.claims |= said
    refused = confirm_there(client, provider, NEW)
    assertContains(refused, "did not confirm that it is you", status_code=403)
    assertContains(refused, f'href="{BY_OPENID}?{urlencode({"next": NEW})}">Try again', status_code=403)
    assertContains(client.get(BY_OPENID, {"next": NEW}), "Sign in again with Example ID")
    assert not User.objects.filter(username="m.okafor").exists()
    assert client.session["_auth_user_id"] == str(rosa.pk)


def test_cancelling_there_says_so_and_changes_nothing(client: Client, provider: Provider, rosa: User) -> None:
    client.post(NEW, NEW_PERSON)
    asks = client.get(reverse("confirm_at_openid_provider"), {"next": NEW})
    state = parse_qs(urlsplit(asks["Location"]).query)["state"][0]
    answer = client.get(reverse("openid_callback"), {"error": "access_denied", "state": state})
    assertContains(answer, "was cancelled. Nothing was changed.", status_code=403)
    assert not User.objects.filter(username="m.okafor").exists()


def test_an_answer_to_a_sign_in_confirms_nothing(client: Client, provider: Provider, rosa: User) -> None:
    other = Client()
    provider.claims["auth_time"] = int(time.time())
    come_back(other, provider, other.get(reverse("openid_sign_in")))
    assert other.post(NEW, NEW_PERSON)["Location"].startswith(BY_OPENID)


def test_no_form_stands_in_for_the_provider(client: Client, rosa: User) -> None:
    client.post(NEW, NEW_PERSON)
    assert client.post(f"{BY_OPENID}?next={NEW}").status_code == 405
    assert not User.objects.filter(username="m.okafor").exists()


def test_the_way_back_from_the_provider_never_leaves_this_site(
    client: Client, provider: Provider, rosa: User
) -> None:
    provider.claims["auth_time"] = int(time.time())
    asks = client.get(reverse("confirm_at_openid_provider"), {"next": "https://example.org/"})
    back = come_back(client, provider, asks)
    assert client.get(back["Location"])["Location"] == "/"


def test_who_has_no_account_there_is_not_sent_there(
    client: Client, provider: Provider, operator: User
) -> None:
    assertNotContains(client.get(reverse("account_reauthenticate")), "Example ID")
    assertRedirects(client.get(BY_OPENID), reverse("account_reauthenticate"))
    assert client.get(reverse("confirm_at_openid_provider")).status_code == 404


def test_who_signs_in_through_openid_may_set_up_a_second_factor_and_confirm_by_it(
    client: Client, provider: Provider, rosa: User
) -> None:
    where = reverse("mfa_activate_totp")
    assertRedirects(client.get(where), f"{BY_OPENID}?{urlencode({'next': where})}")
    provider.claims["auth_time"] = int(time.time())
    client.get(confirm_there(client, provider, where)["Location"])
    secret = re.search("<code>([A-Z2-7]{32})</code>", client.get(where).content.decode())
    assert secret
    client.post(where, {"code": code_of(secret[1])})
    assert Authenticator.objects.filter(user=rosa, type="totp").exists()
    stolen = Client()
    stolen.force_login(rosa)
    assert stolen.post(NEW, NEW_PERSON)["Location"].startswith(reverse("mfa_reauthenticate"))
