"""The queue's lists, counts and filters, and the leases that keep colleagues apart."""

from __future__ import annotations

import random
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest
from django.utils import timezone
from hypothesis import given, settings
from hypothesis import strategies as st
from pytest_django import DjangoAssertNumQueries

from ethos_review.accounts.models import User
from ethos_review.reviews import operations, queue
from ethos_review.reviews.models import Claim, Review
from ethos_review.reviews.operations import NotAllowed, Refused, Superseded
from ethos_review.reviews.queries import review_page, visible_to
from ethos_review.reviews.queue import TABS, Filters, QueuePage, queue_page
from ethos_review.web.folding import folded
from tests.factories import (
    answer,
    claim,
    four_claims,
    make_review,
    make_reviewer,
    make_submitter,
    make_user,
    parts,
    synthesis,
)
from tests.reviews.test_queries import cards, decide, fresh, open_review, ready_review, sealed_review

pytestmark = pytest.mark.django_db
KEYS = tuple(key for key, _ in TABS)
SORTS = tuple(key for key, _ in queue.SORTS)


def pages_of(user: User, tab: str, **options: Any) -> list[QueuePage]:
    pages = [queue_page(user, tab=tab, **options)]
    while pages[-1].next_cursor:
        pages.append(queue_page(user, tab=tab, **options | {"cursor": pages[-1].next_cursor}))
    return pages


def listed(user: User, tab: str, **options: Any) -> list[Review]:
    """Every page of a tab."""
    return reviews_on(*pages_of(user, tab, **options))


def reviews_on(*pages: QueuePage) -> list[Review]:
    return [Review.objects.get(pk=listed.id) for page in pages for listed in page.reviews]


def counted(user: User, **options: Any) -> dict[str, int]:
    return {tab.key: tab.count for tab in queue_page(user, **options).tabs}


TODAY = datetime.now(UTC).date()
FILTERS = (
    None,
    Filters(text="question 1"),
    Filters(submitter="a"),
    Filters(verdict="settled-unknown", since=TODAY),
    Filters(until=TODAY - timedelta(days=1)),
    Filters(app_status="partial_certified", parser="nothing of that name"),
)


