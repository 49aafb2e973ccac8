"""Invisible characters and lookalike words are found, whatever else a text holds."""

from __future__ import annotations

import sys
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ethos_review.web.hidden_characters import find_hidden, has_hidden
from ethos_review.web.templatetags.texts import shown

DRAWN_FORMAT_SIGNS = {
    0x600,
    0x601,
    0x602,
    0x603,
    0x604,
    0x605,
    0x6DD,
    0x70F,
    0x890,
    0x891,
    0x8E2,
    0x110BD,
    0x110CD,
}


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("pay\u202epal", "U+202E"),
        ("zero\u200bwidth", "U+200B"),
        ("soft\u00adhyphen", "U+00AD"),
        ("isolate\u2067d", "U+2067"),
        ("\ufeffmark", "U+FEFF"),
        ("bell\x07", "U+0007"),
        ("next\x85line", "U+0085"),
        ("filler\u3164", "U+3164"),
        ("tag\U000e0041", "U+E0041"),
        ("selector\ufe0f", "U+FE0F"),
    ],
)
def test_an_invisible_character_is_named_by_its_code_point(text: str, label: str) -> None:
    assert [segment.label for segment in find_hidden(text) if segment.kind == "invisible"] == [label]


def test_every_format_character_of_unicode_that_is_not_drawn_is_found() -> None:
    missed = [
        hex(code)
        for code in range(sys.maxunicode + 1)
        if unicodedata.category(chr(code)) == "Cf"
        and code not in DRAWN_FORMAT_SIGNS
        and not has_hidden(chr(code))
    ]
    assert missed == []


@pytest.mark.parametrize(
    ("word", "found"),
    [
        ("раypal", [("ра", "Cyrillic")]),
        ("Vеltоra", [("е", "Cyrillic"), ("о", "Cyrillic")]),
        ("Αpple", [("Α", "Greek")]),
        ("Αсme", [("Α", "Greek"), ("с", "Cyrillic")]),
        ("ｆull", [("ｆ", "Full width")]),
        ("𝐛old7a", [("𝐛", "Mathematical")]),
        ("ԛueue", [("ԛ", "Cyrillic")]),
        ("սnit", [("ս", "Armenian")]),
        ("Ꭺdmin", [("Ꭺ", "Cherokee")]),
    ],
)
def test_letters_that_pass_for_latin_ones_are_found_in_a_latin_word_with_their_script(
    word: str, found: list[tuple[str, str]]
) -> None:
    segments = find_hidden(f"the word {word} here")
    assert [(s.text, s.label) for s in segments if s.kind == "lookalike"] == found


def test_a_word_spelled_by_lookalikes_alone_is_found_in_a_latin_text() -> None:
    assert has_hidden("send it to сосоа today")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Plain text, 12.4 %",
        "Typographic “quotes” – and dashes…",
        "line\nbreak\tand tab",
        "Только кириллица здесь",
        "TNFα at 5 μm, Δt of 3 s",
        "café naïve Łódź",
        "a tick ✔\ufe0f with its look chosen",
        "数字と漢字",
        "العربية",
    ],
)
def test_honest_text_is_left_alone(text: str) -> None:
    assert not has_hidden(text)


@settings(max_examples=200)
@given(st.text(alphabet=st.one_of(st.characters(codec="utf-8"), st.sampled_from("ab\u202e\u200bра ✔\ufe0f"))))
def test_the_segments_join_to_the_text_again(text: str) -> None:
    assert "".join(segment.text for segment in find_hidden(text)) == text


@given(st.text())
def test_what_is_shown_holds_no_markup_of_the_text(text: str) -> None:
    bare = str(shown("<b>" + text))
    assert "<b>" not in bare
    assert "&lt;b&gt;" in bare


def test_an_override_is_shown_and_not_sent() -> None:
    html = str(shown("pay \u202eevil"))
    assert "\u202e" not in html
    assert 'title="U+202E RIGHT-TO-LEFT OVERRIDE">U+202E</span>' in html


def test_a_lookalike_letter_is_shown_with_its_script() -> None:
    html = str(shown("V\u0435ltora"))
    assert "<bdi>\u0435</bdi> Cyrillic</span>ltora" in html
