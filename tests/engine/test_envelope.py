"""Signing keys, signing, opening (DSSE 1.0.2)."""

from __future__ import annotations

import base64
import json
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1
from cryptography.hazmat.primitives.asymmetric.ec import generate_private_key as generate_ec_key
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_public_key,
)
from securesystemslib.dsse import Envelope
from securesystemslib.signer import CryptoSigner, SSlibKey

from ethos_review.engine.envelope import (
    PAYLOAD_TYPE,
    EnvelopeError,
    KeyFileError,
    load_public_key,
    load_signer,
    open_envelope,
    open_release,
    public_key_pem,
    sign_payload,
    unverified_payload,
    write_key,
)
from ethos_review.engine.keys import TrustedKey
from ethos_review.engine.statement import canonical_payload
from tests.engine.test_statement import sealed

SIGNER = CryptoSigner.generate_ed25519()
OTHER = CryptoSigner.generate_ed25519()
KEY = SIGNER.public_key
PAYLOAD = b'{"a":1}'
ENVELOPE = sign_payload(PAYLOAD, SIGNER)


def changed(**members):
    return json.dumps({**json.loads(ENVELOPE), **members}).encode()


def signed_as(payload, payload_type):
    """An envelope of another payload type, signed as such."""
    envelope = Envelope(payload, payload_type, {})
    envelope.sign(SIGNER)
    return json.dumps(envelope.to_dict()).encode()


def refusal(envelope, keys, opened=open_envelope):
    with pytest.raises(EnvelopeError) as refused:
        opened(envelope, keys)
    assert refused.value.message
    return refused.value.code


def test_what_was_signed_comes_out_with_the_key_that_signed_it():
    opened = open_envelope(ENVELOPE, [OTHER.public_key, KEY])
    assert opened.payload == PAYLOAD
    assert opened.key_ids == (KEY.keyid,)
    assert unverified_payload(ENVELOPE) == PAYLOAD


def test_an_envelope_verifies_with_securesystemslib_alone():
    envelope = Envelope.from_dict(json.loads(ENVELOPE))
    assert envelope.payload_type == PAYLOAD_TYPE == "application/vnd.in-toto+json"
    assert envelope.verify([KEY], 1) == {KEY.keyid: KEY}


def test_an_envelope_verifies_with_plain_ed25519_over_the_pre_authentication_encoding():
    envelope = json.loads(ENVELOPE)
    payload_type, payload = envelope["payloadType"].encode(), base64.b64decode(envelope["payload"])
    message = b" ".join(
        [b"DSSEv1", str(len(payload_type)).encode(), payload_type, str(len(payload)).encode(), payload]
    )
    public = load_pem_public_key(public_key_pem(KEY))
    assert isinstance(public, Ed25519PublicKey)
    public.verify(base64.b64decode(envelope["signatures"][0]["sig"]), message)


def test_the_key_id_is_the_one_that_securesystemslib_computes():
    public = load_pem_public_key(public_key_pem(KEY))
    assert json.loads(ENVELOPE)["signatures"][0]["keyid"] == SSlibKey.from_crypto(public).keyid == KEY.keyid


@pytest.mark.parametrize("strip_key_id", [True, False])
@pytest.mark.parametrize("encode", [base64.b64encode, base64.urlsafe_b64encode])
def test_both_alphabets_and_a_missing_key_id_are_accepted(encode, strip_key_id):
    payload = bytes(range(256))
    envelope = json.loads(sign_payload(payload, SIGNER))
    envelope["payload"] = encode(payload).decode()
    signature = base64.b64decode(envelope["signatures"][0]["sig"])
    envelope["signatures"][0]["sig"] = encode(signature).decode()
    if strip_key_id:
        del envelope["signatures"][0]["keyid"]
    assert open_envelope(json.dumps(envelope).encode(), [KEY]).payload == payload


def test_one_key_that_signed_twice_counts_once():
    signatures = json.loads(ENVELOPE)["signatures"]
    opened = open_envelope(changed(signatures=signatures * 2), [KEY, KEY])
    assert opened.key_ids == (KEY.keyid,)


def test_an_envelope_of_an_unknown_key_is_refused():
    assert refusal(ENVELOPE, [OTHER.public_key]) == "unknown_key"
    assert refusal(ENVELOPE, []) == "unknown_key"


def test_any_changed_payload_is_refused_as_badly_signed():
    for payload in (b'{"a":2}', b"", PAYLOAD + b" "):
        assert refusal(changed(payload=base64.b64encode(payload).decode()), [KEY]) == "bad_signature"
    assert refusal(changed(payloadType="text/plain"), [KEY]) == "bad_signature"


def test_a_key_id_never_makes_another_keys_signature_good():
    theirs = json.loads(sign_payload(PAYLOAD, OTHER))
    theirs["signatures"][0]["keyid"] = KEY.keyid
    assert refusal(json.dumps(theirs).encode(), [KEY]) == "bad_signature"


