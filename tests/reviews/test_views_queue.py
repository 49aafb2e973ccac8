"""The queue page: tabs that count what they list, a progress line, and a next step when there is nothing."""

from __future__ import annotations

import sys
from collections.abc import Callable
from datetime import timedelta
from uuid import uuid4

import pytest
from django.contrib.auth.models import Group
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries
from pytest_django.asserts import (
    assertContains,
    assertNotContains,
    assertNumQueries,
    assertRedirects,
    assertTemplateUsed,
)

from ethos_review.accounts.models import User
from ethos_review.accounts.roles import REVIEWER, SUBMITTER
from ethos_review.reviews import operations, queue
from ethos_review.reviews.leases import take_lease
from ethos_review.reviews.models import Review
from ethos_review.reviews.queue import queue_page
from ethos_review.reviews.templatetags import queue_rows
from tests.factories import decide_as_shown, make_reviewer
from tests.web.html import has, text_of
from tests.web.people import PASSWORD, make_person
from tests.web.world import SEALED, World, make_world

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
    assert "2 claims need a decision" in row
    assert "3 released 2 undecided 2 withheld" in row
    assert "Contract Partial – certified claims only" in row
    submitted = Review.objects.get(review_id=world.reviews[LIFT]).submitted_at
    assert f"submitter {submitted:%Y-%m-%d %H:%M} UTC, just now" in row


@pytest.mark.parametrize(
    ("happens", "said"),
    [
        (
            lambda world: User.objects.filter(pk=world.submitter.pk).update(display_name="Pipeline"),
            "Pipeline",
        ),
        (lambda world: decide_as_shown(world.reviewer, world.reviews[LIFT], 6, "approve"), "1 claim needs"),
        (
            lambda world: take_lease(actor=make_reviewer("colleague"), review_id=world.reviews[LIFT]),
            "colleague is here",
        ),
    ],
)
def test_a_row_that_was_drawn_before_is_drawn_anew_when_what_it_shows_changes(
    reviewer: Client, world: World, happens: Callable[[World], object], said: str
) -> None:
    row = f"review-{world.reviews[LIFT]}"
    assert said not in text_of(reviewer.get(reverse("queue")), row)
    happens(world)
    assert said in text_of(reviewer.get(reverse("queue")), row)


