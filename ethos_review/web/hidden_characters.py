"""Invisible characters and lookalike letters, found so that they can be shown (spec 4.2)."""

from __future__ import annotations

import re
import unicodedata
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import groupby, pairwise

from ethos_review.web.lookalikes import ARMENIAN, CYRILLIC, GREEK

# Everything that Unicode lets a reader not see: controls, bidirectional and zero-width characters, fillers,
# variation selectors, tags. Signs that merely belong to the format category but are drawn are left out.
_INVISIBLE = re.compile(
    "["
    "\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f"
    "\u200b-\u200f\u2028-\u202e\u2060-\u206f\u2800\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb"
    "\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
    "]"
)
_PRESENTATION_SELECTORS = "\ufe0e\ufe0f"  # harmless right after the emoji or symbol whose look they choose

# Letters that pass for Latin ones. Cyrillic, Greek and Armenian are lists; the rest are whole blocks.
_LOOKALIKE = re.compile(
    "["
    f"{''.join(CYRILLIC | GREEK | ARMENIAN)}"
    "\u13a0-\u13ff\uff21-\uff3a\uff41-\uff5a\U0001d400-\U0001d7ff"  # Cherokee, full width, mathematical
    "]"
)
_LATIN = re.compile("[A-Za-z\u00c0-\u024f]")
_WORD = re.compile(r"\w+")
_REST_OF_A_WORD = 200  # characters behind a cut in which a word that it parts ends


@dataclass(frozen=True, slots=True)
class Segment:
    """A run of text. `kind` is `plain`, `invisible` (one character) or `lookalike` (letters of one script)."""

    text: str
    kind: str
    label: (
        str  # what to show for an invisible character: its code point; with lookalike letters: their script
    )
    name: str  # what it is, in words


def find_hidden(text: str) -> tuple[Segment, ...]:
    """The text as segments whose texts join to it again."""
    return _find_hidden(text, text)


def find_hidden_at_beginning(text: str, length: int) -> tuple[Segment, ...]:
    """The first `length` characters as segments, by what the whole text shows, at no cost that grows with the rest."""
    left = deque(_find_hidden(text[: length + _REST_OF_A_WORD], text))
    return tuple(_take(left, min(length, len(text))))


def _find_hidden(text: str, whole: str) -> tuple[Segment, ...]:
    if text.isascii() and _INVISIBLE.search(text) is None:
        return (Segment(text, "plain", "", ""),) if text else ()
    places = sorted(_invisible_places(text) | _lookalike_places(text, whole))
    edges = [0, *(edge for start, end, _ in places for edge in (start, end)), len(text)]
    kinds = {(start, end): kind for start, end, kind in places}
    return tuple(
        _segment(text[start:end], kinds.get((start, end), "plain"))
        for start, end in pairwise(edges)
        if start < end
    )


def find_hidden_in_pieces(pieces: Iterable[str]) -> list[tuple[Segment, ...]]:
    """Each piece of a text as segments, by what the whole text shows: a piece may hide the word that gives it away."""
    texts = list(pieces)
    left = deque(find_hidden("".join(texts)))
    return [tuple(_take(left, len(text))) for text in texts]


def _take(left: deque[Segment], length: int) -> Iterator[Segment]:
    """From the beginning of what is left, cutting the last one where it goes on in the next piece."""
    while length > 0:
        segment = left.popleft()
        taken = replace(segment, text=segment.text[:length])
        if len(segment.text) > length:
            left.appendleft(replace(segment, text=segment.text[length:]))
        length -= len(taken.text)
        yield taken


def has_hidden(text: str) -> bool:
    """Whether a text holds anything that a reader could miss."""
    return any(segment.kind != "plain" for segment in find_hidden(text))


def _invisible_places(text: str) -> set[tuple[int, int, str]]:
    return {
        (match.start(), match.end(), "invisible")
        for match in _INVISIBLE.finditer(text)
        if not _chooses_presentation(text, match.start())
    }


def _chooses_presentation(text: str, at: int) -> bool:
    return (
        text[at] in _PRESENTATION_SELECTORS and at > 0 and unicodedata.category(text[at - 1]) in ("So", "Sm")
    )


def _lookalike_places(text: str, whole: str) -> set[tuple[int, int, str]]:
    """Lookalike letters in words that mix them with Latin ones, or that hold no others in a whole with Latin."""
    if _LOOKALIKE.search(text) is None or _LATIN.search(whole) is None:
        return set()
    places = set()
    for word in _WORD.finditer(text):
        if _LOOKALIKE.search(word[0]) and (_LATIN.search(word[0]) or _only_lookalikes(word[0])):
            at = word.start()
            for script, letters in groupby(word[0], key=_script_of_lookalike):
                end = at + len(list(letters))
                if script:
                    places.add((at, end, "lookalike"))
                at = end
    return places


def _script_of_lookalike(letter: str) -> str:
    """As Unicode's name of the letter begins; empty for a letter that passes for no other."""
    if not _LOOKALIKE.match(letter):
        return ""
    script = unicodedata.name(letter, "unknown").split()[0].capitalize()
    return {"Fullwidth": "Full width"}.get(script, script)


def _only_lookalikes(word: str) -> bool:
    letters = [character for character in word if character.isalpha()]
    return len(letters) > 1 and all(_LOOKALIKE.match(letter) for letter in letters)


@lru_cache(maxsize=500)
def _invisible(character: str) -> Segment:
    label = f"U+{ord(character):04X}"
    return Segment(
        character, "invisible", label, f"{label} {unicodedata.name(character, 'control character')}"
    )


def _segment(text: str, kind: str) -> Segment:
    if kind == "invisible":
        return _invisible(text)
    if kind == "lookalike":
        script = _script_of_lookalike(text[0])
        return Segment(text, kind, script, f"{script}, looks like Latin")
    return Segment(text, kind, "", "")
