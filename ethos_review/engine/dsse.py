"""DSSE envelopes: what they hold, what exactly was signed, which keys signed it (DSSE 1.0.2)."""

from __future__ import annotations

import base64
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import cast

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat, load_pem_public_key
from securesystemslib.exceptions import UnverifiedSignatureError
from securesystemslib.signer import Signature, SSlibKey  # type: ignore[attr-defined]

from ethos_review.engine.contracts import check_against_schema
from ethos_review.engine.documents import Json
from ethos_review.engine.errors import DocumentError, Problem, join_pointer

IN_TOTO_PAYLOAD_TYPE = "application/vnd.in-toto+json"

_BASE64 = re.compile(r"[A-Za-z0-9+/]*|[A-Za-z0-9_-]*")
_URL_SAFE_TO_STANDARD = str.maketrans("-_", "+/")


@dataclass(frozen=True, slots=True)
class DsseSignature:
    signature: bytes
    keyid: str | None  # an unauthenticated hint; never used to decide anything


@dataclass(frozen=True, slots=True)
class DsseEnvelope:
    """An envelope whose signatures nobody has checked yet: ask `verified_by` before reading `payload`."""

    payload_type: str
    payload: bytes
    signatures: tuple[DsseSignature, ...]

    def pre_authentication_encoding(self) -> bytes:
        """What is signed (DSSE 1.0.2, PAE); lengths count bytes."""
        payload_type = self.payload_type.encode("utf-8")
        return b"DSSEv1 %d %b %d %b" % (len(payload_type), payload_type, len(self.payload), self.payload)


def decode_envelope(value: Json, *, role: str = "envelope", pointer: str = "") -> DsseEnvelope:
    """The envelope in a parsed JSON value, itself at `pointer`. Raises DocumentError (schema, base64)."""
    check_against_schema(role, value, "dsse-envelope", pointer)
    envelope = cast("dict[str, Json]", value)
    problems: list[Problem] = []

    def decode(text: Json, place: str) -> bytes:
        try:
            return decode_base64(cast(str, text))
        except ValueError as error:
            problems.append(Problem(role, place, "bad_base64", str(error)))
            return b""

    payload = decode(envelope["payload"], join_pointer(pointer, "payload"))
    signatures = []
    for position, entry in enumerate(cast("list[dict[str, Json]]", envelope["signatures"])):
        signature = decode(entry["sig"], join_pointer(pointer, "signatures", position, "sig"))
        signatures.append(DsseSignature(signature, cast("str | None", entry.get("keyid")) or None))
    if problems:
        raise DocumentError(problems)
    return DsseEnvelope(cast(str, envelope["payloadType"]), payload, tuple(signatures))


def decode_base64(text: str) -> bytes:
    """Standard or URL-safe base64, padded or not (DSSE 1.0.2). ValueError, ready to show, otherwise."""
    digits = text.rstrip("=")
    padding = len(text) - len(digits)
    if not _BASE64.fullmatch(digits):
        raise ValueError(
            "This is not base64: use either the standard alphabet (A-Z a-z 0-9 + /) or the URL-safe one "
            "(A-Z a-z 0-9 - _), without spaces or line breaks."
        )
    missing = -len(digits) % 4
    if missing == 3 or padding not in (0, missing):
        raise ValueError("This base64 text has a wrong length or wrong padding; it may have been cut off.")
    standard = digits.translate(_URL_SAFE_TO_STANDARD)
    decoded = base64.b64decode(standard + "=" * missing)
    # Two spellings of the same bytes would let a changed envelope pass for the unchanged one.
    if base64.b64encode(decoded).rstrip(b"=") != standard.encode("ascii"):
        raise ValueError("This base64 text ends in bits that belong to no byte; encode the bytes again.")
    return decoded


@lru_cache(maxsize=64)
def load_verifier_key(pem: bytes) -> SSlibKey:
    """A PEM public key (Ed25519, ECDSA or RSA). ValueError, ready to show to an operator, otherwise."""
    try:
        return SSlibKey.from_crypto(load_pem_public_key(pem))
    except (ValueError, UnsupportedAlgorithm) as error:
        raise ValueError(
            "The key must be a PEM public key (Ed25519, ECDSA P-256/P-384/P-521 or RSA), not a private key or "
            "another file."
        ) from error


def public_key_pem(key: SSlibKey) -> bytes:
    """The public key as PEM (SubjectPublicKeyInfo), as `verify --key` reads it."""
    public = key.keyval["public"]
    if key.keytype != "ed25519":
        return cast(str, public).encode()  # securesystemslib keeps every other kind as PEM
    return Ed25519PublicKey.from_public_bytes(bytes.fromhex(public)).public_bytes(
        Encoding.PEM, PublicFormat.SubjectPublicKeyInfo
    )


def verified_by(envelope: DsseEnvelope, keys: Sequence[SSlibKey]) -> tuple[str, ...]:
    """The ids of the distinct `keys` that made at least one of the signatures, in the order of `keys`.

    A key counts once, however often it signed or is listed; `keyid` is a hint, so every key is tried on every
    signature (DSSE 1.0.2, protocol).
    """
    message = envelope.pre_authentication_encoding()
    verified: dict[str, str] = {}
    for key in keys:
        public = key.keyval["public"]
        if public not in verified and any(_made(key, entry, message) for entry in envelope.signatures):
            verified[public] = key.keyid
    return tuple(verified.values())


def _made(key: SSlibKey, entry: DsseSignature, message: bytes) -> bool:
    try:
        key.verify_signature(Signature(key.keyid, entry.signature.hex()), message)
    except UnverifiedSignatureError:
        return False
    return True
