"""Insights: every figure is counted from rows, drawn and written, and asks a fixed number of queries."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries
from pytest_django.asserts import assertContains, assertNumQueries, assertTemplateUsed

from ethos_review.accounts.models import User
from ethos_review.engine.explain import _CONTRACT_ROW
from ethos_review.engine.verdict import SILENT, VERDICTS
from ethos_review.reviews import insights as module
from ethos_review.reviews import operations
from ethos_review.reviews.insights import AgeBand, Cause, Group, insights
from ethos_review.reviews.models import Release, Review
from ethos_review.reviews.templatetags.charts import day_columns, percent, share, took
from ethos_review.reviews.templatetags.review_words import WORDS
from tests.factories import answer, claim, make_review, make_submitter, make_user, parts
from tests.reviews.test_queries import decide, open_review, ready_review, sealed_review
from tests.web.html import has, text_of

pytestmark = pytest.mark.django_db


def age(review: Review, by: timedelta) -> None:
    Review.objects.filter(pk=review.pk).update(submitted_at=review.submitted_at - by)


def test_what_is_open_stands_in_its_age_band(submitter: User, reviewer: User) -> None:
    for number, days in enumerate((0, 0.9, 1.1, 5, 29, 31, 4000)):
        age(open_review(submitter, f"Question {number}?"), timedelta(days=days))
    sealed_review(submitter, reviewer)

    assert insights(reviewer).ages == (
        AgeBand("Less than a day", 2, 4),
        AgeBand("1 to 3 days", 1, 2),
        AgeBand("3 to 7 days", 1, 2),
        AgeBand("7 to 30 days", 1, 2),
        AgeBand("More than 30 days", 2, 4),
    )


def test_claims_are_counted_by_the_day_and_outcome_of_the_decision_that_stands(
    submitter: User, reviewer: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    review = open_review(submitter)
    decide(reviewer, review, 1)
    tomorrow = timezone.now() + timedelta(days=1)
    monkeypatch.setattr(timezone, "now", lambda: tomorrow)
    decide(reviewer, review, 2, "block")

    found = insights(reviewer, period=7)

    assert [(day.approved, day.blocked) for day in found.days] == [(0, 0)] * 5 + [(1, 0), (0, 1)]
    assert found.days[-1].day == tomorrow.date()
    assert (found.approved, found.blocked) == (1, 1)

    operations.undo_decision(actor=reviewer, review_id=review.review_id, position=2, based_on=1)
    assert (insights(reviewer).approved, insights(reviewer).blocked) == (1, 0)
    decide(reviewer, review, 2)
    operations.undo_decision(actor=reviewer, review_id=review.review_id, position=1, based_on=1)
    decide(reviewer, review, 1)
    found = insights(reviewer, period=7)
    assert [(day.approved, day.blocked) for day in found.days] == [(0, 0)] * 6 + [(2, 0)]


@pytest.mark.parametrize(
    ("hours", "median"),
    [([], None), ([5], 5), ([1, 9], 5), ([1, 2, 30], 2), ([1, 2, 4, 50], 3)],
)
def test_the_median_is_the_middle_of_the_times_from_upload_to_seal(
    submitter: User, reviewer: User, hours: list[int], median: int | None
) -> None:
    for hour in hours:
        review = sealed_review(submitter, reviewer, f"Sealed after {hour}?")
        sealed_at = Release.objects.get(review=review).sealed_at
        Review.objects.filter(pk=review.pk).update(submitted_at=sealed_at - timedelta(hours=hour))
    open_review(submitter)

    found = insights(reviewer)

    assert found.sealed == len(hours)
    assert found.median_to_seal == (None if median is None else timedelta(hours=median))


def test_it_says_why_claims_are_not_released(submitter: User, reviewer: User) -> None:
    review = open_review(submitter)
    assert set(insights(reviewer).causes) == {
        Cause("undecided", "supported_synthesis_needs_review", 2),
        Cause("blocked", "cannot_answer_from_sources", 1),
    }
    decide(reviewer, review, 1)
    decide(reviewer, review, 0, "block")

    assert set(insights(reviewer).causes) == {
        Cause("withheld", "reviewer", 1),
        Cause("undecided", "supported_synthesis_needs_review", 1),
        Cause("blocked", "cannot_answer_from_sources", 1),
    }


def test_a_claim_that_readings_or_a_missing_check_lowered_names_that(submitter: User, reviewer: User) -> None:
    stated = claim("stated", citation_grounded=True)
    stated.pop("check_ids", None)
    unsettled = claim("value", "v0001", delivers=[{"entity": "acme", "field": "revenue", "value": 12.4}])
    reading = {
        "entity": "acme",
        "field": "revenue",
        "value": {"kind": "unknown", "reason": "Closed."},
        "tool_name": "ledger",
        "tool_call_id": "call-1",
        "iteration": 0,
    }
    make_review(submitter, parts(answer(stated, unsettled), readings=[reading]))

    assert set(insights(reviewer).causes) == {
        Cause("undecided", "no_check_behind_grounding", 1),
        Cause("undecided", "settled-unknown", 1),
    }


def test_every_cause_has_its_words() -> None:
    causes = (set(_CONTRACT_ROW) - {"certified"}) | (set(VERDICTS) - SILENT)
    assert set(WORDS["cause"]) == causes | {"reviewer", "no_check_behind_grounding"}


def test_parsers_and_submitters_are_counted_and_the_rest_is_one_group(
    submitter: User, reviewer: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MOST_GROUPS", 1)
    ada = make_user("ada", "Submitter", display_name="Ada")
    for number in range(2):
        ready_review(ada, f"Ready {number}?")
    open_review(submitter)
    open_review(make_submitter("third"), "Third?")

    found = insights(reviewer)

    assert found.submitters == (Group("Ada", 2, 2, 0, 0), Group("All others", 2, 2, 4, 2))
    assert [group.reviews for group in found.parsers] == [4]


def test_the_period_bounds_what_is_counted(submitter: User, reviewer: User) -> None:
    age(open_review(submitter), timedelta(days=40))

    assert insights(reviewer, period=30).causes == insights(reviewer, period=30).parsers == ()
    assert insights(reviewer, period=90).parsers[0].reviews == 1
    assert insights(reviewer, period=31).period == 30
    assert len(insights(reviewer, period=365).days) == 365


@pytest.mark.parametrize("count", [1, 3])
def test_it_needs_six_queries(
    submitter: User, reviewer: User, count: int, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    for number in range(count):
        open_review(submitter, f"Question {number}?")
        sealed_review(submitter, reviewer, f"Sealed {number}?")
    user = User.objects.get(pk=reviewer.pk)
    user.has_perm("reviews.view_review")

    with django_assert_num_queries(6):
        insights(user)


def test_columns_stand_on_the_ground_and_on_each_other(submitter: User, reviewer: User) -> None:
    review = open_review(submitter)
    decide(reviewer, review, 1)
    decide(reviewer, review, 2, "block")
    chart = day_columns(insights(reviewer, period=7).days)

    assert (chart["width"], chart["most"]) == (68, 2)
    assert chart["columns"] == [
        {"tone": "ok", "x": 60, "y": "50.00", "height": "50.00"},
        {"tone": "bad", "x": 60, "y": "0.00", "height": "50.00"},
    ]
    assert day_columns([])["columns"] == []


def test_shares_and_durations_in_words() -> None:
    assert (share(1, 3), share(1, 0), percent(1, 3), percent(0, 0)) == ("33.33", "0", "33 %", "–")
    assert [took(timedelta(seconds=30)), took(timedelta(hours=49))] == [
        "less than a minute",
        "2 days, 1 hour",
    ]


class TestPage:
    def test_every_figure_stands_in_a_table(self, client: Client, submitter: User, reviewer: User) -> None:
        review = open_review(submitter)
        decide(reviewer, review, 1)
        sealed_review(submitter, reviewer)
        client.force_login(reviewer)
        response = client.get(reverse("insights"))

        assertTemplateUsed(response, "reviews/insights.html")
        assert "Less than a day 1 1" in text_of(response, "ages")
        assert f"{timezone.now():%Y-%m-%d} 1 0" in text_of(response, "days")
        assert "Not grounded blocked by the engine 1" in text_of(response, "causes")
        assert "submitter 2 3 1 1" in text_of(response, "submitters")
        assertContains(response, "100 % approved, 0 % blocked")
        assertContains(response, '<a href="?days=30" aria-current="true">')

    def test_a_period_in_the_address_is_used(self, client: Client, reviewer: User) -> None:
        client.force_login(reviewer)
        assertContains(
            client.get(reverse("insights"), {"days": "7"}), '<a href="?days=7" aria-current="true">'
        )
        for nonsense in ("x", "٧", "-1", "1" * 400):
            assertContains(
                client.get(reverse("insights"), {"days": nonsense}), 'days=30" aria-current="true"'
            )

    def test_an_empty_product_draws_nothing(self, client: Client, reviewer: User) -> None:
        client.force_login(reviewer)
        response = client.get(reverse("insights"))

        assert not has(response, "nothing")
        assertContains(response, "Nothing was decided in these 30 days.")
        assert re.search(r"<rect[^>]*(nan|inf|-\d)", response.content.decode()) is None

    def test_names_from_documents_are_escaped(self, client: Client, submitter: User, reviewer: User) -> None:
        open_review(submitter)
        Review.objects.update(parser="<script>alert(1)</script>")
        client.force_login(reviewer)

        assertContains(client.get(reverse("insights")), "&lt;script&gt;alert(1)")

    @pytest.mark.parametrize("count", [1, 3])
    def test_the_number_of_queries_does_not_grow(
        self, client: Client, submitter: User, reviewer: User, count: int
    ) -> None:
        for number in range(count):
            open_review(submitter, f"Question {number}?")
        client.force_login(reviewer)
        with assertNumQueries(8):
            client.get(reverse("insights"))
