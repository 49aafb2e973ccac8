"""The contract decision, versions 1.0.0 and 1.1.0 (spec 3.2)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final, NamedTuple, NotRequired, TypedDict, cast

from ethos_review.engine.claims import AnswerClaims, Claim
from ethos_review.engine.collector import without_collector
from ethos_review.engine.documents import Json
from ethos_review.engine.errors import MAX_PROBLEMS, DocumentError, Problem, quoted
from ethos_review.engine.report import ProofSummary, Report

ARTIFACT_TYPE: Final = "ethos.app_answer_release_decision.v1"
CONTRACT_VERSIONS: Final = ("1.0.0", "1.1.0")
RELEVANT: Final = ("direct_answer", "supports_answer")


class ContractClaimJson(TypedDict):
    """One claim of the decision in JSON."""

    id: str
    text: str
    citation_grounded: bool
    question_relevance: str
    claim_type: NotRequired[str]  # not for a legacy `unsupported` type under 1.1.0
    claim_support: NotRequired[str]  # 1.1.0 only
    release_action: str  # show_final | needs_review | block
    release_reason: str
    check_ids: NotRequired[list[str]]


class ContractClaim(NamedTuple):  # made faster than a frozen dataclass, and there is one per claim
    """One claim of the decision: the claim, and the row of the contract's table that fits it."""

    claim: Claim
    row: ContractClaimJson  # without id, text and check ids; shared by many claims and never changed

    @property
    def check_ids(self) -> tuple[str, ...]:
        return self.claim.check_ids

    @property
    def citation_grounded(self) -> bool:
        return self.row["citation_grounded"]

    @property
    def question_relevance(self) -> str:
        return self.row["question_relevance"]

    @property
    def claim_type(self) -> str | None:
        """None for a legacy `unsupported` type under 1.1.0."""
        return self.row.get("claim_type")

    @property
    def claim_support(self) -> str | None:
        """None under 1.0.0."""
        return self.row.get("claim_support")

    @property
    def release_action(self) -> str:
        """`show_final`, `needs_review` or `block`."""
        return self.row["release_action"]

    @property
    def release_reason(self) -> str:
        return self.row["release_reason"]

    def to_json(self) -> ContractClaimJson:
        return _claim_json(self.claim, self.row)


def _claim_json(claim: Claim, row: ContractClaimJson) -> ContractClaimJson:
    value = row.copy()
    value["id"] = claim.id
    value["text"] = claim.text
    if claim.check_ids:
        value["check_ids"] = list(claim.check_ids)
    return value


@dataclass(frozen=True, slots=True)
class ContractDecision:
    schema_version: str  # 1.0.0 | 1.1.0
    answer: AnswerClaims
    verification_report_ref: str
    proof: ProofSummary
    app_status: str
    rows: tuple[ContractClaimJson, ...]  # of `ContractClaim`, one for each claim of the answer

    @property
    def claims(self) -> tuple[ContractClaim, ...]:
        """Made when asked for: without them the decision in JSON of 10,000 claims takes two thirds of the time."""
        return tuple(map(ContractClaim, self.answer.claims, self.rows))

    @without_collector
    def to_json(self) -> dict[str, Json]:
        """The `ethos.app_answer_release_decision.v1` envelope (spec 2.6)."""
        ids: dict[str, list[Json]] = {"show_final": [], "needs_review": [], "block": []}
        claims: list[ContractClaimJson] = []
        for claim, row in zip(self.answer.claims, self.rows, strict=True):
            claims.append(_claim_json(claim, row))
            ids[row["release_action"]].append(claim.id)
        decision: dict[str, Json] = {
            "artifact_type": ARTIFACT_TYPE,
            "schema_version": self.schema_version,
            "question": self.answer.question,
            "grounding": {
                "verification_report_ref": self.verification_report_ref,
                "proof_status": self.proof.proof_status,
                "request_certified": self.proof.request_certified,
                "reusable_grounded_check_ids": list(self.proof.reusable_grounded_check_ids),
                "needs_review_check_ids": list(self.proof.needs_review_check_ids),
                "proof_limitations": list(self.proof.proof_limitations),
            },
            "app_status": self.app_status,
            "claims": cast("list[Json]", claims),
            "final_answer_claim_ids": ids["show_final"],
            "review_claim_ids": ids["needs_review"],
            "blocked_claim_ids": ids["block"],
        }
        if self.answer.notes is not None:
            decision["notes"] = list(self.answer.notes)
        return decision


