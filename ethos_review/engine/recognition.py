"""What a JSON document is, told from its members, and one sentence about it for people."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

from ethos_review.engine.assessment import read_submission
from ethos_review.engine.claims import read_claims
from ethos_review.engine.collector import without_collector
from ethos_review.engine.contracts import check_against_schema
from ethos_review.engine.documents import Document, Json, read_document
from ethos_review.engine.dsse import decode_base64
from ethos_review.engine.errors import DocumentError, Problem
from ethos_review.engine.policy import DEFAULT_POLICY, Policy, load_policy
from ethos_review.engine.readings import read_readings
from ethos_review.engine.report import form_of_report, read_report
from ethos_review.engine.statement import PAYLOAD_LIMITS
from ethos_review.engine.statement import PREDICATE_TYPE as RELEASE_TYPE

UNKNOWN: Final = "unknown"

# What only one kind of document has, the most telling first.
_BY_ARTIFACT_TYPE: Final = {
    "ethos_review.bundle.v1": "bundle",
    "ethos_review.policy.v1": "policy",
    "ethos.app_answer_release_decision.v1": "contract_decision",
}
_BY_MEMBER: Final = (
    ("verification_report", "bundle"),
    ("checks", "verification_report"),
    ("verification_config_sha256", "verification_report"),
    ("question", "claims"),
    ("claims", "claims"),
    ("readings", "readings"),
    ("tool_results", "readings"),
)
_WRAPPERS: Final = {
    "bare": "",
    "statement": " in an in-toto Statement",
    "dsse": " in a signed envelope",
}
_BEGINS_JSON: Final = re.compile(rb'[\xef\xbb\xbf\xff\xfe\x00 \t\r\n]*[{\["0-9tfn-]')  # in any encoding


@dataclass(frozen=True, slots=True)
class Description:
    """`kind` is a role of an uploaded document, `policy`, `contract_decision`, `release` or `unknown`."""

    kind: str
    sentence: str
    sha256: str


def recognise(value: Json) -> str:
    """The kind of document that `value` is, whether or not it is a valid one.

    Of a signed payload only its type is looked at, to tell a release from a report; nothing else is believed.
    """
    if isinstance(value, list):
        return "readings"
    if not isinstance(value, dict):
        return UNKNOWN
    artifact_type = value.get("artifact_type")
    if isinstance(artifact_type, str) and artifact_type in _BY_ARTIFACT_TYPE:
        return _BY_ARTIFACT_TYPE[artifact_type]
    if form_of_report(value) != "bare":
        return "release" if _holds_release(value.get("payload")) else "verification_report"
    return next((kind for member, kind in _BY_MEMBER if member in value), UNKNOWN)


def _holds_release(payload: Json) -> bool:
    try:
        content = decode_base64(payload) if isinstance(payload, str) else b""
        if RELEASE_TYPE.encode() not in content:
            return False
        statement = read_document("release", "release", content, PAYLOAD_LIMITS).value
    except (ValueError, DocumentError):
        return False
    return isinstance(statement, dict) and statement.get("predicateType") == RELEASE_TYPE


@without_collector
def describe(
    name: str,
    content: bytes,
    policy: Policy = DEFAULT_POLICY,
    verifier_keys: tuple[bytes, ...] = (),
) -> Description:
    """One sentence about a document that could be used. Raises DocumentError for one that could not.

    `verifier_keys` are PEM public keys of verifiers.
    """
    document = _read(name, content, policy)
    kind = recognise(document.value)
    document = Document(kind, name, content, document.sha256, document.value, document.limits)
    sentence = _SENTENCES[kind](document, policy, verifier_keys)
    return Description(kind, sentence, document.sha256)


def _read(name: str, content: bytes, policy: Policy) -> Document:
    try:
        return read_document("document", name, content, policy.limits)
    except DocumentError as refused:
        problem = refused.problems[0]
        in_another_encoding = problem.code == "not_utf8" and _BEGINS_JSON.match(content)
        if problem.code in ("syntax_error", "not_utf8") and not in_another_encoding:
            raise DocumentError([replace(problem, message=f"This is not JSON. {problem.message}")]) from None
        raise


def _report(document: Document, policy: Policy, verifier_keys: tuple[bytes, ...]) -> str:
    report = read_report(
        document, verifier_keys=verifier_keys, require_signature=policy.require_signed_reports
    )
    return (
        f"verification report {report.schema_version}{_WRAPPERS[report.wrapper]}, "
        f"{_counted(len(report.checks), 'check')}"
    )


def _claims(document: Document, _: Policy, __: tuple[bytes, ...]) -> str:
    return f"claims, {_counted(len(read_claims(document).claims), 'claim')}"


def _readings(document: Document, _: Policy, __: tuple[bytes, ...]) -> str:
    return f"readings, {_counted(len(read_readings(document)), 'row')}"


def _bundle(document: Document, policy: Policy, verifier_keys: tuple[bytes, ...]) -> str:
    submission = read_submission(bundle=document, policy=policy, verifier_keys=verifier_keys)
    report, answer = submission.report, submission.answer
    return (
        f"bundle of a verification report {report.schema_version}{_WRAPPERS[report.wrapper]} with "
        f"{_counted(len(report.checks), 'check')}, {_counted(len(answer.claims), 'claim')} and "
        f"{_counted(len(submission.readings), 'reading')}"
    )


def _policy(document: Document, _: Policy, __: tuple[bytes, ...]) -> str:
    policy = load_policy(document)
    return f"policy {policy.name} {policy.version}"


def _contract_decision(document: Document, _: Policy, __: tuple[bytes, ...]) -> str:
    check_against_schema(document.role, document.value, "contract-decision")
    return "contract decision"


def _release(_: Document, __: Policy, ___: tuple[bytes, ...]) -> str:
    return (
        "signed release. The page Verify and the command `ethos-review verify` say whether it is valid and "
        "what it releases"
    )


def _unknown(document: Document, _: Policy, __: tuple[bytes, ...]) -> str:
    message = (
        "This is none of the documents that can be used. Send a verification report, claims, readings, or a "
        "bundle of them."
    )
    raise DocumentError([Problem(document.role, "", "unknown_document", message)])


_SENTENCES: Final[dict[str, Callable[[Document, Policy, tuple[bytes, ...]], str]]] = {
    "verification_report": _report,
    "claims": _claims,
    "readings": _readings,
    "bundle": _bundle,
    "policy": _policy,
    "contract_decision": _contract_decision,
    "release": _release,
    UNKNOWN: _unknown,
}


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
