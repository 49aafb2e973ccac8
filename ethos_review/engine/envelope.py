"""The signed release: Ed25519 keys, signing, opening (DSSE 1.0.2; keys through securesystemslib)."""

from __future__ import annotations

import base64
import json
import os
import stat
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, cast

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)
from securesystemslib.signer import CryptoSigner, Signer, SSlibKey  # type: ignore[attr-defined]

from ethos_review.engine.audit_chain import Checkpoint, read_checkpoint_payload
from ethos_review.engine.documents import Json, read_document
from ethos_review.engine.dsse import (
    IN_TOTO_PAYLOAD_TYPE,
    DsseEnvelope,
    decode_envelope,
    load_verifier_key,
    verified_by,
)
from ethos_review.engine.dsse import public_key_pem as public_key_pem
from ethos_review.engine.errors import DocumentError
from ethos_review.engine.keys import TrustedKey, key_ids_in_force, read_time
from ethos_review.engine.statement import PAYLOAD_LIMITS, read_release_payload

PAYLOAD_TYPE: Final = IN_TOTO_PAYLOAD_TYPE


class KeyFileError(Exception):
    """A key cannot be used; the message says what to do."""


class EnvelopeError(Exception):
    """An envelope is refused.

    `code` is `malformed_envelope`; `unknown_key`, `bad_signature` or `retired_key`; `wrong_payload_type`,
    `wrong_statement_type`, `wrong_predicate_type`, `not_a_release` or `not_a_checkpoint`.
    """

    def __init__(self, code: str, message: str) -> None:
        self.code = code
        self.message = message
        super().__init__(message)


def write_key(path: Path, passphrase: bytes | None = None) -> SSlibKey:
    """Make a key, write it to a new file with mode 0600, and return its public half.

    Raises KeyFileError when the file cannot be written or is there already: a key is never overwritten.
    """
    private_key = Ed25519PrivateKey.generate()
    encryption = BestAvailableEncryption(passphrase) if passphrase else NoEncryption()
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        raise KeyFileError(
            f"{path} is there already. Choose another name; a key is never overwritten."
        ) from None
    except OSError as error:
        raise KeyFileError(f"{path} cannot be written: {error.strerror}.") from None
    with os.fdopen(descriptor, "wb") as file:
        file.write(private_key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, encryption))
    return SSlibKey.from_crypto(private_key.public_key())


def load_signer(path: Path, passphrase: bytes | None = None) -> Signer:
    """The signer of a PEM PKCS#8 Ed25519 private key that only its owner can read.

    Raises KeyFileError with a next step.
    """
    try:
        with path.open("rb") as file:
            mode = stat.S_IMODE(os.fstat(file.fileno()).st_mode)
            if mode & 0o077:
                raise KeyFileError(
                    f"{path} can be used by others (mode {mode:04o}). Make it private: chmod 600 {path}"
                )
            pem = file.read()
    except OSError as error:
        raise KeyFileError(
            f"{path} cannot be read: {error.strerror}. Name a file that holds the signing key."
        ) from None
    return signer_of(pem, passphrase, str(path))


def signer_of(pem: bytes, passphrase: bytes | None, named: str) -> Signer:
    """The signer of a PEM PKCS#8 Ed25519 private key. Raises KeyFileError with a next step."""
    try:
        private_key = load_pem_private_key(pem, passphrase or None)
    except TypeError:
        raise KeyFileError(
            f"{named} has a passphrase and none was given. Give its passphrase."
            if not passphrase
            else f"{named} has no passphrase, but one was given. Leave it out."
        ) from None
    except (ValueError, UnsupportedAlgorithm):
        raise KeyFileError(
            f"{named} is not a private key as PEM PKCS#8 (Ed25519), or its passphrase is another."
        ) from None
    if not isinstance(private_key, Ed25519PrivateKey):
        raise KeyFileError(f"{named} holds a key of another kind. Releases are signed with Ed25519.")
    return CryptoSigner(private_key)


def load_public_key(pem: bytes) -> SSlibKey:
    """A PEM public key. Raises KeyFileError otherwise."""
    try:
        return load_verifier_key(pem)
    except ValueError as error:
        raise KeyFileError(str(error)) from None


def load_signer_by_uri(uri: str, public_key_file: Path, passphrase: str = "") -> Signer:
    """The signer that securesystemslib knows under this URI: a key management service, a hardware module, a file.

    It has to make a signature that the public key verifies. Raises KeyFileError with a next step.
    """
    scheme = uri.partition(":")[0]  # what follows may be secret
    try:
        public_key = load_public_key(public_key_file.read_bytes())
    except OSError as error:
        raise KeyFileError(
            f"{public_key_file} cannot be read: {error.strerror}. Name a file that holds the public key."
        ) from None
    try:
        signer = Signer.from_priv_key_uri(uri, public_key, lambda name: passphrase)
    except Exception as error:  # every kind of signer has failures of its own
        raise KeyFileError(f"The signer of scheme {scheme} cannot be used: {error}") from error
    sign_payload(b"{}", signer)
    return signer