@without_collector
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
    decide_row = _decide_1_0_0 if contract_version == "1.0.0" else _decide_1_1_0
    reusable = frozenset(proof.reusable_grounded_check_ids)
    others = frozenset(proof.needs_review_check_ids)
    problems: list[Problem] = []
    rows: list[ContractClaimJson] = []
    for position, claim in enumerate(answer.claims):
        grounded = _grounded(claim, reusable, others)
        if grounded is None:
            problems += _grounding_problems(position, claim, reusable, others)
        else:
            row = decide_row(grounded, claim.question_relevance, claim.claim_type, claim.claim_support)
            if not isinstance(row, str):
                rows.append(row)
                continue
            problems.append(_label_problem(position, claim, row))
        if len(problems) >= MAX_PROBLEMS:
            break
    if problems:
        raise DocumentError(problems)
    return ContractDecision(
        schema_version=contract_version,
        answer=answer,
        verification_report_ref=answer.verification_report_ref or report.name,
        proof=proof,
        app_status=_app_status(rows),
        rows=tuple(rows),
    )


def _grounded(claim: Claim, reusable: frozenset[str], others: frozenset[str]) -> bool | None:
    """None where `_grounding_problems` says why the claim is refused."""
    if not claim.check_ids:
        return claim.citation_grounded
    computed = reusable.issuperset(claim.check_ids)
    if claim.citation_grounded is not None and claim.citation_grounded != computed:
        return None
    return None if not computed and _unknown_check_ids(claim, reusable, others) else computed


def _unknown_check_ids(
    claim: Claim, reusable: frozenset[str], others: frozenset[str]
) -> list[tuple[int, str]]:
    """Position and id of each check that the claim cites and the report does not have."""
    return [
        (index, check_id)
        for index, check_id in enumerate(claim.check_ids)
        if check_id not in reusable and check_id not in others
    ]


def _grounding_problems(
    position: int, claim: Claim, reusable: frozenset[str], others: frozenset[str]
) -> list[Problem]:
    if not claim.check_ids:
        return [
            _problem(
                f"/{position}",
                "grounding_not_stated",
                f"Claim {quoted(claim.id)} cites no check and does not state its grounding. "
                "Add `check_ids`, or `citation_grounded`.",
            )
        ]
    unknown = _unknown_check_ids(claim, reusable, others)
    if unknown:
        return [
            _problem(
                f"/{position}/check_ids/{index}",
                "unknown_check_id",
                f"Claim {quoted(claim.id)} cites check {quoted(check_id)}, which the report does not have. "
                "Cite a check of this report, or send the report that has it.",
            )
            for index, check_id in unknown
        ]
    computed = reusable.issuperset(claim.check_ids)
    return [
        _problem(
            f"/{position}/citation_grounded",
            "grounding_conflict",
            f"Claim {quoted(claim.id)} states `citation_grounded` {_lower(not computed)}, but its checks "
            f"make it {_lower(computed)}. Leave the member out, or state what the report shows.",
        )
    ]


