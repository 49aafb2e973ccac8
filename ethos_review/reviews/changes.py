"""What became of an open review since a page of it was shown, for the page that asks every two seconds."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from datetime import timedelta
from typing import Final, NamedTuple, Self
from uuid import UUID

from django.utils import timezone

from ethos_review.accounts.models import User
from ethos_review.reviews import queries
from ethos_review.reviews.leases import WARNS, Presence
from ethos_review.reviews.models import Review, ReviewerDecision
from ethos_review.reviews.queries import Card, OpenCard, ReviewPage

NOTHING_OPEN: Final = 1_000_000_000  # no claim has this position
MOST_OPEN: Final = 8  # changed claims that are sent with their evidence; the others come closed
_SEEN: Final = re.compile(r"([0-9]{1,9})\.([0-9]{1,9})\.([0-9]{1,12}s?)")


class State(NamedTuple):
    """What one small query tells about an open review."""

    revision: int
    at_work: str  # as `at_work` writes it


@dataclass(frozen=True, slots=True)
class Seen:
    """How far a page is: the revision of the review, how many decisions its claims ever took, who was at work."""

    revision: int
    decisions: int
    at_work: str

    @classmethod
    def on(cls, page: ReviewPage, presence: Presence) -> Self:
        decisions = sum(card.latest_sequence for card in _cards(page))
        return cls(page.review.revision, decisions, at_work(presence))

    @classmethod
    def parse(cls, text: str) -> Self | None:
        """From its own text; None when that is not one."""
        found = _SEEN.fullmatch(text)
        return cls(int(found[1]), int(found[2]), found[3]) if found else None

    def __str__(self) -> str:
        return f"{self.revision}.{self.decisions}.{self.at_work}"


@dataclass(frozen=True, slots=True)
class Changed:
    """One claim that was decided on, as it is now."""

    card: Card
    opened: OpenCard | None  # where it stands open
    latest: ReviewerDecision


@dataclass(frozen=True, slots=True)
class Changes:
    page: ReviewPage  # with no claim open
    claims: tuple[Changed, ...]  # decided last first
    sealed: bool
    derived_anew: bool  # under another policy, or by another engine: every claim may have changed

    def by_others(self, user: User) -> tuple[Changed, ...]:
        return tuple(changed for changed in self.claims if changed.latest.reviewer_id != user.pk)


def at_work(presence: Presence) -> str:
    """Who is at work on the review, 0 for nobody; with an s when that is oneself and soon over."""
    return _at_work(presence.holder.pk if presence.holder else 0, presence.ends_soon)


def _at_work(holder: int, ends_soon: bool) -> str:
    return f"{holder}{'s' if ends_soon else ''}"


def state_of(user: User, review_id: UUID) -> State:
    """In one small query. Raises Review.DoesNotExist, also for a review this person may not see."""
    columns = queries.visible_to(user).values_list("revision", "lease__holder_id", "lease__expires_at")
    revision, holder, until = columns.get(review_id=review_id)
    left = until - timezone.now() if until else timedelta()
    ends_soon = holder == user.pk and timedelta() < left < WARNS
    return State(revision, _at_work(holder if left > timedelta() else 0, ends_soon))


def changes_since(user: User, review_id: UUID, seen: Seen, open_claims: Collection[int | None]) -> Changes:
    """`open_claims` are the positions of those that stand open where the page is shown.

    Raises Review.DoesNotExist.
    """
    page = queries.review_page(user, review_id, opened=NOTHING_OPEN)
    cards = {card.row.position: card for card in _cards(page)}
    decisions = sum(card.latest_sequence for card in cards.values()) - seen.decisions
    sealed = page.review.status == Review.Status.SEALED
    # A revision is a decision, the seal, or the review derived anew.
    other_revisions = page.review.revision - seen.revision - decisions - sealed
    latest = _latest_decisions(page.review, decisions)
    opened = [position for position in latest if position in open_claims][:MOST_OPEN]
    return Changes(
        page=page,
        claims=tuple(
            Changed(
                cards[position],
                queries.open_card(user, review_id, position) if position in opened else None,
                decision,
            )
            for position, decision in latest.items()
        ),
        sealed=sealed,
        derived_anew=other_revisions != 0,
    )


def _cards(page: ReviewPage) -> list[Card]:
    return [card for _, _, cards in page.groups for card in cards]


def _latest_decisions(review: Review, count: int) -> dict[int, ReviewerDecision]:
    """The last of each claim among the last `count` decisions on the review; by position, newest first.

    Decisions on one review are written one after the other, so their ids grow in that order.
    """
    decisions = ReviewerDecision.objects.filter(claim__review=review).select_related("claim").order_by("-id")
    found: dict[int, ReviewerDecision] = {}
    for decision in decisions[: max(count, 0)]:
        found.setdefault(decision.claim.position, decision)
    return found
