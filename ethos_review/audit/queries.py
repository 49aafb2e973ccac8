"""Reading the event chain: pages for people, and proof that it is unbroken."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from functools import partial
from itertools import pairwise
from typing import Final, TypeVar

import rfc8785
from django.core.exceptions import ValidationError
from django.db import DatabaseError, connection
from django.db.models import Model, QuerySet

from ethos_review.audit.models import AppendOnlyQuerySet, ChainHead, Checkpoint, Event
from ethos_review.audit.operations import event_digest, event_members
from ethos_review.engine.audit_chain import GENESIS

PAGE_SIZE = 100
EXPORT_BATCH = 1000  # events in memory at a time
READ_AT_ONCE: Final = 500  # rows that are held against the chain
UNREADABLE: Final = (ValueError, TypeError, AttributeError, DatabaseError)  # of a row that somebody changed
M = TypeVar("M", bound=Model)


@dataclass(frozen=True, slots=True)
class Filters:
    """What an event has to be to be listed; empty asks for nothing."""

    action: str = ""
    actor: str = ""  # a part of the name
    object: str = ""  # the beginning of the id
    since: date | None = None  # UTC days, both included
    until: date | None = None


@dataclass(frozen=True, slots=True)
class EventPage:
    events: tuple[Event, ...]  # newest first
    changed: frozenset[int]  # places of those whose digest does not match what they say
    loose: frozenset[
        int
    ]  # places of those that do not name the digest of the event before, where that is shown
    next_cursor: str  # "" on the last page
    length: int  # of the whole chain
    sha256: str  # of its last event
    fault: str  # of the chain's head; empty when it agrees with the last event
    checkpoint: Checkpoint | None  # the newest


def event_page(*, cursor: str = "", filters: Filters | None = None) -> EventPage:
    """`cursor` is the `next_cursor` of the page before; anything else shows the newest events."""
    head = ChainHead.objects.filter(pk=1).first()
    events = _chosen(filters or Filters())
    if cursor.isascii() and cursor.isdecimal() and len(cursor) < 19:
        events = events.filter(sequence__lt=int(cursor))
    found = list(events[: PAGE_SIZE + 1])
    shown = found[:PAGE_SIZE]
    return EventPage(
        events=tuple(shown),
        changed=frozenset(event.sequence for event in shown if not _is_unchanged(event)),
        loose=frozenset(
            event.sequence
            for event, before in pairwise(shown)
            if before.sequence == event.sequence - 1 and before.sha256 != event.previous_sha256
        ),
        next_cursor=str(shown[-1].sequence) if len(found) > PAGE_SIZE else "",
        length=head.length if head else 0,
        sha256=head.sha256 if head else GENESIS,
        fault=_fault_at_head(head),
        checkpoint=Checkpoint.objects.order_by("-length", "-id").first(),
    )


def _fault_at_head(head: ChainHead | None) -> str:
    """Like `head_fault`, but holds while others write; what follows the head only `verify_audit` finds."""
    if head is None:
        return "the head of the chain is missing"
    if head.length and not Event.objects.filter(sequence=head.length, sha256=head.sha256).exists():
        return f"the head names event {head.length}, which is missing or another"
    return ""


def _chosen(filters: Filters) -> AppendOnlyQuerySet[Event]:
    events = Event.objects.all()
    if filters.action:
        events = events.filter(action=filters.action)
    if filters.actor:
        events = events.filter(actor_name__icontains=filters.actor)
    if filters.object:
        events = events.filter(object_id__startswith=filters.object)
    if filters.since:
        events = events.filter(at__gte=datetime.combine(filters.since, time.min, UTC))
    if filters.until:
        events = events.filter(at__lte=datetime.combine(filters.until, time.max, UTC))
    return events


def export_lines(length: int) -> Iterator[bytes]:
    """The first `length` events, oldest first, each as a line of canonical JSON that says everything it says."""
    place = 0
    while batch := list(
        Event.objects.filter(sequence__gt=place, sequence__lte=length).order_by("sequence")[:EXPORT_BATCH]
    ):
        for event in batch:
            yield _export_line(event)
        place = batch[-1].sequence


def _export_line(event: Event) -> bytes:
    try:
        details = json.loads(event.details)
    except ValueError:
        details = event.details  # somebody changed it, and whoever verifies the export shall see that
    return rfc8785.dumps({**event_members(event, details), "sha256": event.sha256}) + b"\n"


def newest_checkpoint() -> Checkpoint:
    """Raises Checkpoint.DoesNotExist."""
    return Checkpoint.objects.latest("length", "id")


def read_chain() -> Iterator[tuple[Event, str]]:
    """Every event, oldest first, each with what is wrong with it: an empty text when nothing is.

    Of one that cannot be read only the sequence is there.
    """
    expected = 1
    previous: str | None = GENESIS
    for sequence, event in each_readable(Event.objects.all()):
        yield event or Event(sequence=sequence), _fault(event, expected, previous)
        if isinstance(sequence, int):
            expected = sequence + 1
        previous = event.sha256 if event else None


@contextmanager
def any_text() -> Iterator[None]:
    """What somebody changed in SQLite to be no text must not keep the rest from being read."""
    if connection.vendor != "sqlite":
        yield
        return
    connection.ensure_connection()
    opened = connection.connection
    strict = opened.text_factory
    opened.text_factory = partial(str, encoding="utf-8", errors="replace")
    try:
        yield
    finally:
        opened.text_factory = strict


def each_readable(rows: QuerySet[M]) -> Iterator[tuple[int, M | None]]:
    """Every row by its primary key; None for one in which somebody wrote what cannot be read."""
    keys = list(rows.order_by("pk").values_list("pk", flat=True))  # not all of which may be numbers in SQLite
    for start in range(0, len(keys), READ_AT_ONCE):
        asked = keys[start : start + READ_AT_ONCE]
        try:
            found = rows.in_bulk(asked)
        except UNREADABLE:
            found = {key: row for key in asked if (row := if_readable(rows, key))}
        for key in asked:
            row = found.get(key)
            yield key, row if row and _has_its_types(row) else None


def if_readable(rows: QuerySet[M], key: int) -> M | None:
    """The row with this primary key; None when somebody wrote into it what cannot be read."""
    try:
        row = rows.get(pk=key)
    except UNREADABLE:
        return None
    return row if row.pk == key and _has_its_types(row) else None


def _has_its_types(row: Model) -> bool:
    """SQLite takes a value of any type into any column."""
    loaded = ((field, row.__dict__.get(field.attname)) for field in row._meta.concrete_fields)
    try:
        return all(value is None or field.to_python(value) == value for field, value in loaded)
    except (ValidationError, *UNREADABLE):
        return False


def head_fault() -> str:
    """What is wrong with the head, compared with the last event; an empty text when nothing is."""
    head = ChainHead.objects.filter(pk=1).first()
    last = Event.objects.order_by("-sequence").values_list("sequence", "sha256").first()
    length, sha256 = last or (0, GENESIS)
    if head is None:
        return "the head of the chain is missing"
    if (head.length, head.sha256) != (length, sha256):
        return f"the head names event {head.length}, the last one is {length}, or their digests differ"
    return ""


def _fault(event: Event | None, expected: int, previous: str | None) -> str:
    """`previous` is None behind an event that cannot be read."""
    if event is None:
        return "it cannot be read"
    if event.sequence != expected:
        return f"events {expected} to {event.sequence - 1} are missing"
    if previous is not None and event.previous_sha256 != previous:
        return "it does not name the digest of the event before it"
    return "" if _is_unchanged(event) else "its digest does not match what it says"


def _is_unchanged(event: Event) -> bool:
    try:
        details = json.loads(event.details)
        return bool(
            rfc8785.dumps(details).decode() == event.details and event_digest(event, details) == event.sha256
        )
    except (ValueError, TypeError):
        return False
