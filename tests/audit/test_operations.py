from __future__ import annotations

import json
import threading
from datetime import UTC, datetime, timedelta, timezone

import pytest
from django.db import connection, transaction

from ethos_review.accounts.models import User
from ethos_review.audit.models import ChainHead, Event
from ethos_review.audit.operations import record_event, rfc3339
from ethos_review.audit.queries import GENESIS, head_fault, read_chain

pytestmark = pytest.mark.django_db


def faults() -> list[str]:
    return [fault for _, fault in read_chain() if fault] + ([head_fault()] if head_fault() else [])


def test_each_event_holds_the_digest_of_the_one_before() -> None:
    first = record_event(actor=None, action="signed_in", object_type="account", object_id="1")
    second = record_event(actor=None, action="signed_out", object_type="account", object_id="1")

    assert (first.sequence, first.previous_sha256) == (1, GENESIS)
    assert (second.sequence, second.previous_sha256) == (2, first.sha256)
    head = ChainHead.objects.get()
    assert (head.length, head.sha256) == (2, second.sha256)
    assert faults() == []


def test_an_event_names_its_actor_as_displayed_at_the_time() -> None:
    actor = User.objects.create_user("rosa", display_name="Rosa Lind")

    event = record_event(actor=actor, action="signed_in", object_type="account", object_id=str(actor.pk))

    assert (event.actor, event.actor_name) == (actor, "Rosa Lind")


def test_details_are_stored_as_canonical_json() -> None:
    event = record_event(
        actor=None,
        action="signed_in",
        object_type="account",
        object_id="1",
        details={"b": [1, None], "a": "é"},
    )

    assert event.details == '{"a":"é","b":[1,null]}'
    assert json.loads(event.details) == {"a": "é", "b": [1, None]}


def test_an_event_falls_with_the_transaction_it_belongs_to() -> None:
    with transaction.atomic():
        record_event(actor=None, action="signed_in", object_type="account", object_id="1")
        transaction.set_rollback(True)

    assert not Event.objects.exists()
    assert ChainHead.objects.get().length == 0


@pytest.mark.parametrize("typed", ["a\0b", "half \ud800 pair", "x" * 100_000])
def test_whatever_was_typed_at_a_failed_sign_in_can_be_recorded(typed: str) -> None:
    record_event(
        actor=None, actor_name=typed, action="sign_in_failed", object_type="account", object_id=typed
    )

    assert Event.objects.count() == 1
    assert faults() == []


@pytest.mark.parametrize(
    ("column", "value", "fault"),
    [
        ("at", datetime(2020, 1, 1, tzinfo=UTC), "its digest does not match what it says"),
        ("actor_name", "someone else", "its digest does not match what it says"),
        ("action", "signed_out", "its digest does not match what it says"),
        ("object_type", "review", "its digest does not match what it says"),
        ("object_id", "3", "its digest does not match what it says"),
        ("details", '{"n":2 }', "its digest does not match what it says"),
        ("details", "{", "its digest does not match what it says"),
        ("sha256", "f" * 64, "its digest does not match what it says"),
        ("previous_sha256", "f" * 64, "it does not name the digest of the event before it"),
    ],
)
def test_a_changed_event_is_found(column: str, value: object, fault: str) -> None:
    for _ in range(3):
        record_event(actor=None, action="signed_in", object_type="account", object_id="2", details={"n": 2})
    table = Event._meta.db_table
    with connection.cursor() as cursor:
        cursor.execute(f"UPDATE {table} SET {column} = %s WHERE sequence = 2", [value])  # noqa: S608

    assert next((event.sequence, found) for event, found in read_chain() if found) == (2, fault)


def test_a_missing_event_is_found() -> None:
    for _ in range(3):
        record_event(actor=None, action="signed_in", object_type="account", object_id="2")
    with connection.cursor() as cursor:
        cursor.execute(f"DELETE FROM {Event._meta.db_table} WHERE sequence = 2")  # noqa: S608

    assert faults() == ["events 2 to 2 are missing"]


def test_a_missing_last_event_is_found() -> None:
    for _ in range(3):
        record_event(actor=None, action="signed_in", object_type="account", object_id="2")
    with connection.cursor() as cursor:
        cursor.execute(f"DELETE FROM {Event._meta.db_table} WHERE sequence = 3")  # noqa: S608

    assert faults() == ["the head names event 3, the last one is 2, or their digests differ"]


def test_a_missing_head_is_found_and_no_writer_makes_a_new_one() -> None:
    record_event(actor=None, action="signed_in", object_type="account", object_id="2")
    ChainHead.objects.all().delete()

    assert faults() == ["the head of the chain is missing"]
    with pytest.raises(ChainHead.DoesNotExist):
        record_event(actor=None, action="signed_in", object_type="account", object_id="2")


@pytest.mark.django_db(transaction=True)
def test_fifty_writers_at_once_make_one_unbroken_chain() -> None:
    start = threading.Barrier(50)
    failures: list[BaseException] = []

    def write() -> None:
        try:
            start.wait()
            for number in range(4):
                record_event(
                    actor=None,
                    action="signed_in",
                    object_type="account",
                    object_id="1",
                    details={"n": number},
                )
        except BaseException as failure:
            failures.append(failure)
        finally:
            connection.close()

    threads = [threading.Thread(target=write) for _ in range(50)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert failures == []
    assert Event.objects.count() == 200
    assert faults() == []


def test_times_are_written_in_utc_with_microseconds() -> None:
    at = datetime(2026, 3, 1, 13, 30, tzinfo=timezone(timedelta(hours=1)))

    assert rfc3339(at) == "2026-03-01T12:30:00.000000Z"
