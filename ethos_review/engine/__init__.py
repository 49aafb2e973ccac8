"""The release engine: pure functions from documents to decisions, and from decisions to a signed release."""

from ethos_review.engine.assessment import (
    Assessment,
    ClaimAssessment,
    Received,
    Submission,
    assess,
    decide,
    read_received,
    read_submission,
    shown_digest,
)
from ethos_review.engine.documents import Document, Limits, read_document
from ethos_review.engine.errors import DocumentError, Problem
from ethos_review.engine.explain import Rule, explain, why
from ethos_review.engine.policy import Policy
from ethos_review.engine.release import Release, ReviewerDecision, make_release
from ethos_review.engine.statement import SealFacts, build_statement, canonical_payload, replay

__all__ = [
    "Assessment",
    "ClaimAssessment",
    "Document",
    "DocumentError",
    "Limits",
    "Policy",
    "Problem",
    "Received",
    "Release",
    "ReviewerDecision",
    "Rule",
    "SealFacts",
    "Submission",
    "assess",
    "build_statement",
    "canonical_payload",
    "decide",
    "explain",
    "make_release",
    "read_document",
    "read_received",
    "read_submission",
    "replay",
    "shown_digest",
    "why",
]
