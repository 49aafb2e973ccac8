"""Three forms of readings become the same rows, in file order (spec 2.4)."""

from decimal import Decimal

import pytest
from hypothesis import given

from ethos_review.engine.documents import Limits, read_document
from ethos_review.engine.errors import DocumentError
from ethos_review.engine.readings import Reading, read_readings
from ethos_review.engine.strict_json import DEFAULT_LIMITS
from tests.engine.mutations import (
    encoded,
    example_paths,
    problems_of,
    resolves,
    spoiled_bytes,
    spoiled_values,
)

ROW = {
    "entity": "pump-7",
    "field": "pressure_bar",
    "value": Decimal("4.20"),
    "tool_name": "gauge_log",
    "tool_call_id": "call-1",
    "iteration": 2,
    "measured_at": "2026-03-14",
}
CAMEL = {"tool_name": "toolName", "tool_call_id": "toolCallId", "measured_at": "measuredAt"}
CAMEL_ROW = {CAMEL.get(name, name): value for name, value in ROW.items()}
READING = Reading("pump-7", "pressure_bar", Decimal("4.20"), "gauge_log", "call-1", 2, "2026-03-14")
CALL = {"tool_name": "gauge_log", "tool_call_id": "call-1", "iteration": 2}


def read(value, limits=DEFAULT_LIMITS):
    return read_readings(read_document("readings", "readings.json", encoded(value), limits))


def wrapped(*rows):
    return {"schema_version": "1.0.0", "readings": list(rows)}


def recorded(*results):
    return {"tool_results": [{**CALL, "result": result} for result in results]}


def refusals_of(value, limits=DEFAULT_LIMITS):
    with pytest.raises(DocumentError) as refusal:
        read(value, limits)
    return [(problem.pointer, problem.code) for problem in refusal.value.problems]


@pytest.mark.parametrize(
    "value",
    [wrapped(ROW), [ROW], [CAMEL_ROW], wrapped(CAMEL_ROW)],
    ids=["wrapped", "array", "camel", "camel wrapped"],
)
def test_every_form_of_rows_gives_the_same_readings(value):
    assert read(value) == (READING,)


@pytest.mark.parametrize("value", [wrapped(), [], {"tool_results": []}])
def test_no_rows_are_no_readings(value):
    assert read(value) == ()


def test_rows_stay_in_file_order_and_may_mix_spellings():
    rows = [{**ROW, "field": "a"}, {**CAMEL_ROW, "field": "b"}, {**ROW, "field": "a"}]
    assert [reading.field for reading in read(rows)] == ["a", "b", "a"]


def test_a_row_without_a_time_has_none():
    row = {name: value for name, value in CAMEL_ROW.items() if name != "measuredAt"}
    assert read([row])[0].measured_at is None


@pytest.mark.parametrize("measured_at", [1773480600, Decimal("1773480600.25"), "yesterday", ""])
def test_a_time_is_kept_as_written(measured_at):
    assert read([{**ROW, "measured_at": measured_at}])[0].measured_at == measured_at


@pytest.mark.parametrize("iteration", [Decimal("3.0"), Decimal("3E+0"), 3])
def test_an_iteration_is_a_whole_number_however_it_is_written(iteration):
    assert type(read([{**ROW, "iteration": iteration}])[0].iteration) is int
    assert read([{**ROW, "iteration": iteration}])[0].iteration == 3


@pytest.mark.parametrize(
    "value",
    [
        *(None, True, "unknown", [], {}, [{"a": None}]),
        {"kind": "known", "value": None, "evidence": "ledger"},
        {"kind": "known"},
        {"kind": "unknown", "reason": "no row", "more": 1},
        {"kind": "not-applicable"},
    ],
)
def test_any_value_is_kept_also_a_malformed_claim_object(value):
    assert read([{**ROW, "value": value}])[0].value == value


def test_facts_give_one_row_per_column_and_series_one_per_point():
    result = {
        "af_semantics": True,
        "facts": [
            {"serviced_on": "2026-03-14", "entity": "pump-7", "pressure_bar": Decimal("4.2")},
            {"entity": "pump-8", "pressure_bar": None},
        ],
        "series": [
            {"t": 5, "entity": "pump-7", "metric": "pressure_bar", "value": 4, "unit": "bar"},
            {"entity": "pump-7", "metric": "flow", "value": 9},
        ],
        "provenance": {"measured_at": "2026-03-15", "source": "historian"},
        "edges": [{"entity": "pump-7", "to": "pump-8"}],
        "clarify": {"question": "Which pump?"},
        "coverage": {"entity": "pump-9"},
        "render": {},
        "grain": {},
    }
    source = ("gauge_log", "call-1", 2)
    assert read(recorded(result)) == (
        Reading("pump-7", "serviced_on", "2026-03-14", *source, "2026-03-15"),
        Reading("pump-7", "pressure_bar", Decimal("4.2"), *source, "2026-03-15"),
        Reading("pump-8", "pressure_bar", None, *source, "2026-03-15"),
        Reading("pump-7", "pressure_bar", 4, *source, 5),
        Reading("pump-7", "flow", 9, *source, "2026-03-15"),
    )


