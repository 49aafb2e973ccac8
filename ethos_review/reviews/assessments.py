"""What the engine says about a kept review, derived from its kept bytes."""

from __future__ import annotations

import hashlib
from collections import Counter, OrderedDict
from collections.abc import Iterable
from threading import Lock
from typing import Final, cast

import rfc8785

from ethos_review.audit.operations import rfc3339
from ethos_review.engine.assessment import Assessment, ClaimAssessment, Received, assess
from ethos_review.engine.documents import Json
from ethos_review.engine.dsse import load_verifier_key
from ethos_review.engine.policy import Policy
from ethos_review.engine.readings import Reading as EngineReading
from ethos_review.engine.release import ReviewerDecision as EngineDecision
from ethos_review.engine.values import json_text
from ethos_review.reviews.models import Claim, Document, Review
from ethos_review.reviews.policies import changed, policy_of
from ethos_review.web.folding import folded

CACHED_BYTES: Final = 8 * 1024 * 1024  # of document content; what is made of it takes some ten times as much
CLIPPED: Final = 200  # characters; an index entry of PostgreSQL cannot hold a long text
SEARCHED_CHARACTERS: Final = 200_000


def assessment_of(review: Review) -> Assessment:
    """Under the policy that the review was last decided under. `review.policy` should be joined.

    Raises KeptBytesChanged, and DocumentError where an older version of the engine accepted what this one refuses.
    """
    policy = policy_of(review.policy)
    key = f"{review.review_id} {policy.sha256}"
    return _cache.get(key) or _cache.put(
        key, derive(kept_documents(review), policy, verifier_keys_of(review))
    )


def derive(documents: Iterable[Document], policy: Policy, verifier_keys: tuple[bytes, ...]) -> Assessment:
    """From stored bytes, whatever was derived before. Raises DocumentError."""
    return assess(as_received(documents), policy, verifier_keys)


def as_received(documents: Iterable[Document]) -> list[Received]:
    """Stored documents, with their bytes, as the engine takes them."""
    return [Received(document.role, document.name, bytes(document.content)) for document in documents]


def kept_documents(review: Review) -> list[Document]:
    """With their bytes, in the order they were stored. Raises KeptBytesChanged."""
    documents = list(Document.objects.with_content().filter(review=review))
    for document in documents:
        if hashlib.sha256(bytes(document.content)).hexdigest() != document.sha256:
            raise changed(f"The kept document {document.name} is not what was received.")
    if content_digest((document.role, document.sha256) for document in documents) != review.content_sha256:
        raise changed("The kept documents are not those that were received.")
    return documents


def content_digest(parts: Iterable[tuple[str, str]]) -> str:
    """Over the roles and digests of the documents of one review, whatever the files are called."""
    return hashlib.sha256(rfc8785.dumps(sorted(map(list, parts)))).hexdigest()


def verifier_keys_of(review: Review) -> tuple[bytes, ...]:
    """The key that the report was believed by when it was submitted."""
    if not review.verifier_key:
        return ()
    key = review.verifier_key.encode()
    try:
        load_verifier_key(key)
    except ValueError:
        raise changed("The kept key of the verifier is none.") from None
    return (key,)


def claim_state(action: str, outcome: str | None, policy: Policy) -> str:
    """`undecided`, `released` or `withheld`, as it would be if the review were sealed now (spec 3.6)."""
    if action == "needs_review":
        if outcome is None:
            return "undecided"
        return "released" if outcome == "approve" and policy.reviewed_synthesis else "withheld"
    return "released" if action == "show_final" and outcome is None else "withheld"


def claim_columns(assessed: ClaimAssessment) -> dict[str, str | int]:
    """The columns of a claim that follow from the documents and the policy."""
    claim, contract = assessed.claim, assessed.contract
    return {
        "claim_id": claim.id,
        "claim_id_sha256": hashlib.sha256(claim.id.encode()).hexdigest(),
        "text": claim.text,
        "citation_grounded": contract.citation_grounded,
        "question_relevance": claim.question_relevance,
        "claim_type": claim.claim_type,
        "verdict": assessed.verdict or "",
        "contract_action": contract.release_action,
        "contract_reason": contract.release_reason,
        "action": assessed.action,
    }


