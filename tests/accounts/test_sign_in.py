"""Signing in and out, being locked out, and coming back to where one was."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.contrib.auth.password_validation import validate_password
from django.contrib.sessions.models import Session
from django.core.exceptions import ValidationError
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from pytest_django.asserts import assertContains, assertRedirects, assertTemplateUsed

from ethos_review.accounts.models import User
from ethos_review.accounts.roles import REVIEWER
from ethos_review.audit.models import Event
from tests.web.people import PASSWORD, make_person

pytestmark = pytest.mark.django_db
HTMX = {
    "HX-Request": "true",
    "HX-Request-Type": "partial",
    "HX-Current-URL": "http://testserver/preferences/?a=b",
}


def sign_in(client: Client, password: str = PASSWORD, **data: str):  # type: ignore[no-untyped-def]
    return client.post(reverse("sign_in"), {"username": "reviewer", "password": password, **data})


def test_the_right_password_leads_to_the_queue(client: Client) -> None:
    make_person(REVIEWER)
    assertRedirects(sign_in(client), reverse("queue"), fetch_redirect_response=False)


def test_a_wrong_password_says_so_and_keeps_the_name(client: Client) -> None:
    make_person(REVIEWER)
    response = sign_in(client, "not this one")
    assertContains(response, 'role="alert"')
    assertContains(response, 'value="reviewer"')


@pytest.mark.parametrize("username", ["x" * 151, "x" * 100_000, "\U0001f600" * 300])
def test_a_name_longer_than_any_account_is_told_like_a_wrong_one(client: Client, username: str) -> None:
    response = sign_in(client, username=username)
    assertContains(response, "Please enter a correct username and password")


def test_sign_in_leads_back_to_the_page_asked_for(client: Client) -> None:
    make_person(REVIEWER)
    assertRedirects(sign_in(client, next="/preferences/"), "/preferences/")


@pytest.mark.parametrize("elsewhere", ["https://example.org/", "//example.org/", "javascript:alert(1)"])
def test_sign_in_never_leads_to_another_site(client: Client, elsewhere: str) -> None:
    make_person(REVIEWER)
    assertRedirects(sign_in(client, next=elsewhere), reverse("queue"), fetch_redirect_response=False)


def test_someone_signed_in_does_not_see_the_form_again(client: Client) -> None:
    client.force_login(make_person(REVIEWER))
    assertRedirects(client.get(reverse("sign_in")), reverse("queue"), fetch_redirect_response=False)


def test_ten_wrong_passwords_lock_the_account_with_a_page_that_says_for_how_long(client: Client) -> None:
    make_person(REVIEWER)
    for _ in range(10):
        response = sign_in(client, "not this one")
    assertTemplateUsed(response, "accounts/locked_out.html")
    assertContains(response, "Signing in failed 10 times", status_code=429)
    assertContains(response, "closed from here for 15 minutes", status_code=429)
    assert sign_in(client).status_code == 429


def test_signing_out_needs_a_form_which_a_link_leads_to_and_ends_the_session(client: Client) -> None:
    client.force_login(make_person(REVIEWER))
    assertContains(client.get(reverse("sign_out")), "<h1>Sign out</h1>")
    assert client.get(reverse("preferences")).status_code == 200
    assertRedirects(client.post(reverse("sign_out")), reverse("sign_in"))
    assertRedirects(client.get(reverse("preferences")), "/sign-in/?next=%2Fpreferences%2F")


def test_without_a_session_an_htmx_request_leads_the_whole_page_to_sign_in_and_back(client: Client) -> None:
    response = client.get(reverse("preferences"), headers=HTMX)
    assert response.status_code == 200
    assert response.content == b""
    assert response["HX-Redirect"] == "/sign-in/?next=%2Fpreferences%2F%3Fa%3Db"


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("I read it twice", "Your sign-in ended. Nothing was decided; your text is kept."),
        ("", "Your sign-in ended. Nothing was changed."),
    ],
)
def test_sign_in_says_what_became_of_a_form_that_found_the_session_ended(
    client: Client, typed: str, said: str
) -> None:
    response = client.post(reverse("preferences"), {"rationale": typed}, headers=HTMX)
    assertContains(client.get(response["HX-Redirect"]), said)


def test_without_a_session_a_plain_form_shows_again_what_was_typed(client: Client) -> None:
    response = client.post(
        reverse("preferences"),
        {"rationale": "I <read> it twice"},
        headers={"Referer": "http://testserver/reviews/x/?claim=1"},
    )
    assertTemplateUsed(response, "session_ended.html")
    assertContains(response, "I &lt;read&gt; it twice", status_code=403)
    assertContains(response, "next=%2Freviews%2Fx%2F%3Fclaim%3D1", status_code=403)


def test_the_way_back_never_leaves_this_site(client: Client) -> None:
    response = client.post(reverse("preferences"), headers={"Referer": "https://example.org/reviews/"})
    assertContains(response, "/sign-in/?next=%2F&quot;".replace("&quot;", '"'), status_code=403)


def test_pages_for_people_who_signed_in_are_not_kept_by_the_browser(client: Client) -> None:
    client.force_login(make_person(REVIEWER))
    assert "no-store" in client.get(reverse("preferences"))["Cache-Control"]


def test_shortcuts_can_be_switched_off_per_person(client: Client) -> None:
    person = make_person(REVIEWER)
    client.force_login(person)
    assertRedirects(client.post(reverse("preferences"), {}), reverse("preferences"))
    person.refresh_from_db()
    assert person.single_key_shortcuts is False
    assertContains(client.get(reverse("preferences")), "data-no-shortcuts")


def test_signing_in_is_an_event(client: Client) -> None:
    make_person(REVIEWER)
    sign_in(client)
    event = Event.objects.get()
    assert (event.actor_name, event.action, event.details) == ("reviewer", "signed_in", '{"by":"password"}')


def test_a_session_ends_with_the_browser_and_twelve_hours_after_signing_in(client: Client) -> None:
    make_person(REVIEWER)
    cookie = sign_in(client).cookies["sessionid"]
    assert (cookie["max-age"], cookie["expires"]) == ("", "")
    assert (cookie["httponly"], cookie["samesite"]) == (True, "Lax")
    ends = client.session.get_expiry_date()
    client.post(reverse("preferences"), {})  # writes to the session
    assert client.session.get_expiry_date() == ends
    assert timedelta(hours=11) < ends - timezone.now() <= timedelta(hours=12)


def test_a_session_past_its_end_is_none(client: Client) -> None:
    make_person(REVIEWER)
    sign_in(client)
    Session.objects.update(expire_date=timezone.now())
    assert client.get(reverse("preferences")).status_code == 302


def test_a_session_before_signing_in_is_not_the_one_after(client: Client) -> None:
    make_person(REVIEWER)
    client.session.save()
    before = client.session.session_key
    sign_in(client)
    assert client.session.session_key != before


@pytest.mark.parametrize("password", ["reviewer-2026", "short", "password123456", "314159265358979"])
def test_a_password_that_is_guessed_first_is_refused(password: str) -> None:
    with pytest.raises(ValidationError):
        validate_password(password, User(username="reviewer"))
