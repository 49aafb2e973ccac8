"""Where a cited text and the source's text differ, down to the letters inside a word."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import groupby

_TOKENS = re.compile(r"\s+|\w+|[^\w\s]")
_MOST_STEPS = 250_000  # tokens × tokens that one comparison may cost; beyond it the texts differ as one block
_ALIKE = 0.5  # below this likeness two words are different words, and letters they share say nothing


@dataclass(frozen=True, slots=True)
class Piece:
    """A run of one text. `kind` is `same`, `differs`, or `around`: source text beside the cited part."""

    text: str
    kind: str


@dataclass(frozen=True, slots=True)
class _Run:
    cited: str
    source: str
    kind: str


def mark_differences(cited: str, source: str) -> tuple[tuple[Piece, ...], tuple[Piece, ...]]:
    """Both texts as pieces; the pieces of each join to it again."""
    runs = [inner for run in _set_surroundings_apart(_compare(cited, source)) for inner in _look_inside(run)]
    return _join(Piece(run.cited, run.kind) for run in runs), _join(
        Piece(run.source, run.kind) for run in runs
    )


def _compare(cited: str, source: str) -> list[_Run]:
    within = re.search(rf"(?<!\w){re.escape(cited)}(?!\w)", source) if cited else None
    if within:
        before, after = source[: within.start()], source[within.end() :]
        return [_Run("", before, "differs"), _Run(cited, cited, "same"), _Run("", after, "differs")]
    ours, theirs = _TOKENS.findall(cited), _TOKENS.findall(source)
    if len(ours) * len(theirs) > _MOST_STEPS:
        return [_Run(cited, source, "differs")]
    return list(_match(ours, theirs))


def _match(ours: Sequence[str], theirs: Sequence[str]) -> Iterator[_Run]:
    for tag, a, b, c, d in SequenceMatcher(None, ours, theirs, autojunk=False).get_opcodes():
        yield _Run("".join(ours[a:b]), "".join(theirs[c:d]), "same" if tag == "equal" else "differs")


def _set_surroundings_apart(runs: Sequence[_Run]) -> Iterator[_Run]:
    """Source text that only precedes or follows the cited part is not a difference."""
    same = [place for place, run in enumerate(runs) if run.kind == "same"]
    for place, run in enumerate(runs):
        outside = bool(same) and not run.cited and not same[0] <= place <= same[-1]
        yield _Run("", run.source, "around") if outside else run


def _look_inside(run: _Run) -> Iterable[_Run]:
    if run.kind != "differs" or len(run.cited) * len(run.source) > _MOST_STEPS:
        return [run]
    alike = SequenceMatcher(None, run.cited, run.source, autojunk=False).ratio() >= _ALIKE
    return _match(run.cited, run.source) if alike else [run]


def _join(pieces: Iterable[Piece]) -> tuple[Piece, ...]:
    """Neighbours of one kind become one piece; empty ones go."""
    kept = (piece for piece in pieces if piece.text)
    return tuple(
        Piece("".join(piece.text for piece in run), kind) for kind, run in groupby(kept, key=lambda p: p.kind)
    )
