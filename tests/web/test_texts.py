"""Texts made fit to show: escaped, with nothing hidden and nothing endless."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.template import Context, Template
from django.utils import timezone

from ethos_review.web.templatetags import texts


def rendered(source: str, **context: object) -> str:
    return Template("{% load texts %}" + source).render(Context(context))


def test_a_short_text_stands_whole() -> None:
    html = rendered("{% document_text text %}", text="a < b")
    assert "a &lt; b" in html
    assert "<details" not in html


def test_a_long_text_folds_and_can_be_read_whole() -> None:
    html = rendered("{% document_text text %}", text="word " * 400)
    assert "Show all 2000 characters" in html
    assert html.count("word") > 400


def test_the_beginning_of_a_long_text_is_marked_as_such() -> None:
    assert (texts.clipped("abcdef", 6), texts.clipped("abc def", 4)) == ("abcdef", "abc…")


CUT = (
    "\u0420" + "\u0430yment is due, " + "and so on " * 100
)  # the cut takes the Latin letters of its first word away
LONE = (
    '<span class="hidden-char lookalike" title="Cyrillic, looks like Latin"><bdi>\u0420</bdi> Cyrillic</span>'
)


def test_what_a_cut_leaves_is_marked_as_it_is_in_the_whole_text() -> None:
    assert texts.clipped(CUT, 1) == f"{LONE}…"
    assert texts.beginning(CUT, 1) == LONE
    assert texts.sentence("`\u0420`ayment") == f"<code>{LONE}</code>ayment"
    long = "x" * (texts.GLIMPSE - 1) + "\u0420" + "ayment" * 100
    assert rendered("{% document_text text %}", text=long).count(LONE) == 2  # folded, and whole


def test_a_title_holds_no_markup_and_nothing_invisible() -> None:
    assert texts.bare("a\u202eb <i>") == "aU+202Eb <i>"
    assert texts.bare("V\u0435ltora") == "V\u0435ltora"
    assert len(texts.bare("x" * 500)) == 80


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("Add `claims`, not `claim`.", "Add <code>claims</code>, not <code>claim</code>."),
        ("a ` alone", "a ` alone"),
        ("`<b>`", "<code>&lt;b&gt;</code>"),
    ],
)
def test_what_stands_in_backticks_is_code(text: str, html: str) -> None:
    assert texts.sentence(text) == html


@pytest.mark.parametrize(
    ("passed", "words"),
    [
        (timedelta(seconds=5), "just now"),
        (timedelta(minutes=14, seconds=20), "14 minutes ago"),
        (timedelta(hours=26), "1 day ago"),
    ],
)
def test_an_age_is_told_in_its_largest_unit(passed: timedelta, words: str) -> None:
    assert texts.age(timezone.now() - passed) == words
