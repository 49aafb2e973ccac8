"""The event chain and its signed checkpoints, as files that anyone can verify offline (spec 4.1, 6.2)."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, cast

import rfc8785

from ethos_review.engine.contracts import check_against_schema
from ethos_review.engine.documents import Json, read_document
from ethos_review.engine.errors import DocumentError
from ethos_review.engine.statement import STATEMENT_TYPE, canonical_payload, read_statement

CHECKPOINT_TYPE: Final = "urn:ethos-review:audit-checkpoint:v1"
CHECKPOINT_SUBJECT: Final = "audit-chain"
GENESIS: Final = "0" * 64  # what the first event names as the digest before it
MAX_FAULTS: Final = 50


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """The chain at one moment: how many events it had, the digest of the last one, and when that was."""

    length: int
    sha256: str
    taken_at: str  # RFC 3339 UTC

    def to_payload(self) -> bytes:
        """The canonical JSON of its Statement, ready to sign."""
        return canonical_payload(
            {
                "_type": STATEMENT_TYPE,
                "subject": [{"name": CHECKPOINT_SUBJECT, "digest": {"sha256": self.sha256}}],
                "predicateType": CHECKPOINT_TYPE,
                "predicate": {"schema_version": "1.0.0", "length": self.length, "taken_at": self.taken_at},
            }
        )


def read_checkpoint_payload(payload: bytes) -> Checkpoint:
    """The checkpoint in a payload whose signature has been verified. Raises DocumentError."""
    statement: Any = read_statement("checkpoint", payload, CHECKPOINT_TYPE, "audit-checkpoint")
    predicate = statement["predicate"]
    return Checkpoint(
        length=int(predicate["length"]),
        sha256=statement["subject"][0]["digest"]["sha256"],
        taken_at=predicate["taken_at"],
    )


def event_digest(event: Mapping[str, Json]) -> str:
    """SHA-256 over the RFC 8785 form of everything an event says, the digest before it included."""
    return hashlib.sha256(rfc8785.dumps(cast("dict[str, str]", dict(event)))).hexdigest()


@dataclass(frozen=True, slots=True)
class ReadChain:
    """What a file of events holds, read line by line."""

    length: int
    sha256: str
    faults: tuple[str, ...]  # at most MAX_FAULTS, each with its line
    digests: Mapping[int, str]  # of the events that were asked for


def read_chain(lines: Iterable[bytes], wanted: Collection[int] = ()) -> ReadChain:
    """Recompute the chain in an export, one canonical JSON object per line, oldest event first.

    `wanted` are places in the chain whose digests are kept; 0 is the beginning.
    """
    faults: list[str] = []
    digests = {0: GENESIS}
    length, previous = 0, GENESIS
    for number, line in enumerate(lines, start=1):
        event, fault = _read_event(line)
        if event is None:
            fault = f"line {number}: {fault}"
        else:
            fault = _fault(event, length + 1, previous)
            fault = fault and f"line {number}, event {event['sequence']}: {fault}"
            length, previous = int(event["sequence"]), event["sha256"]
            if length in wanted:
                digests[length] = previous
        if fault and len(faults) < MAX_FAULTS:
            faults.append(fault)
    return ReadChain(length, previous, tuple(faults), digests)


def _read_event(line: bytes) -> tuple[dict[str, Any] | None, str]:
    try:
        value = read_document("event", "events", line).value
        check_against_schema("event", value, "audit-event")
    except DocumentError as error:
        problem = error.problems[0]
        return None, f"{problem.pointer}: {problem.message}" if problem.pointer else problem.message
    return cast("dict[str, Any]", value), ""


def _fault(event: dict[str, Any], expected: int, previous: str) -> str:
    if event["sequence"] != expected:
        return f"event {expected} was expected here"
    if event["previous"] != previous:
        return "it does not name the digest of the event before it"
    try:
        digest = event_digest({name: value for name, value in event.items() if name != "sha256"})
    except rfc8785.CanonicalizationError:
        digest = ""
    return "" if digest == event["sha256"] else "its digest does not match what it says"


def checkpoint_fault(checkpoint: Checkpoint, chain: ReadChain) -> str:
    """Why this is not the chain that the checkpoint was taken of; empty when it is. Ask for its length first."""
    if checkpoint.length > chain.length:
        return (
            f"the checkpoint was taken of {checkpoint.length} events, and the file holds {chain.length}. "
            "Export the events again"
        )
    if chain.digests.get(checkpoint.length) != checkpoint.sha256:
        return f"the chain is not the one that was signed at {checkpoint.length} events"
    return ""
