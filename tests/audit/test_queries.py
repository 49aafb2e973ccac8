from __future__ import annotations

import pytest
from pytest_django import DjangoAssertNumQueries

from ethos_review.audit import queries
from ethos_review.audit.operations import record_event

pytestmark = pytest.mark.django_db


def write(count: int) -> None:
    for number in range(count):
        record_event(actor=None, action="signed_in", object_type="account", object_id=str(number))


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
def test_a_page_of_events_needs_two_queries(
    count: int, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    write(count)

    with django_assert_num_queries(2):
        assert len([event.actor_name for event in queries.event_page().events]) == count
