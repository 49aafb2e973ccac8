"""Readings: three forms become the same rows, in file order (spec 2.4)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from itertools import islice
from typing import NotRequired, TypeAlias, TypedDict, cast

from ethos_review.engine.contracts import check_against_schema
from ethos_review.engine.documents import Document, Json, check_entries, check_entry_count

Time: TypeAlias = str | int | Decimal  # as the tool wrote it


@dataclass(frozen=True, slots=True)
class Reading:
    """One typed fact that a tool returned during the run."""

    entity: str
    field: str
    value: Json
    tool_name: str
    tool_call_id: str
    iteration: int
    measured_at: Time | None


class _RowJson(TypedDict):
    """One row, once the schema has accepted it: in either spelling of names, never in both."""

    entity: str
    field: str
    value: Json
    iteration: int | Decimal  # a tool may write 3.0
    tool_name: str
    tool_call_id: str
    measured_at: NotRequired[Time]
    toolName: NotRequired[str]
    toolCallId: NotRequired[str]
    measuredAt: NotRequired[Time]


class _RecordedJson(TypedDict):
    """One recorded tool result, once the schema has accepted it."""

    tool_name: str
    tool_call_id: str
    iteration: int | Decimal
    result: Json


class _PointJson(TypedDict):
    entity: str
    metric: str
    value: Json
    t: NotRequired[Time]


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
        rows = list(islice(_recorded_rows(cast("list[_RecordedJson]", value["tool_results"])), limit + 1))
        check_entry_count(document, len(rows), "/tool_results", "readings")
        return tuple(rows)
    entries = value["readings"] if isinstance(value, dict) else value
    return tuple([_row(entry) for entry in cast("list[_RowJson]", entries)])


def _row(entry: _RowJson) -> Reading:
    if "toolName" in entry:
        tool_name, tool_call_id = entry["toolName"], entry["toolCallId"]
        measured_at = entry.get("measuredAt")
    else:
        tool_name, tool_call_id = entry["tool_name"], entry["tool_call_id"]
        measured_at = entry.get("measured_at")
    return Reading(
        entry["entity"],
        entry["field"],
        entry["value"],
        tool_name,
        tool_call_id,
        int(entry["iteration"]),
        measured_at,
    )


def _recorded_rows(tool_results: list[_RecordedJson]) -> Iterator[Reading]:
    """One row per column of a fact other than `entity`, one per point of a series; the rest gives none."""
    for recorded in tool_results:
        result = recorded["result"]
        if not isinstance(result, dict) or result.get("af_semantics") is not True:
            continue
        source = (recorded["tool_name"], recorded["tool_call_id"], int(recorded["iteration"]))
        measured_at = cast("dict[str, Time]", result.get("provenance", {})).get("measured_at")
        for fact in cast("list[dict[str, Json]]", result.get("facts", ())):
            entity = cast(str, fact["entity"])
            for column, value in fact.items():
                if column != "entity":
                    yield Reading(entity, column, value, *source, measured_at)
        for point in cast("list[_PointJson]", result.get("series", ())):
            yield Reading(
                point["entity"], point["metric"], point["value"], *source, point.get("t", measured_at)
            )
