"""Readings: three forms become the same rows, in file order (spec 2.4)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from itertools import islice
from typing import Final, TypeAlias, cast

from ethos_review.engine.contracts import check_against_schema
from ethos_review.engine.documents import Document, Json, check_entries, check_entry_count
from ethos_review.engine.frozen import quick_constructor

_Object: TypeAlias = "dict[str, Json]"
_SNAKE_CASE: Final = ("tool_name", "tool_call_id", "measured_at")
_CAMEL_CASE: Final = ("toolName", "toolCallId", "measuredAt")


@dataclass(frozen=True, slots=True)
class Reading:
    """One typed fact that a tool returned during the run."""

    entity: str
    field: str
    value: Json
    tool_name: str
    tool_call_id: str
    iteration: int
    measured_at: str | int | Decimal | None


_make_reading: Final = quick_constructor(Reading)


def read_readings(document: Document) -> tuple[Reading, ...]:
    """The rows in `document`, whichever form it has (spec 2.4).

    Raises DocumentError. A malformed Claim object as a value is kept: it withholds later (spec 3.4).
    """
    value = document.value
    if isinstance(value, list):
        check_entries(document, value, "", "readings")
    elif isinstance(value, dict):
        check_entries(document, value.get("readings"), "/readings", "readings")
    check_against_schema(document.role, value, "readings")
    if isinstance(value, dict) and "tool_results" in value:
        limit = document.limits.entries
        rows = list(islice(_recorded_rows(cast("list[_Object]", value["tool_results"])), limit + 1))
        check_entry_count(document, len(rows), "/tool_results", "readings")
        return tuple(rows)
    entries = value if isinstance(value, list) else cast(_Object, value)["readings"]
    return tuple([_row(entry) for entry in cast("list[_Object]", entries)])


def _row(entry: _Object) -> Reading:
    names = _CAMEL_CASE if "toolName" in entry else _SNAKE_CASE
    tool_name, tool_call_id, measured_at = names
    return _make_reading(
        entry["entity"],
        entry["field"],
        entry["value"],
        entry[tool_name],
        entry[tool_call_id],
        _whole(entry["iteration"]),
        entry.get(measured_at),
    )


def _recorded_rows(tool_results: list[_Object]) -> Iterator[Reading]:
    """One row per column of a fact other than `entity`, one per point of a series; the rest gives none."""
    for recorded in tool_results:
        result = recorded["result"]
        if not isinstance(result, dict) or result.get("af_semantics") is not True:
            continue
        source = (recorded["tool_name"], recorded["tool_call_id"], _whole(recorded["iteration"]))
        measured_at = cast(_Object, result.get("provenance", {})).get("measured_at")
        for fact in cast("list[_Object]", result.get("facts", ())):
            for column, value in fact.items():
                if column != "entity":
                    yield _make_reading(fact["entity"], column, value, *source, measured_at)
        for point in cast("list[_Object]", result.get("series", ())):
            yield _make_reading(
                point["entity"], point["metric"], point["value"], *source, point.get("t", measured_at)
            )


def _whole(number: Json) -> int:
    return number if type(number) is int else int(cast(Decimal, number))  # a tool may write 3.0
