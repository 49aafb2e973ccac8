"""A report, bare or in the wrappers that it may come in (spec 2.2)."""

import base64

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from ethos_review.engine.dsse import IN_TOTO_PAYLOAD_TYPE, DsseEnvelope
from ethos_review.engine.report import PREDICATE_TYPE
from tests.engine.mutations import EXAMPLES, encoded, example_value

KEY = Ed25519PrivateKey.generate()
OLDER = example_value(EXAMPLES / "verification-report" / "valid" / "version-1.0.0.json")
WRAPPERS = ("bare", "statement", "dsse")


def pem(key=KEY):
    return key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)


def statement(report, **members):
    return {
        "_type": "https://in-toto.io/Statement/v1",
        "subject": [{"name": "manual.json", "digest": {"sha256": "0" * 64}}],
        "predicateType": PREDICATE_TYPE,
        "predicate": report,
        **members,
    }


def envelope(payload, *, key=KEY, payload_type=IN_TOTO_PAYLOAD_TYPE):
    signature = key.sign(DsseEnvelope(payload_type, payload, ()).pre_authentication_encoding())
    return {
        "payload": base64.b64encode(payload).decode(),
        "payloadType": payload_type,
        "signatures": [{"sig": base64.b64encode(signature).decode()}],
    }


def wrapped(report, wrapper):
    if wrapper == "bare":
        return report
    made = statement(report)
    return made if wrapper == "statement" else envelope(encoded(made))
