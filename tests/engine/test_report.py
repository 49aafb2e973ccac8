"""The verification report is unwrapped, held to itself, and summarised (spec 2.2, 3.1)."""

import base64
import copy

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from hypothesis import given
from hypothesis import strategies as st

from ethos_review.engine.documents import Limits, read_document
from ethos_review.engine.dsse import load_verifier_key
from ethos_review.engine.errors import DocumentError
from ethos_review.engine.report import Citation, Evidence, read_report, summarise_proof
from ethos_review.engine.strict_json import DEFAULT_LIMITS
from tests.engine.mutations import (
    EXAMPLES,
    encoded,
    example_paths,
    example_value,
    problems_of,
    resolves,
    spoiled_bytes,
    spoiled_values,
)
from tests.engine.wrapping import OLDER, WRAPPERS, envelope, pem, statement, wrapped

OTHER_KEY = Ed25519PrivateKey.generate()
FULL = example_value(EXAMPLES / "verification-report" / "valid" / "version-1.1.0-with-all-members.json")
INNER = {"bare": "", "statement": "/predicate", "dsse": "/payload/predicate"}


def read(value, limits=DEFAULT_LIMITS, **kwargs):
    document = read_document("verification_report", "report.json", encoded(value), limits)
    return read_report(document, **{"verifier_keys": (pem(),), **kwargs})


def refusals_of(value, **kwargs):
    with pytest.raises(DocumentError) as refusal:
        read(value, **kwargs)
    return [(problem.pointer, problem.code) for problem in refusal.value.problems]


def check(id="v0001", status="grounded", *, semantic_unverified=False, **members):
    return {
        **copy.deepcopy(OLDER["checks"][0]),
        "id": id,
        "status": status,
        "semantic_unverified": semantic_unverified,
        **members,
    }


def report(*checks, grounded=False, **members):
    return {**OLDER, "checks": list(checks), "all_evidence_grounded": grounded, **members}


@pytest.mark.parametrize("wrapper", WRAPPERS)
def test_a_report_is_the_same_in_every_wrapper(wrapper):
    read_one = read(wrapped(FULL, wrapper))
    assert (read_one.wrapper, read_one.name, read_one.value) == (wrapper, "report.json", FULL)
    assert read_one.signed_by == (load_verifier_key(pem()).keyid if wrapper == "dsse" else None)
    assert (read_one.schema_version, read_one.fingerprint_stale, read_one.all_evidence_grounded) == (
        *("1.1.0", False),
        True,
    )
    (found,) = read_one.checks
    assert (found.id, found.kind, found.text, found.status, found.reason, found.match_method) == (
        *("v0001", "quote", "The pump was last serviced on 14 March.", "grounded"),
        *(None, "normalized_text"),
    )
    assert found.citation == Citation(page="p0002", element_id="e0014")
    assert found.evidence == Evidence(
        text="The pump was last serviced on 14 March.", page="p0002", bbox=(7200, 10100, 54000, 11500)
    )
    assert (found.semantic_unverified, found.warnings) == (False, ())
    assert (found.resolved_element_ids, found.evidence_tier) == (("e0014", "e0015"), "element_scoped")
    assert found.provenance == FULL["checks"][0]["provenance"]
    assert found.context_echo == FULL["checks"][0]["context_echo"]


def test_what_a_check_leaves_out_is_none_or_empty():
    found = read(OLDER).checks[1]
    assert found.citation == Citation(table_id="t0001", cell=(3, 1))
    assert (found.reason, found.evidence, found.provenance) == ("table_cell_not_found", None, None)
    assert (found.context_echo, found.evidence_tier, found.resolved_element_ids) == (None, None, ())


def test_whole_numbers_written_with_a_point_are_read_as_whole():
    content = encoded(OLDER).replace(b"54000", b"54000.0").replace(b'"row":3', b'"row":3.0')
    first, second = read_report(read_document("verification_report", "r.json", content)).checks
    assert first.evidence.bbox == (7200, 10100, 54000, 11500)
    assert second.citation.cell == (3, 1)


