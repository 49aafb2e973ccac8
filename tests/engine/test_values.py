"""Comparing values (spec 3.3)."""

from __future__ import annotations

import hashlib
import json
from decimal import Context, Decimal
from itertools import product

import pytest
from hypothesis import assume, given, settings

from ethos_review.engine.values import (
    NOT_COMPARABLE,
    ValueMemo,
    classify,
    comparison_key,
    json_text,
    relation,
)
from tests.engine.strategies import (
    MALFORMED,
    NOT_APPLICABLE,
    UNKNOWN,
    fact_values,
    json_values,
    known,
    normalizations,
    texts,
)

D = Decimal
WIDE = Context(prec=500)


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        (D("42.5"), "42.50", "same"),
        ("42.5", " 42.50\t", "same"),
        (100, "1e2", "same"),
        ("100", D("1E+2"), "same"),
        ("-0", 0, "same"),
        (0, D("0E-9999"), "same"),
        (D("42.5"), 40, "different"),
        ("42.5", "40", "different"),
        (D("0.1000000000000000000000000000001"), D("0.1"), "different"),
        (10**30, 10**30 + 1, "different"),
        (D("1E+9999"), D("10E+9998"), "same"),
        (D("1E+9999"), D("1E-9999"), "different"),
        ("Settled ", "settled", "same"),
        ("set\u2003\n tled", "SET TLED", "same"),
        ("e\u0301tat", "ÉTAT", "same"),
        ("STRASSE", "straße", "same"),
        ("007", "007 ", "same"),
        ("007", "7", "incomparable"),
        ("007", 7, "incomparable"),
        ("settled", "open", "different"),
        ("1,000", 1000, "incomparable"),
        ("42%", 42, "incomparable"),
        ("+5", 5, "incomparable"),
        (".5", D("0.5"), "incomparable"),
        ("5.", 5, "incomparable"),
        ("٤٢", 42, "incomparable"),
        ("0x10", 16, "incomparable"),
        ("Infinity", "NaN", "different"),
        ("n/a", D("42.5"), "incomparable"),
        ("n/a", "42.5", "incomparable"),
        (True, True, "same"),
        (True, False, "different"),
        (True, 1, "incomparable"),
        (True, "true", "incomparable"),
        ([1, 2], [1, D("2.0")], "same"),
        ([1, 2], [2, 1], "incomparable"),
        ([True], [1], "incomparable"),
        ({"a": 1, "b": 2}, {"b": D("2.00"), "a": 1}, "same"),
        ({"a": 1}, {"a": 2}, "incomparable"),
        ({}, [], "incomparable"),
        (5, [5], "incomparable"),
        (5, None, "incomparable"),
        ("1e99999999999999999999", "1e99999999999999999999 ", "same"),
        ("1e99999999999999999999", "10e99999999999999999998", "incomparable"),
        ("1e99999999999999999999", 5, "incomparable"),
    ],
)
def test_auto_compares_by_the_kinds_of_the_two_values(a, b, expected):
    assert relation(a, b) == expected
    assert relation(b, a) == expected


