"""A document is told from its members, and described in a sentence."""

import hashlib
import json

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from hypothesis import given

from ethos_review.engine.errors import DocumentError
from ethos_review.engine.policy import Policy
from ethos_review.engine.recognition import describe, recognise
from ethos_review.engine.strict_json import Limits
from tests.engine.mutations import (
    EXAMPLES,
    SCHEMA_NAMES,
    encoded,
    example_paths,
    example_value,
    problems_of,
    spoiled_bytes,
)
from tests.engine.wrapping import KEY, OLDER, envelope, pem, statement, wrapped

KINDS = {
    "bundle": "bundle",
    "claims": "claims",
    "contract-decision": "contract_decision",
    "dsse-envelope": "verification_report",
    "in-toto-statement": "verification_report",
    "policy": "policy",
    "readings": "readings",
    "verification-report": "verification_report",
}


@pytest.mark.parametrize(("schema_name", "kind"), KINDS.items())
def test_every_valid_example_is_recognised(schema_name, kind):
    assert {recognise(example_value(path)) for path in example_paths(schema_name, "valid")} == {kind}


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        *((value, "unknown") for value in (None, 5, "claims", {}, {"x": 1}, {"artifact_type": ["policy"]})),
        *((value, "claims") for value in ({"question": 5}, {"claims": {}})),
        ({"verification_report": {}, "claims": {}}, "bundle"),
        ({"schema_version": "1.0.0", "checks": 5}, "verification_report"),
        ({"payload": 5}, "verification_report"),
    ],
)
def test_a_document_is_recognised_also_when_it_is_not_valid(value, kind):
    assert recognise(value) == kind


@pytest.mark.parametrize(
    ("path", "sentence"),
    [
        ("verification-report/valid/version-1.0.0", "verification report 1.0.0, 2 checks"),
        (
            "in-toto-statement/valid/one-subject",
            "verification report 1.0.0 in an in-toto Statement, 2 checks",
        ),
        ("verification-report/valid/no-checks", "verification report 1.0.0, 0 checks"),
        ("claims/valid/one-claim", "claims, 1 claim"),
        ("readings/valid/recorded-tool-results", "readings, 3 rows"),
        (
            "bundle/valid/report-and-claims",
            "bundle of a verification report 1.0.0 with 2 checks, 1 claim and 0 readings",
        ),
        (
            "bundle/valid/statement-inside",
            "bundle of a verification report 1.0.0 in an in-toto Statement with 2 checks, 1 claim and 0 readings",
        ),
        ("policy/valid/everything", "policy signed-only 2026-03"),
        ("contract-decision/valid/version-1.1.0", "contract decision"),
    ],
)
def test_a_usable_document_is_described_in_a_sentence(path, sentence):
    content = (EXAMPLES / f"{path}.json").read_bytes()
    described = describe("file.json", content)
    assert described.sentence == sentence
    assert described.sha256 == hashlib.sha256(content).hexdigest()


def test_a_signed_report_is_described_when_its_key_is_configured():
    content = json.dumps(wrapped(OLDER, "dsse")).encode()
    described = describe("report.json", content, verifier_keys=(pem(),))
    assert described.sentence == "verification report 1.0.0 in a signed envelope, 2 checks"


@pytest.mark.parametrize("key", [KEY, None], ids=["signed", "with a signature of anyone"])
def test_a_release_is_told_from_a_report_and_leads_to_verify(key):
    release = example_value(EXAMPLES / "release-statement" / "valid" / "complete.json")
    content = json.dumps(envelope(encoded(release), key=key or Ed25519PrivateKey.generate())).encode()
    described = describe("release.dsse.json", content)
    assert described.kind == "release"
    assert described.sentence.startswith(
        "signed release. The page Verify and the command `ethos-review verify`"
    )


@pytest.mark.parametrize(
    "payload",
    [
        b"",
        b"urn:ethos-review:answer-release:v1",
        b'"urn:ethos-review:answer-release:v1"',
        b'{"predicateType": 5, "x": "urn:ethos-review:answer-release:v1"}',
        encoded(statement({"x": "urn:ethos-review:answer-release:v1"})),
    ],
)
def test_an_envelope_that_only_mentions_releases_is_no_release(payload):
    assert recognise(envelope(payload)) == "verification_report"


@pytest.mark.parametrize("payload", [5, None, "not base64!", "=", "e30"])
def test_an_envelope_with_a_broken_payload_is_no_release(payload):
    assert recognise({"payload": payload, "signatures": []}) == "verification_report"


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"Dear colleague,", "This is not JSON. Line 1, column 1 (byte 0): a value is expected here"),
        (b"%PDF-1.7\n\xe2\xe3", "This is not JSON. Byte 9 (0xe2) is not valid UTF-8."),
        (b'{"question": "Why?",}', "This is not JSON. Line 1, column 21"),
        (b'{"question": "caf\xe9"}', "Byte 17 (0xe9) is not valid UTF-8."),
        (b"\xef\xbb\xbf [\xff]", "Byte 5 (0xff) is not valid UTF-8."),
        ('{"question": "Why?"}'.encode("utf-16"), "The document is UTF-16"),
        (b"", "The document is empty."),
        (b"{}\n{}", "Line 2, column 1"),
    ],
)
def test_what_is_no_json_is_first_said_to_be_none(content, said):
    with pytest.raises(DocumentError) as refusal:
        describe("file.json", content)
    assert refusal.value.problems[0].message.startswith(said)


@pytest.mark.parametrize(
    ("value", "code"),
    [
        ({"x": 1}, "unknown_document"),
        (None, "unknown_document"),
        ({"question": "Why?"}, "missing_member"),
        ({"verification_report": {}, "claims": {}}, "missing_member"),
        (envelope(b"{}"), "unknown_key"),
        (statement(OLDER, predicateType="https://docushell.com/ethos/crop/v1"), "wrong_predicate_type"),
    ],
)
def test_an_unusable_document_is_refused(value, code):
    with pytest.raises(DocumentError) as refusal:
        describe("file.json", json.dumps(value).encode())
    assert refusal.value.problems[0].code == code


def test_the_policy_decides_about_limits_and_signatures():
    content = json.dumps(OLDER).encode()
    for policy in (Policy(limits=Limits(entries=1)), Policy(require_signed_reports=True)):
        with pytest.raises(DocumentError):
            describe("report.json", content, policy)


@given(spoiled_bytes(tuple(SCHEMA_NAMES)))
def test_spoiled_bytes_are_described_or_refused(content):
    problems_of(lambda: describe("file.json", content))