def test_a_row_tells_the_time_that_has_passed(
    reviewer: Client, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    row = f"review-{world.reviews[LIFT]}"
    assert "just now" in text_of(reviewer.get(reverse("queue")), row)
    soon = timezone.now() + timedelta(hours=2)
    monkeypatch.setattr(timezone, "now", lambda: soon)
    assert "2 hours ago" in text_of(reviewer.get(reverse("queue")), row)


def test_a_long_id_of_a_pipeline_is_clipped_in_its_row(reviewer: Client, world: World) -> None:
    Review.objects.filter(review_id=world.reviews[LIFT]).update(external_id="long-id-" * 50_000)
    response = reviewer.get(reverse("queue"))
    assertContains(response, f"{'long-id-' * 10}…")
    assert len(response.content) < 50_000


def test_what_is_kept_of_rows_is_bounded_also_when_every_character_is_hidden(
    world: World,
) -> None:
    hidden = "a\U0001d400" * 120  # each of these letters is named beside itself
    Review.objects.filter(review_id=world.reviews[LIFT]).update(
        question=hidden * 100, external_id=hidden, parser=hidden[:200]
    )
    (listed,) = queue_page(world.reviewer).reviews
    row = queue_rows.queue_row(listed, None, world.reviewer.pk)
    assert queue_rows.MOST_KEPT * sys.getsizeof(row) < 15_000_000  # bytes


def test_a_row_says_since_when_it_is_sealed_and_which_review_of_the_same_bytes_it_is(
    reviewer: Client, world: World
) -> None:
    uploads = operations.sample_uploads(operations.SAMPLE / LIFT)
    again = operations.submit_review(actor=world.submitter, uploads=uploads, again=uuid4()).review
    response = reviewer.get(reverse("queue"), {"tab": "all"})
    assert f"made again: review {str(again.review_id)[:8]}" in text_of(response, f"review-{again.review_id}")
    assert "made again" not in text_of(response, f"review-{world.reviews[LIFT]}")
    assert "Sealed just now" in text_of(response, f"review-{world.reviews[SEALED]}")


def test_the_progress_line_counts_what_one_decided_today(reviewer: Client, world: World) -> None:
    decide_as_shown(world.reviewer, world.reviews[LIFT], 6, "approve")
    assertContains(reviewer.get(reverse("queue")), "You decided 1 claim today; 1 is still open.")


def test_a_sealed_row_leads_to_its_release(reviewer: Client, world: World) -> None:
    assertContains(
        reviewer.get(reverse("queue"), {"tab": "sealed"}), f'href="{world.page(SEALED, "release")}"'
    )


def test_someone_who_decides_nothing_begins_with_all_reviews(client: Client, world: World) -> None:
    client.force_login(world.submitter)
    assertContains(client.get(reverse("queue")), '<a href="?tab=all" aria-current="true">')


def test_someone_who_decides_nothing_is_not_told_that_nothing_needs_them(
    client: Client, world: World
) -> None:
    client.force_login(world.submitter)
    for asked in ({}, {"tab": "needs_me"}):
        response = client.get(reverse("queue"), asked)
        assertNotContains(response, "Needs me")
        assert response.context["page"].tab.key == "all"


def test_a_submitter_sees_what_was_sealed_since_the_last_sign_in(client: Client, world: World) -> None:
    world.submitter.set_password(PASSWORD)
    world.submitter.save()

    def sign_in() -> HttpResponse:
        client.post(reverse("sign_out"))
        form = {"username": world.submitter.username, "password": PASSWORD}
        return client.post(reverse("sign_in"), form, follow=True)

    assert not has(sign_in(), "newly-sealed")  # the first sign-in: everything is new
    assert not has(sign_in(), "newly-sealed")
    operations.seal_review(actor=world.reviewer, review_id=world.reviews[STALE])
    for response in (client.get(reverse("queue")), sign_in()):
        assert "1 of your reviews was sealed since your last sign-in" in text_of(response, "newly-sealed")
        assert "Sealed since your last sign-in" in text_of(response, f"review-{world.reviews[STALE]}")
        assert "since your last" not in text_of(response, f"review-{world.reviews[SEALED]}")
    assert not has(sign_in(), "newly-sealed")
    client.force_login(world.reviewer)
    assert not has(client.get(reverse("queue"), {"tab": "all"}), "newly-sealed")


def test_no_query_is_made_for_each_sealed_review_of_a_submitter(
    client: Client, world: World, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    client.force_login(world.submitter)
    session = client.session
    session["signed_in_before"] = "2020-01-01T00:00:00+00:00"
    session.save()
    operations.seal_review(actor=world.reviewer, review_id=world.reviews[STALE])
    with django_assert_max_num_queries(8):
        assert has(client.get(reverse("queue")), "newly-sealed")


def test_the_address_of_a_filter_holds_what_was_filled_in_only(reviewer: Client) -> None:
    sent = {"tab": "all", "text": "lift", "status": "", "parser": "", "since": ""}
    assertRedirects(reviewer.get(reverse("queue"), sent), "/?tab=all&text=lift")


def test_swapped_dates_are_told_and_filter_nothing(reviewer: Client, world: World) -> None:
    asked = {"tab": "all", "since": "2026-03-02", "until": "2026-03-01"}
    response = reviewer.get(reverse("queue"), asked)
    assertContains(response, "This day is before the one under From. Swap the two dates.")
    assertContains(response, 'value="2026-03-02"')
    assertContains(response, 'value="2026-03-01"')
    assert len(response.context["page"].reviews) == len(world.reviews)


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
    monkeypatch.setattr(queue, "PAGE_SIZE", 2)
    first = reviewer.get(reverse("queue"), {"tab": "all"})
    cursor = first.context["page"].next_cursor
    assertContains(first, f"?tab=all&amp;cursor={cursor}")
    second = reviewer.get(reverse("queue"), {"tab": "all", "cursor": cursor})
    listed = [review.id for response in (first, second) for review in response.context["page"].reviews]
    assert listed == sorted(listed, reverse=True)
    assert len(listed) == 3


def test_the_number_of_queries_does_not_grow_with_the_reviews(client: Client) -> None:
    client.force_login(make_person(REVIEWER))
    submitter = make_person(SUBMITTER)
    for count in (1, 3):
        while Review.objects.count() < count:
            uploads = operations.sample_uploads(operations.SAMPLE / LIFT)
            operations.submit_review(actor=submitter, uploads=uploads, again=uuid4())
        with assertNumQueries(4):
            client.get(reverse("queue"))


def test_filters_live_in_the_address_and_stay_across_tabs_and_pages(
    reviewer: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(queue, "PAGE_SIZE", 1)
    asked = {"tab": "all", "text": "the", "sort": "undecided", "since": "2020-01-01"}
    response = reviewer.get(reverse("queue"), asked)
    kept = "text=the&amp;sort=undecided&amp;since=2020-01-01"
    cursor = response.context["page"].next_cursor
    assert cursor
    assertContains(response, f'href="?tab=sealed&amp;{kept}"')
    assertContains(response, f'href="?tab=all&amp;{kept}&amp;cursor={cursor}"')
    assertContains(response, '<option value="undecided" selected>')
    assertContains(response, 'value="2020-01-01"')
    second = reviewer.get(reverse("queue"), asked | {"cursor": cursor})
    assertContains(second, f'href="?tab=all&amp;{kept}">First page')
    assertContains(second, f'href="?tab=sealed&amp;{kept}"')


def test_a_filter_narrows_list_counts_and_progress(reviewer: Client, world: World) -> None:
    response = reviewer.get(reverse("queue"), {"tab": "needs_me", "text": "OFFER l-2207"})
    assert has(response, f"review-{world.reviews[LIFT]}")
    assertContains(response, 'All <span class="count">1</span>')
    assertContains(response, "2 are still open among what the filter shows.")
    assertContains(response, '<a class="button quiet" href="?tab=needs_me">Clear the filter</a>')


def test_an_empty_list_says_what_the_filter_hides(reviewer: Client) -> None:
    told = text_of(reviewer.get(reverse("queue"), {"text": "no such words"}), "queue-empty")
    assert "Nothing here matches the filter" in told
    assert "The filter hides 1 review of this tab." in told


def test_an_empty_list_says_what_waits_for_someone_else(client: Client, world: World) -> None:
    world.submitter.groups.add(Group.objects.get(name=REVIEWER))
    client.force_login(world.submitter)
    response = client.get(reverse("queue"))
    told = text_of(response, "queue-empty")
    assert "1 review waits for someone else, because you submitted it" in told
    assert "1 review only needs a signature" in told
    own = client.get(reverse("queue"), {"tab": "all", "submitter": "submitter", "sort": "undecided"})
    assert own.context["page"].reviews[0].undecided_count == 2


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"since": "yesterday"}, "Enter a valid date."),
        ({"verdict": "nonsense"}, "Select a valid choice."),
        ({"parser": "x" * 101}, "at most 100 characters"),
    ],
)
def test_a_filter_that_cannot_be_read_says_so_and_filters_nothing(
    reviewer: Client, world: World, asked: dict[str, str], said: str
) -> None:
    response = reviewer.get(reverse("queue"), {"tab": "all", **asked})
    assertContains(response, said)
    assert len(response.context["page"].reviews) == len(world.reviews)


def test_the_searched_text_is_escaped(reviewer: Client) -> None:
    response = reviewer.get(reverse("queue"), {"text": '"><script>alert(1)</script>'})
    assertNotContains(response, "<script>alert")


def test_the_end_of_a_list_that_shrank_leads_to_its_first_page(
    reviewer: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(queue, "PAGE_SIZE", 1)
    cursor = reviewer.get(reverse("queue"), {"tab": "all", "sort": "oldest"}).context["page"].next_cursor
    Review.objects.filter(pk__gt=int(cursor.split("-")[1])).update(submitted_at="2020-01-01T00:00:00Z")
    response = reviewer.get(reverse("queue"), {"tab": "all", "sort": "oldest", "cursor": cursor})
    assert "Go to the first page" in text_of(response, "queue-empty")


@pytest.mark.parametrize("asked", [{}, {"text": "lift"}, {"text": "no such words"}, {"submitter": "nobody"}])
def test_no_filter_takes_more_than_eight_queries(
    reviewer: Client, asked: dict[str, str], django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    with django_assert_max_num_queries(7):
        reviewer.get(reverse("queue"), asked)
