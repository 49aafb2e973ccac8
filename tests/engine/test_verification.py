"""Verifying releases: envelopes made by others are refused, each for its own reason (spec 2.7, 7)."""

from __future__ import annotations

import base64
import json
import shutil
import subprocess
from pathlib import Path

import pytest
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.serialization import load_pem_public_key
from securesystemslib.dsse import Envelope
from securesystemslib.signer import CryptoSigner

from ethos_review.engine.audit_chain import Checkpoint
from ethos_review.engine.envelope import public_key_pem, sign_payload
from ethos_review.engine.keys import TrustedKey
from ethos_review.engine.statement import canonical_payload
from ethos_review.engine.verification import GivenDocument, parse_condition, verify_release
from tests.engine.test_statement import sealed

SIGNER = CryptoSigner.generate_ed25519()
SECOND = CryptoSigner.generate_ed25519()
STRANGER = CryptoSigner.generate_ed25519()
KEY = SIGNER.public_key
STATEMENT = sealed()
PAYLOAD = canonical_payload(STATEMENT)
ENVELOPE = sign_payload(PAYLOAD, SIGNER)
SEALED_AT = STATEMENT["predicate"]["sealed_at"]
CHECKPOINT = Checkpoint(3, "0" * 64, SEALED_AT).to_payload()


def by_others(payload, *signers, payload_type="application/vnd.in-toto+json"):
    """An envelope as securesystemslib makes it."""
    envelope = Envelope(payload, payload_type, {})
    for signer in signers:
        envelope.sign(signer)
    return json.dumps(envelope.to_dict()).encode()


def edited(envelope=ENVELOPE, **members):
    return json.dumps({**json.loads(envelope), **members}).encode()


def text(payload):
    return base64.b64encode(payload).decode()


def statement(**members):
    return canonical_payload({**STATEMENT, **members})


def signatures(envelope):
    return json.loads(envelope)["signatures"]


RETIRED_AT_THE_SEAL = TrustedKey(KEY, SEALED_AT)
RETIRED_LATER = TrustedKey(KEY, "2099-01-01T00:00:00Z")
IN_FORCE = TrustedKey(KEY)


@pytest.mark.parametrize(
    ("envelope", "keys", "code"),
    [
        pytest.param(by_others(PAYLOAD, SIGNER), [IN_FORCE], "", id="made by another program"),
        pytest.param(ENVELOPE, [RETIRED_LATER], "", id="key retired after the seal"),
        pytest.param(ENVELOPE, [RETIRED_AT_THE_SEAL], "retired_key", id="key retired at the seal"),
        pytest.param(ENVELOPE, [IN_FORCE, RETIRED_AT_THE_SEAL], "retired_key", id="listed twice"),
        pytest.param(ENVELOPE, [TrustedKey(STRANGER.public_key)], "unknown_key", id="unknown key"),
        pytest.param(ENVELOPE, [], "unknown_key", id="no key"),
        pytest.param(by_others(PAYLOAD, STRANGER), [IN_FORCE], "unknown_key", id="signed by a stranger"),
        pytest.param(
            edited(payload=text(PAYLOAD.replace(b'"partial"', b'"complete"'))),
            [IN_FORCE],
            "bad_signature",
            id="altered payload",
        ),
        pytest.param(edited(payloadType="text/plain"), [IN_FORCE], "bad_signature", id="altered type"),
        pytest.param(
            by_others(PAYLOAD, SIGNER, payload_type="application/vnd.in-toto+yaml"),
            [IN_FORCE],
            "wrong_payload_type",
            id="wrong payload type",
        ),
        pytest.param(
            sign_payload(statement(_type="https://in-toto.io/Statement/v0.1"), SIGNER),
            [IN_FORCE],
            "wrong_statement_type",
            id="older Statement",
        ),
        pytest.param(
            sign_payload(statement(predicateType="https://slsa.dev/provenance/v1"), SIGNER),
            [IN_FORCE],
            "wrong_predicate_type",
            id="another attestation",
        ),
        pytest.param(
            sign_payload(CHECKPOINT, SIGNER), [IN_FORCE], "wrong_predicate_type", id="our own checkpoint"
        ),
        pytest.param(sign_payload(statement(predicate={}), SIGNER), [IN_FORCE], "not_a_release", id="schema"),
        pytest.param(
            sign_payload(
                statement(predicate={**STATEMENT["predicate"], "sealed_at": "2026-02-30T00:00:00Z"}), SIGNER
            ),
            [IN_FORCE],
            "not_a_release",
            id="no such day",
        ),
        pytest.param(b"{}", [IN_FORCE], "malformed_envelope", id="no envelope"),
    ],
)
def test_an_envelope_is_refused_for_the_right_reason(envelope, keys, code):
    verification = verify_release(envelope, keys)
    assert (verification.code, verification.valid) == (code, not code)
    assert bool(verification.message) == bool(code)
    assert (verification.release is None) == bool(code)
    assert ("release" in verification.to_json()) == (not code)


