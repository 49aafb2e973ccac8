"""Leases keep colleagues apart, lapse by themselves, and decide nothing."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries
from pytest_django.asserts import assertContains, assertRedirects, assertTemplateNotUsed, assertTemplateUsed

from ethos_review.accounts.models import User
from ethos_review.reviews import leases, operations
from ethos_review.reviews.leases import presence_of, release_lease, renew_lease, take_lease
from ethos_review.reviews.models import Review, ReviewerDecision, ReviewLease
from ethos_review.reviews.next_review import take_next_review
from tests.factories import make_reviewer, make_submitter, make_user
from tests.reviews.test_concurrency import at_once
from tests.reviews.test_queries import decide, open_review, ready_review, sealed_review
from tests.web.html import has, text_of

pytestmark = pytest.mark.django_db
HTMX = {"HX-Request": "true", "HX-Request-Type": "partial"}


def later(monkeypatch: pytest.MonkeyPatch, by: timedelta) -> None:
    now = timezone.now
    monkeypatch.setattr(timezone, "now", lambda: now() + by)


def expiry(review: Review) -> datetime:
    return ReviewLease.objects.get(review=review).expires_at


class TestTaking:
    def test_what_a_colleague_holds_is_not_taken(
        self, submitter: User, reviewer: User, colleague: User
    ) -> None:
        review = open_review(submitter)

        assert take_lease(actor=reviewer, review_id=review.review_id)
        assert not take_lease(actor=colleague, review_id=review.review_id)
        assert presence_of(colleague, review.review_id).holder == reviewer

    def test_whoever_goes_on_to_another_review_holds_only_that_one(
        self, submitter: User, reviewer: User, colleague: User
    ) -> None:
        first, second = (open_review(submitter, f"Question {number}?") for number in range(2))
        for review in (first, second):
            assert leases.take_lease(actor=reviewer, review_id=review.review_id)
        assert leases.take_lease(actor=colleague, review_id=first.review_id)
        assert not leases.take_lease(actor=colleague, review_id=second.review_id)
        assert ReviewLease.objects.get(holder=colleague).review == first

    def test_it_is_taken_over_when_asked_for(self, submitter: User, reviewer: User, colleague: User) -> None:
        review = open_review(submitter)
        take_lease(actor=reviewer, review_id=review.review_id)

        assert take_lease(actor=colleague, review_id=review.review_id, over=True)
        assert presence_of(reviewer, review.review_id).holder == colleague
        assert not renew_lease(actor=reviewer, review_id=review.review_id)

    def test_it_lapses_by_itself(
        self, submitter: User, reviewer: User, colleague: User, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        review = open_review(submitter)
        take_lease(actor=reviewer, review_id=review.review_id)
        later(monkeypatch, leases.LASTS)

        assert presence_of(reviewer, review.review_id).holder is None
        assert take_lease(actor=colleague, review_id=review.review_id)

    def test_it_warns_its_holder_before_it_ends(
        self, submitter: User, reviewer: User, colleague: User, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        review = open_review(submitter)
        take_lease(actor=reviewer, review_id=review.review_id)
        assert not presence_of(reviewer, review.review_id).ends_soon
        later(monkeypatch, leases.LASTS - leases.WARNS + timedelta(seconds=1))

        assert presence_of(reviewer, review.review_id).ends_soon
        assert not presence_of(colleague, review.review_id).ends_soon

    @pytest.mark.parametrize("act", ["decide", "undo"])
    def test_it_is_renewed_when_its_holder_acts(
        self, submitter: User, reviewer: User, monkeypatch: pytest.MonkeyPatch, act: str
    ) -> None:
        review = open_review(submitter)
        decide(reviewer, review, 2)
        take_lease(actor=reviewer, review_id=review.review_id)
        before = expiry(review)
        later(monkeypatch, timedelta(minutes=5))
        if act == "decide":
            decide(reviewer, review, 1)
        else:
            operations.undo_decision(actor=reviewer, review_id=review.review_id, position=2, based_on=1)

        assert expiry(review) >= before + timedelta(minutes=5)

    def test_a_colleagues_act_leaves_it_as_it_is(
        self, submitter: User, reviewer: User, colleague: User
    ) -> None:
        review = open_review(submitter)
        take_lease(actor=reviewer, review_id=review.review_id)
        before = expiry(review)
        decide(colleague, review, 1)

        assert ReviewerDecision.objects.get().reviewer == colleague
        assert (expiry(review), presence_of(reviewer, review.review_id).is_mine) == (before, True)

    def test_only_its_holder_lets_it_go(self, submitter: User, reviewer: User, colleague: User) -> None:
        review = open_review(submitter)
        take_lease(actor=reviewer, review_id=review.review_id)

        assert not release_lease(actor=colleague, review_id=review.review_id)
        assert release_lease(actor=reviewer, review_id=review.review_id)
        assert take_lease(actor=colleague, review_id=review.review_id)

    def test_sealing_ends_it(self, submitter: User, reviewer: User) -> None:
        review = ready_review(submitter)
        assert take_lease(actor=reviewer, review_id=review.review_id)
        operations.seal_review(actor=reviewer, review_id=review.review_id)

        assert not ReviewLease.objects.exists()

    def test_who_has_no_work_on_a_review_does_not_hold_it(self, submitter: User, reviewer: User) -> None:
        both = make_user("both", "Submitter", "Reviewer")
        nobody = {
            "own": (both, open_review(both)),
            "no role": (make_user("auditor", "Auditor"), open_review(submitter, "Another?")),
            "sealed": (reviewer, sealed_review(submitter, reviewer)),
        }
        for person, review in nobody.values():
            assert not take_lease(actor=person, review_id=review.review_id, over=True)
        assert not ReviewLease.objects.exists()

    def test_nobody_holds_what_they_may_not_see(self, reviewer: User) -> None:
        review = open_review(make_submitter())

        with pytest.raises(Review.DoesNotExist):
            take_lease(actor=make_submitter("other"), review_id=review.review_id)


class TestNext:
    def test_the_oldest_that_nobody_else_holds_is_next(
        self, submitter: User, reviewer: User, colleague: User
    ) -> None:
        reviews = [open_review(submitter, f"Question {number}?") for number in range(3)]

        assert take_next_review(actor=reviewer) == reviews[0]
        assert take_next_review(actor=colleague) == reviews[1]
        assert take_next_review(actor=reviewer) == reviews[0]

    def test_moving_on_lets_the_review_go_and_begins_again_after_the_last(
        self, submitter: User, reviewer: User, colleague: User
    ) -> None:
        first, second = (open_review(submitter, f"Question {number}?") for number in range(2))
        take_next_review(actor=reviewer)

        assert take_next_review(actor=reviewer, after=first.review_id) == second
        assert take_next_review(actor=colleague) == first
        release_lease(actor=colleague, review_id=first.review_id)
        assert take_next_review(actor=reviewer, after=second.review_id) == first

    def test_what_a_colleague_holds_is_nobody_elses_next(
        self, submitter: User, reviewer: User, colleague: User
    ) -> None:
        open_review(submitter)
        take_next_review(actor=colleague)

        assert take_next_review(actor=reviewer) is None

    def test_what_needs_someone_else_is_never_next(self, submitter: User, reviewer: User) -> None:
        both = make_user("both", "Submitter", "Reviewer")
        open_review(both)
        ready_review(submitter)
        sealed_review(submitter, reviewer)

        assert take_next_review(actor=both) is None

    @pytest.mark.parametrize("count", [1, 3])
    def test_asking_for_the_next_takes_three_queries(
        self, submitter: User, reviewer: User, count: int, django_assert_num_queries: DjangoAssertNumQueries
    ) -> None:
        for number in range(count):
            open_review(submitter, f"Question {number}?")
        reviewer.has_perm("reviews.decide_claim")  # remembered for the request

        with django_assert_num_queries(3):
            take_next_review(actor=reviewer)


@pytest.mark.django_db(transaction=True)
def test_twenty_people_who_ask_at_once_get_twenty_reviews() -> None:
    submitter = make_submitter()
    for number in range(20):
        open_review(submitter, f"Question {number}?")
    people = [make_reviewer(f"person {number}") for number in range(20)]

    found = at_once(*[lambda person=person: take_next_review(actor=person) for person in people])

    assert all(isinstance(answer, Review) for answer in found), found
    assert len(set(found)) == 20
    assert {lease.holder for lease in ReviewLease.objects.all()} == set(people)


@pytest.mark.django_db(transaction=True)
def test_of_twenty_people_who_take_one_review_at_once_one_holds_it() -> None:
    review = open_review(make_submitter())
    people = [make_reviewer(f"person {number}") for number in range(20)]

    taken = at_once(*[lambda p=person: take_lease(actor=p, review_id=review.review_id) for person in people])

    assert sorted(map(bool, taken)) == [False] * 19 + [True]
    assert ReviewLease.objects.get().holder == people[taken.index(True)]


class TestViews:
    def test_opening_a_review_shows_colleagues_that_someone_is_there(
        self, client: Client, submitter: User, reviewer: User, colleague: User
    ) -> None:
        review = open_review(submitter)
        client.force_login(reviewer)
        assert "at work here" in text_of(client.get(reverse("review", args=[review.review_id])), "presence")
        assert "You are here" in text_of(client.get(reverse("queue")), f"review-{review.review_id}")

        client.force_login(colleague)
        assert "reviewer is here" in text_of(client.get(reverse("queue")), f"review-{review.review_id}")
        told = text_of(client.get(reverse("review", args=[review.review_id])), "presence")
        assert told.startswith("reviewer is here. You can decide all the same")
        assert ReviewLease.objects.get().holder == reviewer

    def test_someone_who_only_looks_holds_nothing(self, client: Client, submitter: User) -> None:
        review = open_review(submitter)
        client.force_login(submitter)
        response = client.get(reverse("review", args=[review.review_id]))

        assert text_of(response, "presence") == ""
        assert not ReviewLease.objects.exists()

    @pytest.mark.parametrize(
        ("act", "holder", "said"),
        [
            ("take", "colleague", "colleague is here"),
            ("take_over", "reviewer", "Colleagues see that you are at work here"),
            ("release", "colleague", "colleague is here"),
        ],
    )
    @pytest.mark.parametrize("headers", [{}, HTMX], ids=["plain", "htmx"])
    def test_a_review_is_taken_over_only_on_purpose(
        self,
        client: Client,
        submitter: User,
        reviewer: User,
        colleague: User,
        act: str,
        holder: str,
        said: str,
        headers: dict[str, str],
    ) -> None:
        review = open_review(submitter)
        take_lease(actor=colleague, review_id=review.review_id)
        client.force_login(reviewer)
        address = reverse("lease", args=[review.review_id])
        response = client.post(address, {"act": act}, headers=headers, follow=True)

        assert ReviewLease.objects.get().holder.username == holder
        assert said in text_of(response, "presence")
        assert has(response, "claims") == (headers == {})

    def test_letting_go_under_htmx_answers_with_the_presence_alone(
        self, client: Client, submitter: User, reviewer: User
    ) -> None:
        review = open_review(submitter)
        take_lease(actor=reviewer, review_id=review.review_id)
        client.force_login(reviewer)
        address = reverse("lease", args=[review.review_id])
        response = client.post(address, {"act": "release"}, headers=HTMX)

        assertTemplateUsed(response, "reviews/_presence.html")
        assertTemplateNotUsed(response, "base.html")
        assert "Nobody is at work here" in text_of(response, "presence")
        assert not ReviewLease.objects.exists()

    def test_next_leads_to_the_review_it_took(
        self, client: Client, submitter: User, reviewer: User, colleague: User
    ) -> None:
        held, free = (open_review(submitter, f"Question {number}?") for number in range(2))
        take_lease(actor=colleague, review_id=held.review_id)
        client.force_login(reviewer)

        response = client.post(reverse("next_review"))
        assertRedirects(response, reverse("review", args=[free.review_id]))
        assert ReviewLease.objects.get(review=free).holder == reviewer

    @pytest.mark.parametrize(
        ("held", "said"),
        [
            (0, "Nothing needs you now."),
            (1, "1 review needs you and is held by colleagues."),
            (2, "2 reviews need you and are held by colleagues."),
        ],
    )
    def test_next_says_why_there_is_none(
        self, client: Client, submitter: User, reviewer: User, held: int, said: str
    ) -> None:
        for number in range(held):
            review = open_review(submitter, f"Question {number}?")
            take_lease(actor=make_reviewer(f"colleague {number}"), review_id=review.review_id)
        client.force_login(reviewer)

        assertContains(client.post(reverse("next_review"), {"after": "nonsense"}, follow=True), said)
