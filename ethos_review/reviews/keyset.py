"""Pages of a list of reviews that stay right while rows come and go: each continues after a row, not after a number."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Final, Protocol, TypeVar

from django.db.models import Q, QuerySet

from ethos_review.reviews.models import Review

EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


class Placed(Protocol):
    """What has a place in a list of reviews: a review, or a row with some of its columns."""

    @property
    def id(self) -> int: ...
    @property
    def submitted_at(self) -> datetime: ...
    @property
    def undecided_count(self) -> int: ...


Listed = TypeVar("Listed", bound=Placed)


def keyset_page(
    reviews: QuerySet[Review, Listed],
    sort: str,
    after: tuple[int, datetime, int] | None,
    size: int,
) -> tuple[tuple[Listed, ...], str]:
    """`size` reviews after the one at `after`, and the cursor of the next page, empty on the last one."""
    if after is not None:
        undecided, at, pk = after
        # The first condition alone lets the index find the place; the second one keeps ties apart.
        if sort == "oldest":
            reviews = reviews.filter(submitted_at__gte=at).exclude(submitted_at=at, id__lte=pk)
        elif sort == "newest":
            reviews = reviews.filter(submitted_at__lte=at).exclude(submitted_at=at, id__gte=pk)
        else:
            shown = Q(submitted_at__lt=at) | Q(submitted_at=at, id__lte=pk)
            reviews = reviews.filter(undecided_count__lte=undecided).exclude(shown, undecided_count=undecided)
    order = {
        "oldest": ("submitted_at", "id"),
        "newest": ("-submitted_at", "-id"),
        "undecided": ("-undecided_count", "submitted_at", "id"),
    }[sort]
    found = list(reviews.order_by(*order)[: size + 1])
    page = found[:size]
    return tuple(page), _cursor_after(page[-1], sort) if len(found) > size else ""


def _cursor_after(review: Placed, sort: str) -> str:
    place = f"{(review.submitted_at - EPOCH) // timedelta(microseconds=1)}-{review.id}"
    return f"{review.undecided_count}-{place}" if sort == "undecided" else place


def parse_cursor(cursor: str, sort: str) -> tuple[int, datetime, int] | None:
    """Undecided claims, moment of submission and key of the last review shown; None shows the first page."""
    parts = cursor.split("-")
    known = cursor.isascii() and all(part.isdecimal() and len(part) < 18 for part in parts)
    if not known or len(parts) != (3 if sort == "undecided" else 2):
        return None
    *undecided, at, pk = map(int, parts)
    try:
        return sum(undecided), EPOCH + timedelta(microseconds=at), pk
    except OverflowError:
        return None
