"""Reviewer decisions join the assessment: what may be shown (spec 3.6)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from ethos_review.engine.assessment import Assessment, ClaimAssessment
from ethos_review.engine.caps import ACTIONS, READING_CAPS, lowest_action

_OUTCOMES: Final[Mapping[str, tuple[str, ...]]] = {
    "show_final": ("block",),
    "needs_review": ("approve", "block"),
    "block": (),
}
_CAPS_THAT_ASK_FOR_A_RATIONALE: Final = frozenset({"unsettled_by_readings", "no_check_behind_grounding"})


@dataclass(frozen=True, slots=True)
class ReviewerDecision:
    claim_id: str
    outcome: str  # approve | block
    reviewer_id: str
    reviewer_name: str
    rationale: str
    decided_at: str  # RFC 3339 UTC
    shown_sha256: str
    supersedes: int  # how many earlier decisions on the claim it supersedes


@dataclass(frozen=True, slots=True)
class Release:
    answer_status: str  # complete | partial | none
    released_claim_ids: tuple[str, ...]  # certified facts first, then reviewed synthesis, each in claim order
    reviewed_synthesis_claim_ids: tuple[str, ...]
    withheld_claim_ids: tuple[str, ...]
    relevance: str  # direct | partial | off-topic | none
    disclosures: tuple[str, ...]


def allowed_outcomes(claim: ClaimAssessment) -> tuple[str, ...]:
    """What a person may do: approve or block at needs_review, block at show_final, nothing when blocked."""
    return _OUTCOMES[claim.action]


def rationale_required(claim: ClaimAssessment, outcome: str) -> bool:
    """Blocking always needs a rationale; approving does under a cap that a person overrules (spec 3.6)."""
    return outcome != "approve" or not _CAPS_THAT_ASK_FOR_A_RATIONALE.isdisjoint(claim.caps)


def undecided_claim_ids(assessment: Assessment, decisions: Mapping[str, ReviewerDecision]) -> tuple[str, ...]:
    """Claims at needs_review without a decision. `decisions` maps claim id to the current decision."""
    return tuple(
        assessed.claim.id
        for assessed in assessment.claims
        if assessed.action == "needs_review" and assessed.claim.id not in decisions
    )


def seals_by_policy(assessment: Assessment) -> bool:
    """Whether the policy itself may seal, because nothing needs review (spec 3.6, `auto_seal`)."""
    return assessment.policy.auto_seal == "nothing_to_review" and not undecided_claim_ids(assessment, {})


def make_release(assessment: Assessment, decisions: Mapping[str, ReviewerDecision]) -> Release:
    """The release as it would be if sealed now; an undecided claim is withheld (spec 3.6)."""
    certified: list[str] = []
    reviewed: list[str] = []
    withheld: list[str] = []
    relevances: set[str] = set()
    blocked_by_reviewer = False
    for assessed in assessment.claims:
        decision = decisions.get(assessed.claim.id)
        outcome = None if decision is None else decision.outcome
        if outcome == "block" and assessed.action != "block":
            blocked_by_reviewer = True
        if assessed.action == "show_final" and outcome is None:
            certified.append(assessed.claim.id)
        elif (
            assessed.action == "needs_review"
            and outcome == "approve"
            and assessment.policy.reviewed_synthesis
        ):
            reviewed.append(assessed.claim.id)
        else:
            withheld.append(assessed.claim.id)
            continue
        relevances.add(assessed.claim.question_relevance)
    answer_status = _answer_status(len(certified) + len(reviewed), len(withheld))
    disclosures = [
        code
        for code, holds in (
            ("partial_answer", answer_status == "partial"),
            ("reviewed_synthesis", bool(reviewed)),
            ("withheld_by_readings", any(map(_lowered_by_a_reading, assessment.claims))),
            ("withheld_by_reviewer", blocked_by_reviewer),
            (
                "no_support_in_sources",
                answer_status == "none"
                and not any(assessed.contract.citation_grounded for assessed in assessment.claims),
            ),
        )
        if holds
    ]
    disclosures += [f"proof:{limitation}" for limitation in assessment.proof.proof_limitations]
    return Release(
        answer_status=answer_status,
        released_claim_ids=(*certified, *reviewed),
        reviewed_synthesis_claim_ids=tuple(reviewed),
        withheld_claim_ids=tuple(withheld),
        relevance=_relevance(assessment, relevances),
        disclosures=tuple(disclosures),
    )


def _answer_status(released: int, withheld: int) -> str:
    if not released:
        return "none"
    return "partial" if withheld else "complete"


def _relevance(assessment: Assessment, released: set[str]) -> str:
    if "direct_answer" in released:
        return "direct"
    if released:
        return "partial"
    if any(assessed.contract.release_reason == "grounded_but_irrelevant" for assessed in assessment.claims):
        return "off-topic"
    return "none"


def _lowered_by_a_reading(claim: ClaimAssessment) -> bool:
    contract_action = claim.contract.release_action
    lowered = lowest_action(contract_action, [cap for cap in claim.caps if cap in READING_CAPS])
    return ACTIONS.index(lowered) > ACTIONS.index(contract_action)
