"""The contract decision, versions 1.0.0 and 1.1.0 (spec 3.2)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from ethos_review.engine.claims import AnswerClaims, Claim
from ethos_review.engine.documents import Json
from ethos_review.engine.errors import MAX_PROBLEMS, DocumentError, Problem, quoted
from ethos_review.engine.report import ProofSummary, Report

ARTIFACT_TYPE: Final = "ethos.app_answer_release_decision.v1"
CONTRACT_VERSIONS: Final = ("1.0.0", "1.1.0")
RELEVANT: Final = ("direct_answer", "supports_answer")


@dataclass(frozen=True, slots=True)
class ContractClaim:
    id: str
    text: str
    check_ids: tuple[str, ...]
    citation_grounded: bool
    question_relevance: str
    claim_type: str | None  # None for a legacy `unsupported` type under 1.1.0
    claim_support: str | None  # 1.1.0 only
    release_action: str  # show_final | needs_review | block
    release_reason: str

    def to_json(self) -> dict[str, Json]:
        claim: dict[str, Json] = {
            "id": self.id,
            "text": self.text,
            "citation_grounded": self.citation_grounded,
            "question_relevance": self.question_relevance,
        }
        if self.claim_type is not None:
            claim["claim_type"] = self.claim_type
        if self.claim_support is not None:
            claim["claim_support"] = self.claim_support
        claim["release_action"] = self.release_action
        claim["release_reason"] = self.release_reason
        if self.check_ids:
            claim["check_ids"] = list(self.check_ids)
        return claim


@dataclass(frozen=True, slots=True)
class ContractDecision:
    schema_version: str  # 1.0.0 | 1.1.0
    question: str
    verification_report_ref: str
    proof: ProofSummary
    app_status: str
    claims: tuple[ContractClaim, ...]
    notes: tuple[str, ...] | None

    def to_json(self) -> dict[str, Json]:
        """The `ethos.app_answer_release_decision.v1` envelope (spec 2.6)."""
        decision: dict[str, Json] = {
            "artifact_type": ARTIFACT_TYPE,
            "schema_version": self.schema_version,
            "question": self.question,
            "grounding": {
                "verification_report_ref": self.verification_report_ref,
                "proof_status": self.proof.proof_status,
                "request_certified": self.proof.request_certified,
                "reusable_grounded_check_ids": list(self.proof.reusable_grounded_check_ids),
                "needs_review_check_ids": list(self.proof.needs_review_check_ids),
                "proof_limitations": list(self.proof.proof_limitations),
            },
            "app_status": self.app_status,
            "claims": [claim.to_json() for claim in self.claims],
            "final_answer_claim_ids": self._ids_at("show_final"),
            "review_claim_ids": self._ids_at("needs_review"),
            "blocked_claim_ids": self._ids_at("block"),
        }
        if self.notes is not None:
            decision["notes"] = list(self.notes)
        return decision

    def _ids_at(self, action: str) -> list[Json]:
        return [claim.id for claim in self.claims if claim.release_action == action]


def decide_contract(
    report: Report, proof: ProofSummary, answer: AnswerClaims, contract_version: str = "auto"
) -> ContractDecision:
    """The contract's decision on every claim (spec 3.2).

    Raises DocumentError (role `claims`) for unknown check ids, grounding that is stated otherwise than
    computed, and label combinations the contract refuses.
    """
    if contract_version == "auto":
        labelled = any(claim.claim_support is not None for claim in answer.claims)
        contract_version = "1.1.0" if labelled else "1.0.0"
    elif contract_version not in CONTRACT_VERSIONS:
        raise ValueError(f"unknown contract version {contract_version!r}")
    decide_claim = _decide_1_0_0 if contract_version == "1.0.0" else _decide_1_1_0
    reusable = frozenset(proof.reusable_grounded_check_ids)
    known = reusable.union(proof.needs_review_check_ids)
    problems: list[Problem] = []
    claims: list[ContractClaim] = []
    for position, claim in enumerate(answer.claims):
        found = _grounding_problems(position, claim, reusable, known)
        if not found:
            grounded = (
                reusable.issuperset(claim.check_ids) if claim.check_ids else bool(claim.citation_grounded)
            )
            decided = decide_claim(position, claim, grounded)
            if isinstance(decided, ContractClaim):
                claims.append(decided)
                continue
            found = [decided]
        problems.extend(found)
        if len(problems) >= MAX_PROBLEMS:
            break
    if problems:
        raise DocumentError(problems)
    return ContractDecision(
        schema_version=contract_version,
        question=answer.question,
        verification_report_ref=answer.verification_report_ref or report.name,
        proof=proof,
        app_status=_app_status(claims),
        claims=tuple(claims),
        notes=answer.notes,
    )


def _grounding_problems(
    position: int, claim: Claim, reusable: frozenset[str], known: frozenset[str]
) -> list[Problem]:
    if not claim.check_ids:
        if claim.citation_grounded is not None:
            return []
        return [
            _problem(
                f"/{position}",
                "grounding_not_stated",
                f"Claim {quoted(claim.id)} cites no check and does not state its grounding. "
                "Add `check_ids`, or `citation_grounded`.",
            )
        ]
    if not known.issuperset(claim.check_ids):
        return [
            _problem(
                f"/{position}/check_ids/{index}",
                "unknown_check_id",
                f"Claim {quoted(claim.id)} cites check {quoted(check_id)}, which the report does not have. "
                "Cite a check of this report, or send the report that has it.",
            )
            for index, check_id in enumerate(claim.check_ids)
            if check_id not in known
        ]
    computed = reusable.issuperset(claim.check_ids)
    if claim.citation_grounded is None or claim.citation_grounded == computed:
        return []
    return [
        _problem(
            f"/{position}/citation_grounded",
            "grounding_conflict",
            f"Claim {quoted(claim.id)} states `citation_grounded` {_lower(not computed)}, but its checks "
            f"make it {_lower(computed)}. Leave the member out, or state what the report shows.",
        )
    ]


def _decide_1_0_0(position: int, claim: Claim, grounded: bool) -> ContractClaim | Problem:
    if claim.claim_support is not None:
        return _problem(
            f"/{position}/claim_support",
            "contract_version_conflict",
            f"Claim {quoted(claim.id)} carries `claim_support`, which contract 1.0.0 does not know, and the "
            "policy pins that version. Leave the label out, or pin `1.1.0` or nothing (`auto`).",
        )
    if claim.claim_type == "unsupported" and grounded:
        other = "what it cites" if claim.check_ids else "its `citation_grounded`"
        return _problem(
            f"/{position}/claim_type",
            "unsupported_claim_grounded",
            f"Claim {quoted(claim.id)} is of type `unsupported` but grounded, which contract 1.0.0 refuses. "
            f"Correct its type, or {other}.",
        )
    if not grounded:
        outcome = ("block", "cannot_answer_from_sources")
    elif claim.question_relevance not in RELEVANT:
        outcome = ("block", "grounded_but_irrelevant")
    elif claim.claim_type == "source_fact":
        outcome = ("show_final", "certified")
    else:
        outcome = ("needs_review", "supported_synthesis_needs_review")
    return _contract_claim(claim, grounded, claim.claim_type, None, outcome)


def _decide_1_1_0(position: int, claim: Claim, grounded: bool) -> ContractClaim | Problem:
    claim_type: str | None = claim.claim_type
    support = claim.claim_support or "not_evaluated"
    if claim_type == "unsupported":
        if support == "supported":
            return _problem(
                f"/{position}/claim_support",
                "support_conflict",
                f"{quoted(claim.id)} is a claim of type `unsupported` labelled `supported`. Correct one.",
            )
        claim_type = None
        support = "contradicted" if support == "contradicted" else "unsupported"
    if not grounded:
        outcome = ("block", "cannot_answer_from_sources")
    elif support == "unsupported":
        outcome = ("block", "unsupported_claim")
    elif support == "contradicted":
        outcome = ("block", "contradicted_claim")
    elif support == "not_evaluated":
        outcome = ("needs_review", "claim_support_not_evaluated")
    elif claim.question_relevance not in RELEVANT:
        outcome = ("block", "grounded_but_irrelevant")
    elif claim_type == "source_fact":
        outcome = ("show_final", "certified")
    else:
        outcome = ("needs_review", "supported_synthesis_needs_review")
    return _contract_claim(claim, grounded, claim_type, support, outcome)


def _contract_claim(
    claim: Claim, grounded: bool, claim_type: str | None, support: str | None, outcome: tuple[str, str]
) -> ContractClaim:
    return ContractClaim(
        claim.id,
        claim.text,
        claim.check_ids,
        grounded,
        claim.question_relevance,
        claim_type,
        support,
        outcome[0],
        outcome[1],
    )


def _app_status(claims: Sequence[ContractClaim]) -> str:
    actions = {claim.release_action for claim in claims}
    reasons = {claim.release_reason for claim in claims}
    if "show_final" in actions:
        return "certified" if actions == {"show_final"} else "partial_certified"
    if "needs_review" in actions:
        if "claim_support_not_evaluated" in reasons:
            return "claim_support_needs_review"
        return "supported_synthesis_needs_review"
    if reasons & {"unsupported_claim", "contradicted_claim"}:
        return "claim_support_rejected"
    if "grounded_but_irrelevant" in reasons:
        return "grounded_but_irrelevant"
    return "cannot_answer_from_sources"


def _lower(stated: bool) -> str:
    return "true" if stated else "false"


def _problem(pointer: str, code: str, message: str) -> Problem:
    return Problem("claims", f"/claims{pointer}", code, message)
