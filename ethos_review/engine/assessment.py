"""Everything the engine says about one answer before people decide: the one call that joins the parts."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Final, TypeVar, cast

import rfc8785

from ethos_review.engine.caps import find_caps, lowest_action
from ethos_review.engine.claims import AnswerClaims, Claim, DeliveredValue, read_claims
from ethos_review.engine.collector import without_collector
from ethos_review.engine.contracts import check_against_schema
from ethos_review.engine.decision import ContractClaim, ContractDecision, decide_contract
from ethos_review.engine.documents import Document, Json, read_document
from ethos_review.engine.errors import DocumentError, Problem
from ethos_review.engine.policy import DEFAULT_POLICY, Policy
from ethos_review.engine.readings import Reading, read_readings
from ethos_review.engine.report import Check, ProofSummary, Report, read_report, summarise_proof
from ethos_review.engine.values import ValueMemo, json_text
from ethos_review.engine.verdict import VERDICTS, Fact, JudgedValue, judge

ROLES: Final = ("bundle", "verification_report", "claims", "readings")
"""What a document can be, in the order of a release's subjects."""

_BUNDLED_NAMES: Final = {
    "verification_report": "verification-report.json",
    "claims": "claims.json",
    "readings": "readings.json",
}

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Submission:
    """The documents of one review, read. `documents` are the kept ones: one bundle, or two or three parts."""

    documents: tuple[Document, ...]
    report: Report
    answer: AnswerClaims
    readings: tuple[Reading, ...]
    external_id: str | None = None
    supersedes: str | None = None


@dataclass(frozen=True, slots=True)
class ClaimAssessment:
    claim: Claim
    contract: ContractClaim
    judged: tuple[JudgedValue, ...]
    caps: tuple[str, ...]
    action: str  # the lowest of the contract's action and all caps
    report: Report

    @property
    def checks(self) -> tuple[Check, ...]:
        """The checks it cites, in the order cited."""
        return tuple(map(self.report.check, self.claim.check_ids))

    @property
    def verdict(self) -> str | None:
        """The gravest verdict of its delivered values; None when it delivers none."""
        return min((judged.verdict for judged in self.judged), key=VERDICTS.index, default=None)


@dataclass(frozen=True)
class Assessment:
    submission: Submission
    policy: Policy
    proof: ProofSummary
    contract_decision: ContractDecision
    claims: tuple[ClaimAssessment, ...]  # in the order of the claims document

    def claim(self, claim_id: str) -> ClaimAssessment:
        """KeyError when there is none. Constant time."""
        return self._by_id[claim_id]

    def has_claim(self, claim_id: str) -> bool:
        return claim_id in self._by_id

    @cached_property
    def _by_id(self) -> dict[str, ClaimAssessment]:
        return {assessed.claim.id: assessed for assessed in self.claims}


@dataclass(frozen=True, slots=True)
class Received:
    """The exact bytes of one document, and what it was uploaded as."""

    role: str  # verification_report | claims | readings | bundle
    name: str  # file name
    content: bytes


@without_collector
def read_received(
    received: Sequence[Received], policy: Policy = DEFAULT_POLICY, verifier_keys: tuple[bytes, ...] = ()
) -> Submission:
    """The submission in the bytes of a bundle, or of a report, claims and perhaps readings, in any order.

    Raises DocumentError with the problems of all documents at once; ValueError for any other set of roles.
    """
    roles = sorted(part.role for part in received)
    parts = {part.role: partial(_parse, part, policy) for part in received}
    if roles == ["bundle"]:
        return _read_bundle(parts["bundle"](), policy, verifier_keys)
    if roles not in (["claims", "verification_report"], ["claims", "readings", "verification_report"]):
        raise ValueError(f"give a bundle, or a report and claims, not {roles}")
    return _read_parts(parts, policy, verifier_keys)


def _parse(received: Received, policy: Policy) -> Document:
    return read_document(received.role, received.name, received.content, policy.limits)


@without_collector
def read_submission(
    *,
    report: Document | None = None,
    claims: Document | None = None,
    readings: Document | None = None,
    bundle: Document | None = None,
    policy: Policy = DEFAULT_POLICY,
    verifier_keys: tuple[bytes, ...] = (),
) -> Submission:
    """Either `bundle`, or `report` and `claims` with optional `readings` (spec 2.2 to 2.5).

    `verifier_keys` are PEM public keys of verifiers. Raises DocumentError with the problems of all documents
    at once.
    """
    if bundle is not None:
        if report is not None or claims is not None or readings is not None:
            raise ValueError("give either a bundle or its parts")
        return _read_bundle(bundle, policy, verifier_keys)
    if report is None or claims is None:
        raise ValueError("give a report and claims, or a bundle")
    given = {"verification_report": report, "claims": claims, "readings": readings}
    parts = {role: partial(_itself, document) for role, document in given.items() if document is not None}
    return _read_parts(parts, policy, verifier_keys)


def _itself(document: Document) -> Document:
    return document


def _read_bundle(bundle: Document, policy: Policy, verifier_keys: tuple[bytes, ...]) -> Submission:
    check_against_schema(bundle.role, bundle.value, "bundle")
    value = cast("dict[str, Json]", bundle.value)
    parts = {
        role: partial(_itself, replace(bundle, role=role, name=name, value=value[role]))
        for role, name in _BUNDLED_NAMES.items()
        if role in value
    }
    return replace(
        _read_parts(parts, policy, verifier_keys, bundle.role),
        documents=(bundle,),
        external_id=cast("str | None", value.get("external_id")),
        supersedes=cast("str | None", value.get("supersedes")),
    )