def reading_columns(reading: EngineReading) -> dict[str, str | int]:
    return {
        "entity": reading.entity,
        "field": reading.field,
        "value": json_text(reading.value),
        "tool_name": reading.tool_name,
        "tool_call_id": reading.tool_call_id,
        "iteration": reading.iteration,
        "measured_at": "" if reading.measured_at is None else json_text(reading.measured_at),
    }


def derived_columns(assessment: Assessment) -> dict[str, str]:
    """The columns of a review that follow from its documents and the policy."""
    submission = assessment.submission
    grounding = cast("dict[str, dict[str, Json]]", submission.report.value["grounding"])
    parser = grounding["parser"]
    return {
        "external_id": submission.external_id or "",
        "question": submission.answer.question,
        "contract_version": assessment.contract_decision.schema_version,
        "app_status": assessment.contract_decision.app_status,
        "proof_status": assessment.proof.proof_status,
        "parser": f"{parser['name']} {parser['version']}"[:CLIPPED],
        "verdicts": comma_set(assessed.verdict for assessed in assessment.claims),
    }


def comma_set(codes: Iterable[str | None]) -> str:
    """Each once, with a comma on either side, so that one can be looked for whole."""
    return "".join(f",{code}," for code in sorted({code for code in codes if code}))


def search_text(assessment: Assessment) -> str:
    """The question and the claims as `SearchText` keeps them, up to `SEARCHED_CHARACTERS` of each review."""
    answer = assessment.submission.answer
    texts = (answer.question, *(claim.text for claim in answer.claims))
    return folded("\n".join(texts)[:SEARCHED_CHARACTERS])


def count_columns(states: Iterable[str]) -> dict[str, int]:
    """The count columns of a review whose claims are in these `claim_state`s."""
    counted = Counter(states)
    return {
        "claim_count": counted.total(),
        "undecided_count": counted["undecided"],
        "released_count": counted["released"],
        "withheld_count": counted["withheld"],
    }


def current_decisions(claims: Iterable[Claim]) -> dict[str, EngineDecision]:
    """Claim id to current decision, as the engine takes them. `decision` should be joined."""
    return {
        claim.claim_id: EngineDecision(
            claim_id=claim.claim_id,
            outcome=claim.decision.outcome,
            reviewer_id=str(claim.decision.reviewer_id),
            reviewer_name=claim.decision.reviewer_name,
            rationale=claim.decision.rationale,
            decided_at=rfc3339(claim.decision.decided_at),
            shown_sha256=claim.decision.shown_sha256,
            supersedes=claim.decision.sequence - 1,
        )
        for claim in claims
        if claim.decision is not None
    }


class _Cache:
    """The assessments used last. They never change: documents are immutable, and a policy has its digest."""

    def __init__(self, most_bytes: int) -> None:
        self._most_bytes = most_bytes
        self._bytes = 0
        self._kept: OrderedDict[str, Assessment] = OrderedDict()
        self._lock = Lock()

    def get(self, key: str) -> Assessment | None:
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
            return self._kept.get(key)

    def put(self, key: str, assessment: Assessment) -> Assessment:
        """The one used last is always kept, however large."""
        with self._lock:
            if key not in self._kept:
                self._kept[key] = assessment
                self._bytes += _size(assessment)
            while self._bytes > self._most_bytes and len(self._kept) > 1:
                self._bytes -= _size(self._kept.popitem(last=False)[1])
            return assessment


def _size(assessment: Assessment) -> int:
    return sum(len(document.content) for document in assessment.submission.documents)


_cache: Final = _Cache(CACHED_BYTES)