@pytest.mark.parametrize("path", example_paths("verification-report", "valid"), ids=lambda path: path.stem)
def test_the_examples_are_read(path):
    assert read(example_value(path)).value == example_value(path)


@pytest.mark.parametrize("path", example_paths("verification-report", "invalid"), ids=lambda path: path.stem)
@pytest.mark.parametrize("wrapper", WRAPPERS)
def test_a_report_against_its_schema_is_refused_in_every_wrapper(wrapper, path):
    value = example_value(path)
    if wrapper == "bare" or isinstance(value, dict):
        pointers = [pointer for pointer, _ in refusals_of(wrapped(value, wrapper))]
        assert all(pointer.startswith(INNER[wrapper]) for pointer in pointers)


CONTRADICTIONS = {
    "not grounded": report(check(), check("v0002", "mismatch"), grounded=True),
    "no checks": report(grounded=True),
    "only unsupported checks": report(check(status="unsupported_claim_kind"), grounded=True),
    "unverified meaning": report(check(semantic_unverified=True), grounded=True),
    "unverified meaning of an unsupported check": report(
        check(), check("v0002", "unsupported_claim_kind", semantic_unverified=True), grounded=True
    ),
    "unsupported kinds": report(check(), grounded=True, unsupported_claim_kinds=["region"]),
    "stale": report(check(), grounded=True, fingerprint_stale=True),
    "claims less": report(check(), check("v0002")),
    "claims less beside an unsupported check": report(check(), check("v0002", "unsupported_claim_kind")),
}


@pytest.mark.parametrize("contradiction", CONTRADICTIONS.values(), ids=CONTRADICTIONS)
@pytest.mark.parametrize("wrapper", WRAPPERS)
def test_a_report_that_contradicts_its_checks_is_refused_in_every_wrapper(wrapper, contradiction):
    assert refusals_of(wrapped(contradiction, wrapper)) == [
        (f"{INNER[wrapper]}/all_evidence_grounded", "report_inconsistent")
    ]


@pytest.mark.parametrize("wrapper", WRAPPERS)
def test_check_ids_are_unique_in_every_wrapper(wrapper):
    twice = report(check(), check("v0002"), check(), check("v0002"), grounded=True)
    assert refusals_of(wrapped(twice, wrapper)) == [
        (f"{INNER[wrapper]}/checks/{position}/id", "report_inconsistent") for position in (2, 3)
    ]


@pytest.mark.parametrize(
    "consistent",
    [
        report(check(), grounded=True),
        report(check(), check("v0002", "unsupported_claim_kind"), grounded=True),
        report(),
        report(check(), fingerprint_stale=True),
        report(check(semantic_unverified=True)),
        report(check(), unsupported_claim_kinds=["region"]),
        report(check(status="error")),
    ],
)
def test_a_consistent_report_is_read(consistent):
    assert read(consistent).value == consistent


@given(
    st.lists(
        st.tuples(st.sampled_from(["grounded", "mismatch", "unsupported_claim_kind"]), st.booleans()),
        max_size=3,
    ),
    st.booleans(),
    st.booleans(),
    st.booleans(),
)
def test_exactly_one_value_of_all_evidence_grounded_is_consistent(rows, stale, kinds, grounded):
    checks = [
        check(f"v{place:04}", status, semantic_unverified=unverified)
        for place, (status, unverified) in enumerate(rows)
    ]
    supported = [status for status, _ in rows if status != "unsupported_claim_kind"]
    follows = (
        bool(supported)
        and set(supported) == {"grounded"}
        and not any(unverified for _, unverified in rows)
        and not stale
        and not kinds
    )
    value = report(
        *checks,
        grounded=grounded,
        fingerprint_stale=stale,
        unsupported_claim_kinds=["other"] if kinds else [],
    )
    assert (problems_of(lambda: read(value)) == ()) == (grounded == follows)


