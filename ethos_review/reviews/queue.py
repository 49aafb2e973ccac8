"""What the queue shows: tabs that count what they list, filters, and one page of rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, fields
from datetime import UTC, date, datetime, time
from typing import Final, NamedTuple, TypeAlias
from uuid import UUID

from django.db import connection
from django.db.models import Count, Q, QuerySet, Sum
from django.utils import timezone

from ethos_review.accounts.models import User
from ethos_review.reviews.keyset import keyset_page, parse_cursor
from ethos_review.reviews.models import Release, Review
from ethos_review.reviews.policies import current_policy
from ethos_review.reviews.queries import visible_to
from ethos_review.web.folding import folded

PAGE_SIZE: Final = 20
MOST_COUNTED: Final = 1_000  # sealed reviews, which pile up; beyond it a tab only says that there are more
MOST_FOUND: Final = 1_000  # reviews that a search by text lists and counts, the newest ones
TABS: Final = (
    ("needs_me", "Needs me"),
    ("ready_to_seal", "Ready to seal"),
    ("sealed", "Sealed"),
    ("all", "All"),
)
SORTS: Final = (
    ("oldest", "Oldest first"),
    ("newest", "Newest first"),
    ("undecided", "Most undecided first"),
)


class ListedReview(NamedTuple):
    """All that is read of a review for its row on the queue."""

    id: int
    review_id: UUID
    external_id: str
    copy: int  # which review of the same bytes it is, from 0
    question: str
    parser: str
    status: str
    app_status: str
    released_count: int
    undecided_count: int
    withheld_count: int
    submitted_at: datetime
    sealed_at: datetime | None
    submitter_id: int
    submitter_username: str
    submitter_display_name: str
    lease_expires_at: datetime | None
    holder_id: int | None
    holder_username: str | None
    holder_display_name: str | None

    @property
    def submitter_name(self) -> str:
        return self.submitter_display_name or self.submitter_username

    @property
    def holder_name(self) -> str:
        return self.holder_display_name or self.holder_username or ""


_JOINED: Final = {  # members that are columns of joined rows
    "sealed_at": "release__sealed_at",
    "submitter_username": "submitter__username",
    "submitter_display_name": "submitter__display_name",
    "lease_expires_at": "lease__expires_at",
    "holder_id": "lease__holder_id",
    "holder_username": "lease__holder__username",
    "holder_display_name": "lease__holder__display_name",
}
_COLUMNS: Final = tuple(_JOINED.get(name, name) for name in ListedReview._fields)


@dataclass(frozen=True, slots=True)
class Filters:
    """What a review must have to be listed; an empty member asks for nothing."""

    text: str = ""  # in the question or a claim, in any case
    app_status: str = ""
    verdict: str = ""  # of any of its claims
    parser: str = ""  # a part of its name and version
    submitter: str = ""  # a part of a name
    since: date | None = None
    until: date | None = None  # this day included

    def __bool__(self) -> bool:
        return bool(self.text) or self.is_detailed

    @property
    def is_detailed(self) -> bool:
        """More than a text is asked for."""
        return any(getattr(self, field.name) for field in fields(self) if field.name != "text")


@dataclass(frozen=True, slots=True)
class Tab:
    key: str  # needs_me | ready_to_seal | sealed | all
    label: str
    count: int
    more: bool  # than counted
    current: bool


@dataclass(frozen=True, slots=True)
class QueuePage:
    tabs: tuple[Tab, ...]
    sort: str  # oldest | newest | undecided
    filters: Filters
    reviews: tuple[ListedReview, ...]
    next_cursor: str  # "" on the last page
    is_first: bool
    decided_today: int  # claims whose decision that stands this person took since midnight UTC
    open_claims: int  # undecided claims this person may decide, under the filters
    submitted_by_me: int  # reviews with undecided claims that wait for someone else for that reason
    hidden: int  # reviews that the filters keep off this tab, as far as they are counted
    hidden_more: bool  # than counted
    ready: int  # reviews that only need a signature
    found_more: bool  # the text is in more than `most_found` reviews
    since: datetime | None  # from when on a seal is news to whoever submitted the review
    newly_sealed: int  # of this person's reviews, since then
    most_found: int = MOST_FOUND

    @property
    def tab(self) -> Tab:
        return next(tab for tab in self.tabs if tab.current)


def queue_page(
    user: User,
    *,
    tab: str = "",
    sort: str = "",
    cursor: str = "",
    filters: Filters | None = None,
    since: datetime | None = None,
) -> QueuePage:
    """Without a known tab the person's first, without a known sort the tab's own; an unknown cursor shows the first
    page. `since` is from when on a seal is news to whoever submitted the review.
    """
    filters = filters or Filters()
    decides = user.has_perm("reviews.decide_claim")
    tabs = dict(TABS if decides else TABS[1:])
    current = tab if tab in tabs else "needs_me" if decides else "all"
    order = sort if sort in dict(SORTS) else "oldest" if current == "needs_me" else "newest"
    matching, found = _matching(user, filters)
    facts = _facts(user)
    counted = unfiltered = _count(user, facts.groups, facts.sealed)
    if filters:
        groups, sealed = (found.groups, found.sealed) if found else (_groups(matching), _sealed(matching))
        counted = _count(user, groups, sealed)
    after = parse_cursor(cursor, order)
    listed = matching.filter(in_tab(user, current)).values_list(*_COLUMNS, named=True)
    rows, next_cursor = keyset_page(listed, order, after, PAGE_SIZE)
    return QueuePage(
        tabs=tuple(
            Tab(key, label, counted.tabs[key], counted.is_more(key), key == current)
            for key, label in tabs.items()
        ),
        sort=order,
        filters=filters,
        reviews=tuple(map(ListedReview._make, rows)),
        next_cursor=next_cursor,
        is_first=after is None,
        decided_today=facts.decided_today,
        open_claims=counted.open_claims,
        submitted_by_me=unfiltered.submitted_by_me,
        hidden=unfiltered.tabs[current] - counted.tabs[current],
        hidden_more=unfiltered.is_more(current),
        ready=unfiltered.tabs[Review.Status.READY_TO_SEAL],
        found_more=found is not None and found.more,
        since=since,
        newly_sealed=_newly_sealed(user, since) if since else 0,
    )


def _newly_sealed(user: User, since: datetime) -> int:
    return Release.objects.filter(sealed_at__gt=since, review__submitter=user).count()


def waiting_for(user: User, filters: Filters) -> QuerySet[Review]:
    """The reviews with claims that this person may decide, as far as the filters let them through."""
    return _matching(user, filters)[0].filter(in_tab(user, "needs_me"))


def in_tab(user: User, key: str) -> Q:
    """What makes a review belong to a tab."""
    if key == "needs_me":
        return Q(status=Review.Status.NEEDS_REVIEW) & _may_decide(user)
    return Q() if key == "all" else Q(status=key)


def _may_decide(user: User) -> Q:
    if not user.has_perm("reviews.decide_claim"):
        return Q(pk__in=[])
    return ~Q(submitter=user) if current_policy().separate_duties else Q()


# Status, submitter, number of reviews, undecided claims in them.
_Groups: TypeAlias = Iterable[tuple[str, int, int, int]]


@dataclass(frozen=True, slots=True)
class _Found:
    """Reviews that hold a text: each a group of its own."""

    groups: _Groups
    sealed: int
    more: bool


def _matching(user: User, filters: Filters) -> tuple[QuerySet[Review], _Found | None]:
    """The reviews that the person may see and the filters let through, and what a text was found in."""
    reviews = visible_to(user)
    if filters.app_status:
        reviews = reviews.filter(app_status=filters.app_status)
    if filters.verdict:
        reviews = reviews.filter(verdicts__contains=f",{filters.verdict},")
    if filters.parser:
        reviews = reviews.filter(parser__icontains=filters.parser)
    if filters.submitter:
        named = Q(username__icontains=filters.submitter) | Q(display_name__icontains=filters.submitter)
        reviews = reviews.filter(submitter__in=User.objects.filter(named))
    if filters.since:
        reviews = reviews.filter(submitted_at__gte=_moment(filters.since, time.min))
    if filters.until:
        reviews = reviews.filter(submitted_at__lte=_moment(filters.until, time.max))
    if not filters.text:
        return reviews, None
    # Every text is looked at when few hold it, so it is looked for once, and what it finds is bounded.
    holding = reviews.filter(search_text__text__contains=folded(filters.text)).order_by("-pk")
    rows = list(holding.values_list("pk", "status", "submitter_id", "undecided_count")[: MOST_FOUND + 1])
    kept = rows[:MOST_FOUND]
    found = _Found(
        groups=[(status, submitter_id, 1, undecided) for _, status, submitter_id, undecided in kept],
        sealed=sum(status == Review.Status.SEALED for _, status, _, _ in kept),
        more=len(rows) > MOST_FOUND,
    )
    return Review.objects.filter(pk__in=[pk for pk, *_ in kept]), found


def _moment(day: date, of_day: time) -> datetime:
    return datetime.combine(day, of_day, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class _Facts:
    """Of all that the person may see, whatever is filtered."""

    groups: _Groups
    sealed: int  # at most one more than is counted
    decided_today: int


_FACTS: Final = """
SELECT status, submitter_id, COUNT(*), SUM(undecided_count) FROM reviews_review
    WHERE status IN ('needs_review', 'ready_to_seal') {visible} GROUP BY status, submitter_id
