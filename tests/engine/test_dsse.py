"""DSSE envelopes are read as the protocol says (DSSE 1.0.2)."""

import base64

import pytest
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, padding, rsa
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from hypothesis import given
from hypothesis import strategies as st

from ethos_review.engine.dsse import (
    DsseEnvelope,
    DsseSignature,
    decode_base64,
    decode_envelope,
    load_verifier_key,
    verified_by,
)
from ethos_review.engine.errors import DocumentError

TYPE = "application/vnd.in-toto+json"
PAYLOAD = b'{"a": "\xc3\xa9"}'
ED25519 = ed25519.Ed25519PrivateKey.generate()
ECDSA = ec.generate_private_key(ec.SECP256R1())
RSA = rsa.generate_private_key(public_exponent=65537, key_size=2048)


def pem(private_key):
    return private_key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)


def envelope(*signatures, payload=PAYLOAD, payload_type=TYPE):
    return DsseEnvelope(payload_type, payload, tuple(DsseSignature(sig, keyid) for sig, keyid in signatures))


def signed(private_key, payload=PAYLOAD):
    message = envelope(payload=payload).pre_authentication_encoding()
    if isinstance(private_key, ec.EllipticCurvePrivateKey):
        return private_key.sign(message, ec.ECDSA(SHA256()))
    if isinstance(private_key, rsa.RSAPrivateKey):
        return private_key.sign(
            message, padding.PSS(padding.MGF1(SHA256()), padding.PSS.DIGEST_LENGTH), SHA256()
        )
    return private_key.sign(message)


def as_json(*signatures, payload=PAYLOAD):
    entries = [{"sig": base64.b64encode(signature).decode()} for signature in signatures]
    return {"payload": base64.b64encode(payload).decode(), "payloadType": TYPE, "signatures": entries}


def test_what_is_signed_counts_bytes():
    typed = envelope(payload=b"hello world", payload_type="http://example.com/HelloWorld")
    assert typed.pre_authentication_encoding() == b"DSSEv1 29 http://example.com/HelloWorld 11 hello world"
    accented = envelope(payload="é".encode(), payload_type="té")
    assert accented.pre_authentication_encoding() == "DSSEv1 3 té 2 é".encode()


@pytest.mark.parametrize("private_key", [ED25519, ECDSA, RSA], ids=["ed25519", "ecdsa", "rsa"])
def test_a_signature_is_verified_by_the_key_that_made_it_and_no_other(private_key):
    others = [load_verifier_key(pem(key)) for key in (ED25519, ECDSA, RSA) if key is not private_key]
    key = load_verifier_key(pem(private_key))
    made = envelope((signed(private_key), None))
    assert verified_by(made, [*others, key]) == (key.keyid,)
    assert verified_by(made, others) == ()
    assert verified_by(envelope((signed(private_key), None), payload=PAYLOAD + b" "), [key]) == ()
    assert verified_by(envelope((signed(private_key), None), payload_type="text/plain"), [key]) == ()


@pytest.mark.parametrize(
    "hint",
    [None, "", "some other key", load_verifier_key(pem(ECDSA)).keyid],
    ids=["missing", "empty", "of nobody", "of another key"],
)
def test_a_key_id_is_only_a_hint(hint):
    key = load_verifier_key(pem(ED25519))
    assert verified_by(envelope((signed(ED25519), hint)), [load_verifier_key(pem(ECDSA)), key]) == (
        key.keyid,
    )


def test_one_key_never_counts_twice():
    key, other = load_verifier_key(pem(ED25519)), load_verifier_key(pem(ECDSA))
    twice = envelope((signed(ED25519), "one"), (signed(ED25519), "two"))
    assert verified_by(twice, [key, key, other]) == (key.keyid,)
    renamed = type(key)("another name", key.keytype, key.scheme, key.keyval)
    assert verified_by(twice, [key, renamed]) == (key.keyid,)


def test_distinct_keys_are_counted_in_the_order_given():
    keys = [load_verifier_key(pem(key)) for key in (ECDSA, ED25519)]
    both = envelope((b"no signature", None), (signed(ED25519), None), (signed(ECDSA), None))
    assert verified_by(both, keys) == tuple(key.keyid for key in keys)


@pytest.mark.parametrize("signature", [b"", b"\x00" * 64, b"x" * 5000])
def test_what_is_no_signature_verifies_nothing(signature):
    keys = [load_verifier_key(pem(key)) for key in (ED25519, ECDSA, RSA)]
    assert verified_by(envelope((signature, None)), keys) == ()


@pytest.mark.parametrize(
    "content",
    [b"", b"not a key", pem(ED25519)[:60], pem(ECDSA)[5:]],
    ids=["empty", "text", "cut off", "without its first line"],
)
def test_what_is_no_public_key_is_refused_with_a_next_step(content):
    with pytest.raises(ValueError, match="must be a PEM public key"):
        load_verifier_key(content)


def test_a_key_on_an_unsupported_curve_is_refused():
    with pytest.raises(ValueError, match="P-256"):
        load_verifier_key(pem(ec.generate_private_key(ec.SECP256K1())))


@given(st.binary(max_size=40), st.booleans(), st.booleans())
def test_both_alphabets_are_read_with_and_without_padding(data, url_safe, padded):
    text = (base64.urlsafe_b64encode if url_safe else base64.b64encode)(data).decode()
    assert decode_base64(text if padded else text.rstrip("=")) == data


@pytest.mark.parametrize(
    ("text", "said"),
    [
        *((text, "not base64") for text in ("a b=", "YWJj\n", "ab+_", "é", "YW=Jj", "YWJj*")),
        *((text, "wrong") for text in ("Y", "YWJjZ", "YQ=", "YWI==", "YWJj=", "YWJj====", "=")),
        *((text, "no byte") for text in ("YR==", "YR", "YWJ=", "-_-_-x")),
    ],
)
def test_bad_base64_is_refused_with_a_next_step(text, said):
    with pytest.raises(ValueError, match=said):
        decode_base64(text)


def test_an_envelope_is_decoded_with_everything_it_holds():
    value = as_json(b"one", b"two")
    value["signatures"][1]["keyid"] = "hint"
    value["signatures"].append({"sig": "-_-_", "keyid": "", "cert": "ignored"})
    value["later"] = "ignored"
    assert decode_envelope(value) == envelope((b"one", None), (b"two", "hint"), (b"\xfb\xff\xbf", None))


def test_every_problem_of_an_envelope_is_placed():
    value = as_json(b"one")
    value["payload"] = "?"
    value["signatures"].append({"sig": "Y"})
    with pytest.raises(DocumentError) as refusal:
        decode_envelope(value, role="bundle", pointer="/verification_report")
    assert [(problem.document, problem.pointer, problem.code) for problem in refusal.value.problems] == [
        ("bundle", "/verification_report/payload", "bad_base64"),
        ("bundle", "/verification_report/signatures/1/sig", "bad_base64"),
    ]


@pytest.mark.parametrize("value", [None, [], {}, {"payload": "", "payloadType": TYPE, "signatures": []}])
def test_what_is_no_envelope_is_refused_by_its_schema(value):
    with pytest.raises(DocumentError):
        decode_envelope(value)
