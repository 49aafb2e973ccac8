"""The roles of the product and the permissions each one names."""

from __future__ import annotations

from collections.abc import Iterable

SUBMITTER = "Submitter"
REVIEWER = "Reviewer"
AUDITOR = "Auditor"
OPERATOR = "Operator"

ROLE_WORDS: dict[str, str] = {
    SUBMITTER: "Uploads documents, and sees what became of their own.",
    REVIEWER: "Sees all reviews, decides claims, and seals.",
    AUDITOR: "Sees all reviews, the audit chain and the keys; changes nothing.",
    OPERATOR: "As an auditor, and gives accounts and roles; decides no claims.",
}
ROLES: dict[str, frozenset[str]] = {
    SUBMITTER: frozenset({"reviews.submit_review", "reviews.view_review"}),
    REVIEWER: frozenset(
        {
            "reviews.view_review",
            "reviews.view_every_review",
            "reviews.decide_claim",
            "reviews.seal_review",
        }
    ),
    AUDITOR: frozenset({"reviews.view_review", "reviews.view_every_review", "audit.view_event"}),
    OPERATOR: frozenset(
        {
            "reviews.view_review",
            "reviews.view_every_review",
            "audit.view_event",
            "accounts.manage_people",
        }
    ),
}


def permissions_of(roles: Iterable[str]) -> frozenset[str]:
    """What these roles let, together; the name of no role lets nothing."""
    return frozenset[str]().union(*(ROLES.get(role, ()) for role in roles))
