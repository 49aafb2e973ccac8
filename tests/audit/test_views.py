"""The audit page: every event, newest first, page by page."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse
from pytest_django.asserts import assertContains, assertNumQueries, assertTemplateUsed

from ethos_review.accounts.roles import AUDITOR
from ethos_review.audit import queries
from ethos_review.audit.operations import record_event
from tests.web.people import make_person

pytestmark = pytest.mark.django_db


@pytest.fixture
def auditor(client: Client) -> Client:
    client.force_login(make_person(AUDITOR))
    return client


def record(count: int) -> None:
    for number in range(count):
        record_event(
            actor=None,
            actor_name="<Policy>",
            action="review_sealed",
            object_type="key",
            object_id=f"o{number}",
        )


def test_events_are_listed_newest_first_with_their_place_in_the_chain(auditor: Client) -> None:
    record(2)
    response = auditor.get(reverse("audit"))
    assertTemplateUsed(response, "audit/list.html")
    assertContains(response, "Review sealed")
    assertContains(response, "&lt;Policy&gt;")
    assert [event.object_id for event in response.context["page"].events][:2] == ["o1", "o0"]
    assertContains(response, response.context["page"].sha256)


def test_an_event_of_a_claim_leads_to_the_claim(auditor: Client) -> None:
    review_id = "5f0c9a52-6d0b-4f6e-9d7c-0c8f2f6f7a11"
    record_event(
        actor=None,
        actor_name="R. Osei",
        action="claim_blocked",
        object_type="claim",
        object_id=f"{review_id}/3",
    )
    response = auditor.get(reverse("audit"))
    assertContains(response, f'href="{reverse("review", args=[review_id])}?claim=3#claim-3"')
    assertContains(response, ">5f0c9a52/3</a>")


def test_older_events_are_a_page_further(auditor: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(queries, "PAGE_SIZE", 2)
    record(3)
    first = auditor.get(reverse("audit"))
    cursor = first.context["page"].next_cursor
    assertContains(first, f'href="?cursor={cursor}"')
    assertContains(auditor.get(reverse("audit"), {"cursor": cursor}), "o0")


def test_the_number_of_queries_does_not_grow_with_the_events(auditor: Client) -> None:
    for count in (1, 2):
        record(count)
        with assertNumQueries(6):
            auditor.get(reverse("audit"))
