"""A review of many claims: a page shows a part of each group, and everything else can be reached from it."""

from __future__ import annotations

import re

import pytest
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse
from pytest_django.asserts import assertRedirects, assertTemplateUsed

from ethos_review.accounts.roles import REVIEWER
from ethos_review.reviews.models import Review
from ethos_review.reviews.views.parts import CARDS_AT_ONCE
from tests.factories import (
    answer,
    check,
    claim,
    large_bundle,
    make_review,
    make_submitter,
    parts,
    report,
    synthesis,
)
from tests.web.html import HEAVIEST, has, text_of, weight_with_files
from tests.web.people import make_person

pytestmark = pytest.mark.django_db
HTMX = {"HX-Request": "true", "HX-Request-Type": "partial"}
CLAIMS = 1_000  # even positions need review, odd ones are final


@pytest.fixture
def review() -> Review:
    return make_review(make_submitter(), large_bundle(CLAIMS))


@pytest.fixture
def reviewer(client: Client) -> Client:
    client.force_login(make_person(REVIEWER))
    return client


def cards_in(response: HttpResponse) -> list[int]:
    return [int(place) for place in re.findall(r'<article [^>]*id="claim-(\d+)"', response.content.decode())]


def links_in(response: HttpResponse) -> list[str]:
    found = re.findall(r'<p class="more"><a class="button" href="([^"#]*)#', response.content.decode())
    return [link.replace("&amp;", "&") for link in found]


def more(client: Client, review: Review, around: int, side: str) -> HttpResponse:
    address = reverse("more_claims", args=[review.review_id])
    return client.get(address, {"around": around, "side": side}, headers=HTMX)


def test_a_page_of_a_long_review_is_light(reviewer: Client, review: Review) -> None:
    response = reviewer.get(reverse("review", args=[review.review_id]))
    assert weight_with_files(response) <= HEAVIEST
    assert len(cards_in(response)) == 2 * CARDS_AT_ONCE
    assert text_of(response, "group-needs_review") == "Needs review 500 of 500 left"
    assert text_of(response, "group-final") == "Final 500"


def test_a_page_with_three_long_groups_is_light(reviewer: Client) -> None:
    claims = [
        labelled(f"{label}-{number}", check_id)
        for label, labelled, check_id in (
            ("joined", synthesis, "v0001"),
            ("fact", claim, "v0001"),
            ("missing", claim, "v0002"),
        )
        for number in range(CARDS_AT_ONCE + 1)
    ]
    checks = report(check("v0001"), check("v0002", "not_found"))
    review = make_review(make_submitter(), parts(answer(*claims), checks))
    response = reviewer.get(reverse("review", args=[review.review_id]))
    assert weight_with_files(response) <= HEAVIEST
    assert len(cards_in(response)) == 3 * CARDS_AT_ONCE


def test_links_alone_lead_to_every_claim(reviewer: Client, review: Review) -> None:
    page = reverse("review", args=[review.review_id])
    found, waiting, visited = set(), [page], set()
    while waiting:
        address = waiting.pop()
        if address in visited:
            continue
        visited.add(address)
        response = reviewer.get(address)
        found.update(cards_in(response))
        waiting += [page + link for link in links_in(response) if link.startswith("?")]
    assert found == set(range(CLAIMS))


def test_the_part_with_the_claim_that_is_asked_for_is_shown(reviewer: Client, review: Review) -> None:
    response = reviewer.get(reverse("review", args=[review.review_id]), {"claim": 700})
    shown = [place for place in cards_in(response) if place % 2 == 0]
    assert (min(shown), max(shown)) == (680, 718)
    assert has(response, "claim-700-body")


@pytest.mark.parametrize(
    ("around", "side", "first", "last", "next_link"),
    [
        (760, "later", 760, 798, "?claim=800"),
        (718, "earlier", 680, 718, "?claim=678"),
        (998, "later", 960, 998, None),
        (38, "earlier", 0, 38, None),
    ],
)
def test_scrolling_on_brings_the_next_part_and_the_way_further(
    reviewer: Client, review: Review, around: int, side: str, first: int, last: int, next_link: str | None
) -> None:
    response = more(reviewer, review, around, side)
    assertTemplateUsed(response, "reviews/_more_claims.html")
    assert (cards_in(response)[0], cards_in(response)[-1]) == (first, last)
    page = reverse("review", args=[review.review_id])
    assert links_in(response) == ([page + next_link] if next_link else [])


def test_a_claim_that_is_not_there_has_no_part(reviewer: Client, review: Review) -> None:
    assert more(reviewer, review, 5_000, "later").status_code == 404


def test_a_browser_that_opens_the_address_gets_the_page(reviewer: Client, review: Review) -> None:
    address = reverse("more_claims", args=[review.review_id])
    page = reverse("review", args=[review.review_id])
    assertRedirects(
        reviewer.get(address, {"around": 700}), f"{page}?claim=700#claim-700", fetch_redirect_response=False
    )


def test_the_whole_answer_has_pages_of_its_own(reviewer: Client, review: Review) -> None:
    page = reviewer.get(reverse("review", args=[review.review_id]))
    assert "Show all 500 passages" in text_of(page, "answer-preview")
    answer = pages_of(reviewer, reverse("answer", args=[review.review_id]))
    assert sum(page.count('class="passage') for page in answer) == 500


@pytest.mark.parametrize(("part", "status"), [("released", "grounded"), ("withheld", "not_found")])
def test_the_last_look_is_light_and_leads_to_everything(reviewer: Client, part: str, status: str) -> None:
    claims = answer(*(claim(f"c{number}", "v0001") for number in range(CLAIMS)))
    review = make_review(make_submitter(), parts(claims, report(check("v0001", status))))
    last_look = reviewer.get(reverse("seal_review", args=[review.review_id]))
    assert weight_with_files(last_look) <= HEAVIEST
    listing = reverse(part, args=[review.review_id])
    assert f'<a href="{listing}">Show all {CLAIMS} {part} claims</a>' in last_look.content.decode()
    assert sum(page.count('<p class="claim"') for page in pages_of(reviewer, listing)) == CLAIMS


def test_what_is_undecided_is_not_listed_as_withheld(reviewer: Client, review: Review) -> None:
    assert "Withheld 0" in text_of(
        reviewer.get(reverse("withheld", args=[review.review_id])), "listing-title"
    )


def pages_of(client: Client, address: str) -> list[str]:
    """The texts of the page at `address` and of all that its links to the next one lead to."""
    pages, link = [], "?page=1"
    while link:
        response = client.get(address + link)
        assert weight_with_files(response) <= HEAVIEST
        pages.append(response.content.decode())
        following = re.search(r'rel="next" href="([^"]*)"', pages[-1])
        link = following[1] if following else ""
    return pages


def test_the_answer_to_a_decision_brings_no_more_than_what_changed(reviewer: Client, review: Review) -> None:
    page = reviewer.get(reverse("review", args=[review.review_id]), {"claim": 0})
    form = {
        "outcome": "approve",
        "based_on": 0,
        "shown_sha256": page.context["page"].opened.shown_sha256,
        "seen": "0.0.0",
    }
    response = reviewer.post(reverse("decide_claim", args=[review.review_id, 0]), form, headers=HTMX)
    assert cards_in(response) == [0, 2]
    assert len(response.content) < 20_000
