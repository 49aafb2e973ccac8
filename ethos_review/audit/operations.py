"""Writing to the event chain."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, TypeAlias

import rfc8785
from django.db import transaction
from django.utils import timezone

from ethos_review.accounts.models import User
from ethos_review.audit.models import ChainHead, Event
from ethos_review.engine import audit_chain

Detail: TypeAlias = "bool | int | str | list[Detail] | dict[str, Detail] | None"


def rfc3339(at: datetime | None) -> str:
    """UTC with microseconds: the one form in which times are digested and signed.

    Empty for what the database holds in the place of a time and is none: then no digest over it matches.
    """
    return "" if at is None else at.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


def event_members(event: Event, details: object) -> dict[str, Any]:
    """Everything the event says, the digest before it included: what its own digest is over, and its export."""
    return {
        "sequence": event.sequence,
        "at": rfc3339(event.at),
        "actor": event.actor_id,
        "actor_name": event.actor_name,
        "action": event.action,
        "object_type": event.object_type,
        "object_id": event.object_id,
        "details": details,
        "previous": event.previous_sha256,
    }


def event_digest(event: Event, details: Mapping[str, Detail]) -> str:
    return audit_chain.event_digest(event_members(event, dict(details)))


def lock_chain() -> ChainHead:
    """The head of the chain, held until the transaction ends. Lock it last: every writer waits for it."""
    return ChainHead.objects.select_for_update().get(pk=1)


def record_event(
    *,
    actor: User | None,
    action: str,
    object_type: str,
    object_id: str,
    details: Mapping[str, Detail] | None = None,
    actor_name: str | None = None,
) -> Event:
    """Add one event, in the caller's transaction so that it stands or falls with what it records.

    `details` never hold texts from documents. `actor_name` is for acts without a person: the policy's.
    """
    details = details or {}
    with transaction.atomic(savepoint=False):
        head = lock_chain()
        event = Event(
            sequence=head.length + 1,
            at=timezone.now(),
            actor=actor,
            actor_name=_storable(actor_name if actor_name is not None else actor.name if actor else ""),
            action=action,
            object_type=object_type,
            object_id=_storable(object_id),
            details=rfc8785.dumps(dict(details)).decode(),
            previous_sha256=head.sha256,
        )
        event.sha256 = event_digest(event, details)
        event.save()
        head.length, head.sha256 = event.sequence, event.sha256
        head.save(update_fields=["length", "sha256"])
    return event


def record_export(*, actor: User | None, actor_name: str | None = None) -> Event:
    """The export ends with the event that tells of it."""
    return record_event(
        actor=actor, actor_name=actor_name, action="audit_exported", object_type="chain", object_id="audit"
    )


def _storable(text: str) -> str:
    """Whatever was typed at a failed sign-in: surrogates, NUL and excess length must not lose the event."""
    return text.encode("utf-8", "replace").decode().replace("\0", "\ufffd")[:200]
