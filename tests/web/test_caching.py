"""No answer is kept by a browser unless it says so: after signing out, the back button shows nothing."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from ethos_review.accounts.roles import OPERATOR, SUBMITTER
from tests.web.people import make_person

pytestmark = pytest.mark.django_db

ANSWERS = {
    "a page": (SUBMITTER, reverse("preferences"), 200),
    "what the role does not let": (SUBMITTER, reverse("people"), 403),
    "what does not exist": (OPERATOR, reverse("person", args=[0]), 404),
    "no address": (SUBMITTER, "/no/such/page/", 404),
    "a redirect to confirm": (SUBMITTER, reverse("mfa_activate_totp"), 302),
    "a redirect by the address": (SUBMITTER, "/preferences", 301),
    "a bad request": (SUBMITTER, "/preferences/?a=%00", 400),
}


@pytest.mark.parametrize(("role", "where", "status"), ANSWERS.values(), ids=ANSWERS)
def test_no_answer_to_a_signed_in_person_is_kept(client: Client, role: str, where: str, status: int) -> None:
    client.force_login(make_person(role))
    response = client.get(where)
    assert response.status_code == status
    assert "no-store" in response["Cache-Control"]


def test_nor_is_a_refused_form() -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(make_person(SUBMITTER))
    response = client.post(reverse("preferences"))
    assert (response.status_code, "no-store" in response["Cache-Control"]) == (403, True)


def test_nor_is_a_failure(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*arguments: Any) -> None:
        raise ZeroDivisionError

    client.force_login(make_person(SUBMITTER))
    client.raise_request_exception = False
    monkeypatch.setattr("ethos_review.accounts.views.PreferencesForm", fail)
    response = client.get(reverse("preferences"))
    assert (response.status_code, "no-store" in response["Cache-Control"]) == (500, True)


def test_nor_is_what_was_typed_when_the_sign_in_had_ended(client: Client) -> None:
    response = client.post(reverse("preferences"), {"rationale": "I read it twice"})
    assert (response.status_code, "no-store" in response["Cache-Control"]) == (403, True)


def test_the_keys_are_kept_as_they_say(client: Client) -> None:
    assert "no-store" not in client.get(reverse("key_set"))["Cache-Control"]
