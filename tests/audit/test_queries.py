from __future__ import annotations

from datetime import UTC, date, datetime

import pytest
from django.db import connection
from pytest_django import DjangoAssertNumQueries

from ethos_review.audit import operations, queries
from ethos_review.audit.models import ChainHead
from ethos_review.audit.operations import record_event
from ethos_review.audit.queries import Filters
from ethos_review.engine.audit_chain import read_chain

pytestmark = pytest.mark.django_db


def write(count: int) -> None:
    for number in range(count):
        record_event(actor=None, action="signed_in", object_type="account", object_id=str(number))


def change(column: str, value: object, sequence: int) -> None:
    with connection.cursor() as cursor:
        cursor.execute(f"UPDATE audit_event SET {column} = %s WHERE sequence = %s", [value, sequence])  # noqa: S608


@pytest.mark.parametrize(
    ("filters", "sequences"),
    [
        (Filters(), [4, 3, 2, 1]),
        (Filters(action="signed_in"), [3, 1]),
        (Filters(actor="LUX"), [2, 1]),
        (Filters(object="review-"), [4, 2]),
        (Filters(object="view-"), []),
        (Filters(action="signed_in", actor="R. Lux"), [1]),
        (Filters(since=date(2026, 3, 2)), [4, 3, 2]),
        (Filters(until=date(2026, 3, 2)), [3, 2, 1]),
        (Filters(since=date(2026, 3, 2), until=date(2026, 3, 2)), [3, 2]),
        (Filters(since=date.min, until=date.max), [4, 3, 2, 1]),
    ],
)
def test_filters_choose_by_action_actor_object_and_day(
    filters: Filters, sequences: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    for at, action, actor, object_id in (
        (datetime(2026, 3, 1, 23, 59, tzinfo=UTC), "signed_in", "R. Lux", "1"),
        (datetime(2026, 3, 2, tzinfo=UTC), "review_submitted", "R. Lux", "review-1"),
        (datetime(2026, 3, 2, 23, 59, 59, 999999, tzinfo=UTC), "signed_in", "P. Ahn", "2"),
        (datetime(2026, 3, 3, tzinfo=UTC), "review_sealed", "P. Ahn", "review-1/3"),
    ):
        monkeypatch.setattr(operations.timezone, "now", lambda at=at: at)
        record_event(actor=None, actor_name=actor, action=action, object_type="review", object_id=object_id)

    page = queries.event_page(filters=filters)

    assert [event.sequence for event in page.events] == sequences
    assert (page.length, page.fault) == (4, "")


def test_a_page_tells_of_changed_events_and_of_a_missing_last_one() -> None:
    write(3)
    assert (queries.event_page().changed, queries.event_page().fault) == (frozenset(), "")
    change("actor_name", "Nobody", 2)
    change("sha256", "f" * 64, 3)

    page = queries.event_page()

    assert page.changed == {2, 3}
    assert page.fault == "the head names event 3, which is missing or another"


def test_without_a_head_the_page_says_so() -> None:
    ChainHead.objects.all().delete()

    assert queries.event_page().fault == "the head of the chain is missing"


def test_an_export_verifies_offline_and_ends_where_it_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(queries, "EXPORT_BATCH", 2)
    write(5)

    chain = read_chain(line.rstrip(b"\n") for line in queries.export_lines(5))
    begun = list(queries.export_lines(3))

    assert (chain.length, chain.faults) == (5, ())
    assert chain.sha256 == ChainHead.objects.get().sha256
    assert read_chain(line.rstrip(b"\n") for line in begun).length == len(begun) == 3


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("details", '{"n":1}'),
        ("details", "{"),
        ("actor_name", "Nobody"),
        ("object_id", "9"),
        ("previous_sha256", "f" * 64),
        ("sha256", "f" * 64),
        ("at", datetime(2020, 1, 1, tzinfo=UTC)),
    ],
)
def test_what_was_changed_shows_in_the_export(column: str, value: object) -> None:
    write(3)
    change(column, value, 2)

    chain = read_chain(line.rstrip(b"\n") for line in queries.export_lines(3))

    assert chain.faults


def test_events_are_shown_newest_first_with_the_state_of_the_chain() -> None:
    write(3)

    page = queries.event_page()

    assert [event.sequence for event in page.events] == [3, 2, 1]
    assert (page.length, page.sha256, page.next_cursor) == (3, page.events[0].sha256, "")


def test_pages_hold_every_event_once_while_new_ones_arrive(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(queries, "PAGE_SIZE", 2)
    write(5)

    first = queries.event_page()
    write(3)
    second = queries.event_page(cursor=first.next_cursor)
    third = queries.event_page(cursor=second.next_cursor)

    assert [e.sequence for page in (first, second, third) for e in page.events] == [5, 4, 3, 2, 1]
    assert third.next_cursor == ""


@pytest.mark.parametrize("cursor", ["x", "-1", "1.5", "٣", "9" * 40])
def test_a_cursor_that_nobody_handed_out_shows_the_newest(cursor: str) -> None:
    write(1)

    assert len(queries.event_page(cursor=cursor).events) == 1


@pytest.mark.parametrize("count", [1, 3])
def test_a_page_of_events_needs_four_queries(
    count: int, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    write(count)

    with django_assert_num_queries(4):
        assert len([event.actor_name for event in queries.event_page().events]) == count
