"""Why a document cannot be used, as values that know their place."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice
from typing import TypedDict

MAX_PROBLEMS = 50  # spec 2.1: up to 50 problems are listed at once
# A pointer repeats the names it leads through: fifty of them could be ten times as long as the document.
_MOST_POINTER_CHARACTERS = 64 * 1024
_QUOTED_LENGTH = 80
# Controls, line ends, zero-width and direction marks, surrogates.
_INVISIBLE = re.compile("[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ud800-\udfff\ufeff]")


class ProblemJson(TypedDict):
    document: str
    pointer: str
    code: str
    message: str


class InvalidRequest(TypedDict):
    status: str
    errors: list[ProblemJson]


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong with one document.

    `document` is the document's role (`claims`, `readings`, …), `pointer` an RFC 6901 JSON Pointer into it
    (empty for the whole document), `message` a sentence with the next step.
    """

    document: str
    pointer: str
    code: str
    message: str

    def to_json(self) -> ProblemJson:
        return {
            "document": self.document,
            "pointer": self.pointer,
            "code": self.code,
            "message": self.message,
        }


class DocumentError(Exception):
    """A document is refused; `problems` holds at least one reason and no more than `listed` lets through."""

    def __init__(self, problems: list[Problem]) -> None:
        if not problems:
            raise ValueError("a refusal needs a reason")
        self.problems = tuple(listed(problems))
        super().__init__("; ".join(f"{p.document}{p.pointer}: {p.message}" for p in self.problems[:3]))

    def to_json(self) -> InvalidRequest:
        """The `invalid_request` document (spec 2.8)."""
        return {"status": "invalid_request", "errors": [p.to_json() for p in self.problems]}

    def moved(self, document: str, pointer: str) -> DocumentError:
        """The same problems, for a document that is the part at `pointer` of a bundle (spec 2.5)."""
        return DocumentError(
            [Problem(document, pointer + p.pointer, p.code, p.message) for p in self.problems]
        )


def listed(problems: Iterable[Problem]) -> list[Problem]:
    """The first of `problems`: at most `MAX_PROBLEMS`, and after the first no more than pointers of sane length."""
    found: list[Problem] = []
    characters = 0
    for problem in islice(problems, MAX_PROBLEMS):
        characters += len(problem.pointer)
        if found and characters > _MOST_POINTER_CHARACTERS:
            break
        found.append(problem)
    return found


def join_pointer(pointer: str, *tokens: str | int) -> str:
    """RFC 6901: `pointer` extended by member names and array positions."""
    return pointer + "".join("/" + _escape_token(token) for token in tokens)


def _escape_token(token: str | int) -> str:
    # A refused name may hold half a surrogate pair or U+0000, which no response or log could carry.
    sayable = str(token).encode("utf-8", "backslashreplace").decode("utf-8").replace("\0", "\\u0000")
    return sayable.replace("~", "~0").replace("/", "~1")


def quoted(text: str) -> str:
    """`text` in typographic quotes: on one line, in one direction, and short, whatever a hostile value holds."""
    beginning = text[: _QUOTED_LENGTH + 1]
    shown = _INVISIBLE.sub(lambda found: f"\\u{ord(found.group()):04x}", beginning)
    return f"“{shown if len(shown) <= _QUOTED_LENGTH else shown[:_QUOTED_LENGTH] + '…'}”"
