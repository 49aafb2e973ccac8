"""The cited text beside the source's: what differs is marked, down to letters, and nothing is lost."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ethos_review.web.differences import Piece, mark_differences


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
