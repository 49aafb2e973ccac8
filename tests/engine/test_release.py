"""Reviewer decisions and the release (spec 3.6)."""

from __future__ import annotations

import pytest

from ethos_review.engine.assessment import decide
from ethos_review.engine.policy import DEFAULT_POLICY, Policy
from ethos_review.engine.release import (
    ReviewerDecision,
    allowed_outcomes,
    make_release,
    rationale_required,
    seals_by_policy,
    undecided_claim_ids,
)
from tests.engine.strategies import answer, check, claim, delivered, reading, report, submission

REPORT = report(check("v0001"), check("v0002"), check("v0003", "not_found"))
FACT = claim("fact", "v0001")
BACKING = claim("backing", "v0002", question_relevance="supports_answer")
SYNTHESIS = claim("synthesis", "v0001", "v0002", claim_type="synthesis")
UNSETTLED = claim("unsettled", "v0001", delivers=(delivered("n/a"),))
CONTRADICTED = claim("contradicted", "v0001", delivers=(delivered(41),))
STATED = claim("stated", citation_grounded=True)
BACKGROUND = claim("background", "v0001", question_relevance="background_only")
UNGROUNDED = claim("ungrounded", "v0003")
READINGS = (reading(42),)


def assess(*claims, a_report=REPORT, policy=DEFAULT_POLICY):
    return decide(submission(a_report, answer(*claims), READINGS), policy)


def decisions(**outcomes):
    return {
        claim_id: ReviewerDecision(claim_id, outcome, "7", "Rosa", "Looked.", "2026-01-01T00:00:00Z", "", 0)
        for claim_id, outcome in outcomes.items()
    }


def release(*claims, a_report=REPORT, policy=DEFAULT_POLICY, **outcomes):
    return make_release(assess(*claims, a_report=a_report, policy=policy), decisions(**outcomes))


@pytest.mark.parametrize(
    ("a_claim", "outcomes", "approve_needs_a_rationale"),
    [
        (FACT, ("block",), False),
        (SYNTHESIS, ("approve", "block"), False),
        (UNSETTLED, ("approve", "block"), True),
        (STATED, ("approve", "block"), True),
        (CONTRADICTED, (), False),
        (UNGROUNDED, (), False),
    ],
)
def test_people_may_always_withhold_and_never_release_more_than_the_engine_allows(
    a_claim, outcomes, approve_needs_a_rationale
):
    assessed = assess(a_claim).claims[0]
    assert allowed_outcomes(assessed) == outcomes
    assert rationale_required(assessed, "block")
    assert rationale_required(assessed, "approve") == approve_needs_a_rationale


def test_a_blocked_claim_takes_no_decision_and_stays_out_whatever_is_recorded():
    made = release(CONTRADICTED, UNGROUNDED, contradicted="approve", ungrounded="approve")
    assert made.released_claim_ids == ()
    assert made.answer_status == "none"


def test_a_stray_approval_of_a_final_claim_withholds_it():
    assert release(FACT, fact="approve").released_claim_ids == ()


def test_certified_facts_come_first_then_reviewed_synthesis_each_in_claim_order():
    made = release(SYNTHESIS, STATED, FACT, BACKING, UNGROUNDED, synthesis="approve", stated="approve")
    assert made.released_claim_ids == ("fact", "backing", "synthesis", "stated")
    assert made.reviewed_synthesis_claim_ids == ("synthesis", "stated")
    assert made.withheld_claim_ids == ("ungrounded",)


def test_an_undecided_claim_is_withheld():
    assessed = assess(FACT, SYNTHESIS, UNSETTLED)
    assert undecided_claim_ids(assessed, {}) == ("synthesis", "unsettled")
    assert undecided_claim_ids(assessed, decisions(synthesis="block")) == ("unsettled",)
    assert make_release(assessed, {}).withheld_claim_ids == ("synthesis", "unsettled")


def test_a_person_can_hold_back_a_final_claim():
    made = release(FACT, BACKING, fact="block")
    assert made.released_claim_ids == ("backing",)
    assert made.disclosures == ("partial_answer", "withheld_by_reviewer", "proof:non_grounded_checks")


def test_a_policy_without_reviewed_synthesis_keeps_an_approved_claim_out():
    made = release(FACT, SYNTHESIS, policy=Policy(reviewed_synthesis=False), synthesis="approve")
    assert made.released_claim_ids == ("fact",)
    assert made.reviewed_synthesis_claim_ids == ()
    assert made.withheld_claim_ids == ("synthesis",)


