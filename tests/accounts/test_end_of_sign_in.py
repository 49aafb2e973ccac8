"""A sign-in that is about to end warns early, and can be extended."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.conf import settings
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from pytest_django.asserts import assertRedirects

from ethos_review.accounts.roles import REVIEWER
from ethos_review.accounts.sign_in_end import WARNED_BEFORE
from tests.web.html import attributes_of, has, text_of
from tests.web.people import make_person

pytestmark = pytest.mark.django_db
HTMX = {"HX-Request": "true", "HX-Request-Type": "partial"}


@pytest.fixture
def reviewer(client: Client) -> Client:
    client.force_login(make_person(REVIEWER))
    return client


def leave(client: Client, seconds: int) -> None:
    session = client.session
    session.set_expiry(timezone.now() + timedelta(seconds=seconds))
    session.save()


def test_people_are_warned_at_least_a_minute_before() -> None:
    assert WARNED_BEFORE >= 60


def test_a_page_asks_again_when_the_warning_is_due(reviewer: Client) -> None:
    timer = attributes_of(reviewer.get("/"), "sign-in-timer")
    delay = int((timer["hx-trigger"] or "").removeprefix("load delay:").removesuffix("s"))
    assert abs(delay - (settings.SESSION_COOKIE_AGE - WARNED_BEFORE)) < 5
    assert text_of(reviewer.get("/"), "sign-in-end") == ""


def test_a_sign_in_about_to_end_warns_and_offers_to_stay(reviewer: Client) -> None:
    leave(reviewer, 200)
    response = reviewer.get(reverse("sign_in_end"), headers=HTMX)
    html = response.content.decode()
    assert "Your sign-in ends in less than 4 minutes." in html
    assert "Stay signed in" in html


def test_a_page_opened_late_warns_at_once(reviewer: Client) -> None:
    leave(reviewer, 30)
    assert "less than 1 minute." in text_of(reviewer.get("/"), "sign-in-end")


def test_staying_extends_the_sign_in_and_takes_the_warning_away(reviewer: Client) -> None:
    leave(reviewer, 30)
    response = reviewer.post(reverse("sign_in_end"), headers=HTMX)
    assert "Stay signed in" not in response.content.decode()
    assert has(response, "sign-in-timer")
    assert reviewer.session.get_expiry_age() > settings.SESSION_COOKIE_AGE - 5


def test_asking_does_not_extend(reviewer: Client) -> None:
    leave(reviewer, 30)
    reviewer.get(reverse("sign_in_end"), headers=HTMX)
    assert reviewer.session.get_expiry_age() <= 30


def test_without_a_script_staying_leads_to_the_queue(reviewer: Client) -> None:
    assertRedirects(reviewer.post(reverse("sign_in_end")), reverse("queue"))
