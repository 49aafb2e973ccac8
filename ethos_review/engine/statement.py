"""The signed outcome's Statement and its canonical payload; replay (spec 2.7, 3.8)."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, cast

import rfc8785

from ethos_review import __version__
from ethos_review.engine.assessment import ROLES, Assessment, Received, assess, shown_digest
from ethos_review.engine.caps import LOWERS_TO
from ethos_review.engine.contracts import check_against_schema
from ethos_review.engine.documents import Json, Limits, read_document
from ethos_review.engine.errors import DocumentError, Problem, join_pointer, quoted
from ethos_review.engine.policy import Policy
from ethos_review.engine.release import (
    ReviewerDecision,
    allowed_outcomes,
    make_release,
    rationale_required,
    undecided_claim_ids,
)
from ethos_review.engine.values import json_text
from ethos_review.engine.verdict import JudgedValue

STATEMENT_TYPE: Final = "https://in-toto.io/Statement/v1"
PREDICATE_TYPE: Final = "urn:ethos-review:answer-release:v1"
SCHEMA_VERSION: Final = "1.0.0"
ENGINE_NAME: Final = "ethos-review"

MAX_LISTED_READINGS: Final = 1_000_000
MAX_LISTED_CHARACTERS: Final = 100_000_000
"""Many claims may deliver the same fact or the same large value, and a release repeats it beside each of them."""

MAX_DIFFERENCES: Final = 50

# A release repeats what several documents say, as text inside strings: wider than what one upload may hold.
PAYLOAD_LIMITS: Final = Limits(
    document_bytes=512 * 1024 * 1024, entries=10_000_000, string_bytes=512 * 1024 * 1024
)


@dataclass(frozen=True, slots=True)
class SealFacts:
    """What the engine cannot know: given by the application at the seal, and taken as given at replay."""

    review_id: str
    external_id: str | None
    audit_digest: str
    audit_length: int
    sealed_at: str  # RFC 3339 UTC
    sealed_by_id: str
    sealed_by_name: str
    supersedes: str | None = None  # review id


def build_statement(
    assessment: Assessment, decisions: Mapping[str, ReviewerDecision], seal: SealFacts
) -> dict[str, Json]:
    """The release as an in-toto Statement (spec 2.7). `decisions` maps claim id to the current decision.

    Raises ValueError when a claim at needs_review is undecided, or a decision is not one that a person could
    take on what is shown now. Raises DocumentError as `check_listable` does.
    """
    undecided = undecided_claim_ids(assessment, decisions)
    if undecided:
        raise ValueError(f"claims are undecided: {', '.join(undecided[:5])}")
    for claim_id, decision in decisions.items():
        refusal = _refusal(assessment, claim_id, decision)
        if refusal:
            raise ValueError(f"the decision on claim {claim_id} cannot be sealed: {refusal}")
    return _statement(assessment, decisions, seal, __version__)


def canonical_payload(statement: dict[str, Json]) -> bytes:
    """RFC 8785 canonical JSON."""
    return rfc8785.dumps(cast("dict[str, str]", statement))


def _refusal(assessment: Assessment, claim_id: str, decision: ReviewerDecision) -> str:
    """Why this decision does not stand; empty when it does (spec 3.6)."""
    if not assessment.has_claim(claim_id):
        return "there is no such claim"
    claim = assessment.claim(claim_id)
    if decision.claim_id != claim_id:
        return f"it was taken on claim {decision.claim_id}"
    if decision.outcome not in allowed_outcomes(claim):
        return f"{decision.outcome} is not possible at {claim.action}"
    if not decision.rationale.strip() and rationale_required(claim, decision.outcome):
        return "it needs a rationale"
    if decision.shown_sha256 != shown_digest(claim, assessment.policy):
        return "what was shown is no longer what would be decided on"
    return ""


def _statement(
    assessment: Assessment,
    decisions: Mapping[str, ReviewerDecision],
    seal: SealFacts,
    engine_version: str,
) -> dict[str, Json]:
    release = make_release(assessment, decisions)
    predicate: dict[str, Json] = {
        "schema_version": SCHEMA_VERSION,
        "review_id": seal.review_id,
        "external_id": seal.external_id,
        "question": assessment.submission.answer.question,
        "engine": {
            "name": ENGINE_NAME,
            "version": engine_version,
            "contract_version": assessment.contract_decision.schema_version,
        },
        "policy": assessment.policy.to_json(),
        "contract_decision": assessment.contract_decision.to_json(),
        "verdicts": list(verdicts_to_json(assessment)),
        "caps": list(caps_to_json(assessment)),
        "reviewer_decisions": [
            {
                "claim_id": decision.claim_id,
                "outcome": decision.outcome,
                "reviewer": {"id": decision.reviewer_id, "name": decision.reviewer_name},
                "rationale": decision.rationale,
                "decided_at": decision.decided_at,
                "shown_sha256": decision.shown_sha256,
                "supersedes": decision.supersedes,
            }
            for assessed in assessment.claims
            if (decision := decisions.get(assessed.claim.id)) is not None
        ],
        "release": {
            "answer_status": release.answer_status,
            "released_claim_ids": list(release.released_claim_ids),
            "reviewed_synthesis_claim_ids": list(release.reviewed_synthesis_claim_ids),
            "withheld_claim_ids": list(release.withheld_claim_ids),
            "relevance": release.relevance,
            "disclosures": list(release.disclosures),
        },
        "audit_checkpoint": {"sha256": seal.audit_digest, "length": seal.audit_length},
        "sealed_at": seal.sealed_at,
        "sealed_by": {"id": seal.sealed_by_id, "name": seal.sealed_by_name},
    }
    if seal.supersedes is not None:
        predicate["supersedes"] = seal.supersedes
    return {
        "_type": STATEMENT_TYPE,
        "subject": [
            {"name": document.name, "digest": {"sha256": document.sha256}}
            for document in assessment.submission.documents
        ],
        "predicateType": PREDICATE_TYPE,
        "predicate": predicate,
    }


def check_listable(assessment: Assessment) -> None:
    """Raises DocumentError when a release of this assessment would list more than MAX_LISTED_READINGS compared
    readings, or values of more than MAX_LISTED_CHARACTERS: it could never be sealed."""
    readings = characters = 0
    for assessed in assessment.claims:
        for judged in assessed.judged:
            readings += len(judged.fact.rows)
            characters += len(judged.delivered_text or "") + judged.fact.text_size
    for listed, limit, code, noun in (
        (readings, MAX_LISTED_READINGS, "too_many_compared_readings", "compared readings"),
        (characters, MAX_LISTED_CHARACTERS, "values_repeated_too_often", "characters of values"),
    ):
        if listed > limit:
            message = (
                f"So many claims deliver the same facts or values that a release would list {listed:,} {noun}; "
                f"at most {limit:,} can be. Deliver each in fewer claims."
            )
            refusal = DocumentError([Problem("claims", "/claims", code, message)])
            bundled = assessment.submission.documents[0].role == "bundle"
            raise refusal.moved("bundle", "/claims") if bundled else refusal


def verdicts_to_json(assessment: Assessment) -> Iterator[dict[str, Json]]:
    """One object per delivered value, in claim order. Values stand as JSON text in strings (spec 2.7).

    Raises DocumentError before the first as `check_listable` does.
    """
    check_listable(assessment)
    for assessed in assessment.claims:
        for judged in assessed.judged:
            yield {"claim_id": assessed.claim.id, **_verdict_to_json(judged)}


def _verdict_to_json(judged: JudgedValue) -> dict[str, Json]:
    delivered = judged.delivered
    return {
        "entity": delivered.entity,
        "field": delivered.field,
        "normalization": delivered.normalization,
        "delivered_value": judged.delivered_text,
        "verdict": judged.verdict,
        "withholds": judged.withholds,
        "readings": [
            {
                "position": compared.position,
                "tool_name": compared.reading.tool_name,
                "tool_call_id": compared.reading.tool_call_id,
                "iteration": json_text(compared.reading.iteration),
                "measured_at": None
                if compared.reading.measured_at is None
                else json_text(compared.reading.measured_at),
                "value": judged.fact.value_text(compared.reading.value),
                "kind": compared.kind,
                "relation": compared.relation,
            }
            for compared in judged.readings
        ],
    }


def caps_to_json(assessment: Assessment) -> Iterator[dict[str, Json]]:
    """One object per cap that applies, in claim order and the order of spec 3.5."""
    for assessed in assessment.claims:
        for cap in assessed.caps:
            yield {"claim_id": assessed.claim.id, "code": cap, "lowers_to": LOWERS_TO[cap]}


@dataclass(frozen=True, slots=True)
class Difference:
    """A member of the Statement that comes out otherwise than recorded, as JSON text; None: not there."""

    pointer: str
    recorded: str | None
    computed: str | None
    message: str = ""

    def to_json(self) -> dict[str, Json]:
        return {
            "pointer": self.pointer,
            "recorded": self.recorded,
            "computed": self.computed,
            "message": self.message,
        }


def replay(
    payload: bytes, documents: Sequence[Received], verifier_keys: tuple[bytes, ...] = ()
) -> tuple[Difference, ...]:
    """Recompute a release from the kept documents and compare it byte for byte (spec 3.8).

    It runs under the release's own recorded policy. Reviewer decisions, ids, names, times and the engine's
    version are taken as recorded; the digest of what each reviewer was shown is made again. `documents` are a
    bundle, or report, claims and perhaps readings, in any order. Empty when nothing differs, else at most
    MAX_DIFFERENCES. Raises DocumentError when the payload is not a release Statement.
    """
    documents = sorted(documents, key=lambda document: ROLES.index(document.role))
    recorded = read_release_payload(payload)
    subjects = cast("list[dict[str, Json]]", recorded["subject"])
    if len(documents) != len(subjects):
        return (
            Difference(
                "/subject",
                json_text(len(subjects)),
                json_text(len(documents)),
                "The release was made from another number of documents. Give all of these, and no others: "
                + ", ".join(str(subject["name"]) for subject in subjects)
                + ".",
            ),
        )
    differences = [
        *_changed_documents(subjects, documents),
        *_recomputed_differences(recorded, payload, documents, verifier_keys),
    ]
    return tuple(differences[:MAX_DIFFERENCES])


def read_release_payload(payload: bytes) -> dict[str, Json]:
    """The Statement in a payload whose signature has been verified.

    Raises DocumentError: `wrong_statement_type`, `wrong_predicate_type`, or why its JSON or schema is
    refused.
    """
    return read_statement("release", payload, PREDICATE_TYPE, "release-statement")


def read_statement(noun: str, payload: bytes, predicate_type: str, schema_name: str) -> dict[str, Json]:
    """A Statement of one kind: its types first, then its schema. Raises DocumentError."""
    statement = read_document(noun, "payload", payload, PAYLOAD_LIMITS).value
    for member, expected, code in (
        ("_type", STATEMENT_TYPE, "wrong_statement_type"),
        ("predicateType", predicate_type, "wrong_predicate_type"),
    ):
        found = statement.get(member) if isinstance(statement, dict) else None
        if found != expected:
            message = (
                f"This is {json_text(found)[:200]}, not a {noun}: a {noun} has {json_text(expected)} here."
            )
            raise DocumentError([Problem(noun, f"/{member}", code, message)])
    check_against_schema(noun, statement, schema_name)
    return cast("dict[str, Json]", statement)


def _changed_documents(
    subjects: Sequence[dict[str, Json]], documents: Sequence[Received]
) -> Iterator[Difference]:
    for position, (subject, document) in enumerate(zip(subjects, documents, strict=True)):
        recorded = cast("dict[str, str]", subject["digest"])["sha256"]
        computed = hashlib.sha256(document.content).hexdigest()
        if recorded != computed:
            role, name = document.role.replace("_", " "), quoted(str(subject["name"]))
            yield Difference(
                f"/subject/{position}/digest/sha256",
                json_text(recorded),
                json_text(computed),
                f"The {role} {name} is not the one uploaded.",
            )


def _recomputed_differences(
    recorded: dict[str, Json],
    payload: bytes,
    documents: Sequence[Received],
    verifier_keys: tuple[bytes, ...],
) -> Iterator[Difference]:
    predicate = cast("dict[str, Json]", recorded["predicate"])
    subjects = cast("list[dict[str, Json]]", recorded["subject"])
    policy = Policy.from_json(predicate["policy"])
    try:
        named = [
            replace(document, name=cast(str, subject["name"]))
            for document, subject in zip(documents, subjects, strict=True)
        ]
        assessment = assess(named, policy, verifier_keys)
        decisions = {
            decision.claim_id: decision for decision in _recorded_decisions(predicate["reviewer_decisions"])
        }
        shown_again = {
            claim_id: replace(decision, shown_sha256=shown_digest(assessment.claim(claim_id), policy))
            for claim_id, decision in decisions.items()
            if assessment.has_claim(claim_id)
        }
        computed = _statement(assessment, shown_again, _recorded_seal(predicate), _engine_version(predicate))
    except DocumentError as error:
        for problem in error.problems:
            yield Difference("", None, None, f"{problem.document}{problem.pointer}: {problem.message}")
        return
    computed["subject"] = recorded["subject"]  # compared by `_changed_documents`, which names the document
    members = list(_differences("", recorded, computed))
    yield from members
    for claim_id, decision in shown_again.items():
        refusal = _refusal(assessment, claim_id, decision)
        if refusal:
            yield Difference(
                "/predicate/reviewer_decisions", None, None, f"The decision on claim {claim_id}: {refusal}."
            )
    for claim_id in undecided_claim_ids(assessment, shown_again):
        yield Difference(
            "/predicate/reviewer_decisions", None, None, f"Claim {claim_id} was sealed without a decision."
        )
    if not members and canonical_payload(computed) != payload:
        yield Difference("", None, None, "The payload is not the canonical JSON of what it says.")


def _recorded_decisions(rows: Json) -> Iterator[ReviewerDecision]:
    for row in cast("list[dict[str, Json]]", rows):
        reviewer = cast("dict[str, str]", row["reviewer"])
        yield ReviewerDecision(
            claim_id=cast(str, row["claim_id"]),
            outcome=cast(str, row["outcome"]),
            reviewer_id=reviewer["id"],
            reviewer_name=reviewer["name"],
            rationale=cast(str, row["rationale"]),
            decided_at=cast(str, row["decided_at"]),
            shown_sha256=cast(str, row["shown_sha256"]),
            supersedes=cast(int, row["supersedes"]),
        )


def _recorded_seal(predicate: dict[str, Json]) -> SealFacts:
    checkpoint = cast("dict[str, Json]", predicate["audit_checkpoint"])
    sealed_by = cast("dict[str, str]", predicate["sealed_by"])
    return SealFacts(
        review_id=cast(str, predicate["review_id"]),
        external_id=cast("str | None", predicate["external_id"]),
        audit_digest=cast(str, checkpoint["sha256"]),
        audit_length=cast(int, checkpoint["length"]),
        sealed_at=cast(str, predicate["sealed_at"]),
        sealed_by_id=sealed_by["id"],
        sealed_by_name=sealed_by["name"],
        supersedes=cast("str | None", predicate.get("supersedes")),
    )


def _engine_version(predicate: dict[str, Json]) -> str:
    return cast("dict[str, str]", predicate["engine"])["version"]


def _differences(pointer: str, recorded: Json, computed: Json) -> Iterator[Difference]:
    """Where two values differ, each place as deep as it goes."""
    if isinstance(recorded, dict) and isinstance(computed, dict):
        places: list[tuple[str | int, bool, bool]] = [
            (name, name in recorded, name in computed) for name in sorted({*recorded, *computed})
        ]
    elif isinstance(recorded, list) and isinstance(computed, list):
        places = [
            (index, index < len(recorded), index < len(computed))
            for index in range(max(len(recorded), len(computed)))
        ]
    else:
        if json_text(recorded) != json_text(computed):
            yield Difference(pointer, json_text(recorded), json_text(computed))
        return
    for place, was_recorded, was_computed in places:
        inner = join_pointer(pointer, place)
        if was_recorded and was_computed:
            yield from _differences(inner, recorded[place], computed[place])  # type: ignore[index]
        elif was_recorded:
            yield Difference(inner, json_text(recorded[place]), None)  # type: ignore[index]
        else:
            yield Difference(inner, None, json_text(computed[place]))  # type: ignore[index]
