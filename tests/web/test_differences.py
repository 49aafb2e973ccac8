"""The cited text beside the source's: what differs is marked, down to letters, and nothing is lost."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ethos_review.web.differences import Piece, mark_differences
from ethos_review.web.hidden_characters import (
    Segment,
    find_hidden,
    find_hidden_at_beginning,
    find_hidden_in_pieces,
)


def marked(pieces: tuple[Piece, ...]) -> str:
    """`same`, `[differs]` and `(around)` in one line."""
    around = {"same": "{}", "differs": "[{}]", "around": "({})"}
    return "".join(around[piece.kind].format(piece.text) for piece in pieces)


@pytest.mark.parametrize(
    ("cited", "source", "cited_marked", "source_marked"),
    [
        ("Sales rose.", "Sales rose.", "Sales rose.", "Sales rose."),
        ("was $12.4M", "was $12.8M", "was $12.[4]M", "was $12.[8]M"),
        ("rose 18%", "In May, sales rose 18% again.", "rose 18%", "(In May, sales )rose 18%( again.)"),
        ("sales rose", "Sales rose", "[s]ales rose", "[S]ales rose"),
        ("one driver", "one drivers were", "one driver", "one driver[s were]"),
        ("The cat", "Nothing alike", "[The] [cat]", "[Nothing] [alike]"),
        ("rose by a lot", "rose by", "rose by[ a lot]", "rose by"),
        ("a b c", "a x b c", "a b c", "a[ x] b c"),
        ("only this", "", "[only this]", ""),
    ],
)
def test_differences_are_marked(cited: str, source: str, cited_marked: str, source_marked: str) -> None:
    left, right = mark_differences(cited, source)
    assert (marked(left), marked(right)) == (cited_marked, source_marked)


words = st.lists(st.sampled_from(["alpha", "beta", "betas", "gamma", " ", ".", "12", "13"]), max_size=30).map(
    "".join
)


@given(words, words)
def test_the_pieces_join_to_the_texts_again(cited: str, source: str) -> None:
    left, right = mark_differences(cited, source)
    assert ("".join(p.text for p in left), "".join(p.text for p in right)) == (cited, source)


@given(words)
def test_equal_texts_do_not_differ(text: str) -> None:
    assert all(piece.kind == "same" for side in mark_differences(text, text) for piece in side)


def test_texts_too_long_to_compare_differ_as_one_block() -> None:
    cited, source = "a b " * 2_000, "c d " * 2_000
    assert mark_differences(cited, source) == ((Piece(cited, "differs"),), (Piece(source, "differs"),))


alike = st.lists(
    st.sampled_from(["Apple", "Αpple", "\u0440", "\u0430y", "pal", "12", " ", ".", "\u200b", "\u043e", "a"]),
    max_size=20,
).map("".join)


def marks(segments: tuple[Segment, ...]) -> list[tuple[str, str]]:
    """Letter by letter: the letter, and how it is marked."""
    return [(letter, segment.label) for segment in segments for letter in segment.text]


@settings(deadline=None)
@given(alike, alike)
def test_what_is_marked_as_hidden_in_the_whole_text_is_marked_in_the_pieces(cited: str, source: str) -> None:
    for text, pieces in zip((cited, source), mark_differences(cited, source), strict=True):
        found = find_hidden_in_pieces(piece.text for piece in pieces)
        assert [mark for segments in found for mark in marks(segments)] == marks(find_hidden(text))
        assert ["".join(s.text for s in segments) for segments in found] == [piece.text for piece in pieces]


@settings(deadline=None)
@given(alike, st.lists(st.integers(0, 60), max_size=6).map(sorted))
def test_wherever_a_text_is_cut_its_pieces_show_what_the_whole_shows(text: str, cuts: list[int]) -> None:
    pieces = [text[start:end] for start, end in pairwise([0, *cuts, max(len(text), *cuts, 0)])]
    found = find_hidden_in_pieces(pieces)
    assert [mark for segments in found for mark in marks(segments)] == marks(find_hidden(text))
    assert ["".join(s.text for s in segments) for segments in found] == pieces


@settings(deadline=None)
@given(alike, alike, st.integers(0, 60))
def test_the_beginning_of_a_text_shows_what_the_whole_shows(text: str, far_away: str, length: int) -> None:
    long = f"{text} {'. ' * 200}{far_away}"
    found = find_hidden_at_beginning(long, length)
    assert marks(found) == marks(find_hidden(long))[:length]


def test_a_lone_letter_that_a_difference_cut_off_is_still_marked() -> None:
    pieces, _ = mark_differences("The Аpple", "The Apple")  # Cyrillic
    assert Piece("А", "differs") in pieces
    found = find_hidden_in_pieces(piece.text for piece in pieces)
    assert [s.label for segments in found for s in segments if s.text == "А"] == ["Cyrillic"]
