"""What the events vouch for: of each review, policy and signing key, what has to be stored of it."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from ethos_review.audit.models import Event
from ethos_review.reviews.bindings import EVENT_OF_OUTCOME


@dataclass(slots=True)
class ReviewVouched:
    """What the events say about one review."""

    submitter_id: int | None = None
    submission: dict[str, Any] | None = None
    policy: str | None = None  # digest of the policy applied last
    engine: str | None = None  # the version that derived the review last
    lapsed: set[tuple[int, int]] = field(default_factory=set)  # (position, sequence) of decisions
    changes: int = 0  # how many of its events changed what would be sealed
    decisions: dict[tuple[int, int], str] = field(default_factory=dict)  # (position, sequence) to digest
    seal: dict[str, Any] | None = None


@dataclass(slots=True)
class PolicyVouched:
    """What the events say about one policy."""

    earliest: datetime  # of the events that name it
    first_used_at: str | None  # None where an older version wrote them


@dataclass(slots=True)
class Vouched:
    """What all events say that were noted, oldest first."""

    reviews: dict[str, ReviewVouched] = field(default_factory=dict)  # by their ids
    policies: dict[str, PolicyVouched] = field(default_factory=dict)  # by their digests
    keys: dict[str, dict[str, Any]] = field(default_factory=dict)  # by their ids: the members of their rows

    def note(self, event: Event) -> None:
        details = json.loads(event.details)
        if event.object_type == "signing_key":
            self.keys.setdefault(event.object_id, {}).update(details)
        elif event.object_type == "claim" and event.action in EVENT_OF_OUTCOME.values():
            self._note_decision(event.object_id, details)
        elif event.action == "review_submitted":
            self._note_submission(event, details)
        elif event.action == "policy_applied":
            self._note_application(event, details)
        elif event.action == "review_sealed":
            review = self._review(event.object_id)
            review.seal = details
            review.changes += 1

    def _review(self, review_id: str) -> ReviewVouched:
        return self.reviews.setdefault(review_id, ReviewVouched())

    def _note_decision(self, claim: str, details: dict[str, Any]) -> None:
        review_id, _, position = claim.partition("/")
        review = self._review(review_id)
        review.decisions[int(position), details["sequence"]] = details["decision_sha256"]
        review.changes += 1

    def _note_submission(self, event: Event, details: dict[str, Any]) -> None:
        review = self._review(event.object_id)
        review.submission, review.submitter_id = details, event.actor_id
        review.policy, review.engine = details["policy"], details.get("engine")
        self._note_policy(event, details)

    def _note_application(self, event: Event, details: dict[str, Any]) -> None:
        review = self._review(event.object_id)
        review.policy, review.engine = details["policy"], details["engine"]
        if isinstance(details["lapsed_decisions"], list):  # an older version told only how many
            review.lapsed.update((position, sequence) for position, sequence in details["lapsed_decisions"])
        review.changes += 1
        self._note_policy(event, details)

    def _note_policy(self, event: Event, details: dict[str, Any]) -> None:
        """The first event that says when a policy was used first is believed."""
        said = details.get("policy_first_used_at")
        use = self.policies.setdefault(details["policy"], PolicyVouched(event.at, said))
        use.first_used_at = use.first_used_at or said