def _read_parts(
    parts: Mapping[str, Callable[[], Document]],
    policy: Policy,
    verifier_keys: tuple[bytes, ...],
    bundle_role: str | None = None,
) -> Submission:
    """Each part is parsed and read in one go, while what was parsed is still near the processor."""
    documents: list[Document] = []
    problems: list[Problem] = []

    def read(role: str, reader: Callable[[Document], T]) -> T | None:
        if role not in parts:
            return None
        try:
            document = parts[role]()
            documents.append(document)
            return reader(document)
        except DocumentError as error:
            placed = error if bundle_role is None else error.moved(bundle_role, f"/{role}")
            problems.extend(placed.problems)
            return None

    report = read(
        "verification_report",
        lambda document: read_report(
            document, verifier_keys=verifier_keys, require_signature=policy.require_signed_reports
        ),
    )
    answer = read("claims", read_claims)
    rows = read("readings", read_readings)
    if problems or report is None or answer is None:
        raise DocumentError(problems)
    return Submission(tuple(documents), report, answer, rows or ())


@without_collector
def decide(submission: Submission, policy: Policy = DEFAULT_POLICY) -> Assessment:
    """Contract decision, verdicts, caps and actions (spec 3.1 to 3.5).

    Pure, and linear in the number of checks, claims and readings. Raises DocumentError where the documents
    do not fit each other.
    """
    report, answer = submission.report, submission.answer
    proof = summarise_proof(report)
    try:
        contract_decision = decide_contract(report, proof, answer, policy.contract_version)
    except DocumentError as error:
        raise _placed_in_documents(error, submission) from None
    facts = _Facts(submission.readings)
    assessed = []
    for claim, contract in zip(answer.claims, contract_decision.claims, strict=True):
        judged = tuple([judge(delivered, facts.of(delivered)) for delivered in claim.delivers])
        caps = find_caps(contract, judged)
        assessed.append(
            ClaimAssessment(
                claim,
                contract,
                judged,
                caps,
                lowest_action(contract.release_action, caps) if caps else contract.release_action,
                report,
            )
        )
    return Assessment(submission, policy, proof, contract_decision, tuple(assessed))


@without_collector
def assess(
    received: Sequence[Received], policy: Policy = DEFAULT_POLICY, verifier_keys: tuple[bytes, ...] = ()
) -> Assessment:
    """From the bytes of the documents to everything the engine says: `read_received`, then `decide`."""
    return decide(read_received(received, policy, verifier_keys), policy)


class _Facts:
    """The readings, gathered by (entity, field)."""

    def __init__(self, readings: Sequence[Reading]) -> None:
        memo = ValueMemo()
        self._unread = Fact([], memo)
        self._facts: dict[tuple[str, str], Fact] = {}
        for position, reading in enumerate(readings):
            key = (reading.entity, reading.field)
            fact = self._facts.get(key)
            if fact is None:
                self._facts[key] = Fact([(position, reading)], memo)
            else:
                fact.rows.append((position, reading))

    def of(self, delivered: DeliveredValue) -> Fact:
        return self._facts.get((delivered.entity, delivered.field), self._unread)


def _placed_in_documents(error: DocumentError, submission: Submission) -> DocumentError:
    """The contract names `check_ids` in a claims document; the upload may say `check_id` or be a bundle."""
    document = submission.documents[0] if len(submission.documents) == 1 else submission.documents[1]
    value = cast("dict[str, Json]", document.value)
    if document.role == "bundle":
        value = cast("dict[str, Json]", value["claims"])
    entries = cast("list[dict[str, Json]]", value["claims"])
    problems = []
    for problem in error.problems:
        position, _, member = problem.pointer.removeprefix("/claims/").partition("/")
        if member == "check_ids/0" and "check_id" in entries[int(position)]:
            problem = replace(problem, pointer=f"/claims/{position}/check_id")
        problems.append(problem)
    placed = DocumentError(problems)
    return placed.moved("bundle", "/claims") if document.role == "bundle" else placed


def shown_digest(claim: ClaimAssessment, policy: Policy) -> str:
    """SHA-256 (hex) over the canonical JSON of what a person is shown to decide on (spec 3.6).

    It covers the claim, its contract row, its checks, its verdicts with their readings, its caps and the
    policy. Checks stand in it as JSON text, so that no number is changed by canonicalisation; values, the
    readings of a fact and the policy by digests of their own, so that many claims about one fact take linear
    time.
    """
    shown = {
        "claim": _claim_text(claim.claim),
        "contract": claim.contract.to_json(),
        "checks": [json_text(check.value) for check in claim.checks],
        "fingerprint_stale": claim.report.fingerprint_stale,
        "verdicts": [
            {
                "entity": judged.delivered.entity,
                "field": judged.delivered.field,
                "normalization": judged.delivered.normalization,
                "stated": judged.delivered.stated,
                "value_sha256": judged.fact.value_sha256(judged.delivered.value),
                "verdict": judged.verdict,
                "readings_sha256": judged.fact.sha256,
            }
            for judged in claim.judged
        ],
        "caps": list(claim.caps),
        "action": claim.action,
        "policy_sha256": policy.sha256,
    }
    return hashlib.sha256(rfc8785.dumps(cast("dict[str, str]", shown))).hexdigest()


def _claim_text(claim: Claim) -> str:
    return json_text(
        [
            claim.id,
            claim.text,
            claim.question_relevance,
            claim.claim_type,
            list(claim.check_ids),
            claim.citation_grounded,
            claim.claim_support,
        ]
    )
