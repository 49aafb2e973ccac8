"""The help page: every word that a page links to, every badge, and examples that the product accepts."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from django.test import Client
from django.urls import reverse
from pytest_django.asserts import assertContains

from ethos_review.engine.values import NORMALIZATIONS
from ethos_review.reviews import operations
from ethos_review.reviews.glossary import BADGES, EXAMPLES, TERMS
from ethos_review.reviews.models import Document
from ethos_review.reviews.templatetags.review_words import WORDS
from tests.factories import make_review, make_reviewer, make_submitter, upload
from tests.test_docs import page, rows_under
from tests.web.html import has, text_of

ROOT = Path(__file__).parents[2]


def test_every_word_that_a_template_links_to_is_explained() -> None:
    linked = {
        key
        for path in (ROOT / "templates").rglob("*.html")
        for key in re.findall(r"{% term \"([\w-]+)\"", path.read_text("utf-8"))
    }
    assert {"reusable", "iteration", "compared"} <= linked <= {term.key for term in TERMS}


@pytest.mark.django_db
def test_every_anchor_of_the_help_page_that_a_page_links_to_is_there(client: Client) -> None:
    client.force_login(make_reviewer())
    response = client.get(reverse("help"))
    for anchor in [term.key for term in TERMS] + ["documents", "badges", "words"]:
        assert has(response, anchor)
    for path in (ROOT / "templates").rglob("*.html"):
        for anchor in re.findall(r"{% url 'help' %}#([\w-]+)", path.read_text("utf-8")):
            assert has(response, anchor), path.name


@pytest.mark.django_db
def test_the_words_of_an_open_claim_lead_to_their_meaning(client: Client) -> None:
    review = make_review(make_submitter())
    client.force_login(make_reviewer())
    response = client.get(reverse("review", args=[review.review_id]), {"claim": "2"})
    for key, label in (("reusable", "reusable"), ("iteration", "Iteration"), ("compared", "compared")):
        assertContains(response, f'<a class="term" href="/help/#{key}">{label}</a>', html=True)
    assert "compared by the kind of value" in text_of(response, "claim-2-body")


def test_every_way_to_compare_has_its_words() -> None:
    assert set(WORDS["normalization"]) == set(NORMALIZATIONS)


def test_the_badges_are_those_of_the_page_for_reviewers() -> None:
    documented = [
        (row["badge"], row["meaning"]) for row in rows_under(page("reviewer.md"), "badge", "meaning")
    ]
    assert list(BADGES) == documented


@pytest.mark.django_db
def test_the_examples_are_accepted_and_show_a_claim_that_is_final(client: Client) -> None:
    client.force_login(make_submitter())
    response = client.get(reverse("help"))
    uploads = {
        example.role: upload(example.role, json.loads(text_of(response, f"example-{example.role}")))
        for example in EXAMPLES
    }
    assert set(uploads) == set(Document.Role.values)
    bundle = uploads.pop("bundle")
    for documents in ([bundle], list(uploads.values())):
        assert [claim.action for claim in operations.check_uploads(documents).claims] == ["show_final"]
