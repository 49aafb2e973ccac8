"""“Next review for me” from a filtered queue; and the end of a queue, which says what is left and why (spec 7)."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import Group
from django.test import Client
from django.urls import reverse
from pytest_django.asserts import assertContains, assertRedirects

from ethos_review.accounts.models import User
from ethos_review.accounts.roles import SUBMITTER
from ethos_review.reviews import leases
from ethos_review.reviews.models import Review, ReviewLease
from ethos_review.reviews.next_review import Left, take_next_review, what_is_left
from ethos_review.reviews.queue import Filters
from tests.factories import decide
from tests.reviews.test_queries import open_review, ready_review
from tests.web.html import has

pytestmark = pytest.mark.django_db
BRIDGES = Filters(text="bridge")


def hand_out(actor: User, filters: Filters = BRIDGES) -> Review | None:
    return take_next_review(actor=actor, filters=filters)


def test_the_oldest_review_that_the_filter_shows_is_handed_out(submitter: User, reviewer: User) -> None:
    open_review(submitter, "How long is the tunnel?")
    bridge = open_review(submitter, "How old is the bridge?")
    open_review(submitter, "Which bridge is longer?")
    assert hand_out(reviewer) == bridge
    assert ReviewLease.objects.get().holder == reviewer
    assert hand_out(reviewer) == bridge  # it is still theirs


def test_what_a_colleague_holds_is_not_handed_out(submitter: User, reviewer: User, colleague: User) -> None:
    held, free = (open_review(submitter, f"Bridge {number}?") for number in range(2))
    leases.take_lease(actor=colleague, review_id=held.review_id)
    assert hand_out(reviewer) == free


def test_a_race_for_one_review_leaves_the_loser_the_next(
    submitter: User, reviewer: User, colleague: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = (open_review(submitter, f"Bridge {number}?") for number in range(2))
    take = leases.take

    def lose_once(actor: User, review_pk: int) -> bool:
        monkeypatch.setattr(leases, "take", take)
        take(colleague, first.pk)
        return take(actor, review_pk)

    monkeypatch.setattr(leases, "take", lose_once)
    assert hand_out(reviewer) == second


def test_the_end_counts_what_is_held_hidden_and_submitted_by_oneself(
    submitter: User, reviewer: User, colleague: User
) -> None:
    reviewer.groups.add(Group.objects.get(name=SUBMITTER))
    reviewer = User.objects.get(pk=reviewer.pk)
    bridge = open_review(submitter, "How old is the bridge?")
    leases.take_lease(actor=colleague, review_id=bridge.review_id)
    for number in range(2):
        open_review(submitter, f"Tunnel {number}?")
    open_review(reviewer, "My own?")
    ready_review(submitter, "Ready?")
    assert hand_out(reviewer) is None
    assert what_is_left(reviewer, BRIDGES) == Left(held=1, hidden=2, own=1)


def test_without_a_filter_it_is_the_oldest_of_all(submitter: User, reviewer: User) -> None:
    tunnel = open_review(submitter, "How long is the tunnel?")
    open_review(submitter, "How old is the bridge?")
    assert hand_out(reviewer, Filters()) == tunnel


# The button ------------------------------------------------------------------------------------------------------


def test_the_button_of_a_filtered_queue_stays_within_the_filter(signed_in: Client, submitter: User) -> None:
    open_review(submitter, "How long is the tunnel?")
    bridge = open_review(submitter, "How old is the <bridge>?")
    queue = signed_in.get(reverse("queue"), {"text": "<bridge>", "sort": "newest"})
    sent = '<input type="hidden" form="next-review" name="{}" value="{}">'
    assertContains(queue, sent.format("text", "&lt;bridge&gt;"), html=True)
    assertContains(queue, sent.format("sort", "newest"), html=True)
    response = signed_in.post(reverse("next_review"), {"text": "<bridge>", "sort": "newest"})
    assertRedirects(response, reverse("review", args=[bridge.review_id]))


def test_at_the_end_one_is_back_on_the_filtered_queue_and_reads_what_is_left(
    signed_in: Client, submitter: User, reviewer: User
) -> None:
    bridge = open_review(submitter, "How old is the bridge?")
    for position in (1, 2):
        decide(reviewer, bridge, position)
    tunnel = open_review(submitter, "How long is the tunnel?")
    response = signed_in.post(reverse("next_review"), {"text": "bridge", "since": "2020-01-01"}, follow=True)
    assertRedirects(response, f"{reverse('queue')}?text=bridge&since=2020-01-01")
    assertContains(
        response, "Nothing that the filter shows needs you now. The filter hides 1 that needs you."
    )
    assert not has(response, f"review-{tunnel.review_id}")


def test_what_one_submitted_waits_for_someone_else(signed_in: Client, reviewer: User) -> None:
    reviewer.groups.add(Group.objects.get(name=SUBMITTER))
    open_review(User.objects.get(pk=reviewer.pk))
    response = signed_in.post(reverse("next_review"), follow=True)
    assertContains(response, "Nothing needs you now. 1 review that you submitted waits for someone else.")


def test_a_filter_that_cannot_be_read_filters_nothing(signed_in: Client, submitter: User) -> None:
    review = open_review(submitter)
    response = signed_in.post(reverse("next_review"), {"since": "yesterday", "verdict": "nonsense"})
    assertRedirects(response, reverse("review", args=[review.review_id]))
