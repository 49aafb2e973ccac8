"""The next review for a person, within a filter of the queue; and where there is none, what is left and why."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from django.db.models import Q
from django.utils import timezone

from ethos_review.accounts.models import User
from ethos_review.reviews import leases
from ethos_review.reviews.models import Review
from ethos_review.reviews.policies import current_policy
from ethos_review.reviews.queries import visible_to
from ethos_review.reviews.queue import Filters, waiting_for


@dataclass(frozen=True, slots=True)
class Left:
    """Reviews with undecided claims that were not handed out."""

    held: int  # by colleagues at work on them
    hidden: int  # by the filter
    own: int  # submitted by this person, so that someone else decides them


def next_review(*, actor: User, after: UUID | None, filters: Filters) -> Review | Left:
    """As `leases.next_review`; with a filter the oldest one that it shows. Taken for this person."""
    found = _next_shown(actor, filters) if filters else leases.next_review(actor=actor, after=after).review
    return found or _left(actor, filters)


def _next_shown(actor: User, filters: Filters) -> Review | None:
    shown = waiting_for(actor, filters).order_by("submitted_at", "pk")
    while True:
        held = Q(lease__expires_at__gt=timezone.now()) & ~Q(lease__holder=actor)
        candidates = list(shown.exclude(held)[: leases.CANDIDATES])
        for review in candidates:
            if leases.take_lease(actor=actor, review_id=review.review_id):
                return review
        if not candidates:
            return None


def _left(actor: User, filters: Filters) -> Left:
    shown = waiting_for(actor, filters).count()
    own = visible_to(actor).filter(status=Review.Status.NEEDS_REVIEW, submitter=actor)
    return Left(
        held=shown,
        hidden=waiting_for(actor, Filters()).count() - shown,
        own=own.count() if current_policy().separate_duties else 0,
    )
