"""The verification report: unwrapped, consistent with itself, summarised (spec 2.2, 3.1)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from typing import Final, TypeAlias, TypedDict, cast

from ethos_review.engine.contracts import check_against_schema
from ethos_review.engine.documents import Document, Json, check_entries, read_document
from ethos_review.engine.dsse import IN_TOTO_PAYLOAD_TYPE, decode_envelope, load_verifier_key, verified_by
from ethos_review.engine.errors import MAX_PROBLEMS, DocumentError, Problem, quoted

PREDICATE_TYPE: Final = "https://docushell.com/ethos/grounding/v1"

_Object: TypeAlias = "dict[str, Json]"
_ENVELOPE_MEMBERS: Final = frozenset({"payload", "payloadType", "signatures"})
_STATEMENT_MEMBERS: Final = frozenset({"_type", "subject", "predicateType", "predicate"})


@dataclass(frozen=True, slots=True)
class Citation:
    page: str | None = None
    element_id: str | None = None
    span_id: str | None = None
    table_id: str | None = None
    cell: tuple[int, int] | None = None  # row, column; from 0
    bbox: tuple[int, int, int, int] | None = None  # hundredths of a point


@dataclass(frozen=True, slots=True)
class Evidence:
    text: str | None = None
    page: str | None = None
    bbox: tuple[int, int, int, int] | None = None  # hundredths of a point
    crop_ref: str | None = None


class _CheckJson(TypedDict):
    """What the proof summary looks at in each check, once the schema has accepted it."""

    id: str
    status: str
    semantic_unverified: bool
    warnings: list[str]


@dataclass(frozen=True, slots=True)
class Check:
    """One entry of the report: a view of the JSON object it came as, so that making 10,000 takes no time."""

    value: dict[str, Json]

    @property
    def id(self) -> str:
        return cast(str, self.value["id"])

    @property
    def kind(self) -> str:
        return cast(str, self._claim["kind"])

    @property
    def text(self) -> str | None:
        return cast("str | None", self._claim.get("text"))

    @property
    def citation(self) -> Citation:
        entry = cast(_Object, self._claim["citation"])
        cell = cast("dict[str, int] | None", entry.get("cell"))
        return Citation(
            cast("str | None", entry.get("page")),
            cast("str | None", entry.get("element_id")),
            cast("str | None", entry.get("span_id")),
            cast("str | None", entry.get("table_id")),
            None if cell is None else (int(cell["row"]), int(cell["col"])),
            _box(entry.get("bbox")),
        )

    @property
    def status(self) -> str:
        return cast(str, self.value["status"])

    @property
    def reason(self) -> str | None:
        return cast("str | None", self.value.get("reason"))

    @property
    def match_method(self) -> str:
        return cast(str, self.value["match_method"])

    @property
    def semantic_unverified(self) -> bool:
        return cast(bool, self.value["semantic_unverified"])

    @property
    def warnings(self) -> tuple[str, ...]:
        return tuple(cast("list[str]", self.value["warnings"]))

    @property
    def evidence(self) -> Evidence | None:
        entry = cast("_Object | None", self.value.get("evidence"))
        if entry is None:
            return None
        return Evidence(
            cast("str | None", entry.get("text")),
            cast("str | None", entry.get("page")),
            _box(entry.get("bbox")),
            cast("str | None", entry.get("crop_ref")),
        )

    @property
    def resolved_element_ids(self) -> tuple[str, ...]:
        return tuple(cast("list[str]", self.value.get("resolved_element_ids", ())))

    @property
    def provenance(self) -> dict[str, Json] | None:
        return cast("_Object | None", self.value.get("provenance"))

    @property
    def context_echo(self) -> dict[str, Json] | None:
        return cast("_Object | None", self.value.get("context_echo"))

    @property
    def evidence_tier(self) -> str | None:
        return cast("str | None", self.value.get("evidence_tier"))

    @property
    def _claim(self) -> dict[str, Json]:
        return cast(_Object, self.value["claim"])


def _box(value: Json) -> tuple[int, int, int, int] | None:
    if value is None:
        return None
    x0, y0, x1, y1 = cast("list[int]", value)  # int() below: a verifier may write 7200.0
    return int(x0), int(y0), int(x1), int(y1)


@dataclass(frozen=True)
class Report:
    name: str  # file name, the default of `verification_report_ref`
    wrapper: str  # bare | statement | dsse
    signed_by: str | None  # key id of the verifier key that signed the DSSE envelope
    value: dict[str, Json]  # the report itself, as parsed
    schema_version: str
    fingerprint_stale: bool
    all_evidence_grounded: bool
    capability_limits: tuple[str, ...]
    unsupported_claim_kinds: tuple[str, ...]
    warnings: tuple[str, ...]

    @cached_property
    def checks(self) -> tuple[Check, ...]:
        return tuple(map(Check, cast("list[_Object]", self.value["checks"])))

    def check(self, check_id: str) -> Check:
        """KeyError when there is none. Constant time."""
        return self._checks_by_id[check_id]

    @cached_property
    def _checks_by_id(self) -> dict[str, Check]:
        return {check.id: check for check in self.checks}


@dataclass(frozen=True, slots=True)
class ProofSummary:
    proof_status: str  # verified | partially_verified | unverified
    request_certified: bool
    reusable_grounded_check_ids: tuple[str, ...]
    needs_review_check_ids: tuple[str, ...]
    proof_limitations: tuple[str, ...]


def form_of_report(value: Json) -> str:
    """`dsse`, `statement` or `bare`: what the report is wrapped in, by the members that only a wrapper has."""
    if isinstance(value, dict):
        if not _ENVELOPE_MEMBERS.isdisjoint(value):
            return "dsse"
        if not _STATEMENT_MEMBERS.isdisjoint(value):
            return "statement"
    return "bare"


def read_report(
    document: Document, *, verifier_keys: Sequence[bytes] = (), require_signature: bool = False
) -> Report:
    """The report inside `document`: bare, in an in-toto Statement, or in a DSSE envelope around one (spec 2.2).

    `verifier_keys` are PEM public keys. Pointers into the payload of an envelope go on after `/payload`.
    Raises DocumentError (schema, predicate type, signature, `report_inconsistent`), and ValueError for a
    verifier key that is no PEM public key.
    """
    wrapper = form_of_report(document.value)
    if require_signature and wrapper != "dsse":
        raise _refusal(
            document,
            "",
            "signature_required",
            "The policy accepts only signed reports (setting `require_signed_reports`). "
            "Send the DSSE envelope that the verifier signed.",
        )
    if wrapper == "bare":
        return _read_bare(document, wrapper, None)
    if wrapper == "statement":
        return _read_statement(document, wrapper, None)
    payload, signed_by = _open_envelope(document, verifier_keys)
    try:
        statement = read_document(document.role, document.name, payload, document.limits)
        return _read_statement(statement, wrapper, signed_by)
    except DocumentError as error:
        raise error.moved(document.role, "/payload") from None


def _open_envelope(document: Document, verifier_keys: Sequence[bytes]) -> tuple[bytes, str]:
    """The payload and the id of a key that signed it; not a byte of it is looked at before (DSSE 1.0.2)."""
    envelope = decode_envelope(document.value, role=document.role)
    keys = [load_verifier_key(pem) for pem in verifier_keys]
    signers = verified_by(envelope, keys)
    if not signers:
        hints = {signature.keyid for signature in envelope.signatures}
        if any(key.keyid in hints for key in keys):
            code, message = (
                "bad_signature",
                (
                    "The signature does not belong to this payload: something was changed after it was signed. "
                    "Send the envelope as the verifier wrote it."
                ),
            )
        elif keys:
            code, message = (
                "unknown_key",
                (
                    "No configured verifier key made a signature on this envelope. "
                    "Ask the operator to configure the verifier's public key."
                ),
            )
        else:
            code, message = (
                "unknown_key",
                (
                    "The report is signed, but no verifier key is configured to check that. "
                    "Ask the operator to configure the verifier's public key, or send the report unsigned."
                ),
            )
        raise _refusal(document, "/signatures", code, message)
    if envelope.payload_type != IN_TOTO_PAYLOAD_TYPE:
        raise _refusal(
            document,
            "/payloadType",
            "wrong_payload_type",
            f"The payload type is {quoted(envelope.payload_type)}; a report has {quoted(IN_TOTO_PAYLOAD_TYPE)}.",
        )
    return envelope.payload, signers[0]


def _read_statement(document: Document, wrapper: str, signed_by: str | None) -> Report:
    statement = document.value
    if isinstance(statement, dict):
        predicate_type = statement.get("predicateType")
        if isinstance(predicate_type, str) and predicate_type != PREDICATE_TYPE:
            raise _refusal(
                document,
                "/predicateType",
                "wrong_predicate_type",
                f"The Statement's predicate type is {quoted(predicate_type)}; "
                f"a verification report has {quoted(PREDICATE_TYPE)}.",
            )
    check_against_schema(document.role, statement, "in-toto-statement")
    predicate = replace(document, value=cast(_Object, statement)["predicate"])
    try:
        return _read_bare(predicate, wrapper, signed_by)
    except DocumentError as error:
        raise error.moved(document.role, "/predicate") from None


def _read_bare(document: Document, wrapper: str, signed_by: str | None) -> Report:
    if isinstance(document.value, dict):
        check_entries(document, document.value.get("checks"), "/checks", "checks")
    check_against_schema(document.role, document.value, "verification-report")
    value = cast(_Object, document.value)
    entries = cast("list[_Object]", value["checks"])
    report = Report(
        name=document.name,
        wrapper=wrapper,
        signed_by=signed_by,
        value=value,
        schema_version=cast(str, value["schema_version"]),
        fingerprint_stale=cast(bool, value["fingerprint_stale"]),
        all_evidence_grounded=cast(bool, value["all_evidence_grounded"]),
        capability_limits=tuple(cast("list[str]", value["capability_limits"])),
        unsupported_claim_kinds=tuple(cast("list[str]", value["unsupported_claim_kinds"])),
        warnings=tuple(cast("list[str]", value["warnings"])),
    )
    problems = list(islice(_inconsistencies(document.role, report, entries), MAX_PROBLEMS))
    if problems:
        raise DocumentError(problems)
    return report


def _inconsistencies(role: str, report: Report, entries: list[_Object]) -> Iterator[Problem]:
    """Where the report contradicts itself (spec 2.2)."""

    def inconsistent(pointer: str, message: str) -> Problem:
        return Problem(role, pointer, "report_inconsistent", message)

    if len({cast(str, entry["id"]) for entry in entries}) < len(entries):
        first_use: dict[str, int] = {}
        for position, check in enumerate(report.checks):
            first = first_use.setdefault(check.id, position)
            if first != position:
                yield inconsistent(
                    f"/checks/{position}/id",
                    f"Checks {first} and {position} have the same id {quoted(check.id)}. "
                    "Send the report as the verifier wrote it.",
                )
    obstacles = _obstacles_to_certification(report, entries)
    if report.all_evidence_grounded and obstacles:
        yield inconsistent(
            "/all_evidence_grounded",
            f"The report says that all evidence is grounded, but {_joined(obstacles)}. "
            "Send the report as the verifier wrote it.",
        )
    elif not report.all_evidence_grounded and not obstacles:
        yield inconsistent(
            "/all_evidence_grounded",
            "The report says that not all evidence is grounded, but every check in it is. "
            "Send the report as the verifier wrote it.",
        )


def _obstacles_to_certification(report: Report, entries: list[_Object]) -> list[str]:
    """Why all evidence is not grounded; empty when it is."""
    statuses = {cast(str, entry["status"]) for entry in entries}
    supported = statuses - {"unsupported_claim_kind"}
    unverified = any(entry["semantic_unverified"] for entry in entries)
    reasons = (
        ("it has no supported check", not supported),
        ("it has checks that are not grounded", bool(supported - {"grounded"})),
        ("the meaning of some checks is unverified", unverified),
        ("it names unsupported claim kinds", bool(report.unsupported_claim_kinds)),
        ("its fingerprint is stale", report.fingerprint_stale),
    )
    return [reason for reason, holds in reasons if holds]


def _joined(reasons: list[str]) -> str:
    *others, last = reasons
    return f"{', '.join(others)} and {last}" if others else last


def summarise_proof(report: Report) -> ProofSummary:
    """Which checks can be reused, and what limits the proof (spec 3.1)."""
    reusable: list[str] = []
    others: list[str] = []
    statuses: set[str] = set()
    unverified = limited = False
    for entry in cast("list[_CheckJson]", report.value["checks"]):
        check_id, status = entry["id"], entry["status"]
        statuses.add(status)
        if entry["semantic_unverified"]:
            unverified = True
            others.append(check_id)
        elif status == "grounded" and not report.fingerprint_stale:
            reusable.append(check_id)
        else:
            others.append(check_id)
        if "capability_limited" in entry["warnings"]:
            limited = True
    limitations = (
        (
            "capability_limited",
            limited or bool(report.capability_limits) or "capability_limited" in report.warnings,
        ),
        ("stale_fingerprint", report.fingerprint_stale),
        ("unsupported_claim_kind", bool(report.unsupported_claim_kinds)),
        ("non_grounded_checks", bool(statuses - {"grounded"})),
        ("semantic_unverified", unverified),
    )
    return ProofSummary(
        proof_status=_proof_status(report, reusable),
        request_certified=report.all_evidence_grounded,
        reusable_grounded_check_ids=tuple(reusable),
        needs_review_check_ids=tuple(others),
        proof_limitations=tuple(code for code, holds in limitations if holds),
    )


def _proof_status(report: Report, reusable: Sequence[str]) -> str:
    if report.all_evidence_grounded:
        return "verified"
    return "partially_verified" if reusable else "unverified"


def _refusal(document: Document, pointer: str, code: str, message: str) -> DocumentError:
    return DocumentError([Problem(document.role, pointer, code, message)])