def test_one_key_that_signed_twice_counts_once():
    twice = edited(signatures=signatures(ENVELOPE) + signatures(by_others(PAYLOAD, SIGNER)))
    verification = verify_release(twice, [IN_FORCE, IN_FORCE])
    assert verification.release.key_ids == (KEY.keyid,)


def test_beside_a_retired_key_one_in_force_makes_it_valid_and_only_that_one_is_named():
    both = by_others(PAYLOAD, SIGNER, SECOND)
    verification = verify_release(both, [RETIRED_AT_THE_SEAL, TrustedKey(SECOND.public_key)])
    assert verification.release.key_ids == (SECOND.public_key.keyid,)


def test_that_the_key_was_retired_since_is_said_for_its_signature_does_not_show_when_it_was_made():
    verification = verify_release(ENVELOPE, [RETIRED_LATER])
    assert verification.valid
    assert verification.to_json()["key_retired_at"] == "2099-01-01T00:00:00Z"
    assert "retired at 2099-01-01T00:00:00Z" in verification.remark
    assert "only the audit chain" in verification.remark


@pytest.mark.parametrize(
    ("keys", "retired_at"),
    [
        ([IN_FORCE, TrustedKey(SECOND.public_key)], None),
        ([RETIRED_LATER, TrustedKey(SECOND.public_key)], None),  # one still signs
        ([RETIRED_LATER, TrustedKey(STRANGER.public_key, "2098-01-01T00:00:00Z")], "2099-01-01T00:00:00Z"),
        ([RETIRED_LATER, TrustedKey(SECOND.public_key, "2098-01-01T00:00:00Z")], "2099-01-01T00:00:00Z"),
        ([RETIRED_LATER, TrustedKey(KEY, "2098-01-01T00:00:00Z")], "2098-01-01T00:00:00Z"),  # listed twice
        ([RETIRED_LATER, IN_FORCE], "2099-01-01T00:00:00Z"),
    ],
)
def test_a_release_needs_no_note_while_one_of_its_keys_signs(keys, retired_at):
    verification = verify_release(by_others(PAYLOAD, SIGNER, SECOND), keys)
    assert verification.to_json()["key_retired_at"] == retired_at
    assert bool(verification.remark) == bool(retired_at)


def test_given_documents_are_held_against_the_subjects():
    subjects = STATEMENT["subject"]
    first, *others = subjects
    given = [GivenDocument("a.json", first["digest"]["sha256"]), GivenDocument("b.json", "0" * 64)]
    verification = verify_release(ENVELOPE, [IN_FORCE], given)
    assert (verification.valid, verification.code) == (False, "foreign_document")
    assert verification.documents_checked == (first["name"],)
    assert verification.documents_not_checked == tuple(subject["name"] for subject in others)
    assert verification.foreign_documents == ("b.json",)
    assert verify_release(ENVELOPE, [IN_FORCE], given[:1]).valid


