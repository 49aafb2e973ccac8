"""The verdict on a delivered value (spec 3.4, 3.9)."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ethos_review.engine.values import classify, relation
from ethos_review.engine.verdict import SILENT, VERDICTS, Fact, judge, judge_delivered_value
from tests.engine.strategies import (
    MALFORMED,
    NOT_APPLICABLE,
    UNKNOWN,
    delivered,
    fact_values,
    known,
    normalizations,
    reading,
)

D = Decimal


def verdict_on(value, *readings, normalization="auto", stated=True):
    rows = [(position, reading(read)) for position, read in enumerate(readings)]
    return judge_delivered_value(delivered(value, normalization, stated=stated), rows).verdict


CASES = [
    (D("42.5"), [], "uncollected"),
    (D("42.5"), ["42.50"], "agrees"),
    ("Settled ", ["settled"], "agrees"),
    (D("42.5"), [40], "contradicts"),
    (D("42.5"), [40, None], "contradicts"),
    (D("42.5"), [40, 41], "contradicts"),
    (D("42.5"), [40, D("42.5")], "contradicts-a-reading"),
    (D("42.5"), [40, "n/a"], "contradicts-a-reading"),
    (D("42.5"), ["n/a"], "incomparable"),
    (D("42.5"), [D("42.5"), {"kind": "known"}], "incomparable"),
    (D("42.5"), [D("42.5"), UNKNOWN], "settled-unknown"),
    (D("42.5"), [D("42.5"), None], "settled-doubt"),
    (D("42.5"), [" UNKNOWN "], "settled-doubt"),
    (D("42.5"), [known(None)], "contradicts"),
    (None, [known(None)], "agrees"),
    (None, [None], "doubt-on-both-sides"),
    ("Unknown", [UNKNOWN], "doubt-on-both-sides"),
    (UNKNOWN, [40], "declined"),
    (None, [40, D("40.0")], "declined"),
    (None, [40, 41], "disputed"),
    (None, [40, known(None)], "disputed"),
    (None, [40, None], "doubt-on-both-sides"),
    (True, [1], "incomparable"),
    ("1,000", [1000], "incomparable"),
    ("100", [D("1E+2")], "agrees"),
    ([1, 2], [[2, 1]], "incomparable"),
]


@pytest.mark.parametrize(("answer", "readings", "verdict"), CASES)
def test_the_published_cases_give_their_verdicts(answer, readings, verdict):
    assert verdict_on(answer, *readings) == verdict


@pytest.mark.parametrize("readings", [[], [40], [MALFORMED], [None, UNKNOWN]])
def test_a_value_that_is_not_stated_is_omitted_whatever_was_read(readings):
    assert verdict_on(None, *readings, stated=False) == "omitted"


def test_lists_agree_as_sets_when_the_claim_says_so():
    assert verdict_on([1, 2], [2, 1], normalization="set") == "agrees"


@pytest.mark.parametrize(
    ("answer", "readings", "verdict"),
    [
        (known(None), [known(None)], "agrees"),
        (known(None), [40], "declined"),
        (known(None), [None], "doubt-on-both-sides"),
        (known(D("42.5")), [known("42.50")], "agrees"),
        (known("unknown"), [40], "declined"),
        (NOT_APPLICABLE, [40], "declined"),
        (MALFORMED, [], "uncollected"),
        (MALFORMED, [40], "incomparable"),
        (MALFORMED, [known(None)], "incomparable"),
        (None, [40, "n/a"], "incomparable"),
        (None, [40, MALFORMED, None], "incomparable"),
        (None, ["n/a"], "declined"),
        (None, [[1], [1]], "declined"),
        (None, [[1], [2]], "incomparable"),
        (None, [known(None), None], "doubt-on-both-sides"),
        (5, [MALFORMED], "incomparable"),
        (5, [MALFORMED, 6], "contradicts"),
        (5, [MALFORMED, UNKNOWN, None], "incomparable"),
        (5, [UNKNOWN, None, 5], "settled-unknown"),
        (5, [known(None), 5], "contradicts-a-reading"),
        (5, [known(None), "n/a"], "contradicts-a-reading"),
        ("five", [known(None)], "contradicts"),
    ],
)
def test_the_first_rule_that_fits_decides(answer, readings, verdict):
    assert verdict_on(answer, *readings) == verdict


@pytest.mark.parametrize(
    ("normalization", "answer", "readings", "verdict"),
    [
        ("number", "five", [known(None)], "contradicts"),
        ("number", "five", [5], "incomparable"),
        ("number", None, ["five"], "declined"),
        ("number", None, ["five", "five"], "incomparable"),
        ("number", None, ["five", 5], "incomparable"),
        ("number", None, ["five", known(None)], "disputed"),
        ("set", [], [[1]], "contradicts"),
        ("set", [1], [[], [1]], "contradicts-a-reading"),
        ("set", [], [[1], ["a"]], "contradicts"),
        ("set", [1, "a"], [["a", 1]], "agrees"),
        ("set", [1, "a"], [["b", 1]], "incomparable"),
        ("set", [1, "a"], [[], ["b", 1]], "contradicts-a-reading"),
        ("set", None, [[1, "a"], ["a", 1]], "declined"),
        ("set", None, [[1, "a"], [1, "b"]], "incomparable"),
        ("set", None, [[], [known(None)]], "disputed"),
        ("set", None, [[], [1]], "disputed"),
        ("set", None, [[], 1], "incomparable"),
    ],
)
def test_normalizations_decide_what_can_be_compared(normalization, answer, readings, verdict):
    assert verdict_on(answer, *readings, normalization=normalization) == verdict


def verdict_by_pairs(value, readings, normalization):
    """The rules of spec 3.4 word by word, comparing every pair: slow, and plain to read."""
    if not readings:
        return "uncollected"
    kind, bare = classify(value)
    kinds = [classify(read)[0] for read in readings]
    settled = [read for read, its in zip(readings, kinds, strict=True) if its in ("value", "absence")]
    if kind == "malformed":
        return "incomparable"
    if kind == "value":
        relations = [relation(bare, read, normalization) for read in settled]
        if "different" in relations:
            return "contradicts" if set(relations) == {"different"} else "contradicts-a-reading"
        if "malformed" in kinds or "incomparable" in relations:
            return "incomparable"
        if "unknown" in kinds:
            return "settled-unknown"
        return "settled-doubt" if "doubt" in kinds else "agrees"
    pairs = {relation(settled[i], settled[j], normalization) for i in range(len(settled)) for j in range(i)}
    if "malformed" in kinds or "incomparable" in pairs:
        return "incomparable"
    if "unknown" in kinds or "doubt" in kinds:
        return "doubt-on-both-sides"
    if "different" in pairs:
        return "disputed"
    return "agrees" if set(kinds) == {"absence"} else "declined"


@given(fact_values, st.lists(fact_values, max_size=5), normalizations)
@settings(max_examples=1000)
def test_gathering_readings_by_key_gives_what_comparing_every_pair_gives(value, readings, normalization):
    expected = verdict_by_pairs(value, readings, normalization)
    assert verdict_on(value, *readings, normalization=normalization) == expected


@given(fact_values, st.lists(fact_values, max_size=5), normalizations, st.randoms(use_true_random=False))
def test_the_order_of_readings_never_matters(value, readings, normalization, random):
    shuffled = random.sample(readings, len(readings))
    assert verdict_on(value, *readings, normalization=normalization) == verdict_on(
        value, *shuffled, normalization=normalization
    )


def test_two_verdicts_accuse_five_withhold_and_four_are_silent():
    judged = {
        verdict: judge_delivered_value(
            delivered(answer), [(position, reading(read)) for position, read in enumerate(readings)]
        )
        for answer, readings, verdict in CASES
    }
    assert {verdict for verdict, value in judged.items() if value.accuses} == {
        "contradicts",
        "contradicts-a-reading",
    }
    assert {verdict for verdict, value in judged.items() if not value.withholds} == {
        "uncollected",
        "agrees",
        "declined",
    }
    assert {*judged, "omitted"} == set(VERDICTS)
    assert "omitted" in SILENT


def test_compared_readings_say_how_each_row_compared():
    rows = [(2, reading(40)), (5, reading(None)), (9, reading("42.50")), (11, reading(known(None)))]
    judged = judge_delivered_value(delivered(D("42.5")), rows)
    assert [(row.position, row.kind, row.relation) for row in judged.readings] == [
        (2, "value", "different"),
        (5, "doubt", None),
        (9, "value", "same"),
        (11, "absence", "different"),
    ]


def test_nothing_is_compared_with_an_answer_that_states_no_value():
    for value in (None, UNKNOWN, MALFORMED, known(None)):
        judged = judge_delivered_value(delivered(value), [(0, reading(40)), (1, reading(known(None)))])
        assert [row.relation for row in judged.readings] == [None, None]


def test_the_first_reading_that_differs_is_the_contradiction_to_name():
    rows = [(number, reading(value)) for number, value in enumerate([40, "n/a", 41, 42])]
    first = judge_delivered_value(delivered(40), rows).first_contradiction
    assert first is not None
    assert (first.position, first.relation) == (2, "different")
    assert judge_delivered_value(delivered(40), rows[:2]).first_contradiction is None


def test_facts_are_equal_when_their_rows_are():
    fact = Fact([(0, reading(40))])
    assert fact == Fact([(0, reading(40))])
    assert fact not in (Fact([(1, reading(40))]), Fact([(0, reading(41))]), Fact([]), 40)


def test_ten_thousand_values_against_ten_thousand_readings_of_one_fact_are_judged_in_time():
    fact = Fact([(position, reading(position)) for position in range(10_000)])
    verdicts = {judge(delivered(value), fact).verdict for value in range(10_000)}
    assert verdicts == {"contradicts-a-reading"}


def test_the_digest_of_a_fact_changes_with_any_of_its_rows():
    rows = [(0, reading(40)), (1, reading(D("40.0")))]
    digests = {
        Fact(rows).sha256,
        Fact(rows[:1]).sha256,
        Fact([(0, reading(40)), (1, reading(40))]).sha256,
        Fact([(0, reading(40)), (2, reading(D("40.0")))]).sha256,
        Fact([(0, reading(40, call="c2")), (1, reading(D("40.0")))]).sha256,
    }
    assert len(digests) == 5
    assert Fact(rows).sha256 == Fact([*rows]).sha256
