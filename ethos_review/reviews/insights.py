"""Figures about the work: what is open, what was decided, and why claims are held back (spec 4.1, Insights)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from typing import Final

from django.db.models import Count, F, Q, Sum
from django.db.models.functions import TruncDate
from django.utils import timezone

from ethos_review.accounts.models import User
from ethos_review.engine.verdict import SILENT
from ethos_review.reviews.models import Claim, Release, Review, ReviewerDecision
from ethos_review.reviews.queries import visible_to

PERIODS: Final = (7, 30, 90, 365)  # days
USUAL_PERIOD: Final = 30  # days
AGE_BANDS: Final = (
    ("Less than a day", timedelta(days=1)),
    ("1 to 3 days", timedelta(days=3)),
    ("3 to 7 days", timedelta(days=7)),
    ("7 to 30 days", timedelta(days=30)),
    ("More than 30 days", timedelta.max),
)
MOST_GROUPS: Final = 20  # parsers or submitters that get a line of their own
OTHERS: Final = "All others"


@dataclass(frozen=True, slots=True)
class AgeBand:
    label: str
    reviews: int  # not sealed yet
    claims: int  # undecided


@dataclass(frozen=True, slots=True)
class Day:
    day: date
    approved: int
    blocked: int


@dataclass(frozen=True, slots=True)
class Cause:
    """Why claims are not released. `state`: blocked (by the engine), withheld (by a reviewer), undecided."""

    state: str
    code: str  # a reason of the contract, a verdict or `no_check_behind_grounding` that lowered it, or `reviewer`
    claims: int


@dataclass(frozen=True, slots=True)
class Group:
    name: str
    reviews: int
    released_count: int
    undecided_count: int
    withheld_count: int

    @property
    def claim_count(self) -> int:
        return self.released_count + self.undecided_count + self.withheld_count


@dataclass(frozen=True, slots=True)
class Insights:
    period: int  # days up to now, today included
    ages: tuple[AgeBand, ...]  # of what is open now, whenever it was submitted
    days: tuple[Day, ...]  # each day of the period
    approved: int  # claims, each by the decision that stands, when that was taken in the period
    blocked: int
    sealed: int  # reviews, in the period
    median_to_seal: timedelta | None  # from upload to seal
    causes: tuple[
        Cause, ...
    ]  # claims of reviews submitted in the period, as they stand, the most frequent first
    parsers: tuple[Group, ...]  # of reviews submitted in the period, the most frequent first
    submitters: tuple[Group, ...]


def insights(user: User, *, period: int = USUAL_PERIOD) -> Insights:
    """A period that is none of `PERIODS` is the usual one. The number of queries does not grow."""
    period = period if period in PERIODS else USUAL_PERIOD
    now = timezone.now()
    midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
    since = midnight - timedelta(days=period - 1)
    days = _days(since, period)
    sealed, median = _seals(user, since)
    parsers, submitters = _groups(user, since)
    return Insights(
        period=period,
        ages=_ages(user, now),
        days=days,
        approved=sum(day.approved for day in days),
        blocked=sum(day.blocked for day in days),
        sealed=sealed,
        median_to_seal=median,
        causes=_causes(user, since),
        parsers=parsers,
        submitters=submitters,
    )


def _ages(user: User, now: datetime) -> tuple[AgeBand, ...]:
    asked: dict[str, Count | Sum] = {}
    younger = Q(submitted_at__gt=now)  # nothing, but for clocks that were set back
    for number, (_, oldest) in enumerate(AGE_BANDS):
        up_to_here = Q() if oldest == timedelta.max else Q(submitted_at__gt=now - oldest)
        band = up_to_here & ~younger if number else up_to_here
        asked[f"reviews_{number}"] = Count("pk", filter=band or None)
        asked[f"claims_{number}"] = Sum("undecided_count", filter=band or None, default=0)
        younger = up_to_here
    found = visible_to(user).exclude(status=Review.Status.SEALED).aggregate(**asked)
    return tuple(
        AgeBand(label, found[f"reviews_{number}"], found[f"claims_{number}"])
        for number, (label, _) in enumerate(AGE_BANDS)
    )


def _days(since: datetime, period: int) -> tuple[Day, ...]:
    """A claim counts once, on the day of the decision that stands: what was undone decides nothing."""
    outcomes = ReviewerDecision.Outcome
    counted = (
        ReviewerDecision.objects.filter(decided_at__gte=since, current_of__isnull=False)
        .annotate(day=TruncDate("decided_at"))
        .values_list("day", "outcome")
        .annotate(claims=Count("pk"))
        .order_by()
    )
    found = {(day, outcome): claims for day, outcome, claims in counted}
    dates = [since.date() + timedelta(days=number) for number in range(period)]
    return tuple(
        Day(day, found.get((day, outcomes.APPROVE), 0), found.get((day, outcomes.BLOCK), 0)) for day in dates
    )


def _seals(user: User, since: datetime) -> tuple[int, timedelta | None]:
    durations = (
        Release.objects.filter(sealed_at__gte=since, review__in=visible_to(user))
        .annotate(took=F("sealed_at") - F("review__submitted_at"))
        .order_by("took")
        .values_list("took", flat=True)
    )
    count = durations.count()
    middle = list(durations[max(count - 1, 0) // 2 : count // 2 + 1])
    return count, sum(middle, timedelta()) / len(middle) if middle else None


def _causes(user: User, since: datetime) -> tuple[Cause, ...]:
    groups = (
        Claim.objects.filter(review__in=visible_to(user), review__submitted_at__gte=since)
        .values_list("action", "contract_action", "contract_reason", "verdict", "decision__outcome")
        .annotate(claims=Count("pk"))
        .order_by()
    )
    counted = Counter[tuple[str, str]]()
    for action, contract_action, contract_reason, verdict, outcome, claims in groups:
        by_readings = verdict and verdict not in SILENT
        lowered = verdict if by_readings else "no_check_behind_grounding"
        if outcome == ReviewerDecision.Outcome.BLOCK:
            counted["withheld", "reviewer"] += claims
        elif outcome is None and action != "show_final":
            state = "blocked" if action == "block" else "undecided"
            counted[state, contract_reason if action == contract_action else lowered] += claims
    return tuple(Cause(state, code, claims) for (state, code), claims in counted.most_common())


def _groups(user: User, since: datetime) -> tuple[tuple[Group, ...], tuple[Group, ...]]:
    figures = [Count("pk"), *(Sum(f"{state}_count") for state in ("released", "undecided", "withheld"))]
    counted = list(
        visible_to(user)
        .filter(submitted_at__gte=since)
        .values_list("parser", "submitter__username", "submitter__display_name")
        .annotate(*figures)
        .order_by()
    )
    return (
        _fold((parser or "Not named", numbers) for parser, _, _, *numbers in counted),
        _fold((display_name or username, numbers) for _, username, display_name, *numbers in counted),
    )


def _fold(counted: Iterable[tuple[str, list[int]]]) -> tuple[Group, ...]:
    """One group per name, the largest first; what is beyond `MOST_GROUPS` is one group."""
    groups: dict[str, Group] = {}
    for name, numbers in counted:
        groups[name] = _add(name, groups.get(name), Group(name, *numbers))
    largest = sorted(groups.values(), key=lambda group: (-group.reviews, group.name))
    rest = None
    for group in largest[MOST_GROUPS:]:
        rest = _add(OTHERS, rest, group)
    return (*largest[:MOST_GROUPS], *([rest] if rest else []))


def _add(name: str, one: Group | None, other: Group) -> Group:
    if one is None:
        return replace(other, name=name)
    return Group(
        name,
        one.reviews + other.reviews,
        one.released_count + other.released_count,
        one.undecided_count + other.undecided_count,
        one.withheld_count + other.withheld_count,
    )
