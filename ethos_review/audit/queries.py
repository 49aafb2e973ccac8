"""Reading the event chain: pages for people, and proof that it is unbroken."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass

import rfc8785

from ethos_review.audit.models import ChainHead, Event
from ethos_review.audit.operations import event_digest

GENESIS = "0" * 64  # what the first event names as the digest before it
PAGE_SIZE = 100


@dataclass(frozen=True, slots=True)
class EventPage:
    events: tuple[Event, ...]  # newest first
    next_cursor: str  # "" on the last page
    length: int  # of the whole chain
    sha256: str  # of its last event


def event_page(*, cursor: str = "") -> EventPage:
    """`cursor` is the `next_cursor` of the page before; anything else shows the newest events."""
    head = ChainHead.objects.get(pk=1)
    events = Event.objects.all()
    if cursor.isascii() and cursor.isdecimal() and len(cursor) < 19:
        events = events.filter(sequence__lt=int(cursor))
    found = list(events[: PAGE_SIZE + 1])
    shown = found[:PAGE_SIZE]
    return EventPage(
        events=tuple(shown),
        next_cursor=str(shown[-1].sequence) if len(found) > PAGE_SIZE else "",
        length=head.length,
        sha256=head.sha256,
    )


def read_chain() -> Iterator[tuple[Event, str]]:
    """Every event, oldest first, each with what is wrong with it: an empty text when nothing is."""
    expected, previous = 1, GENESIS
    for event in Event.objects.order_by("sequence").iterator():
        yield event, _fault(event, expected, previous)
        expected, previous = event.sequence + 1, event.sha256


def head_fault() -> str:
    """What is wrong with the head, compared with the last event; an empty text when nothing is."""
    head = ChainHead.objects.filter(pk=1).first()
    last = Event.objects.order_by("sequence").last()
    length, sha256 = (last.sequence, last.sha256) if last else (0, GENESIS)
    if head is None:
        return "the head of the chain is missing"
    if (head.length, head.sha256) != (length, sha256):
        return f"the head names event {head.length}, the last one is {length}, or their digests differ"
    return ""


def _fault(event: Event, expected: int, previous: str) -> str:
    if event.sequence != expected:
        return f"events {expected} to {event.sequence - 1} are missing"
    if event.previous_sha256 != previous:
        return "it does not name the digest of the event before it"
    try:
        details = json.loads(event.details)
        unchanged = (
            rfc8785.dumps(details).decode() == event.details and event_digest(event, details) == event.sha256
        )
    except (ValueError, TypeError, rfc8785.CanonicalizationError):
        unchanged = False
    return "" if unchanged else "its digest does not match what it says"