@pytest.mark.parametrize(
    "result",
    [
        *(None, "text", 5, [], {}, [{"af_semantics": True, "facts": [{"entity": "a", "b": 1}]}]),
        {"facts": [{"entity": "a", "b": 1}]},
        {"af_semantics": False, "facts": [{"entity": "a", "b": 1}]},
        {"af_semantics": "true", "facts": 5},
        {"af_semantics": 1, "facts": [{"b": 1}]},
    ],
)
def test_a_result_without_the_marker_gives_no_rows(result):
    assert read(recorded(result)) == ()


@pytest.mark.parametrize(
    "result", [{"af_semantics": True}, {"af_semantics": True, "facts": [{"entity": "a"}]}]
)
def test_a_marked_result_without_facts_gives_no_rows(result):
    assert read(recorded(result)) == ()


@pytest.mark.parametrize(
    ("value", "pointer", "code"),
    [
        ("rows", "", "wrong_type"),
        ({}, "", "missing_member"),
        ({"readings": []}, "", "missing_member"),
        ({**wrapped(), "schema_version": "2.0.0"}, "/schema_version", "not_allowed_value"),
        ({**wrapped(), "reading": []}, "/reading", "unknown_member"),
        ({**wrapped(), "tool_results": []}, "/readings", "unknown_member"),
        (wrapped(5), "/readings/0", "wrong_type"),
        ([{**ROW, "entity": 7}], "/0/entity", "wrong_type"),
        ([{name: value for name, value in ROW.items() if name != "value"}], "/0", "missing_member"),
        ([{**ROW, "iteration": -1}], "/0/iteration", "out_of_range"),
        ([{**ROW, "iteration": 2**53}], "/0/iteration", "out_of_range"),
        ([{**ROW, "iteration": Decimal("0.5")}], "/0/iteration", "wrong_type"),
        ([{**ROW, "iteration": True}], "/0/iteration", "wrong_type"),
        ([{**ROW, "measured_at": None}], "/0/measured_at", "wrong_type"),
        ([{**ROW, "toolName": "x"}], "/0/tool_name", "unknown_member"),
        ([ROW, {**ROW, "unit": "bar"}], "/1/unit", "unknown_member"),
        ({"tool_results": [{**CALL}]}, "/tool_results/0", "missing_member"),
        ({"tool_results": [{**CALL, "result": 1, "id": 1}]}, "/tool_results/0/id", "unknown_member"),
        (recorded({"af_semantics": True, "facts": {}}), "/tool_results/0/result/facts", "wrong_type"),
        (
            recorded({"af_semantics": True, "facts": [{"a": 1}]}),
            "/tool_results/0/result/facts/0",
            "missing_member",
        ),
        (
            recorded({"af_semantics": True, "facts": [{"entity": None}]}),
            *("/tool_results/0/result/facts/0/entity", "wrong_type"),
        ),
        (
            recorded({"af_semantics": True, "series": [{"entity": "a", "value": 1}]}),
            *("/tool_results/0/result/series/0", "missing_member"),
        ),
        (
            recorded({"af_semantics": True, "provenance": {"measured_at": []}}),
            *("/tool_results/0/result/provenance/measured_at", "wrong_type"),
        ),
    ],
)
def test_a_bad_document_is_refused_with_pointer_and_code(value, pointer, code):
    assert (pointer, code) in refusals_of(value)


@pytest.mark.parametrize(
    ("value", "pointer"),
    [
        ([ROW] * 3, ""),
        (wrapped(*[ROW] * 3), "/readings"),
        (
            recorded({"af_semantics": True, "facts": [{"entity": "a", "b": 1, "c": 2, "d": 3}]}),
            "/tool_results",
        ),
        (recorded(*[{"af_semantics": True, "facts": [{"entity": "a", "b": 1}]}] * 3), "/tool_results"),
    ],
)
def test_too_many_readings_are_refused_naming_the_setting(value, pointer):
    assert refusals_of(value, Limits(entries=2)) == [(pointer, "too_many_entries")]
    with pytest.raises(DocumentError, match="`limits\\.entries`"):
        read(value, Limits(entries=2))
    assert len(read(value, Limits(entries=3))) == 3


@pytest.mark.parametrize("path", example_paths("readings", "valid"), ids=lambda path: path.stem)
def test_the_examples_are_read(path):
    read_readings(read_document("readings", path.name, path.read_bytes()))


@given(spoiled_values("readings"))
def test_a_spoiled_document_is_read_or_refused_with_places_that_are_there(value):
    for problem in problems_of(lambda: read(value)):
        assert resolves(value, problem.pointer)


@given(spoiled_bytes(("readings",)))
def test_spoiled_bytes_are_read_or_refused(content):
    problems_of(lambda: read_readings(read_document("readings", "readings.json", content)))
