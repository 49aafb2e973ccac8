"""The verdict on a delivered value, over every reading of the same fact (spec 3.4)."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from ethos_review.engine.claims import DeliveredValue
from ethos_review.engine.documents import Json
from ethos_review.engine.readings import Reading
from ethos_review.engine.values import (
    ABSENCE,
    ABSENT,
    DOUBT,
    MALFORMED,
    NOT_COMPARABLE,
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


_NO_CANONS: Final[frozenset[str]] = frozenset()
_NO_FAMILIES: Final[frozenset[str]] = frozenset()


class _Settled:
    """The settled readings of one fact under one normalization, gathered by key.

    Whatever their number, how they stand to a further value is read off without looking at each of them.
    """

    __slots__ = ("absent", "groups", "strays")

    def __init__(self) -> None:
        self.absent = False  # there is a declared absence
        self.strays = 0  # how many cannot be compared under this normalization at all
        self.groups: dict[frozenset[str], set[str]] = {}  # families of a key -> its distinct canons

    def add(self, key: Key) -> None:
        if key is ABSENT:
            self.absent = True
        elif key is NOT_COMPARABLE:
            self.strays += 1
        elif key.families in self.groups:
            self.groups[key.families].add(key.canon)
        else:
            self.groups[key.families] = {key.canon}

    def relations_to(self, key: Key) -> tuple[bool, bool, bool]:
        """Whether any of them is the same as, different from, incomparable with the value behind `key`."""
        if key is NOT_COMPARABLE:
            return False, self.absent, self.strays > 0 or bool(self.groups)
        own = self.groups.get(key.families, _NO_CANONS)
        same = key.canon in own
        others_of_own_kind = len(own) > same
        groups_beside = len(self.groups) - (key.families in self.groups)
        if not key.families:
            return same, self.absent or others_of_own_kind or groups_beside > 0, self.strays > 0
        empty = _NO_FAMILIES in self.groups
        foreign = self.strays > 0 or groups_beside > empty
        if len(key.families) == 1:
            return same, self.absent or empty or others_of_own_kind, foreign
        return same, self.absent or empty, foreign or others_of_own_kind

    @property
    def has_incomparable_pair(self) -> bool:
        named = [families for families in self.groups if families]
        return (
            self.strays + bool(self.groups) > 1
            or len(named) > 1
            or any(len(families) > 1 and len(self.groups[families]) > 1 for families in named)
        )

    @property
    def are_all_the_same(self) -> bool:
        return self.absent + (self.strays > 0) + sum(map(len, self.groups.values())) <= 1

    @property
    def are_all_absences(self) -> bool:
        return self.absent and not self.strays and not self.groups


class Fact:
    """All readings of one (entity, field): each is classified once, and gathered once per normalization."""

    __slots__ = ("_classified", "_memo", "_settled", "_sha256", "kinds", "rows")

    def __init__(self, rows: Sequence[tuple[int, Reading]], memo: ValueMemo | None = None) -> None:
        self.rows = tuple(rows)
        self._classified = [classify(reading.value) for _, reading in self.rows]
        self.kinds = {kind for kind, _ in self._classified}
        self._memo = memo or ValueMemo()
        self._settled: dict[str, _Settled] = {}
        self._sha256: str | None = None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Fact) and self.rows == other.rows

    __hash__ = None  # type: ignore[assignment]

    def value_key(self, value: Json, normalization: str) -> Key:
        return self._memo.key(value, normalization)

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

    def settled(self, normalization: str) -> _Settled:
        settled = self._settled.get(normalization)
        if settled is None:
            settled = self._settled[normalization] = _Settled()
            for kind, value in self._classified:
                if kind in (VALUE, ABSENCE):
                    settled.add(self._reading_key(kind, value, normalization))
        return settled

    def compare(self, key: Key | None, normalization: str) -> tuple[ComparedReading, ...]:
        """Every reading beside the answer's value; `key` is None for an answer that states no value."""
        return tuple(
            ComparedReading(
                reading,
                position,
                kind,
                relation_of_keys(key, self._reading_key(kind, value, normalization))
                if key is not None and kind in (VALUE, ABSENCE)
                else None,
            )
            for (position, reading), (kind, value) in zip(self.rows, self._classified, strict=True)
        )

    def _reading_key(self, kind: str, value: Json, normalization: str) -> Key:
        return ABSENT if kind == ABSENCE else self._memo.key(value, normalization)


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
        kind, value = _classify_answer(self.delivered)
        key = self.fact.value_key(value, self.delivered.normalization) if kind == VALUE else None
        return self.fact.compare(key, self.delivered.normalization)


def judge_delivered_value(delivered: DeliveredValue, readings: Sequence[tuple[int, Reading]]) -> JudgedValue:
    """`readings` are (position, reading) of exactly this (entity, field), in file order (spec 3.4)."""
    return judge(delivered, Fact(readings))


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
    settled = fact.settled(delivered.normalization)
    if kind == VALUE:
        same, different, incomparable = settled.relations_to(fact.value_key(value, delivered.normalization))
        if different:
            return "contradicts-a-reading" if same or incomparable else "contradicts"  # 4a
        if MALFORMED in fact.kinds or incomparable:
            return "incomparable"  # 4b
        if UNKNOWN in fact.kinds:
            return "settled-unknown"  # 4c
        if DOUBT in fact.kinds:
            return "settled-doubt"  # 4d
        return "agrees"  # 4e
    if MALFORMED in fact.kinds or settled.has_incomparable_pair:
        return "incomparable"  # 5a
    if UNKNOWN in fact.kinds or DOUBT in fact.kinds:
        return "doubt-on-both-sides"  # 5b
    if not settled.are_all_the_same:
        return "disputed"  # 5c
    if settled.are_all_absences:
        return "agrees"  # 5d
    return "declined"  # 5e
