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

from ethos_review.reviews.models import Review
from ethos_review.reviews.queue import ListedReview, QueuePage
from ethos_review.reviews.templatetags.review_words import counts_bar
from ethos_review.web.templatetags.texts import age, clipped

register = template.Library()

LONGEST_QUESTION: Final = 240  # characters; the review shows it whole
LONGEST_ID: Final = 80
MOST_KEPT: Final = 1_000  # rows of a few kilobytes, in each process


class Row(NamedTuple):
    """All that a row shows: equal rows look the same."""

    review_id: UUID
    question: SafeString
    submitter: str
    submitted_at: datetime
    age: str
    parser: str
    external_id: SafeString
    undecided: int
    sealed: bool
    app_status: str
    bar: SafeString
    news: bool  # its submitter reads here first that it was sealed
    holder: str  # who is at work on it; empty for nobody


@register.simple_tag
def queue_row(review: ListedReview, page: QueuePage, person_id: int) -> SafeString:
    sealed = review.status == Review.Status.SEALED
    return _drawn(
        Row(
            review_id=review.review_id,
            question=clipped(review.question, LONGEST_QUESTION),
            submitter=review.submitter_name,
            submitted_at=review.submitted_at,
            age=age(review.submitted_at),
            parser=review.parser,
            external_id=clipped(review.external_id, LONGEST_ID),
            undecided=review.undecided_count,
            sealed=sealed,
            app_status=review.app_status,
            bar=counts_bar(review),
            news=review.submitter_id == person_id and _is_after(review.sealed_at, page.since),
            holder=_holder(review),
        )
    )


@lru_cache(maxsize=MOST_KEPT)
def _drawn(row: Row) -> SafeString:
    return render_to_string("reviews/_queue_row.html", {"row": row})


def _is_after(moment: datetime | None, since: datetime | None) -> bool:
    return moment is not None and since is not None and moment > since


def _holder(review: ListedReview) -> str:
    """Who is at work on it, unless that has lapsed."""
    holds = _is_after(review.lease_expires_at, timezone.now())
    return (holds and (review.holder_display_name or review.holder_username)) or ""