@cache
def _decide_1_0_0(
    grounded: bool, relevance: str, claim_type: str, support: str | None
) -> ContractClaimJson | str:
    """The row of the contract's table that fits a claim, or the code of its refusal (spec 3.2)."""
    if support is not None:
        return "contract_version_conflict"
    if claim_type == "unsupported" and grounded:
        return "unsupported_claim_grounded"
    labels = {"claim_type": claim_type}
    if not grounded:
        return _row(grounded, relevance, labels, "block", "cannot_answer_from_sources")
    if relevance not in RELEVANT:
        return _row(grounded, relevance, labels, "block", "grounded_but_irrelevant")
    if claim_type == "source_fact":
        return _row(grounded, relevance, labels, "show_final", "certified")
    return _row(grounded, relevance, labels, "needs_review", "supported_synthesis_needs_review")


@cache
def _decide_1_1_0(
    grounded: bool, relevance: str, claim_type: str, support: str | None
) -> ContractClaimJson | str:
    """The row of the contract's table that fits a claim, or the code of its refusal (spec 3.2)."""
    if claim_type == "unsupported":
        if support == "supported":
            return "support_conflict"
        support = "contradicted" if support == "contradicted" else "unsupported"
        labels = {"claim_support": support}
    else:
        support = support or "not_evaluated"
        labels = {"claim_type": claim_type, "claim_support": support}
    if not grounded:
        return _row(grounded, relevance, labels, "block", "cannot_answer_from_sources")
    if support == "unsupported":
        return _row(grounded, relevance, labels, "block", "unsupported_claim")
    if support == "contradicted":
        return _row(grounded, relevance, labels, "block", "contradicted_claim")
    if support == "not_evaluated":
        return _row(grounded, relevance, labels, "needs_review", "claim_support_not_evaluated")
    if relevance not in RELEVANT:
        return _row(grounded, relevance, labels, "block", "grounded_but_irrelevant")
    if claim_type == "source_fact":
        return _row(grounded, relevance, labels, "show_final", "certified")
    return _row(grounded, relevance, labels, "needs_review", "supported_synthesis_needs_review")


def _row(
    grounded: bool, relevance: str, labels: dict[str, str], action: str, reason: str
) -> ContractClaimJson:
    row = {
        "id": "",
        "text": "",
        "citation_grounded": grounded,
        "question_relevance": relevance,
        **labels,
        "release_action": action,
        "release_reason": reason,
    }
    return cast(ContractClaimJson, row)


def _label_problem(position: int, claim: Claim, code: str) -> Problem:
    named = f"Claim {quoted(claim.id)}"
    if code == "contract_version_conflict":
        member = "claim_support"
        message = (
            f"{named} carries `claim_support`, which contract 1.0.0 does not know, and the policy pins that "
            "version. Leave the label out, or pin `1.1.0` or nothing (`auto`)."
        )
    elif code == "unsupported_claim_grounded":
        member = "claim_type"
        other = "what it cites" if claim.check_ids else "its `citation_grounded`"
        message = (
            f"{named} is of type `unsupported` but grounded, which contract 1.0.0 refuses. "
            f"Correct its type, or {other}."
        )
    else:
        member = "claim_support"
        message = f"{named} is of type `unsupported` and labelled `supported`. Correct one of them."
    return _problem(f"/{position}/{member}", code, message)


def _app_status(rows: Sequence[ContractClaimJson]) -> str:
    reasons = {row["release_reason"] for row in rows}
    if "certified" in reasons:
        return "certified" if reasons == {"certified"} else "partial_certified"
    for reason, status in _STATUS_BY_REASON:
        if reason in reasons:
            return status
    return "cannot_answer_from_sources"


_STATUS_BY_REASON: Final = (  # the first reason that any claim has decides
    ("claim_support_not_evaluated", "claim_support_needs_review"),
    ("supported_synthesis_needs_review", "supported_synthesis_needs_review"),
    ("unsupported_claim", "claim_support_rejected"),
    ("contradicted_claim", "claim_support_rejected"),
    ("grounded_but_irrelevant", "grounded_but_irrelevant"),
)


def _lower(stated: bool) -> str:
    return "true" if stated else "false"


def _problem(pointer: str, code: str, message: str) -> Problem:
    return Problem("claims", f"/claims{pointer}", code, message)