@pytest.mark.parametrize(
    ("normalization", "a", "b", "expected"),
    [
        ("text", " A  b ", "a B", "same"),
        ("text", "1.0", "1.00", "different"),
        ("text", "a", "b", "different"),
        ("text", "1", 1, "incomparable"),
        ("text", 1, 1, "incomparable"),
        ("number", "1e2", 100, "same"),
        ("number", " 7 ", 8, "different"),
        ("number", "seven", 7, "incomparable"),
        ("number", "seven", "seven", "incomparable"),
        ("number", True, 1, "incomparable"),
        ("boolean", True, True, "same"),
        ("boolean", True, False, "different"),
        ("boolean", "true", True, "incomparable"),
        ("boolean", 1, 1, "incomparable"),
        ("exact", D("1.0"), 1, "same"),
        ("exact", "1.0", "1", "different"),
        ("exact", "1", 1, "different"),
        ("exact", True, 1, "different"),
        ("exact", "A", "a", "different"),
        ("exact", None, 0, "different"),
        ("exact", {"a": [1, {"b": 2}]}, {"a": [D("1E+0"), {"b": D("2.0")}]}, "same"),
        ("exact", [1, 2], [2, 1], "different"),
        ("set", [1, 2], [2, 1], "same"),
        ("set", [1, 2, 2], [D("2.0"), "1"], "same"),
        ("set", ["a", 1], [1, " A "], "same"),
        ("set", [[1], [2]], [[2], [1]], "same"),
        ("set", [1, 2], [1, 3], "different"),
        ("set", [], [1], "different"),
        ("set", [known(None), 1], [2], "different"),
        ("set", [known(None), 1], [known(None), 2], "different"),
        ("set", [], [], "same"),
        ("set", ["a"], [1], "incomparable"),
        ("set", [1, "a"], [1, "b"], "incomparable"),
        ("set", [[1]], [[2]], "incomparable"),
        ("set", [[1]], [[1], [2]], "incomparable"),
        ("set", 1, [1], "incomparable"),
        ("set", 1, 1, "incomparable"),
    ],
)
def test_each_normalization_compares_its_own_way(normalization, a, b, expected):
    assert relation(a, b, normalization) == expected
    assert relation(b, a, normalization) == expected


@given(fact_values, normalizations)
def test_two_declared_absences_are_the_same_and_an_absence_differs_from_a_value(value, normalization):
    assume(classify(value)[0] == "value")
    assert relation(known(None), known(None), normalization) == "same"
    assert relation(known(None), value, normalization) == "different"


@given(fact_values, fact_values, normalizations)
def test_relation_is_symmetric(a, b, normalization):
    assert relation(a, b, normalization) == relation(b, a, normalization)


@given(fact_values, fact_values, fact_values, normalizations)
@settings(max_examples=500)
def test_values_that_are_the_same_compare_alike_with_any_third(a, b, c, normalization):
    for one, other, third in ((a, b, c), (a, c, b), (b, c, a)):
        if relation(one, other, normalization) == "same":
            assert relation(one, third, normalization) == relation(other, third, normalization)


def test_same_is_transitive_over_every_triple_of_near_misses():
    pool = [
        *(None, True, False, 0, 1, "0", "1", "1.0", D("1.0"), D("-0"), "-0", "one", "ONE", "", " "),
        *(
            [],
            [1],
            ["1"],
            ["one"],
            [1, "one"],
            [None],
            [known(None)],
            [[1]],
            {},
            {"a": 1},
            known(None),
            known(1),
        ),
    ]
    for normalization in ("auto", "text", "number", "boolean", "exact", "set"):
        same = {
            (i, j)
            for (i, a), (j, b) in product(enumerate(pool), repeat=2)
            if relation(a, b, normalization) == "same"
        }
        assert {(j, i) for i, j in same} == same
        assert {(i, k) for (i, j), (j2, k) in product(same, repeat=2) if j == j2} == same


@given(fact_values, normalizations)
def test_a_value_is_the_same_as_itself_wherever_it_compares_with_any_value(value, normalization):
    itself = relation(value, value, normalization)
    assert itself == "same" or comparison_key(classify(value)[1], normalization) is NOT_COMPARABLE


@given(json_values)
def test_every_value_is_the_same_as_itself_under_auto_and_exact(value):
    assert relation(value, value, "auto") == "same"
    assert relation(value, value, "exact") == "same"


@given(json_values, json_values)
def test_exact_is_never_incomparable(a, b):
    assert relation(a, b, "exact") in ("same", "different")


@given(fact_values, normalizations)
def test_a_known_claim_compares_by_its_value(value, normalization):
    assume(value is not None)
    assert relation(known(value), value, normalization) == relation(value, value, normalization)


def test_an_unknown_normalization_is_refused():
    with pytest.raises(ValueError, match="unknown normalization"):
        relation(1, 1, "fuzzy")


