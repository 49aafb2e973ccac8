"""Documents and people for tests: valid by default, each part replaceable."""

from __future__ import annotations

import json
from typing import Any
from uuid import UUID

from django.contrib.auth.models import Group

from ethos_review.accounts.models import User
from ethos_review.accounts.roles import REVIEWER, SUBMITTER
from ethos_review.reviews.models import Review, ReviewerDecision
from ethos_review.reviews.operations import Upload, decide_claim, submit_review
from ethos_review.reviews.queries import open_card

FILE_NAMES = {
    "verification_report": "verification-report.json",
    "claims": "claims.json",
    "readings": "readings.json",
    "bundle": "bundle.json",
}


def make_user(username: str, *roles: str, **fields: Any) -> User:
    user = User.objects.create_user(username, password=fields.pop("password", None), **fields)
    user.groups.set(Group.objects.filter(name__in=roles))
    assert user.groups.count() == len(set(roles))
    return user


def make_submitter(username: str = "submitter") -> User:
    return make_user(username, SUBMITTER)


def make_reviewer(username: str = "reviewer") -> User:
    return make_user(username, REVIEWER)


def check(check_id: str, status: str = "grounded", **members: Any) -> dict[str, Any]:
    return {
        "id": check_id,
        "claim": {"kind": "quote", "text": f"Text {check_id}.", "citation": {"page": "p0001"}},
        "status": status,
        "match_method": "exact_text" if status == "grounded" else "none",
        "semantic_unverified": False,
        "warnings": [],
        **members,
    }


def report(*checks: dict[str, Any], **members: Any) -> dict[str, Any]:
    grounded = bool(checks) and all(check["status"] == "grounded" for check in checks)
    return {
        "schema_version": "1.0.0",
        "verification_config_sha256": "0" * 64,
        "grounding": {
            "parser": {"name": "test-parser", "version": "1.0"},
            "capabilities": {
                "spans": True,
                "char_offsets": True,
                "tables": True,
                "fingerprint": True,
                "coordinate_origin": "top-left",
                "crop_support": False,
            },
        },
        "capability_limits": [],
        "fingerprint_stale": False,
        "all_evidence_grounded": grounded and not members.get("fingerprint_stale", False),
        "checks": list(checks),
        "unsupported_claim_kinds": [],
        "warnings": [],
        **members,
    }


def claim(claim_id: str, *check_ids: str, **members: Any) -> dict[str, Any]:
    return {
        "id": claim_id,
        "text": f"Claim {claim_id}.",
        **({"check_ids": list(check_ids)} if check_ids else {"citation_grounded": True}),
        "question_relevance": "direct_answer",
        "claim_type": "source_fact",
        **members,
    }


def synthesis(claim_id: str, *check_ids: str, **members: Any) -> dict[str, Any]:
    return claim(claim_id, *check_ids, claim_type="synthesis", **members)


def answer(*claims: dict[str, Any], question: str = "What changed?") -> dict[str, Any]:
    return {"question": question, "claims": list(claims)}


def reading(value: Any, entity: str = "acme", field: str = "revenue", **members: Any) -> dict[str, Any]:
    return {
        "entity": entity,
        "field": field,
        "value": value,
        "tool_name": "ledger",
        "tool_call_id": "call-1",
        "iteration": 0,
        **members,
    }


def upload(role: str, value: Any) -> Upload:
    """`value` is JSON, or bytes as they are."""
    content = value if isinstance(value, bytes) else json.dumps(value).encode()
    return Upload(role, FILE_NAMES[role], "application/json", content)


def parts(claims: Any, checks: Any = None, readings: Any = None) -> list[Upload]:
    """Report, claims and, when given, readings. Without a report, one grounded check `v0001`."""
    uploads = [
        upload("verification_report", report(check("v0001")) if checks is None else checks),
        upload("claims", claims),
    ]
    return uploads if readings is None else [*uploads, upload("readings", readings)]


def bundle(claims: Any, checks: Any = None, readings: Any = None, **members: Any) -> list[Upload]:
    value = {
        "artifact_type": "ethos_review.bundle.v1",
        "verification_report": report(check("v0001")) if checks is None else checks,
        "claims": claims,
        **members,
    }
    return [upload("bundle", value if readings is None else value | {"readings": readings})]


def large_bundle(claims: int, question: str = "What changed?") -> list[Upload]:
    """A bundle whose claims need review in turn, each with a check of its own and a reading that agrees."""
    checks = [check(f"v{number:05}") for number in range(claims)]
    labelled = [
        (claim if number % 2 else synthesis)(
            f"claim-{number}",
            f"v{number:05}",
            delivers=[{"entity": f"e{number}", "field": "revenue", "value": number}],
        )
        for number in range(claims)
    ]
    rows = [reading(number, entity=f"e{number}") for number in range(claims)]
    return bundle(answer(*labelled, question=question), report(*checks), rows)


def make_review(submitter: User, uploads: list[Upload] | None = None, **options: Any) -> Review:
    """By default one final claim, two at needs_review, and one blocked."""
    return submit_review(actor=submitter, uploads=uploads or four_claims(), **options).review


def four_claims(question: str = "What changed?") -> list[Upload]:
    return parts(
        answer(
            claim("fact", "v0001"),
            synthesis("joined", "v0001", "v0002"),
            synthesis("unsettled", "v0001", delivers=[{"entity": "acme", "field": "revenue", "value": 12.4}]),
            claim("missing", "v0003"),
            question=question,
        ),
        report(check("v0001"), check("v0002"), check("v0003", "not_found", reason="element_not_found")),
        [reading({"kind": "unknown", "reason": "The ledger is closed."})],
    )


def decide_as_shown(
    actor: User, review_id: UUID, position: int, outcome: str, rationale: str = ""
) -> ReviewerDecision:
    """As the form would that shows the claim now."""
    opened = open_card(actor, review_id, position)
    return decide_claim(
        actor=actor,
        review_id=review_id,
        position=position,
        outcome=outcome,
        rationale=rationale,
        shown_sha256=opened.shown_sha256,
        based_on=opened.card.latest_sequence,
    ).decision


def decide(actor: User, review: Review, position: int, outcome: str = "approve") -> ReviewerDecision:
    return decide_as_shown(actor, review.review_id, position, outcome, "Read it.")
