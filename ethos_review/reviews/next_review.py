"""The next review for a person, within a filter of the queue; and where there is none, what is left and why."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final
from uuid import UUID

from django.db.models import Q, QuerySet

from ethos_review.accounts.models import User
from ethos_review.reviews import leases
from ethos_review.reviews.models import Review
from ethos_review.reviews.policies import current_policy
from ethos_review.reviews.queries import visible_to
from ethos_review.reviews.queue import Filters, waiting_for

CANDIDATES: Final = 20  # reviews that are tried in turn before they are looked up again
EVERYTHING: Final = Filters()


@dataclass(frozen=True, slots=True)
class Left:
    """Reviews with undecided claims that were not handed out."""

    held: int  # by colleagues at work on them
    hidden: int  # by the filter
    own: int  # submitted by this person, so that someone else decides them


def take_next_review(
    *, actor: User, after: UUID | None = None, filters: Filters = EVERYTHING
) -> Review | None:
    """The oldest review that needs this person, that the filter shows and no colleague holds, taken for them.

    With `after`, the one behind that review, from the oldest again after the last; that review is let go.
    """
    here = visible_to(actor).filter(review_id=after).first() if after else None
    if here:
        leases.release_lease(actor=actor, review_id=here.review_id)
    while True:
        needed = waiting_for(actor, filters).order_by("submitted_at", "pk")
        candidates = _behind(needed.exclude(leases.held_by_others(actor)), here)
        if not candidates:
            return None
        for review in candidates:
            if leases.take(actor, review.pk):
                return review


def _behind(reviews: QuerySet[Review], here: Review | None) -> list[Review]:
    if here is None:
        return list(reviews[:CANDIDATES])
    later = Q(submitted_at__gt=here.submitted_at) | Q(submitted_at=here.submitted_at, pk__gt=here.pk)
    return list(reviews.filter(later)[:CANDIDATES]) or list(reviews[:CANDIDATES])


def what_is_left(actor: User, filters: Filters) -> Left:
    """When nothing was handed out."""
    shown = waiting_for(actor, filters).count()
    own = visible_to(actor).filter(status=Review.Status.NEEDS_REVIEW, submitter=actor)
    return Left(
        held=shown,
        hidden=waiting_for(actor, EVERYTHING).count() - shown,
        own=own.count() if current_policy().separate_duties else 0,
    )
