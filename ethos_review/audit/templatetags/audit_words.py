"""What an event's details are called and how they read; the values in the chain stay as they are."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import Final

from django import template
from django.utils.text import Truncator

from ethos_review.audit.models import Event
from ethos_review.web.templatetags.texts import short_digest, spaced

register = template.Library()
Details = Mapping[str, object]

SAME_TIME: Final = timedelta(minutes=1)  # the time of what happened, just before it was recorded
_DIGEST: Final = re.compile("[0-9a-f]{64}")
_LABELS: Final = {
    "after": "Roles after",
    "before": "Roles before",
    "decision_sha256": "Digest of the decision",
    "envelope_sha256": "Digest of the envelope",
    "key_id": "Signed by key",
}
_SECOND_FACTORS: Final = {"totp": "authenticator app", "webauthn": "passkey or security key"}


@register.filter
def facts(event: Event) -> list[tuple[str, str]]:
    """The details as names and short texts; what the row says already is left out."""
    try:
        details = json.loads(event.details)
    except ValueError:
        details = None
    if not isinstance(details, dict):  # somebody changed it, and whoever looks shall see that
        return [("Cannot be read", _short(event.details))]
    return [fact for name, value in details.items() if (fact := _fact(event, name, value, details))]


def _fact(event: Event, name: str, value: object, details: Details) -> tuple[str, str] | None:
    if name in _SAID_WITH_ANOTHER:
        return None
    said = _SAID.get(name)
    if said:
        return said(value, details)
    if name.endswith("_before") and value == details.get(name.removesuffix("_before")):
        return None
    if name.endswith("_at") and _is_time_of(event, value):
        return None
    label = _LABELS.get(name, spaced(name))
    if value in ("", [], None):
        return (label, "none") if name in ("before", "after") else None
    return label, _short(value)


def _documents(value: object, _: Details) -> tuple[str, str] | None:
    if not isinstance(value, list):
        return "Documents", _short(value)
    roles = [str(document.get("role")) for document in value if isinstance(document, dict)]
    return "Documents", ", ".join(role.replace("_", " ") for role in roles)


def _copy(value: object, _: Details) -> tuple[str, str] | None:
    """How often the same bytes were submitted before, on purpose; the first time says nothing."""
    return ("Same bytes as before, copy", _short(value)) if value else None


def _lapsed(value: object, _: Details) -> tuple[str, str]:
    return "Decisions that lapsed", str(len(value)) if isinstance(value, list) else _short(value)


def _sequence(value: object, _: Details) -> tuple[str, str]:
    return "Decision on this claim", f"no. {_short(value)}"


def _sealed_by(value: object, details: Details) -> tuple[str, str]:
    name = _short(details.get("sealed_by_name"))
    return "Sealed by", f"the policy {name}" if value is None else f"{name} (person {_short(value)})"


def _by(value: object, _: Details) -> tuple[str, str]:
    """The ways in which somebody signed in, or failed to."""
    ways = _short(value).split(", ")
    return "By", ", ".join("second factor" if way == "mfa" else way for way in ways)


def _second_factor(value: object, _: Details) -> tuple[str, str]:
    return "Kind", _SECOND_FACTORS.get(str(value), _short(value))


_SAID_WITH_ANOTHER: Final = frozenset({"sealed_by_name", "policy_first_used_at"})
_SAID: Final[dict[str, Callable[[object, Details], tuple[str, str] | None]]] = {
    "documents": _documents,
    "copy": _copy,
    "lapsed_decisions": _lapsed,
    "sequence": _sequence,
    "sealed_by": _sealed_by,
    "by": _by,
    "type": _second_factor,
}


def _is_time_of(event: Event, value: object) -> bool:
    try:
        return abs(datetime.fromisoformat(str(value)) - event.at) < SAME_TIME
    except (ValueError, TypeError):
        return False


def _short(value: object) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return short_digest(text) if _DIGEST.fullmatch(text) else Truncator(text).chars(60)


@register.filter
def claim_number(event: Event) -> str:
    """Of the claim that the event is about, counted from 1; empty when it is about something else."""
    return str(int(event.position) + 1) if event.position.isdecimal() else ""
