"""What a submitter's program follows: its own reviews, page by page, and one of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final
from uuid import UUID

from django.db.models import QuerySet

from ethos_review.accounts.models import User
from ethos_review.reviews.keyset import keyset_page, parse_cursor
from ethos_review.reviews.models import Review
from ethos_review.reviews.queries import visible_to

PAGE_SIZE: Final = 100
NEWEST_FIRST: Final = "newest"
SHOWN: Final = (  # nothing else of a review is read
    "review_id",
    "external_id",
    "status",
    "submitted_at",
    "engine_version",
    "app_status",
    "claim_count",
    "undecided_count",
    "released_count",
    "withheld_count",
    "supersedes__review_id",
    "release__answer_status",
    "release__sealed_at",
)


@dataclass(frozen=True, slots=True)
class OwnReviews:
    reviews: tuple[Review, ...]  # newest first; release and documents joined
    next_cursor: str  # "" on the last page


class UnknownCursor(Exception):
    """It is not the `next_cursor` of any page."""


def own_reviews(user: User, *, status: str = "", cursor: str = "") -> OwnReviews:
    """`cursor` is the `next_cursor` of the page before. Raises UnknownCursor."""
    after = parse_cursor(cursor, NEWEST_FIRST) if cursor else None
    if cursor and after is None:
        raise UnknownCursor
    reviews = _own(user).filter(status=status) if status else _own(user)
    return OwnReviews(*keyset_page(reviews, NEWEST_FIRST, after, PAGE_SIZE))


def own_review(user: User, review_id: UUID) -> Review:
    """Raises Review.DoesNotExist, also for the review of another."""
    return _own(user).get(review_id=review_id)


def _own(user: User) -> QuerySet[Review]:
    own = visible_to(user).filter(submitter=user).select_related("supersedes", "release")
    return own.only(*SHOWN).prefetch_related("documents")