def test_another_payload_type_is_refused_although_it_is_signed():
    assert refusal(signed_as(PAYLOAD, "application/vnd.cyclonedx+json"), [KEY]) == "wrong_payload_type"


@pytest.mark.parametrize(
    "envelope",
    [b"", b"[]", b"\xff\xfe", b"{}", changed(payload="***"), changed(payload=5), changed(signatures="x")],
)
def test_what_is_no_envelope_is_refused_as_malformed(envelope):
    assert refusal(envelope, [KEY]) == "malformed_envelope"


def test_a_release_is_opened_only_after_signature_types_and_schema():
    statement = sealed()
    opened = open_release(sign_payload(canonical_payload(statement), SIGNER), [TrustedKey(KEY)])
    assert opened.statement == statement
    assert opened.key_ids == (KEY.keyid,)


@pytest.mark.parametrize(
    ("members", "code"),
    [
        ({"_type": "https://in-toto.io/Statement/v0.1"}, "wrong_statement_type"),
        ({"predicateType": "https://docushell.com/ethos/grounding/v1"}, "wrong_predicate_type"),
        ({"predicate": {}}, "not_a_release"),
    ],
)
def test_a_signed_statement_of_another_kind_is_refused_for_its_own_reason(members, code):
    payload = json.dumps({**sealed(), **members}).encode()
    assert refusal(sign_payload(payload, SIGNER), [TrustedKey(KEY)], open_release) == code


def test_a_signed_payload_that_is_no_json_is_not_a_release():
    assert refusal(sign_payload(b"\xff", SIGNER), [TrustedKey(KEY)], open_release) == "not_a_release"


def test_nothing_is_said_about_a_payload_whose_signature_does_not_verify():
    payload = json.dumps({**sealed(), "predicateType": "urn:other"}).encode()
    assert refusal(sign_payload(payload, OTHER), [TrustedKey(KEY)], open_release) == "unknown_key"


@pytest.mark.parametrize("passphrase", [None, b"correct horse"])
def test_a_written_key_is_private_and_signs(tmp_path: Path, passphrase):
    path = tmp_path / "signing.pem"
    public = write_key(path, passphrase)
    assert path.stat().st_mode & 0o777 == 0o600
    assert (b"ENCRYPTED" in path.read_bytes()) == (passphrase is not None)
    signed = sign_payload(PAYLOAD, load_signer(path, passphrase))
    assert open_envelope(signed, [public]).key_ids == (public.keyid,)
    assert load_public_key(public_key_pem(public)) == public


def test_a_key_is_never_overwritten(tmp_path: Path):
    path = tmp_path / "signing.pem"
    write_key(path)
    before = path.read_bytes()
    with pytest.raises(KeyFileError, match="never overwritten"):
        write_key(path)
    assert path.read_bytes() == before


def test_a_key_that_cannot_be_written_is_said_so(tmp_path: Path):
    with pytest.raises(KeyFileError, match="cannot be written"):
        write_key(tmp_path / "no" / "signing.pem")


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o660, 0o644])
def test_a_key_that_others_can_use_is_refused(tmp_path: Path, mode):
    path = tmp_path / "signing.pem"
    write_key(path)
    path.chmod(mode)
    with pytest.raises(KeyFileError, match="chmod 600"):
        load_signer(path)


@pytest.mark.parametrize(
    ("written", "given", "message"),
    [
        (b"correct", None, "none was given"),
        (b"correct", b"wrong", "passphrase is another"),
        (None, b"needless", "no passphrase, but one was given"),
    ],
)
def test_a_wrong_passphrase_is_said_so(tmp_path: Path, written, given, message):
    path = tmp_path / "signing.pem"
    write_key(path, written)
    with pytest.raises(KeyFileError, match=message):
        load_signer(path, given)


def private_file(path: Path, content: bytes) -> Path:
    path.write_bytes(content)
    path.chmod(0o600)
    return path


def test_only_an_ed25519_private_key_can_sign(tmp_path: Path):
    other_kind = generate_ec_key(SECP256R1()).private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    with pytest.raises(KeyFileError, match="Ed25519"):
        load_signer(private_file(tmp_path / "ec.pem", other_kind))
    with pytest.raises(KeyFileError, match="not a private key"):
        load_signer(private_file(tmp_path / "public.pem", public_key_pem(KEY)))
    with pytest.raises(KeyFileError, match="cannot be read"):
        load_signer(tmp_path / "missing.pem")


def test_a_public_key_of_another_kind_keeps_its_pem():
    key = CryptoSigner.generate_ecdsa().public_key
    assert load_public_key(public_key_pem(key)) == key


def test_what_is_no_public_key_is_refused():
    with pytest.raises(KeyFileError, match="PEM public key"):
        load_public_key(b"key")
