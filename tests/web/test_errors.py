"""Failures as pages: they say what happened and what to do; htmx never swaps one into a page."""

from __future__ import annotations

import io

import pytest
from django.contrib.messages import get_messages
from django.db import InterfaceError, OperationalError
from django.db.backends.utils import CursorWrapper
from django.test import Client
from django.urls import reverse
from pytest_django.asserts import assertContains, assertNotContains, assertTemplateUsed

from ethos_review.accounts.roles import REVIEWER, SUBMITTER
from ethos_review.web import errors, health
from tests.web.people import make_person

HTMX = {
    "HX-Request": "true",
    "HX-Request-Type": "partial",
    "HX-Current-URL": "http://testserver/preferences/",
}


@pytest.mark.django_db
def test_an_old_form_is_refused_with_what_was_typed_and_a_way_back() -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(make_person(REVIEWER))
    response = client.post(
        reverse("preferences"),
        {"rationale": "seen & read"},
        headers={"Referer": "http://testserver/preferences/"},
    )
    assertTemplateUsed(response, "403_csrf.html")
    assertContains(response, "seen &amp; read", status_code=403)
    assertContains(response, 'href="/preferences/"', status_code=403)


@pytest.mark.django_db
def test_an_old_form_under_htmx_loads_the_page_again_and_says_so() -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(make_person(REVIEWER))
    response = client.post(reverse("preferences"), headers=HTMX)
    assert (response.content, response["HX-Redirect"]) == (b"", "/preferences/")
    assert "Nothing was decided" in str(next(iter(get_messages(response.wsgi_request))))


@pytest.mark.django_db
@pytest.mark.parametrize(
    "path", ["//elsewhere.example/x", "/\\elsewhere.example/x", "///elsewhere.example/x"]
)
def test_the_way_back_never_leads_to_another_host(path: str) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(make_person(REVIEWER))
    plain = client.post(reverse("preferences"), headers={"Referer": f"http://testserver{path}"})
    assertContains(plain, 'href="/elsewhere.example/x"', status_code=403)
    under_htmx = client.post(
        reverse("preferences"), headers=HTMX | {"HX-Current-URL": f"http://testserver{path}"}
    )
    assert under_htmx["HX-Redirect"] == "/elsewhere.example/x"


@pytest.mark.django_db
def test_an_old_form_of_someone_signed_out_leads_an_htmx_page_to_sign_in() -> None:
    response = Client(enforce_csrf_checks=True).post(reverse("preferences"), headers=HTMX)
    assert response["HX-Redirect"] == "/sign-in/?next=%2Fpreferences%2F&ended=nothing-changed"


@pytest.mark.django_db
def test_a_page_one_may_not_see_says_who_can_help(client: Client) -> None:
    client.force_login(make_person(SUBMITTER))
    response = client.get(reverse("audit"))
    assertTemplateUsed(response, "403.html")
    assertContains(response, "An operator can give it to you", status_code=403)


@pytest.mark.django_db
def test_a_wrong_address_has_a_page(client: Client) -> None:
    assertContains(client.get("/nowhere/"), "There is nothing here", status_code=404)


@pytest.mark.django_db
def test_a_refusal_leads_who_is_signed_in_on_by_the_navigation(client: Client) -> None:
    client.force_login(make_person(SUBMITTER))
    for path, status in ((reverse("audit"), 403), ("/nowhere/", 404)):
        response = client.get(path)
        assertContains(response, f'href="{reverse("upload")}"', status_code=status)
        assertNotContains(response, f'href="{reverse("people")}"', status_code=status)
    assertNotContains(Client().get("/nowhere/"), "<nav", status_code=404)


@pytest.mark.django_db
@pytest.mark.parametrize("fault", [OperationalError("gone"), InterfaceError("closed")])
def test_a_wrong_address_has_its_page_also_while_the_database_is_gone(
    client: Client, monkeypatch: pytest.MonkeyPatch, fault: Exception
) -> None:
    client.force_login(make_person(SUBMITTER))

    def fail(*args: object, **kwargs: object) -> None:
        raise fault

    monkeypatch.setattr(CursorWrapper, "execute", fail)
    response = client.get("/nowhere/")
    assertContains(response, "There is nothing here", status_code=404)
    assertNotContains(response, "<nav", status_code=404)


@pytest.mark.parametrize(
    ("fault", "status", "words"),
    [
        (OperationalError("gone"), 503, "The database does not answer"),
        (InterfaceError("closed"), 503, "The database does not answer"),
        (ZeroDivisionError(), 500, "Something went wrong here"),
    ],
)
def test_a_failure_has_a_page_that_asks_no_database(
    monkeypatch: pytest.MonkeyPatch, fault: Exception, status: int, words: str
) -> None:
    def fail() -> None:
        raise fault

    monkeypatch.setattr(health.connection, "ensure_connection", fail)
    client = Client(raise_request_exception=False)
    assertContains(client.get(reverse("healthz")), words, status_code=status)


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("fields", "host", "status"),
    [(2_000, "testserver", 413), (1, "evil.example", 400)],
    ids=["too many fields", "wrong host"],
)
def test_a_request_of_a_form_that_is_refused_is_one_line_of_the_log(
    client: Client, log: io.StringIO, fields: int, host: str, status: int
) -> None:
    typed = {f"field{number}": "x" for number in range(fields)}
    assert client.post("/sign-in/", typed, headers={"Host": host}).status_code == status
    assert len(log.getvalue().splitlines()) == 1


@pytest.mark.django_db
def test_an_ordinary_refusal_is_not_logged(client: Client, caplog: pytest.LogCaptureFixture) -> None:
    client.force_login(make_person(SUBMITTER))
    statuses = [
        client.get("/nowhere/").status_code,
        client.get(reverse("audit")).status_code,
        client.post(reverse("upload"), {"action": "check"}).status_code,
        client.put(reverse("upload")).status_code,
        client.get("/?text=%00").status_code,
    ]
    assert statuses == [404, 403, 400, 405, 400]
    assert caplog.records == []


def test_a_failure_of_the_server_is_logged(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail() -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(health.connection, "ensure_connection", fail)
    Client(raise_request_exception=False).get(reverse("healthz"))
    assert [(record.levelname, record.getMessage()) for record in caplog.records] == [
        ("ERROR", "Internal Server Error: /healthz")
    ]


@pytest.mark.django_db
def test_health_says_ok_and_nothing_else(client: Client) -> None:
    response = client.get(reverse("healthz"))
    assert (response.status_code, response.content) == (200, b"ok\n")


def test_the_project_uses_these_pages(settings: object) -> None:
    assert f"{errors.__name__}.csrf_failure" == settings.CSRF_FAILURE_VIEW  # type: ignore[attr-defined]
