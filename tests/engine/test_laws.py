"""The laws of the engine as properties (spec 1, 3.4)."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from ethos_review.engine.assessment import decide
from ethos_review.engine.caps import ACTIONS, LOWERS_TO
from ethos_review.engine.errors import DocumentError
from ethos_review.engine.policy import Policy
from ethos_review.engine.release import ReviewerDecision, make_release
from ethos_review.engine.verdict import ACCUSING, SILENT, judge_delivered_value
from tests.engine.strategies import (
    contract_versions,
    delivered,
    fact_values,
    normalizations,
    reading,
    readings,
    submissions,
)


def decided(a_submission, policy=None):
    """None when the documents are refused."""
    try:
        return decide(a_submission, policy or Policy())
    except DocumentError:
        return None


@given(
    fact_values,
    normalizations,
    st.booleans(),
    st.lists(fact_values, max_size=4),
    fact_values,
    st.integers(0, 4),
)
@settings(max_examples=1000)
def test_one_more_reading_never_silences_a_verdict_and_never_takes_back_a_contradiction(
    value, normalization, stated, before, another, place
):
    after = [*before[:place], another, *before[place:]]
    claimed = delivered(value, normalization, stated=stated)
    old, new = (
        judge_delivered_value(
            claimed, [(position, reading(read)) for position, read in enumerate(read_values)]
        ).verdict
        for read_values in (before, after)
    )
    assert old in SILENT or new not in SILENT
    assert old not in ACCUSING or new in ACCUSING


@given(submissions(), readings, st.integers(0, 4), contract_versions)
@settings(max_examples=200)
def test_one_more_reading_never_makes_a_claims_action_or_the_release_more_permissive(
    a_submission, another, place, contract_version
):
    policy = Policy(contract_version=contract_version)
    rows = a_submission.readings
    old = decided(a_submission, policy)
    new = decided(replace(a_submission, readings=(*rows[:place], another, *rows[place:])), policy)
    assert (old is None) == (new is None)
    if old is None or new is None:
        return
    for one, other in zip(old.claims, new.claims, strict=True):
        assert ACTIONS.index(other.action) >= ACTIONS.index(one.action)
        assert set(other.caps) & {"contradicted_by_reading"} >= set(one.caps) & {"contradicted_by_reading"}
    assert set(make_release(new, {}).released_claim_ids) <= set(make_release(old, {}).released_claim_ids)


@given(submissions(), contract_versions)
@settings(max_examples=150)
def test_a_claims_action_is_never_more_permissive_than_the_contracts_or_than_any_of_its_caps(
    a_submission, contract_version
):
    assessment = decided(a_submission, Policy(contract_version=contract_version))
    if assessment is None:
        return
    for assessed in assessment.claims:
        action = ACTIONS.index(assessed.action)
        bounds = [assessed.contract.release_action, *(LOWERS_TO[cap] for cap in assessed.caps)]
        assert action == max(map(ACTIONS.index, bounds))


@given(submissions())
@settings(max_examples=150)
def test_nothing_is_released_by_default(a_submission):
    assessment = decided(a_submission)
    if assessment is None:
        return
    released = make_release(assessment, {}).released_claim_ids
    for claim_id in released:
        claim = assessment.claim(claim_id)
        assert claim.contract.release_reason == "certified"
        assert claim.checks
        assert all(check.status == "grounded" and not check.semantic_unverified for check in claim.checks)
        assert not a_submission.report.fingerprint_stale
        assert not any(judged.withholds for judged in claim.judged)


@given(submissions(), st.randoms(use_true_random=False))
@settings(max_examples=150)
def test_the_order_of_claims_and_readings_never_matters_to_a_claims_outcome(a_submission, random):
    claims = a_submission.answer.claims
    shuffled = replace(
        a_submission,
        answer=replace(a_submission.answer, claims=tuple(random.sample(claims, len(claims)))),
        readings=tuple(random.sample(a_submission.readings, len(a_submission.readings))),
    )
    one, other = decided(a_submission), decided(shuffled)
    assert (one is None) == (other is None)
    if one is None or other is None:
        return
    for assessed in one.claims:
        again = other.claim(assessed.claim.id)
        assert (again.contract, again.caps, again.action) == (
            assessed.contract,
            assessed.caps,
            assessed.action,
        )
        assert [judged.verdict for judged in again.judged] == [judged.verdict for judged in assessed.judged]


@given(
    submissions(), st.dictionaries(st.integers(0, 4), st.sampled_from(["approve", "block"])), st.booleans()
)
@settings(max_examples=150)
def test_people_release_only_what_needs_review_and_may_always_withhold(
    a_submission, outcomes, reviewed_synthesis
):
    assessment = decided(a_submission, Policy(reviewed_synthesis=reviewed_synthesis))
    if assessment is None:
        return
    decisions = {
        f"claim-{number}": ReviewerDecision(f"claim-{number}", outcome, "r", "R", "because", "", "", 0)
        for number, outcome in outcomes.items()
    }
    release = make_release(assessment, decisions)
    for claim_id in release.released_claim_ids:
        assert assessment.claim(claim_id).action != "block"
        assert claim_id not in decisions or decisions[claim_id].outcome == "approve"
    for claim_id in release.reviewed_synthesis_claim_ids:
        assert reviewed_synthesis
        assert assessment.claim(claim_id).action == "needs_review"
        assert decisions[claim_id].outcome == "approve"
    ids = [assessed.claim.id for assessed in assessment.claims]
    assert sorted([*release.released_claim_ids, *release.withheld_claim_ids]) == sorted(ids)
    assert (release.answer_status == "complete") == (bool(ids) and not release.withheld_claim_ids)
    assert (release.answer_status == "none") == (not release.released_claim_ids)


@given(submissions())
@settings(max_examples=100)
def test_deciding_twice_gives_the_same(a_submission):
    assert decided(a_submission) == decided(a_submission)
