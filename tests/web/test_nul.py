"""U+0000 in a request is refused alike on every database."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse
from pytest_django.asserts import assertTemplateUsed

from ethos_review.accounts.roles import REVIEWER
from tests.web.people import make_person


@pytest.mark.django_db
@pytest.mark.parametrize(
    "address",
    [
        "/%00",
        "/keys/a%00b.pem",
        "/reviews/00000000-0000-4000-8000-000000000000/documents/%00/",
        "/?tab=%00",
        "/?anything=a%00b&c=d",
        "/?%00",
    ],
)
def test_an_address_with_nul_cannot_be_read(client: Client, address: str) -> None:
    client.force_login(make_person(REVIEWER))
    response = client.get(address)
    assert response.status_code == 400
    assertTemplateUsed(response, "400.html")


@pytest.mark.django_db
def test_a_percent_sign_before_two_zeros_is_no_nul(client: Client) -> None:
    client.force_login(make_person(REVIEWER))
    assert client.get("/?tab=100%2500").status_code == 200


@pytest.mark.django_db
def test_a_session_cookie_with_nul_cannot_be_read(client: Client) -> None:
    client.cookies["sessionid"] = "\0" * 32
    assert client.get(reverse("queue")).status_code == 400
