"""The queue page: tabs that count what they list, a progress line, and a next step when there is nothing."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse
from pytest_django.asserts import assertContains, assertNotContains, assertNumQueries, assertTemplateUsed

from ethos_review.accounts.roles import REVIEWER, SUBMITTER
from ethos_review.reviews import operations, queries
from ethos_review.reviews.models import Review
from tests.web.html import has, text_of
from tests.web.people import make_person
from tests.web.world import SEALED, World, decide, make_world

pytestmark = pytest.mark.django_db
LIFT = "10-lift-offer"
STALE = "04-lease-break"


@pytest.fixture
def world() -> World:
    return make_world(SEALED, STALE, LIFT)


@pytest.fixture
def reviewer(client: Client, world: World) -> Client:
    client.force_login(world.reviewer)
    return client


def rows(client: Client, tab: str) -> set[str]:
    response = client.get(reverse("queue"), {"tab": tab})
    return {str(r.review_id) for r in Review.objects.all() if has(response, f"review-{r.review_id}")}


def test_each_tab_lists_what_it_counts(reviewer: Client, world: World) -> None:
    ids = {name: str(review_id) for name, review_id in world.reviews.items()}
    assert rows(reviewer, "needs_me") == {ids[LIFT]}
    assert rows(reviewer, "ready_to_seal") == {ids[STALE]}
    assert rows(reviewer, "sealed") == {ids[SEALED]}
    assert rows(reviewer, "all") == set(ids.values())
    assertContains(reviewer.get(reverse("queue")), 'All <span class="count">3</span>')


def test_a_row_says_what_is_left_and_for_how_long_it_has_waited(reviewer: Client, world: World) -> None:
    row = text_of(reviewer.get(reverse("queue")), f"review-{world.reviews[LIFT]}")
    assert "What does offer L-2207" in row
    assert "2 need a decision" in row
    assert "3 released 2 undecided 2 withheld" in row
    assert "submitter just now" in row


def test_the_progress_line_counts_what_one_decided_today(reviewer: Client, world: World) -> None:
    decide(world.reviewer, world.reviews[LIFT], 6, "approve")
    assertContains(reviewer.get(reverse("queue")), "You decided 1 claim today; 1 is still open.")


def test_a_sealed_row_leads_to_its_release(reviewer: Client, world: World) -> None:
    assertContains(
        reviewer.get(reverse("queue"), {"tab": "sealed"}), f'href="{world.page(SEALED, "release")}"'
    )


def test_someone_who_decides_nothing_begins_with_all_reviews(client: Client, world: World) -> None:
    client.force_login(world.submitter)
    assertContains(client.get(reverse("queue")), '<a href="?tab=all" aria-current="true">')


def test_a_submitter_sees_their_own_reviews_only(client: Client, world: World) -> None:
    client.force_login(make_person(SUBMITTER, "someone-else"))
    response = client.get(reverse("queue"))
    assertContains(response, "No reviews yet")
    assertContains(response, "Load the sample reviews")


@pytest.mark.parametrize("tab", ["needs_me", "ready_to_seal", "sealed", "all"])
def test_an_empty_tab_says_what_to_do_next(client: Client, tab: str) -> None:
    client.force_login(make_person(REVIEWER))
    response = client.get(reverse("queue"), {"tab": tab})
    assertTemplateUsed(response, "reviews/_queue_empty.html")
    assertNotContains(response, "Load the sample reviews")


def test_the_sample_is_loaded_once(client: Client) -> None:
    client.force_login(make_person(SUBMITTER))
    for said in ("11 sample reviews were loaded.", "0 sample reviews were loaded."):
        assertContains(client.post(reverse("load_sample"), follow=True), said)
    assert Review.objects.count() == 11


def test_a_second_page_continues_where_the_first_ended(
    reviewer: Client, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(queries, "PAGE_SIZE", 2)
    first = reviewer.get(reverse("queue"), {"tab": "all"})
    cursor = first.context["page"].next_cursor
    assertContains(first, f"?tab=all&amp;cursor={cursor}")
    second = reviewer.get(reverse("queue"), {"tab": "all", "cursor": cursor})
    listed = [review.pk for response in (first, second) for review in response.context["page"].reviews]
    assert listed == sorted(listed, reverse=True)
    assert len(listed) == 3


def test_the_number_of_queries_does_not_grow_with_the_reviews(client: Client) -> None:
    client.force_login(make_person(REVIEWER))
    submitter = make_person(SUBMITTER)
    for count in (1, 3):
        while Review.objects.count() < count:
            uploads = operations.sample_uploads(operations.SAMPLE / LIFT)
            operations.submit_review(actor=submitter, uploads=uploads, again=True)
        with assertNumQueries(7):
            client.get(reverse("queue"))