@pytest.mark.parametrize("digits", [1, 2, 59, 60, 61, 62, 70, 200])
@pytest.mark.parametrize("exponent", [-200, -61, -60, -59, -1, 0, 1, 59, 60, 61, 200])
def test_a_number_is_the_same_however_it_is_spelled(digits, exponent):
    number = D(("12" * digits)[:digits]).scaleb(exponent, WIDE)
    plain, scientific = format(number, "f"), f"{number.normalize(WIDE):e}"
    larger = format(number.next_plus(WIDE), "f")
    for spelling in (number, scientific, D(scientific), f"{scientific.upper()} ", D(plain)):
        assert relation(plain, spelling) == "same"
        assert relation(larger, spelling) == "different"


def test_numbers_that_binary_floating_point_cannot_tell_apart_are_different():
    assert relation(D("0.30000000000000000001"), D("0.3")) == "different"
    assert relation(2**53, 2**53 + 1) == "different"


def test_a_set_of_many_colliding_numbers_compares_in_time():
    colliding = [number * (2**61 - 1) for number in range(50_000)]
    assert relation(colliding, colliding[::-1], "set") == "same"


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        (5, "value"),
        ("", "value"),
        ("unknown.", "value"),
        ({}, "value"),
        ({"kind": "invoice"}, "value"),
        ({"kind": 5}, "value"),
        ({"kind": ["known"]}, "value"),
        ([None], "value"),
        (known(5), "value"),
        (known(known(5)), "value"),
        (known(None), "absence"),
        (UNKNOWN, "unknown"),
        ({**UNKNOWN, "evidence": "e"}, "unknown"),
        (NOT_APPLICABLE, "unknown"),
        (known(UNKNOWN), "unknown"),
        (None, "doubt"),
        ("unknown", "doubt"),
        (" \tUnKnOwN\u00a0", "doubt"),
        (known("Unknown"), "doubt"),
        (MALFORMED, "malformed"),
        ({"kind": "known", "value": 5}, "malformed"),
        ({"kind": "known", "evidence": "e"}, "malformed"),
        ({**known(5), "extra": 1}, "malformed"),
        ({**known(5), "evidence": 5}, "malformed"),
        ({"kind": "unknown"}, "malformed"),
        ({"kind": "unknown", "reason": None}, "malformed"),
        ({**NOT_APPLICABLE, "reason": "r"}, "malformed"),
        (known(MALFORMED), "malformed"),
    ],
)
def test_every_value_has_one_kind(value, kind):
    assert classify(value)[0] == kind


@given(texts)
def test_json_text_of_a_string_reads_back(text):
    assert json.loads(json_text(text)) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (D("42.50"), "42.50"),
        (D("1E+2"), "1E+2"),
        (D("-0"), "-0"),
        (10**40, "1" + "0" * 40),
        ({"a": [D("1.0"), None, True, "é\n"]}, '{"a":[1.0,null,true,"é\\n"]}'),
        ({"é": ["é", 1]}, '{"é":["é",1]}'),
        ({"é": ["é", D("1.0")]}, '{"é":["é",1.0]}'),
    ],
)
def test_json_text_keeps_the_digits(value, text):
    assert json_text(value) == text


@given(json_values)
def test_json_text_reads_back_as_the_same_value(value):
    read = json.loads(json_text(value), parse_float=D)
    assert relation(read, value, "exact") == "same"


def test_a_memo_gives_what_the_functions_give():
    memo = ValueMemo()
    for value in ([1, 2], {"a": [D("1.0")]}, "long " * 100, 5, "short"):
        for _ in range(2):
            assert memo.key(value, "auto") == comparison_key(value, "auto")
            assert memo.text(value) == json_text(value)
            assert memo.text_sha256(value) == hashlib.sha256(json_text(value).encode()).hexdigest()
    assert memo.text_sha256([1]) != memo.text_sha256([D("1.0")])