@pytest.mark.parametrize(
    ("condition", "holds"),
    [
        ("answer_status=partial", True),
        ("answer_status=complete", False),
        ("answer_status=complete,partial", True),
        ("answer_status!=none", True),
        ("answer_status!=none,partial", False),
        ("released=claim-revenue", True),
        ("released=claim-margin", False),
        ("withheld!=claim-margin", False),
        ("disclosures!=withheld_by_reviewer", True),
        ("disclosures=partial_answer", True),
        ("policy=conservative", True),
        ("policy_version=2", False),
        ("contract_version=1.0.0", True),
        ("engine_version=0", False),
        ("proof_status=partially_verified,verified", True),
        ("relevance=direct", True),
        ("external_id=", False),
        (f"review_id={STATEMENT['predicate']['review_id']}", True),
        ("sealed_by=7", True),
    ],
)
def test_a_condition_is_held_against_the_release(condition, holds):
    verification = verify_release(ENVELOPE, [IN_FORCE], (), [parse_condition(condition)])
    assert verification.valid == holds
    assert verification.code == ("" if holds else "condition_not_met")
    assert verification.unmet_conditions == (() if holds else (condition,))


@pytest.mark.parametrize("written", ["", "answer_status", "answer=complete", "=complete", "answer_status>1"])
def test_what_is_no_condition_is_refused_with_the_names(written):
    with pytest.raises(ValueError, match="Names: answer_status"):
        parse_condition(written)


# Other programs ----------------------------------------------------------------------------------------------------


def test_a_release_verifies_with_securesystemslib_alone():
    assert Envelope.from_dict(json.loads(ENVELOPE)).verify([KEY], 1) == {KEY.keyid: KEY}


def test_a_release_verifies_with_cryptography_alone():
    envelope = json.loads(ENVELOPE)
    payload_type, payload = envelope["payloadType"].encode(), base64.b64decode(envelope["payload"])
    signed = b"DSSEv1 %d %b %d %b" % (len(payload_type), payload_type, len(payload), payload)
    signature = base64.b64decode(envelope["signatures"][0]["sig"])
    public_key = load_pem_public_key(public_key_pem(KEY))
    public_key.verify(signature, signed)
    with pytest.raises(InvalidSignature):
        public_key.verify(signature, signed + b" ")


@pytest.mark.skipif(shutil.which("node") is None, reason="Node is not installed")
@pytest.mark.parametrize(
    ("envelope", "signer", "status"),
    [
        (ENVELOPE, SIGNER, 0),
        (ENVELOPE, STRANGER, 1),
        (edited(payload=text(PAYLOAD + b" ")), SIGNER, 1),
        (sign_payload(CHECKPOINT, SIGNER), SIGNER, 4),
        (by_others(PAYLOAD, SIGNER, payload_type="text/plain"), SIGNER, 4),
    ],
    ids=["valid", "another key", "altered", "a checkpoint", "another payload type"],
)
def test_node_gives_the_same_answer(tmp_path: Path, envelope, signer, status):
    (tmp_path / "release.json").write_bytes(envelope)
    (tmp_path / "key.pem").write_bytes(public_key_pem(signer.public_key))
    script = Path(__file__).parents[1] / "node" / "verify.mjs"
    done = subprocess.run(
        ["node", str(script), "release.json", "key.pem"],
        capture_output=True,
        check=False,
        cwd=tmp_path,
    )
    assert done.returncode == status, done.stderr
    assert verify_release(envelope, [TrustedKey(signer.public_key)]).valid == (status == 0)
    if status == 0:
        said, release = json.loads(done.stdout), STATEMENT["predicate"]["release"]
        assert said == {name: release[name] for name in ("answer_status", "released_claim_ids")}
