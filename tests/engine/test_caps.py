"""Caps lower a claim's action, never raise it (spec 3.5)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ethos_review.engine.caps import ACTIONS, LOWERS_TO, find_caps, lowest_action
from ethos_review.engine.decision import ContractClaim
from ethos_review.engine.verdict import VERDICTS, Fact, JudgedValue
from tests.engine.strategies import claim, delivered


def contract_claim(*check_ids, grounded=True):
    return ContractClaim(claim("a", *check_ids), {"citation_grounded": grounded})


def judged(*verdicts):
    return [JudgedValue(delivered(5), verdict, Fact([])) for verdict in verdicts]


@pytest.mark.parametrize(
    ("verdict", "caps"),
    [
        ("contradicts", ("contradicted_by_reading",)),
        ("contradicts-a-reading", ("contradicted_by_reading",)),
        ("incomparable", ("unsettled_by_readings",)),
        ("disputed", ("unsettled_by_readings",)),
        ("settled-unknown", ("unsettled_by_readings",)),
        ("settled-doubt", ("unsettled_by_readings",)),
        ("doubt-on-both-sides", ("unsettled_by_readings",)),
        ("omitted", ()),
        ("uncollected", ()),
        ("agrees", ()),
        ("declined", ()),
    ],
)
def test_each_verdict_gives_its_cap(verdict, caps):
    assert find_caps(contract_claim("v0001"), judged(verdict)) == caps


def test_every_cap_that_applies_is_recorded_in_order():
    stated = contract_claim()
    assert find_caps(stated, judged("agrees", "disputed", "contradicts", "disputed")) == tuple(LOWERS_TO)


def test_caps_are_recorded_also_when_the_action_was_already_as_low():
    assert find_caps(contract_claim("v0003", grounded=False), judged("contradicts")) == (
        "contradicted_by_reading",
    )


@pytest.mark.parametrize(
    ("contract", "caps"),
    [
        (contract_claim(), ("no_check_behind_grounding",)),
        (contract_claim("v0001"), ()),
        (contract_claim(grounded=False), ("no_check_behind_grounding",)),
    ],
)
def test_grounding_that_is_only_stated_is_capped(contract, caps):
    assert find_caps(contract, []) == caps


@pytest.mark.parametrize(
    ("action", "caps", "lowest"),
    [
        ("show_final", (), "show_final"),
        ("show_final", ("no_check_behind_grounding",), "needs_review"),
        ("show_final", ("unsettled_by_readings",), "needs_review"),
        ("show_final", ("contradicted_by_reading",), "block"),
        ("show_final", ("contradicted_by_reading", "unsettled_by_readings"), "block"),
        ("needs_review", (), "needs_review"),
        ("needs_review", ("unsettled_by_readings",), "needs_review"),
        ("needs_review", ("contradicted_by_reading",), "block"),
        ("block", ("unsettled_by_readings", "no_check_behind_grounding"), "block"),
    ],
)
def test_the_lowest_of_action_and_caps_holds(action, caps, lowest):
    assert lowest_action(action, caps) == lowest


@given(st.sampled_from(ACTIONS), st.lists(st.sampled_from(list(LOWERS_TO))), st.sampled_from(list(LOWERS_TO)))
def test_a_cap_never_raises(action, caps, another):
    assert ACTIONS.index(lowest_action(action, caps)) >= ACTIONS.index(action)
    assert ACTIONS.index(lowest_action(action, [*caps, another])) >= ACTIONS.index(
        lowest_action(action, caps)
    )


def test_every_verdict_that_withholds_caps_and_no_other_does():
    for verdict in VERDICTS:
        (value,) = judged(verdict)
        assert bool(find_caps(contract_claim("v0001"), [value])) == value.withholds
