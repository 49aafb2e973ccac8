"""A row of the queue, drawn once: who looks at a queue again and again sees mostly what stood there before."""

from __future__ import annotations

from datetime import datetime
from functools import lru_cache
from typing import Final, NamedTuple
from uuid import UUID

from django import template
from django.template.loader import render_to_string
from django.utils import timezone
from django.utils.safestring import SafeString

from ethos_review.reviews.queue import ListedReview
from ethos_review.web.templatetags.texts import age, clipped

register = template.Library()

LONGEST_QUESTION: Final = 240  # characters; the review shows it whole
LONGEST_ID: Final = 80
MOST_KEPT: Final = (
    100  # rows in each process: some kilobytes each, and 120 when every character is a hidden one
)


class Row(NamedTuple):
    """All that a row shows: equal rows look the same."""

    review_id: UUID
    question: SafeString
    submitter: str
    submitted_at: datetime
    age: str
    parser: str
    external_id: SafeString
    copy: int
    released_count: int
    undecided_count: int
    withheld_count: int
    sealed: str  # how long ago; empty while it is open
    app_status: str
    news: bool  # its submitter reads here first that it was sealed
    holder: str  # who is at work on it; empty for nobody
    own: bool  # that is the person who looks


@register.simple_tag
def queue_row(review: ListedReview, since: datetime | None, person_id: int) -> SafeString:
    return _drawn(
        Row(
            review_id=review.review_id,
            question=clipped(review.question, LONGEST_QUESTION),
            submitter=review.submitter_name,
            submitted_at=review.submitted_at,
            age=age(review.submitted_at),
            parser=review.parser,
            external_id=clipped(review.external_id, LONGEST_ID),
            copy=review.copy,
            released_count=review.released_count,
            undecided_count=review.undecided_count,
            withheld_count=review.withheld_count,
            sealed=age(review.sealed_at) if review.sealed_at else "",
            app_status=review.app_status,
            news=review.submitter_id == person_id and _is_after(review.sealed_at, since),
            holder=review.holder_name if _is_after(review.lease_expires_at, timezone.now()) else "",
            own=review.holder_id == person_id,
        )
    )


@lru_cache(maxsize=MOST_KEPT)
def _drawn(row: Row) -> SafeString:
    return render_to_string("reviews/_queue_row.html", {"row": row})


def _is_after(moment: datetime | None, since: datetime | None) -> bool:
    return moment is not None and since is not None and moment > since
