"""Who is at work on which review: leases that lapse by themselves and that no decision depends on (spec 7)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from django.db import connection
from django.db.models import Q
from django.utils import timezone

from ethos_review.accounts.models import User
from ethos_review.reviews.models import Review, ReviewLease
from ethos_review.reviews.policies import current_policy
from ethos_review.reviews.queries import visible_to
from ethos_review.reviews.rights import is_barred

LASTS: Final = timedelta(minutes=10)  # after the holder's last act
WARNS: Final = timedelta(minutes=2)  # before the end
RENEWED_AFTER: Final = timedelta(minutes=1)  # looking at the page again, or deciding, writes no more often


@dataclass(frozen=True, slots=True)
class Presence:
    """Who is at work on a review, as one person sees it."""

    review: Review
    holder: User | None  # None when nobody is, or the lease has lapsed
    is_mine: bool
    ends_soon: bool  # mine, and about to lapse
    expires_at: datetime | None
    may_hold: bool  # this person has work on it


def presence_of(user: User, review_id: UUID) -> Presence:
    """Raises Review.DoesNotExist, also for a review this person may not see."""
    return presence(user, visible_to(user).select_related("lease__holder").get(review_id=review_id))


def presence(user: User, review: Review) -> Presence:
    """`review.lease` with its holder should be joined."""
    lease: ReviewLease | None = getattr(review, "lease", None)
    now = timezone.now()
    held = lease if lease and lease.expires_at > now else None
    is_mine = held is not None and held.holder_id == user.pk
    return Presence(
        review=review,
        holder=held.holder if held else None,
        is_mine=is_mine,
        ends_soon=held is not None and is_mine and held.expires_at - now < WARNS,
        expires_at=held.expires_at if held else None,
        may_hold=_has_work(user, review),
    )


def arrive(user: User, seen: Presence) -> Presence:
    """Someone opened the review: it is theirs for a while if they have work on it and nobody holds it."""
    if not seen.may_hold or (seen.holder and not seen.is_mine):
        return seen
    if seen.expires_at and not _is_to_be_renewed(seen.expires_at):
        return seen
    take(user, seen.review.pk)
    return presence_of(user, seen.review.review_id)


def take_lease(*, actor: User, review_id: UUID, over: bool = False) -> bool:
    """Take the review, or renew the lease one has; with `over`, also from a colleague.

    False when a colleague holds it, or when this person has no work on it. Raises Review.DoesNotExist.
    """
    review = visible_to(actor).get(review_id=review_id)
    return _has_work(actor, review) and take(actor, review.pk, over=over)


def renew_lease(*, actor: User, review_id: UUID) -> bool:
    """Its holder is still at work; nothing happens to anybody else's lease."""
    lasts_until = timezone.now() + LASTS
    mine = ReviewLease.objects.filter(review__review_id=review_id, holder=actor)
    return bool(mine.update(expires_at=lasts_until))


def keep_lease(actor: User, review: Review) -> None:
    """`actor` did something on the review, so a lease of theirs goes on. `review.lease` should be joined."""
    lease: ReviewLease | None = getattr(review, "lease", None)
    if lease and lease.holder_id == actor.pk and _is_to_be_renewed(lease.expires_at):
        renew_lease(actor=actor, review_id=review.review_id)


def _is_to_be_renewed(expires_at: datetime) -> bool:
    """Not when it was a moment ago: that would write at every look and every decision."""
    return expires_at - timezone.now() <= LASTS - RENEWED_AFTER


def release_lease(*, actor: User, review_id: UUID) -> bool:
    """Leave the review to others."""
    return bool(ReviewLease.objects.filter(review__review_id=review_id, holder=actor).delete()[0])


def held_by_others(user: User) -> Q:
    """What makes a review one that a colleague is at work on."""
    return Q(lease__expires_at__gt=timezone.now()) & ~Q(lease__holder=user)


def _has_work(user: User, review: Review) -> bool:
    permission = {
        Review.Status.NEEDS_REVIEW: "reviews.decide_claim",
        Review.Status.READY_TO_SEAL: "reviews.seal_review",
    }.get(Review.Status(review.status))
    barred = is_barred(user, review, current_policy())
    return permission is not None and user.has_perm(permission) and not barred


def take(actor: User, review_pk: int, *, over: bool = False) -> bool:
    """One statement: whoever comes second finds the lease taken, on every database.

    Nobody is at work on two reviews: the one that the person held before is free again.
    """
    now = timezone.now()
    table = connection.ops.quote_name(ReviewLease._meta.db_table)
    mine_or_lapsed = f"{table}.holder_id = excluded.holder_id OR {table}.expires_at <= %s OR %s"
    adapt = connection.ops.adapt_datetimefield_value
    with connection.cursor() as cursor:
        cursor.execute(
            f"INSERT INTO {table} (review_id, holder_id, expires_at) VALUES (%s, %s, %s) "  # noqa: S608
            "ON CONFLICT (review_id) DO UPDATE SET holder_id = excluded.holder_id, "
            f"expires_at = excluded.expires_at WHERE {mine_or_lapsed}",
            [review_pk, actor.pk, adapt(now + LASTS), adapt(now), over],
        )
        taken = cursor.rowcount == 1
    if taken:
        ReviewLease.objects.filter(holder=actor).exclude(review=review_pk).delete()
    return bool(taken)
