"""How the details of events read on the audit page; in the chain they stay as they are."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from ethos_review.audit.models import Event
from ethos_review.audit.operations import rfc3339
from ethos_review.audit.templatetags.audit_words import claim_number, facts

NOW = timezone.now()
DIGEST = "ab" * 32


def event(**details: Any) -> Event:
    return Event(at=NOW, details=json.dumps(details))


@pytest.mark.parametrize(
    ("details", "said"),
    [
        (
            {
                "copy": 0,
                "documents": [{"role": "verification_report", "size": 3}, {"role": "claims"}],
                "policy": DIGEST,
                "submitted_at": rfc3339(NOW - timedelta(seconds=1)),
                "supersedes": None,
            },
            [("Documents", "verification report, claims"), ("Policy", "abababab…ababab")],
        ),
        ({"copy": 2}, [("Same bytes as before, copy", "2")]),
        (
            {"decision_sha256": DIGEST, "sequence": 1},
            [("Digest of the decision", "abababab…ababab"), ("Decision on this claim", "no. 1")],
        ),
        (
            {"answer_status": "none", "sealed_by": 2, "sealed_by_name": "R. Osei", "sealed_at": rfc3339(NOW)},
            [("Answer status", "none"), ("Sealed by", "R. Osei (person 2)")],
        ),
        (
            {"sealed_by": None, "sealed_by_name": "conservative"},
            [("Sealed by", "the policy conservative")],
        ),
        (
            {"engine": "2.0", "engine_before": "1.0", "policy": DIGEST, "policy_before": DIGEST},
            [("Engine", "2.0"), ("Engine before", "1.0"), ("Policy", "abababab…ababab")],
        ),
        (
            {"before": "", "after": "Reviewer"},
            [("Roles before", "none"), ("Roles after", "Reviewer")],
        ),
        ({"type": "totp"}, [("Kind", "authenticator app")]),
        ({"type": "carrier_pigeon"}, [("Kind", "carrier_pigeon")]),
        ({"something_new": 0, "nothing": []}, [("Something new", "0")]),
        ({"long": "x" * 90}, [("Long", "x" * 59 + "…")]),
    ],
)
def test_details_are_told_briefly_and_what_the_row_says_already_is_not(
    details: dict[str, Any], said: list[tuple[str, str]]
) -> None:
    assert facts(event(**details)) == said


def test_a_time_that_is_not_that_of_the_event_is_told() -> None:
    yesterday = rfc3339(NOW - timedelta(days=1))
    assert facts(event(sealed_at=yesterday)) == [("Sealed at", yesterday)]
    assert facts(event(sealed_at="noon", submitted_at=7)) == [("Sealed at", "noon"), ("Submitted at", "7")]


@pytest.mark.parametrize("details", ["{", "[1]", "null", ""])
def test_details_that_somebody_changed_are_shown_as_they_are(details: str) -> None:
    assert facts(Event(at=NOW, details=details)) == [("Cannot be read", details)]


@pytest.mark.parametrize(
    ("object_type", "object_id", "number"),
    [("claim", "5f0c/0", "1"), ("claim", "5f0c/41", "42"), ("claim", "5f0c/x", ""), ("review", "5f0c", "")],
)
def test_claims_count_from_1(object_type: str, object_id: str, number: str) -> None:
    assert claim_number(Event(object_type=object_type, object_id=object_id)) == number