def sign_payload(payload: bytes, signer: Signer) -> bytes:
    """The envelope as JSON bytes, exactly what is stored and handed out (DSSE 1.0.2).

    Raises KeyFileError when the signer does not sign, or not with the key that it names.
    """
    message = DsseEnvelope(PAYLOAD_TYPE, payload, ()).pre_authentication_encoding()
    try:
        signature = signer.sign(message)
        signer.public_key.verify_signature(signature, message)
    except Exception as error:  # every kind of signer has failures of its own
        raise KeyFileError(f"The signer did not sign: {error or type(error).__name__}") from error
    envelope = {
        "payload": _base64(payload),
        "payloadType": PAYLOAD_TYPE,
        "signatures": [{"keyid": signature.keyid, "sig": _base64(bytes.fromhex(signature.signature))}],
    }
    return json.dumps(envelope, separators=(",", ":")).encode()


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")


@dataclass(frozen=True, slots=True)
class VerifiedPayload:
    payload: bytes
    key_ids: tuple[str, ...]  # the distinct keys that verified it


@dataclass(frozen=True, slots=True)
class OpenedRelease:
    statement: dict[str, Json]
    payload: bytes
    key_ids: tuple[str, ...]  # the distinct keys that verified it


def open_envelope(envelope: bytes, keys: Sequence[SSlibKey]) -> VerifiedPayload:
    """Verify first, return the payload afterwards. Raises EnvelopeError.

    The payload type is looked at once a signature over it has been verified, the payload not at all.
    """
    decoded = _decode(envelope)
    key_ids = verified_by(decoded, keys)
    if not key_ids:
        hinted = {signature.keyid for signature in decoded.signatures}
        if any(key.keyid in hinted for key in keys):
            raise EnvelopeError(
                "bad_signature",
                "The signature does not belong to this payload: something was changed after it was signed.",
            )
        raise EnvelopeError(
            "unknown_key", "None of the given keys made a signature on this envelope. Get the key it names."
        )
    if decoded.payload_type != PAYLOAD_TYPE:
        raise EnvelopeError(
            "wrong_payload_type",
            f"The payload type is {decoded.payload_type!r}; releases and checkpoints have {PAYLOAD_TYPE!r}.",
        )
    return VerifiedPayload(decoded.payload, key_ids)


def unverified_payload(envelope: bytes) -> bytes:
    """The payload as it stands, for comparing it with what is recomputed; nobody has vouched for it."""
    return _decode(envelope).payload


def _decode(envelope: bytes) -> DsseEnvelope:
    try:
        return decode_envelope(read_document("envelope", "envelope", envelope, PAYLOAD_LIMITS).value)
    except DocumentError as error:
        problem = error.problems[0]
        place = f"{problem.pointer}: " if problem.pointer else ""
        message = f"This is no signed envelope. {place}{problem.message}"
        raise EnvelopeError("malformed_envelope", message) from None


def open_release(envelope: bytes, keys: Sequence[TrustedKey]) -> OpenedRelease:
    """The release in an envelope: signature, payload type, Statement type, predicate type, schema, and that a
    key which made the signature still signed when the release was sealed; in this order.

    Raises EnvelopeError.
    """
    verified = open_envelope(envelope, [trusted.key for trusted in keys])
    try:
        statement = read_release_payload(verified.payload)
    except DocumentError as error:
        raise _of_another_kind(error, "not_a_release") from None
    predicate = cast("dict[str, Json]", statement["predicate"])
    key_ids = _in_force(verified, keys, cast(str, predicate["sealed_at"]), "not_a_release")
    return OpenedRelease(statement, verified.payload, key_ids)


@dataclass(frozen=True, slots=True)
class OpenedCheckpoint:
    checkpoint: Checkpoint
    key_ids: tuple[str, ...]


def open_checkpoint(envelope: bytes, keys: Sequence[TrustedKey]) -> OpenedCheckpoint:
    """The checkpoint of the event chain in an envelope, by the same rules as a release. Raises EnvelopeError."""
    verified = open_envelope(envelope, [trusted.key for trusted in keys])
    try:
        checkpoint = read_checkpoint_payload(verified.payload)
    except DocumentError as error:
        raise _of_another_kind(error, "not_a_checkpoint") from None
    key_ids = _in_force(verified, keys, checkpoint.taken_at, "not_a_checkpoint")
    return OpenedCheckpoint(checkpoint, key_ids)


def _of_another_kind(error: DocumentError, otherwise: str) -> EnvelopeError:
    problem = error.problems[0]
    types = ("wrong_statement_type", "wrong_predicate_type")
    code = problem.code if problem.code in types else otherwise
    return EnvelopeError(code, f"{problem.pointer or 'The payload'}: {problem.message}")


def _in_force(
    verified: VerifiedPayload, keys: Sequence[TrustedKey], signed_at: str, otherwise: str
) -> tuple[str, ...]:
    at = read_time(signed_at)
    if at is None:
        raise EnvelopeError(otherwise, f"It names {signed_at} as its time, which no calendar or clock shows.")
    key_ids = key_ids_in_force(verified.key_ids, keys, at)
    if not key_ids:
        raise EnvelopeError(
            "retired_key",
            f"It was signed at {signed_at} by key {', '.join(verified.key_ids)}, which no longer signed then. "
            "Ask for a release that is signed by a key in force.",
        )
    return key_ids