@pytest.mark.parametrize("in_envelope", [False, True])
@pytest.mark.parametrize(
    ("members", "pointer", "code"),
    [
        (
            {"predicateType": "https://docushell.com/ethos/security/v1"},
            "/predicateType",
            "wrong_predicate_type",
        ),
        ({"predicateType": None}, "/predicateType", "not_allowed_value"),
        ({"_type": "https://in-toto.io/Statement/v0.1"}, "/_type", "not_allowed_value"),
        ({"subject": []}, "/subject", "too_few_entries"),
        ({"predicate": "{}"}, "/predicate", "wrong_type"),
        ({"signature": "x"}, "/signature", "unknown_member"),
    ],
)
def test_a_statement_of_another_kind_is_refused(in_envelope, members, pointer, code):
    value = statement(OLDER, **members)
    prefix = "/payload" if in_envelope else ""
    assert refusals_of(envelope(encoded(value)) if in_envelope else value) == [(prefix + pointer, code)]


def test_another_predicate_type_is_refused_by_name():
    with pytest.raises(DocumentError, match="“https://docushell\\.com/ethos/crop/v1”"):
        read(statement(OLDER, predicateType="https://docushell.com/ethos/crop/v1"))


def test_an_incomplete_statement_is_told_what_it_lacks_as_a_statement():
    value = statement(OLDER)
    del value["_type"]
    assert refusals_of(value) == [("", "missing_member")]


NOT_JSON = b"not even JSON \xff"


@pytest.mark.parametrize(
    ("made", "keys", "pointer", "code"),
    [
        (envelope(NOT_JSON), (), "/signatures", "unknown_key"),
        (envelope(NOT_JSON), (pem(OTHER_KEY),), "/signatures", "unknown_key"),
        (envelope(NOT_JSON, payload_type="text/plain"), (pem(OTHER_KEY),), "/signatures", "unknown_key"),
        (
            {**envelope(NOT_JSON), "signatures": [{"sig": "AAAA", "keyid": load_verifier_key(pem()).keyid}]},
            (pem(),),
            *("/signatures", "bad_signature"),
        ),
        (envelope(NOT_JSON, payload_type="text/plain"), (pem(),), "/payloadType", "wrong_payload_type"),
        (envelope(NOT_JSON), (pem(),), "/payload", "not_utf8"),
        (envelope(b'{"a": [NaN]}'), (pem(),), "/payload/a/0", "not_a_number"),
        ({**envelope(NOT_JSON), "payload": "?"}, (pem(),), "/payload", "bad_base64"),
        ({**envelope(NOT_JSON), "signatures": []}, (pem(),), "/signatures", "too_few_entries"),
    ],
)
def test_signature_then_payload_type_then_payload(made, keys, pointer, code):
    assert refusals_of(made, verifier_keys=keys) == [(pointer, code)]


def test_any_changed_byte_of_a_signed_payload_is_refused():
    value = envelope(encoded(statement(OLDER)))
    value["payload"] = base64.b64encode(encoded(statement(FULL))).decode()
    assert refusals_of(value) == [("/signatures", "unknown_key")]


def test_one_of_several_configured_keys_is_enough():
    read_one = read(wrapped(OLDER, "dsse"), verifier_keys=(pem(OTHER_KEY), pem()))
    assert read_one.signed_by == load_verifier_key(pem()).keyid


@pytest.mark.parametrize("wrapper", ["bare", "statement"])
def test_unsigned_input_is_refused_only_when_the_operator_requires_signed_reports(wrapper):
    assert read(wrapped(OLDER, wrapper)).signed_by is None
    assert refusals_of(wrapped(OLDER, wrapper), require_signature=True) == [("", "signature_required")]


def test_a_signed_report_satisfies_the_requirement():
    assert read(wrapped(OLDER, "dsse"), require_signature=True).signed_by is not None