@pytest.mark.parametrize(
    ("claims", "outcomes", "status"),
    [
        ([], {}, "none"),
        ([FACT], {}, "complete"),
        ([FACT, SYNTHESIS], {"synthesis": "approve"}, "complete"),
        ([FACT, SYNTHESIS], {"synthesis": "block"}, "partial"),
        ([FACT, UNGROUNDED], {}, "partial"),
        ([UNGROUNDED], {}, "none"),
        ([FACT], {"fact": "block"}, "none"),
    ],
)
def test_the_answer_is_complete_partial_or_none(claims, outcomes, status):
    assert release(*claims, **outcomes).answer_status == status


@pytest.mark.parametrize(
    ("claims", "outcomes", "relevance"),
    [
        ([FACT], {}, "direct"),
        ([BACKING], {}, "partial"),
        ([BACKING, FACT], {"fact": "block"}, "partial"),
        ([BACKGROUND, FACT], {"fact": "block"}, "off-topic"),
        ([BACKGROUND], {}, "off-topic"),
        ([BACKGROUND, BACKING], {}, "partial"),
        ([UNGROUNDED], {}, "none"),
        ([], {}, "none"),
    ],
)
def test_relevance_is_that_of_what_is_released(claims, outcomes, relevance):
    assert release(*claims, **outcomes).relevance == relevance


GROUNDED_REPORT = report(check("v0001"), check("v0002"))


@pytest.mark.parametrize(
    ("claims", "outcomes", "disclosures"),
    [
        ([FACT], {}, ()),
        ([FACT, BACKGROUND], {}, ("partial_answer",)),
        ([FACT, SYNTHESIS], {"synthesis": "approve"}, ("reviewed_synthesis",)),
        ([FACT, SYNTHESIS], {"synthesis": "block"}, ("partial_answer", "withheld_by_reviewer")),
        ([FACT, CONTRADICTED], {}, ("partial_answer", "withheld_by_readings")),
        ([CONTRADICTED], {}, ("withheld_by_readings",)),
        ([FACT, UNSETTLED], {"unsettled": "approve"}, ("reviewed_synthesis", "withheld_by_readings")),
        ([BACKGROUND], {}, ()),
        ([], {}, ("no_support_in_sources",)),
        ([claim("a", citation_grounded=False)], {}, ("no_support_in_sources",)),
        (
            [FACT, SYNTHESIS, UNSETTLED, CONTRADICTED],
            {"synthesis": "approve", "unsettled": "block"},
            ("partial_answer", "reviewed_synthesis", "withheld_by_readings", "withheld_by_reviewer"),
        ),
    ],
)
def test_disclosures_say_what_was_withheld_and_why_in_a_fixed_order(claims, outcomes, disclosures):
    assert release(*claims, a_report=GROUNDED_REPORT, **outcomes).disclosures == disclosures


def test_a_reading_that_lowered_nothing_is_not_disclosed():
    irrelevant_and_contradicted = claim(
        "a", "v0001", question_relevance="unrelated", delivers=(delivered(41),)
    )
    synthesis_and_unsettled = claim("b", "v0001", claim_type="synthesis", delivers=(delivered("n/a"),))
    made = release(irrelevant_and_contradicted, synthesis_and_unsettled, a_report=GROUNDED_REPORT)
    assert "withheld_by_readings" not in made.disclosures


def test_what_a_person_or_a_reading_did_not_lower_is_not_disclosed_as_theirs():
    assert release(UNGROUNDED, ungrounded="block").disclosures == (
        "no_support_in_sources",
        "proof:non_grounded_checks",
    )
    assert release(STATED, a_report=GROUNDED_REPORT).disclosures == ()


def test_every_proof_limitation_is_disclosed_after_the_rest():
    limited = report(
        check("v0001"),
        check("v0002", "not_found"),
        check("v0003", semantic_unverified=True),
        capability_limits=("missing_spans",),
        unsupported_claim_kinds=("region",),
    )
    assert release(FACT, UNGROUNDED, a_report=limited).disclosures == (
        "partial_answer",
        "proof:capability_limited",
        "proof:unsupported_claim_kind",
        "proof:non_grounded_checks",
        "proof:semantic_unverified",
    )


def test_a_policy_seals_by_itself_only_what_needs_no_review():
    sealing = Policy(auto_seal="nothing_to_review")
    assert seals_by_policy(assess(FACT, UNGROUNDED, policy=sealing))
    assert not seals_by_policy(assess(FACT, SYNTHESIS, policy=sealing))
    assert not seals_by_policy(assess(FACT))
