"""Failed sign-ins and lock-outs in the audit chain: what they say, what they never say, and what bounds them."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from datetime import timedelta
from importlib import import_module
from typing import Any

import pytest
from axes.models import AccessAttempt
from django.apps import apps
from django.db import connection, connections
from django.http import HttpResponse
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from pytest_django import Settings

from ethos_review.accounts import failed_sign_ins
from ethos_review.accounts.models import User
from ethos_review.accounts.roles import REVIEWER
from ethos_review.audit import operations
from ethos_review.audit.models import Event
from ethos_review.audit.queries import head_fault, read_chain
from tests.accounts.test_passkeys import Passkey, add, asked, browser, use
from tests.accounts.test_second_factor import code_of, set_up
from tests.web.people import PASSWORD, make_person

pytestmark = pytest.mark.django_db
FAILED, LOCKED_OUT = "sign_in_failed", "person_locked_out"


@pytest.fixture
def person() -> User:
    return make_person(REVIEWER)


def fail(client: Client, username: str = "reviewer", address: str = "192.0.2.1", **data: str) -> HttpResponse:
    form = {"username": username, "password": "not this one"} | data
    return client.post(reverse("sign_in"), form, REMOTE_ADDR=address)


def told() -> list[tuple[str, str]]:
    """Actions and objects, oldest first."""
    return list(Event.objects.order_by("sequence").values_list("action", "object_id"))


def test_a_wrong_password_is_an_event_about_the_account_by_nobody(client: Client, person: User) -> None:
    fail(client)
    event = Event.objects.get()
    assert (event.actor, event.actor_name, event.action) == (None, "", FAILED)
    assert (event.object_type, event.object_id, event.details) == ("person", "reviewer", '{"by":"password"}')


def test_a_name_that_nobody_has_is_not_told_for_it_may_be_a_password(client: Client, person: User) -> None:
    for typed in (PASSWORD, "Reviewer", "reviewer2", " reviewer\u200b"):
        fail(client, typed)
    assert set(told()) == {(FAILED, "")}
    assert {event.details for event in Event.objects.all()} == {'{"by":"password"}'}


@pytest.mark.parametrize("username", ["reviewer", "nobody"])
def test_the_name_is_looked_up_once_to_sign_in_and_once_to_count(
    client: Client, person: User, username: str
) -> None:
    with CaptureQueriesContext(connection) as asked:
        fail(client, username)
    people = [query["sql"] for query in asked.captured_queries if 'FROM "accounts_user"' in query["sql"]]
    assert len(people) == 2


def test_a_password_in_the_field_of_the_name_is_kept_nowhere_and_counts_all_the_same(
    client: Client, person: User
) -> None:
    answers = [fail(client, PASSWORD).status_code for _ in range(11)]
    assert answers == [200] * 9 + [429] * 2
    kept = [
        str(value)
        for model in (AccessAttempt, Event)
        for row in model.objects.values()
        for value in row.values()
    ]
    assert not [value for value in kept if PASSWORD in value]
    assert fail(client).status_code == 200  # an account of that address is not locked out by it


def kept() -> Iterator[str]:
    """Every value that django-axes keeps of anything."""
    for model in apps.get_app_config("axes").get_models():
        for row in model._default_manager.values():
            yield from map(str, row.values())


@pytest.mark.parametrize("times", [1, 2, 12], ids=["once", "twice", "until the lock-out and after it"])
def test_nothing_that_was_typed_is_kept_of_a_failed_attempt(person: User, times: int) -> None:
    stranger, client = Client(), browser()
    client.force_login(person)
    add(client, Passkey())
    set_up(client)
    wrong = {
        "password": "typed-password",
        "old_password": "typed-old",
        "new_password1": "typed-new",
        "new_password2": "typed-again",
        "code": "typed-code",
        "csrfmiddlewaretoken": "typed-token",
        "rationale": "typed-in-a-field-of-another-form",
    }
    for number in range(times):
        query = f"?next=/typed-next/&password=typed-query-{number}&more=typed-more"
        stranger.post(reverse("sign_in") + query, wrong | {"username": "reviewer"})
        stranger.post(reverse("sign_in") + query, wrong | {"username": "typed-name"})
        for name in ("change_password", "account_reauthenticate", "mfa_reauthenticate"):
            client.post(reverse(name) + query, wrong)
        where = reverse("mfa_reauthenticate_webauthn")
        answer = Passkey().get(asked(client.get(where)))
        client.post(where + query, wrong | {"credential": json.dumps(answer)})
        second = browser()
        second.post(reverse("sign_in"), {"username": "reviewer", "password": PASSWORD})
        second.post(reverse("mfa_authenticate") + query, wrong)
    assert AccessAttempt.objects.count() >= 2
    assert [value for value in kept() if "typed" in value or "credential" in value] == []


def test_what_was_typed_before_nothing_was_kept_is_forgotten() -> None:
    AccessAttempt.objects.create(username="reviewer", failures_since_start=3)
    AccessAttempt.objects.update(get_data="next=/", post_data="old_password=typed")
    import_module("ethos_review.accounts.migrations.0005_nothing_typed_is_kept").forget_what_was_typed(
        apps, None
    )
    attempt = AccessAttempt.objects.get()
    assert (attempt.get_data, attempt.post_data, attempt.failures_since_start) == ("", "", 3)


def test_a_wrong_code_is_told_apart(client: Client, person: User) -> None:
    client.force_login(person)
    secret, _ = set_up(client)
    client.post(reverse("sign_out"))
    client.post(reverse("sign_in"), {"username": "reviewer", "password": PASSWORD})
    client.post(reverse("mfa_authenticate"), {"code": "000000" if code_of(secret) != "000000" else "111111"})
    event = Event.objects.latest("sequence")
    assert (event.action, event.object_id, event.details) == (FAILED, "reviewer", '{"by":"mfa"}')


def test_so_is_a_wrong_passkey(person: User) -> None:
    client = browser()
    client.force_login(person)
    add(client, Passkey())
    client.post(reverse("sign_out"))
    client.post(reverse("sign_in"), {"username": "reviewer", "password": PASSWORD})
    use(client, Passkey())
    event = Event.objects.latest("sequence")
    assert (event.action, event.object_id, event.details) == (FAILED, "reviewer", '{"by":"mfa"}')


def test_so_is_a_wrong_password_of_someone_with_a_session(client: Client, person: User) -> None:
    client.force_login(person)
    client.post(reverse("account_reauthenticate"), {"password": "not this one"})
    assert told() == [(FAILED, "reviewer")]


def test_the_failure_that_locks_an_account_out_is_followed_by_an_event_that_says_so(
    client: Client, person: User
) -> None:
    for _ in range(10):
        fail(client)
    assert told() == [(FAILED, "reviewer")] * 10 + [(LOCKED_OUT, "reviewer")]
    assert Event.objects.latest("sequence").actor is None


def test_what_follows_a_lock_out_is_not_told_and_moves_no_end(client: Client, person: User) -> None:
    for _ in range(10):
        fail(client)
    before = AccessAttempt.objects.values_list("failures_since_start", "attempt_time").get()
    for _ in range(5):
        assert fail(client).status_code == 429
        assert fail(client, password=PASSWORD).status_code == 429
    assert len(told()) == 11
    assert AccessAttempt.objects.values_list("failures_since_start", "attempt_time").get() == before


def test_more_addresses_write_no_more_events(client: Client, person: User) -> None:
    for number in range(40):
        fail(client, address=f"192.0.2.{number}")
    assert told() == [(FAILED, "reviewer")] * 10
    for _ in range(40):
        fail(client, address="198.51.100.1")
        fail(client, address="198.51.100.2")
    assert told() == [(FAILED, "reviewer")] * 10 + [(LOCKED_OUT, "reviewer")]


def test_more_invented_names_write_no_more_events(client: Client, person: User) -> None:
    for number in range(30):
        fail(client, f"nobody-{number}")
    assert told() == [(FAILED, "")] * 10
    fail(client)
    assert told()[-1] == (FAILED, "reviewer")


def test_an_invented_name_is_never_locked_out_in_the_chain(client: Client) -> None:
    for _ in range(12):
        fail(client, "nobody")
    assert told() == [(FAILED, "")] * 10


def test_after_the_time_of_a_lock_out_failures_are_told_again(
    client: Client, person: User, settings: Settings
) -> None:
    for number in range(12):
        fail(client, address=f"192.0.2.{number}")
    settings.AXES_COOLOFF_TIME = timedelta(0)
    fail(client)
    assert told() == [(FAILED, "reviewer")] * 11


def test_a_failure_that_is_not_told_is_not_counted_either(
    client: Client, person: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    def break_down(**event: Any) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(failed_sign_ins, "record_event", break_down)
    client.raise_request_exception = False
    assert fail(client).status_code == 500
    assert not AccessAttempt.objects.exists()


def test_a_failure_that_is_told_no_more_does_not_wait_for_the_chain(
    client: Client, person: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(10):
        fail(client, address=f"192.0.2.{number}")
    monkeypatch.setattr(operations, "lock_chain", lambda: pytest.fail("every writer waits for this lock"))
    assert fail(client).status_code == 200


def test_the_chain_stays_unbroken(client: Client, person: User) -> None:
    for _ in range(11):
        fail(client)
    fail(client, "\U0001f600")
    assert head_fault() == ""
    assert [fault for _, fault in read_chain() if fault] == []


@pytest.mark.django_db(transaction=True)
def test_failures_at_the_same_moment_are_all_counted_and_told_within_the_bound(person: User) -> None:
    """From one address by several browsers, which django-axes counts in rows of their own."""

    def fail_often(number: int) -> None:
        client = Client(HTTP_USER_AGENT=f"browser {number}")
        try:
            statuses.extend(fail(client).status_code for _ in range(4))
        finally:
            connections.close_all()

    statuses: list[int] = []
    threads = [threading.Thread(target=fail_often, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (len(statuses), set(statuses)) == (24, {200, 429})
    assert 10 <= told().count((FAILED, "reviewer")) <= 10 + len(threads)
    assert told().count((LOCKED_OUT, "reviewer")) >= 1
    assert head_fault() == ""
