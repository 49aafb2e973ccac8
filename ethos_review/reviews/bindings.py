"""What the audit chain holds of the rows that it vouches for."""

from __future__ import annotations

import hashlib
from typing import Final
from uuid import UUID

import rfc8785

from ethos_review.audit.operations import Detail, rfc3339
from ethos_review.reviews.models import Document, Release, ReviewerDecision

EVENT_OF_OUTCOME: Final = {
    "approve": "claim_approved",
    "block": "claim_blocked",
    "undo": "decision_undone",
}


def decision_digest(decision: ReviewerDecision, review_id: UUID, position: int) -> str:
    """SHA-256 over everything a decision says: the audit event of the decision holds it."""
    canonical = rfc8785.dumps(
        {
            "review_id": str(review_id),
            "position": position,
            "sequence": decision.sequence,
            "outcome": decision.outcome,
            "reviewer": decision.reviewer_id,
            "reviewer_name": decision.reviewer_name,
            "rationale": decision.rationale,
            "decided_at": rfc3339(decision.decided_at),
            "shown_sha256": decision.shown_sha256,
        }
    )
    return hashlib.sha256(canonical).hexdigest()


def document_details(document: Document) -> dict[str, Detail]:
    """What the audit event of a submission says about each document."""
    return {
        "role": document.role,
        "name": document.name,
        "media_type": document.media_type,
        "size": document.size,
        "sha256": document.sha256,
    }


def release_details(release: Release) -> dict[str, Detail]:
    """What the audit event of a seal says about the release."""
    return {
        "envelope_sha256": release.envelope_sha256,
        "key_id": release.signing_key.key_id,
        "answer_status": release.answer_status,
        "sealed_at": rfc3339(release.sealed_at),
        "sealed_by": release.sealed_by_id,
        "sealed_by_name": release.sealed_by_name,
    }
