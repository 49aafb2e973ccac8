"""The event chain as a file, and its signed checkpoints."""

from __future__ import annotations

import json

import pytest
import rfc8785
from hypothesis import given, settings
from hypothesis import strategies as st
from securesystemslib.signer import CryptoSigner

from ethos_review.engine.audit_chain import (
    GENESIS,
    MAX_FAULTS,
    Checkpoint,
    checkpoint_fault,
    event_digest,
    read_chain,
)
from ethos_review.engine.contracts import check_against_schema
from ethos_review.engine.envelope import EnvelopeError, open_checkpoint, sign_payload
from ethos_review.engine.keys import TrustedKey
from ethos_review.engine.statement import canonical_payload
from tests.engine.mutations import EXAMPLES, example_paths, example_value
from tests.engine.test_statement import sealed

SIGNER = CryptoSigner.generate_ed25519()
KEYS = [TrustedKey(SIGNER.public_key)]
TAKEN_AT = "2026-03-02T09:20:00.000000Z"


def chain(length):
    """An export of that many events."""
    lines, previous = [], GENESIS
    for sequence in range(1, length + 1):
        event = {
            "sequence": sequence,
            "at": TAKEN_AT,
            "actor": sequence % 2 or None,
            "actor_name": "Zoë",
            "action": "claim_approved",
            "object_type": "claim",
            "object_id": f"r/{sequence}",
            "details": {"sequence": sequence},
            "previous": previous,
        }
        previous = event_digest(event)
        lines.append(rfc8785.dumps({**event, "sha256": previous}))
    return lines


LINES = chain(6)


def with_member(position, **members):
    lines = list(LINES)
    lines[position] = json.dumps({**json.loads(lines[position]), **members}).encode()
    return lines


def test_an_unbroken_chain_has_its_length_and_last_digest():
    read = read_chain(LINES, {0, 2})
    assert (read.length, read.faults) == (6, ())
    assert read.sha256 == json.loads(LINES[-1])["sha256"]
    assert read.digests == {0: GENESIS, 2: json.loads(LINES[1])["sha256"]}


def test_the_examples_of_the_schema_are_a_chain():
    events = [example_value(path) for path in example_paths("audit-event", "valid")]
    lines = [json.dumps(event).encode() for event in sorted(events, key=lambda event: event["sequence"])]
    assert read_chain(lines).faults == ()


@pytest.mark.parametrize(
    ("lines", "fault"),
    [
        (with_member(2, actor_name="Zoe"), "line 3, event 3: its digest does not match what it says"),
        (with_member(2, details={"n": 1.5}), "line 3, event 3: its digest does not match what it says"),
        (
            with_member(2, previous=GENESIS),
            "line 3, event 3: it does not name the digest of the event before",
        ),
        (LINES[:2] + LINES[3:], "line 3, event 4: event 3 was expected here"),
        (LINES[1:], "line 1, event 2: event 1 was expected here"),
        (LINES[:3] + LINES[2:], "line 4, event 3: event 4 was expected here"),
        ([*LINES, b""], "line 7: "),
        ([*LINES, b"{}"], "line 7: "),
        (with_member(0, more=1), "line 1: /more: "),
    ],
)
def test_a_changed_missing_or_strange_line_is_named(lines, fault):
    assert read_chain(lines).faults[0].startswith(fault)


@settings(max_examples=150)
@given(st.data())
def test_any_changed_byte_is_found(data):
    content = b"\n".join(LINES)
    place = data.draw(st.integers(0, len(content) - 1))
    byte = data.draw(st.integers(0, 255).filter(lambda value: value != content[place]))
    changed = content[:place] + bytes([byte]) + content[place + 1 :]
    before, after = read_chain(LINES), read_chain(changed.split(b"\n"))
    assert after.faults or after.sha256 != before.sha256


def test_a_chain_written_anew_is_found_by_a_checkpoint():
    checkpoint = Checkpoint(4, json.loads(LINES[3])["sha256"], TAKEN_AT)
    other = read_chain(with_new_name(chain(7)), {4})
    assert other.faults == ()
    assert checkpoint_fault(checkpoint, other) == "the chain is not the one that was signed at 4 events"
    assert checkpoint_fault(checkpoint, read_chain(chain(7), {4})) == ""


def with_new_name(lines):
    previous, renamed = GENESIS, []
    for line in lines:
        event = {**json.loads(line), "actor_name": "Nobody", "previous": previous}
        del event["sha256"]
        previous = event_digest(event)
        renamed.append(rfc8785.dumps({**event, "sha256": previous}))
    return renamed


def test_a_file_that_ends_before_the_checkpoint_is_found():
    checkpoint = Checkpoint(9, GENESIS, TAKEN_AT)
    assert "was taken of 9 events, and the file holds 6" in checkpoint_fault(
        checkpoint, read_chain(LINES, {9})
    )


def test_only_the_first_faults_are_told():
    assert len(read_chain([b"{"] * 200).faults) == MAX_FAULTS


def test_a_checkpoint_is_a_signed_statement_of_its_own_kind():
    checkpoint = Checkpoint(4, "a" * 64, TAKEN_AT)
    check_against_schema("checkpoint", json.loads(checkpoint.to_payload()), "audit-checkpoint")
    opened = open_checkpoint(sign_payload(checkpoint.to_payload(), SIGNER), KEYS)
    assert (opened.checkpoint, opened.key_ids) == (checkpoint, (SIGNER.public_key.keyid,))


def test_the_example_of_a_checkpoint_is_read():
    example = example_value(EXAMPLES / "audit-checkpoint" / "valid" / "forty-two-events.json")
    opened = open_checkpoint(sign_payload(json.dumps(example).encode(), SIGNER), KEYS)
    assert opened.checkpoint.length == 42


@pytest.mark.parametrize(
    ("payload", "keys", "code"),
    [
        (canonical_payload(sealed()), KEYS, "wrong_predicate_type"),
        (Checkpoint(-1, "a" * 64, TAKEN_AT).to_payload(), KEYS, "not_a_checkpoint"),
        (Checkpoint(1, "a" * 64, "2026-02-30T00:00:00Z").to_payload(), KEYS, "not_a_checkpoint"),
        (Checkpoint(1, "a" * 64, TAKEN_AT).to_payload(), [], "unknown_key"),
        (
            Checkpoint(1, "a" * 64, TAKEN_AT).to_payload(),
            [TrustedKey(SIGNER.public_key, TAKEN_AT)],
            "retired_key",
        ),
    ],
)
def test_what_is_no_checkpoint_is_refused_for_its_reason(payload, keys, code):
    with pytest.raises(EnvelopeError) as refused:
        open_checkpoint(sign_payload(payload, SIGNER), keys)
    assert refused.value.code == code