class TestQueue:
    def test_each_tab_lists_what_it_counts(self, submitter: User, reviewer: User) -> None:
        waiting = open_review(submitter)
        ready = ready_review(submitter)
        sealed = sealed_review(submitter, reviewer)

        assert {tab: listed(reviewer, tab) for tab in KEYS} == {
            "needs_me": [waiting],
            "ready_to_seal": [ready],
            "sealed": [sealed],
            "all": [sealed, ready, waiting],
        }
        assert counted(reviewer) == {"needs_me": 1, "ready_to_seal": 1, "sealed": 1, "all": 3}
        assert queue_page(reviewer).open_claims == 2

    def test_what_i_submitted_does_not_need_me(self) -> None:
        both = make_user("both", "Submitter", "Reviewer")
        open_review(both)

        page = queue_page(both)

        assert (page.reviews, page.open_claims, counted(both)["needs_me"]) == ((), 0, 0)

    @pytest.mark.parametrize("role", ["Submitter", "Auditor", "Operator"])
    def test_who_may_not_decide_has_no_tab_for_what_needs_a_decision(self, role: str) -> None:
        user = make_user("user", role, "Submitter")
        open_review(user)

        assert counted(user) == {"ready_to_seal": 0, "sealed": 0, "all": 1}
        assert queue_page(user, tab="needs_me").tab.key == "all"

    def test_a_submitter_counts_own_reviews(self, submitter: User, reviewer: User) -> None:
        open_review(submitter)
        sealed_review(make_submitter("other"), reviewer)

        assert counted(submitter) == {"ready_to_seal": 0, "sealed": 0, "all": 1}

    def test_an_unknown_tab_shows_the_first(self, reviewer: User) -> None:
        assert [tab.key for tab in queue_page(reviewer, tab="nonsense").tabs if tab.current] == ["needs_me"]

    def test_decided_today_counts_the_claims_that_this_person_decided(
        self, submitter: User, reviewer: User
    ) -> None:
        review = open_review(submitter)
        decide(reviewer, review, 1)
        decide(reviewer, review, 2, "block")
        assert queue_page(reviewer).decided_today == 2

        operations.undo_decision(actor=reviewer, review_id=review.review_id, position=2, based_on=1)
        assert queue_page(reviewer).decided_today == 1
        decide(reviewer, review, 2)
        assert queue_page(reviewer).decided_today == 2
        assert queue_page(make_reviewer("colleague")).decided_today == 0

    def test_yesterdays_decisions_are_not_counted(
        self, submitter: User, reviewer: User, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        decide(reviewer, open_review(submitter), 1)
        tomorrow = timezone.now() + timedelta(days=1)
        monkeypatch.setattr(timezone, "now", lambda: tomorrow)

        assert queue_page(reviewer).decided_today == 0

    @pytest.mark.parametrize("count", [1, 3])
    @pytest.mark.parametrize(
        ("filters", "more"),
        [(Filters(), 0), (Filters(text="question"), 1), (Filters(submitter="submitter", parser="test"), 2)],
    )
    def test_the_queue_needs_the_same_few_queries_whatever_it_lists(
        self,
        submitter: User,
        reviewer: User,
        count: int,
        filters: Filters,
        more: int,
        django_assert_num_queries: DjangoAssertNumQueries,
    ) -> None:
        for number in range(count):
            open_review(submitter, f"Question {number}?")

        user = fresh(reviewer)
        with django_assert_num_queries(3 + more):  # their roles, counts, rows; what the filters let through
            page = queue_page(user, filters=filters)
            assert [review.submitter_name for review in page.reviews] == ["submitter"] * count

    @pytest.mark.parametrize("sort", SORTS)
    @pytest.mark.parametrize("tab", ["needs_me", "all"])
    def test_pages_show_each_review_once_in_order(
        self, submitter: User, reviewer: User, monkeypatch: pytest.MonkeyPatch, tab: str, sort: str
    ) -> None:
        monkeypatch.setattr(queue, "PAGE_SIZE", 2)
        reviews = [open_review(submitter, f"Question {number}?") for number in range(7)]
        same = reviews[0].submitted_at
        Review.objects.filter(pk__in=[review.pk for review in reviews[1:5]]).update(submitted_at=same)
        for review in reviews[2:5]:
            decide(reviewer, review, 1)

        found = listed(reviewer, tab, sort=sort)

        orders = {
            "oldest": lambda review: (review.submitted_at, review.pk),
            "newest": lambda review: (-review.submitted_at.timestamp(), -review.pk),
            "undecided": lambda review: (-review.undecided_count, review.submitted_at, review.pk),
        }
        assert found == sorted(Review.objects.all(), key=orders[sort])
        assert len(pages_of(reviewer, tab, sort=sort)) == 4

    @pytest.mark.parametrize("sort", SORTS)
    def test_a_page_continues_after_its_last_review_while_others_come_and_go(
        self, submitter: User, reviewer: User, monkeypatch: pytest.MonkeyPatch, sort: str
    ) -> None:
        monkeypatch.setattr(queue, "PAGE_SIZE", 2)
        for number in range(6):
            open_review(submitter, f"Question {number}?")
        before = listed(reviewer, "needs_me", sort=sort)

        first = queue_page(reviewer, sort=sort)
        decide(reviewer, before[0], 1)
        decide(reviewer, before[0], 2)  # shown before and now gone
        decide(reviewer, before[3], 1)
        decide(reviewer, before[3], 2)  # not shown yet and gone
        open_review(submitter, "A newcomer?")
        rest = reviews_on(*pages_of(reviewer, "needs_me", sort=sort, cursor=first.next_cursor))

        newcomer = [] if sort == "newest" else [Review.objects.latest("pk")]
        assert rest == [before[2], before[4], before[5], *newcomer]

    def test_a_cursor_of_another_order_shows_the_first_page(
        self, submitter: User, reviewer: User, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(queue, "PAGE_SIZE", 1)
        reviews = [open_review(submitter, f"Question {number}?") for number in range(2)]
        cursor = queue_page(reviewer, sort="oldest").next_cursor

        page = queue_page(reviewer, sort="undecided", cursor=cursor)

        assert (page.is_first, reviews_on(page)) == (True, [reviews[0]])
        assert not queue_page(reviewer, sort="oldest", cursor=cursor).is_first

    @pytest.mark.parametrize(
        "cursor", ["x", "-", "1-1-1-1", "1-", "-1", "1-2-3", "٣-٣", "9" * 30 + "-1", "1" * 17 + "-1"]
    )
    def test_a_cursor_that_nobody_handed_out_shows_some_page(
        self, submitter: User, reviewer: User, cursor: str
    ) -> None:
        open_review(submitter)

        assert len(queue_page(reviewer, tab="all", cursor=cursor).reviews) == 1

    def test_counts_and_lists_agree_after_random_acts(self) -> None:
        chance = random.Random(7)
        people = [
            make_user("a", "Submitter", "Reviewer"),
            make_user("b", "Submitter", "Reviewer"),
            make_submitter("c"),
            make_reviewer("d"),
            make_user("e", "Auditor"),
            make_user("f"),
        ]
        for number in range(60):
            actor = chance.choice(people)
            reviews = list(Review.objects.all())
            review = chance.choice(reviews) if reviews else None
            try:
                act_at_random(chance, actor, review, number)
            except (NotAllowed, Refused, Superseded):
                continue
        assert Review.objects.filter(status="sealed").exists()
        for person in people:
            for filters in FILTERS:
                for sort in SORTS:
                    assert counted(person, filters=filters) == {
                        tab: len(listed(person, tab, filters=filters, sort=sort)) for tab in counted(person)
                    }
            needing = listed(person, "needs_me") if "needs_me" in counted(person) else []
            assert queue_page(person).open_claims == sum(review.undecided_count for review in needing)
        for review in Review.objects.all():
            page = review_page(people[3], review.review_id)
            assert len(page.preview.released_claim_ids) == review.released_count
            assert sum(card.released for card in cards(page)) == review.released_count


def act_at_random(chance: random.Random, actor: User, review: Review | None, number: int) -> None:
    act = chance.choice(["submit", "decide", "decide", "decide", "undo", "seal"])
    if review is None or act == "submit":
        operations.submit_review(actor=actor, uploads=four_claims(f"Question {number}?"))
    elif not visible_to(actor).filter(pk=review.pk).exists():
        return
    elif act == "seal":
        operations.seal_review(actor=actor, review_id=review.review_id)
    elif act == "decide":
        decide(actor, review, chance.randrange(4), chance.choice(["approve", "block"]))
    else:
        position = chance.randrange(4)
        turns = Claim.objects.get(review=review, position=position).turns
        operations.undo_decision(actor=actor, review_id=review.review_id, position=position, based_on=turns)


class TestFilters:
    def kept(self, user: User, **asked: Any) -> list[str]:
        return sorted(review.question for review in listed(user, "all", filters=Filters(**asked)))

    @pytest.mark.parametrize(
        ("text", "questions"),
        [
            ("alpha", ["Alpha and beta?"]),
            ("ALPHA", ["Alpha and beta?"]),
            ("GEBÜHR", ["Is the gebühr due?"]),
            ("strasse", ["Straße or street?"]),
            ("of  joined", ["Alpha and beta?"]),
            ("100%", []),
            ("_", []),
            ("\\", []),
            ("?", ["Alpha and beta?", "Is the gebühr due?", "Straße or street?"]),
        ],
    )
    def test_a_text_is_found_in_question_and_claims_in_any_case(
        self, submitter: User, reviewer: User, text: str, questions: list[str]
    ) -> None:
        make_review(
            submitter,
            parts(answer(synthesis("c", "v0001", text="A fact of joined."), question="Alpha and beta?")),
        )
        for question in ("Is the gebühr due?", "Straße or street?"):
            make_review(submitter, parts(answer(claim("c", "v0001", text="Fact."), question=question)))

        assert self.kept(reviewer, text=text) == questions

    def test_each_filter_keeps_what_it_names(self, submitter: User, reviewer: User) -> None:
        other = make_user("other", "Submitter", display_name="Ada Example")
        open_review(submitter, "Unsettled?")
        ready_review(other, "Ready?")
        Review.objects.filter(question="Ready?").update(
            submitted_at=datetime(2020, 5, 17, 23, 59, 59, tzinfo=UTC), parser="docling 2.1"
        )

        assert self.kept(reviewer, verdict="settled-unknown") == ["Unsettled?"]
        assert self.kept(reviewer, verdict="settled") == []
        assert self.kept(reviewer, app_status="certified") == ["Ready?"]
        assert self.kept(reviewer, parser="DOCLING") == ["Ready?"]
        assert self.kept(reviewer, submitter="ada") == ["Ready?"]
        assert self.kept(reviewer, submitter="subm") == ["Unsettled?"]
        assert self.kept(reviewer, since=date(2020, 5, 17), until=date(2020, 5, 17)) == ["Ready?"]
        assert self.kept(reviewer, since=date(2020, 5, 18)) == ["Unsettled?"]
        assert self.kept(reviewer, until=date(2020, 5, 16)) == []
        assert self.kept(reviewer, until=date.max, since=date.min) == ["Ready?", "Unsettled?"]

    def test_a_filter_shows_nobody_more_than_they_may_see(self, submitter: User) -> None:
        open_review(make_submitter("other"))

        assert self.kept(submitter, text="?") == []

    def test_a_text_in_too_many_reviews_finds_the_newest(
        self, submitter: User, reviewer: User, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(queue, "MOST_FOUND", 2)
        for number in range(3):
            open_review(submitter, f"Number {number}?")

        page = queue_page(reviewer, tab="all", filters=Filters(text="number"))

        assert [review.question for review in page.reviews] == ["Number 2?", "Number 1?"]
        assert (page.found_more, page.tab.count) == (True, 2)
        assert not queue_page(reviewer, filters=Filters(text="number 1")).found_more

    def test_sealed_reviews_beyond_a_bound_are_more(
        self, submitter: User, reviewer: User, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        for number in range(3):
            sealed_review(submitter, reviewer, f"Sealed {number}?")
        open_review(submitter)
        monkeypatch.setattr(queue, "MOST_COUNTED", 2)

        tabs = {tab.key: (tab.count, tab.more) for tab in queue_page(reviewer).tabs}
        hidden = queue_page(reviewer, tab="sealed", filters=Filters(parser="nothing of that name"))

        assert tabs["sealed"] == (2, True)
        assert tabs["all"] == (3, True)
        assert tabs["needs_me"] == (1, False)
        assert (hidden.hidden, hidden.hidden_more) == (2, True)
        monkeypatch.setattr(queue, "MOST_COUNTED", 3)
        assert [tab.more for tab in queue_page(reviewer).tabs] == [False] * 4

    def test_an_empty_list_says_what_is_left_and_why(self, submitter: User) -> None:
        both = make_user("both", "Submitter", "Reviewer")
        open_review(both, "Mine?")
        open_review(submitter, "Waiting?")
        ready_review(submitter)

        page = queue_page(both, filters=Filters(text="no such text"))

        assert page.reviews == ()
        assert (page.hidden, page.submitted_by_me, page.ready) == (1, 1, 1)

    @settings(max_examples=50, deadline=None)
    @given(st.text(max_size=30), st.text(max_size=5), st.text(max_size=5))
    def test_a_folded_part_is_in_the_folded_whole(self, part: str, before: str, after: str) -> None:
        """With white space around it, for letters may join with their neighbours."""
        assert folded(part) in folded(f"{before} {part} {after}")
