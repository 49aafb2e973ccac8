"""The verdict on a delivered value, over every reading of the same fact (spec 3.4)."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from ethos_review.engine.claims import DeliveredValue
from ethos_review.engine.documents import Json
from ethos_review.engine.readings import Reading
from ethos_review.engine.values import (
    ABSENCE,
    ABSENT,
    DIFFERENT,
    DOUBT,
    INCOMPARABLE,
    MALFORMED,
    NOT_COMPARABLE,
    SAME,
    UNKNOWN,
    VALUE,
    Key,
    ValueMemo,
    classify,
    json_text,
    relation_of_keys,
)

VERDICTS: Final = (
    "contradicts",
    "contradicts-a-reading",
    "incomparable",
    "disputed",
    "settled-unknown",
    "settled-doubt",
    "doubt-on-both-sides",
    "declined",
    "agrees",
    "uncollected",
    "omitted",
)
"""Every verdict, the gravest first: two that accuse, five that withhold, four that are silent."""

ACCUSING: Final = frozenset(VERDICTS[:2])
SILENT: Final = frozenset(VERDICTS[7:])


@dataclass(frozen=True, slots=True)
class ComparedReading:
    reading: Reading
    position: int  # 0-based row in file order
    kind: str  # value | absence | unknown | doubt | malformed
    relation: str | None  # same | different | incomparable; None where nothing is compared


class _Gathered:
    """The readings of one fact under one normalization: kinds, and the settled ones by key.

    Whatever their number, how they stand to a further value is read off without looking at each of them.
    """

    __slots__ = ("absent", "canons", "doubt", "families", "malformed", "strays", "unknown")

    def __init__(self) -> None:
        self.malformed = False
        self.unknown = False
        self.doubt = False
        self.absent = False  # there is a declared absence
        self.strays = 0  # how many settled readings cannot be compared under this normalization at all
        self.canons: dict[str, Key] = {}  # the distinct keys of all other settled readings
        self.families: dict[str, int] = {}  # families of a key -> how many distinct keys have them

    def add(self, reading: Reading, normalization: str, memo: ValueMemo) -> None:
        kind, value = classify(reading.value)
        if kind == VALUE:
            self._add_key(memo.key(value, normalization))
        elif kind == ABSENCE:
            self.absent = True
        elif kind == UNKNOWN:
            self.unknown = True
        elif kind == DOUBT:
            self.doubt = True
        else:
            self.malformed = True

    def _add_key(self, key: Key) -> None:
        if key is NOT_COMPARABLE:
            self.strays += 1
        elif key.canon not in self.canons:
            self.canons[key.canon] = key
            self.families[key.families] = self.families.get(key.families, 0) + 1

    def relations_to(self, key: Key) -> tuple[bool, bool, bool]:
        """Whether any settled reading is the same as, different from, incomparable with the value of `key`."""
        if key is NOT_COMPARABLE:
            return False, self.absent, self.strays > 0 or bool(self.canons)
        same = key.canon in self.canons
        others = len(self.canons) - same
        kin = self.families.get(key.families, 0) - same  # other keys of the same families
        bare = self.families.get("", 0)  # keys that are incomparable with nothing
        if not key.families:
            different = others
        elif key.is_mixed:
            different = bare
        else:
            different = bare + kin
        return same, self.absent or different > 0, self.strays > 0 or others > different

    @property
    def has_incomparable_pair(self) -> bool:
        named = [families for families in self.families if families]
        return (
            self.strays + bool(self.canons) > 1
            or len(named) > 1
            or sum(key.is_mixed for key in self.canons.values()) > 1
        )

    @property
    def are_all_the_same(self) -> bool:
        return self.absent + (self.strays > 0) + len(self.canons) <= 1


class Fact:
    """All readings of one (entity, field), gathered once per normalization however many claims deliver it."""

    __slots__ = ("_gathered", "_memo", "_sha256", "_text_size", "rows")

    def __init__(self, rows: list[tuple[int, Reading]], memo: ValueMemo | None = None) -> None:
        self.rows = rows  # (position, reading) in file order
        self._memo = memo or ValueMemo()
        self._gathered: dict[str, _Gathered] | None = None
        self._sha256: str | None = None
        self._text_size: int | None = None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Fact) and self.rows == other.rows

    __hash__ = None  # type: ignore[assignment]

    def value_key(self, value: Json, normalization: str) -> Key:
        return self._memo.key(value, normalization)

    def value_text(self, value: Json) -> str:
        """The JSON text of a delivered value or a reading."""
        return self._memo.text(value)

    def value_sha256(self, value: Json) -> str:
        """SHA-256 (hex) of the JSON text of a delivered value or a reading."""
        return self._memo.text_sha256(value)

    @property
    def sha256(self) -> str:
        """SHA-256 (hex) over all its rows in file order, each as JSON text."""
        if self._sha256 is None:
            digest = hashlib.sha256()
            for position, reading in self.rows:
                row: list[Json] = [
                    position,
                    reading.tool_name,
                    reading.tool_call_id,
                    reading.iteration,
                    reading.measured_at,
                    self.value_sha256(reading.value),
                ]
                digest.update(json_text(row).encode() + b"\n")
            self._sha256 = digest.hexdigest()
        return self._sha256

    @property
    def text_size(self) -> int:
        """Characters of the JSON texts of all its values."""
        if self._text_size is None:
            self._text_size = sum(len(self.value_text(reading.value)) for _, reading in self.rows)
        return self._text_size

    def gathered(self, normalization: str) -> _Gathered:
        if self._gathered is None:
            self._gathered = {}
        gathered = self._gathered.get(normalization)
        if gathered is None:
            gathered = self._gathered[normalization] = _Gathered()
            for _, reading in self.rows:
                gathered.add(reading, normalization, self._memo)
        return gathered

    def compare(self, key: Key | None, normalization: str) -> Iterator[ComparedReading]:
        """Every reading beside the answer's value; `key` is None for an answer that states no value."""
        for position, reading in self.rows:
            kind, value = classify(reading.value)
            relation = None
            if key is not None and kind == ABSENCE:
                relation = relation_of_keys(key, ABSENT)
            elif key is not None and kind == VALUE:
                relation = relation_of_keys(key, self._memo.key(value, normalization))
            yield ComparedReading(reading, position, kind, relation)