@pytest.mark.parametrize("wrapper", WRAPPERS)
def test_limits_hold_in_every_wrapper(wrapper):
    value = wrapped(report(check(), check("v0002"), check("v0003"), grounded=True), wrapper)
    assert refusals_of(value, limits=Limits(entries=2)) == [(f"{INNER[wrapper]}/checks", "too_many_entries")]


def test_limits_hold_inside_the_payload():
    long_text = check(claim={**check()["claim"], "text": "x" * 70_000})
    value = wrapped(report(long_text, grounded=True), "dsse")
    assert refusals_of(value) == [("/payload/predicate/checks/0/claim/text", "string_too_long")]


@pytest.mark.parametrize(
    ("value", "status", "certified", "reusable", "others", "limitations"),
    [
        (report(check(), grounded=True), "verified", True, ("v0001",), (), ()),
        (
            report(check(), check("v0002", "mismatch"), check("v0003")),
            *("partially_verified", False, ("v0001", "v0003"), ("v0002",), ("non_grounded_checks",)),
        ),
        (report(check(status="error")), "unverified", False, (), ("v0001",), ("non_grounded_checks",)),
        (report(), "unverified", False, (), (), ()),
        (
            report(check(), check("v0002"), fingerprint_stale=True),
            *("unverified", False, (), ("v0001", "v0002"), ("stale_fingerprint",)),
        ),
        (
            report(check(semantic_unverified=True), check("v0002")),
            *("partially_verified", False, ("v0002",), ("v0001",), ("semantic_unverified",)),
        ),
        (
            report(check(), grounded=True, capability_limits=["missing_spans"]),
            *("verified", True, ("v0001",), (), ("capability_limited",)),
        ),
        (
            report(check(), grounded=True, warnings=["capability_limited"]),
            *("verified", True, ("v0001",), (), ("capability_limited",)),
        ),
        (
            report(check(warnings=["partial_parse", "capability_limited"]), grounded=True),
            *("verified", True, ("v0001",), (), ("capability_limited",)),
        ),
        (report(check(warnings=["partial_parse"]), grounded=True), "verified", True, ("v0001",), (), ()),
        (
            report(
                check(semantic_unverified=True),
                check("v0002", "stale"),
                capability_limits=["missing_tables"],
                unsupported_claim_kinds=["other"],
                fingerprint_stale=True,
            ),
            *("unverified", False, (), ("v0001", "v0002")),
            (
                *("capability_limited", "stale_fingerprint", "unsupported_claim_kind"),
                *("non_grounded_checks", "semantic_unverified"),
            ),
        ),
    ],
)
def test_the_proof_is_summarised(value, status, certified, reusable, others, limitations):
    proof = summarise_proof(read(value))
    assert (proof.proof_status, proof.request_certified) == (status, certified)
    assert (proof.reusable_grounded_check_ids, proof.needs_review_check_ids) == (reusable, others)
    assert proof.proof_limitations == limitations


@given(spoiled_values("verification-report"), st.sampled_from(WRAPPERS))
def test_a_spoiled_report_is_read_or_refused_with_places_that_are_there(value, wrapper):
    made = wrapped(value, wrapper)
    shown = {"payload": statement(value)} if wrapper == "dsse" else made
    for problem in problems_of(lambda: read(made)):
        assert resolves(shown, problem.pointer)


@given(spoiled_values("dsse-envelope") | spoiled_values("in-toto-statement"))
def test_a_spoiled_wrapper_is_read_or_refused(value):
    problems_of(lambda: read(value))


@given(spoiled_bytes(("verification-report", "in-toto-statement", "dsse-envelope")))
def test_spoiled_bytes_are_read_or_refused(content):
    problems_of(lambda: read_report(read_document("verification_report", "r.json", content)))


@given(spoiled_bytes(("verification-report",)))
def test_a_signed_payload_of_any_bytes_is_read_or_refused(content):
    problems_of(lambda: read(envelope(content)))