UNION ALL SELECT 'sealed', NULL, COUNT(*), 0 FROM
    (SELECT 1 FROM reviews_review WHERE status = 'sealed' {visible} LIMIT %(most)s) AS counted
UNION ALL SELECT 'decided today', NULL, COUNT(*), 0 FROM reviews_reviewerdecision AS decision
    LEFT JOIN reviews_reviewerdecision AS later ON later.supersedes_id = decision.id
    WHERE decision.reviewer_id = %(person)s AND decision.outcome <> 'undo'
        AND decision.decided_at >= %(midnight)s AND later.id IS NULL
"""


def _facts(user: User) -> _Facts:
    """Of what `visible_to` lets the person see. In SQL, because every look at the queue asks for it: one statement
    that need not be built anew each time.
    """
    if not user.has_perm("reviews.view_review"):
        return _Facts((), 0, 0)
    visible = "" if user.has_perm("reviews.view_every_review") else "AND submitter_id = %(person)s"
    midnight = timezone.now().replace(hour=0, minute=0, second=0, microsecond=0)
    asked = {
        "person": user.pk,
        "midnight": connection.ops.adapt_datetimefield_value(midnight),
        "most": MOST_COUNTED + 1,
    }
    with connection.cursor() as cursor:
        cursor.execute(_FACTS.format(visible=visible), asked)
        rows = cursor.fetchall()
    groups = [row for row in rows if row[1] is not None]
    counts = {what: count for what, submitter_id, count, _ in rows if submitter_id is None}
    return _Facts(groups, counts["sealed"], counts["decided today"])


def _groups(reviews: QuerySet[Review]) -> _Groups:
    return (
        reviews.filter(status__in=[Review.Status.NEEDS_REVIEW, Review.Status.READY_TO_SEAL])
        .values_list("status", "submitter_id")
        .annotate(reviews=Count("*"), undecided=Sum("undecided_count"))
        .order_by()
    )


def _sealed(reviews: QuerySet[Review]) -> int:
    """At most one more than is counted."""
    return reviews.filter(status=Review.Status.SEALED).order_by()[: MOST_COUNTED + 1].count()


@dataclass(frozen=True, slots=True)
class _Counted:
    tabs: Counter[str]
    open_claims: int
    submitted_by_me: int
    more_sealed: bool  # than counted

    def is_more(self, tab: str) -> bool:
        return self.more_sealed and tab in (Review.Status.SEALED, "all")


def _count(user: User, groups: _Groups, sealed: int) -> _Counted:
    """How many reviews are in each tab, and how many undecided claims this person may decide."""
    own = user.pk if current_policy().separate_duties else None
    decides = user.has_perm("reviews.decide_claim")
    bounded = min(sealed, MOST_COUNTED)
    tabs, open_claims, submitted_by_me = Counter[str](sealed=bounded, all=bounded), 0, 0
    for status, submitter_id, count, undecided in groups:
        if status == Review.Status.SEALED:
            continue
        tabs["all"] += count
        if status == Review.Status.READY_TO_SEAL:
            tabs[status] += count
        elif not decides:
            continue
        elif submitter_id == own:
            submitted_by_me += count
        else:
            tabs["needs_me"] += count
            open_claims += undecided
    return _Counted(tabs, open_claims, submitted_by_me, sealed > MOST_COUNTED)