@dataclass(frozen=True, slots=True)
class JudgedValue:
    delivered: DeliveredValue
    verdict: str
    fact: Fact

    @property
    def withholds(self) -> bool:
        return self.verdict not in SILENT

    @property
    def accuses(self) -> bool:
        return self.verdict in ACCUSING

    @property
    def readings(self) -> tuple[ComparedReading, ...]:
        """Every reading of the fact and how it compared. Made when asked for: judging needs no list."""
        return tuple(self._compared())

    @property
    def first_contradiction(self) -> ComparedReading | None:
        """The first reading that is different from the delivered value."""
        return next((compared for compared in self._compared() if compared.relation == DIFFERENT), None)

    @property
    def delivered_text(self) -> str | None:
        """The delivered value as JSON text; None when it is not stated."""
        return self.fact.value_text(self.delivered.value) if self.delivered.stated else None

    def _compared(self) -> Iterator[ComparedReading]:
        kind, value = _classify_answer(self.delivered)
        key = self.fact.value_key(value, self.delivered.normalization) if kind == VALUE else None
        return self.fact.compare(key, self.delivered.normalization)


def judge_delivered_value(delivered: DeliveredValue, readings: Sequence[tuple[int, Reading]]) -> JudgedValue:
    """`readings` are (position, reading) of exactly this (entity, field), in file order (spec 3.4)."""
    return judge(delivered, Fact(list(readings)))


def judge(delivered: DeliveredValue, fact: Fact) -> JudgedValue:
    """The verdict over all readings of the fact (spec 3.4, rules 1 to 5 in order)."""
    return JudgedValue(delivered, _verdict(delivered, fact), fact)


def _classify_answer(delivered: DeliveredValue) -> tuple[str | None, Json]:
    """None for a value that is not stated. `known(null)` is only doubt when the answer says it."""
    if not delivered.stated:
        return None, None
    kind, value = classify(delivered.value)
    return (DOUBT if kind in (ABSENCE, UNKNOWN) else kind), value


def _verdict(delivered: DeliveredValue, fact: Fact) -> str:
    kind, value = _classify_answer(delivered)
    if kind is None:
        return "omitted"  # 1
    if not fact.rows:
        return "uncollected"  # 2
    if kind == MALFORMED:
        return "incomparable"  # 3
    if len(fact.rows) == 1:
        return _verdict_on_one_reading(kind, value, delivered.normalization, fact)
    read = fact.gathered(delivered.normalization)
    if kind == VALUE:
        same, different, incomparable = read.relations_to(fact.value_key(value, delivered.normalization))
        if different:
            return "contradicts-a-reading" if same or incomparable else "contradicts"  # 4a
        if read.malformed or incomparable:
            return "incomparable"  # 4b
        if read.unknown:
            return "settled-unknown"  # 4c
        if read.doubt:
            return "settled-doubt"  # 4d
        return "agrees"  # 4e
    if read.malformed or read.has_incomparable_pair:
        return "incomparable"  # 5a
    if read.unknown or read.doubt:
        return "doubt-on-both-sides"  # 5b
    if not read.are_all_the_same:
        return "disputed"  # 5c
    if read.absent:  # then each of them, as they are all the same
        return "agrees"  # 5d
    return "declined"  # 5e


def _verdict_on_one_reading(kind: str, value: Json, normalization: str, fact: Fact) -> str:
    """What rules 4 and 5 come to for a single reading, which is by far the most common case."""
    ((_, reading),) = fact.rows
    read_kind, read_value = classify(reading.value)
    if kind != VALUE:
        return _DOUBT_AND_ONE_READING[read_kind]
    if read_kind != VALUE:
        return _VALUE_AND_ONE_READING[read_kind]
    key, read_key = fact.value_key(value, normalization), fact.value_key(read_value, normalization)
    return _VERDICT_OF_RELATION[relation_of_keys(key, read_key)]


_DOUBT_AND_ONE_READING: Final = {
    VALUE: "declined",
    ABSENCE: "agrees",
    UNKNOWN: "doubt-on-both-sides",
    DOUBT: "doubt-on-both-sides",
    MALFORMED: "incomparable",
}
_VALUE_AND_ONE_READING: Final = {
    ABSENCE: "contradicts",
    UNKNOWN: "settled-unknown",
    DOUBT: "settled-doubt",
    MALFORMED: "incomparable",
}
_VERDICT_OF_RELATION: Final = {SAME: "agrees", DIFFERENT: "contradicts", INCOMPARABLE: "incomparable"}
