"""The Statement of a release, and its replay (spec 2.7, 3.8)."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from securesystemslib.signer import CryptoSigner

from ethos_review import __version__
from ethos_review.engine.assessment import Received, decide, read_received, shown_digest
from ethos_review.engine.contracts import check_against_schema
from ethos_review.engine.documents import read_document
from ethos_review.engine.envelope import open_release, sign_payload
from ethos_review.engine.errors import DocumentError
from ethos_review.engine.keys import TrustedKey
from ethos_review.engine.policy import DEFAULT_POLICY, Policy
from ethos_review.engine.release import ReviewerDecision, allowed_outcomes
from ethos_review.engine.statement import (
    MAX_DIFFERENCES,
    PAYLOAD_LIMITS,
    SealFacts,
    build_statement,
    canonical_payload,
    read_release_payload,
    replay,
    verdicts_to_json,
)
from ethos_review.engine.values import json_text
from tests.engine.strategies import (
    answer,
    check,
    claim,
    claim_to_json,
    claims_for,
    delivered,
    fact_values,
    reading,
    report,
    reports,
    submission,
)

SIGNER = CryptoSigner.generate_ed25519()
EXAMPLE = Path(__file__).parent.parent / "data" / "app-answer-release"
SEAL = SealFacts(
    review_id="0b0e7d4e-8c52-4f8c-9f0e-2b1c7a3d9e11",
    external_id="pipeline-77",
    audit_digest="a" * 64,
    audit_length=12,
    sealed_at="2026-01-31T09:30:00Z",
    sealed_by_id="7",
    sealed_by_name="Rosa Lind",
)
REPORT = (EXAMPLE / "verification-report.json").read_bytes()
CLAIMS = json.loads((EXAMPLE / "claims.json").read_bytes())
READINGS = [
    {
        "entity": "acme",
        "field": "revenue",
        "value": "12.40",
        "tool_name": "t",
        "tool_call_id": "c1",
        "iteration": 0,
    },
    {
        "entity": "acme",
        "field": "driver",
        "value": None,
        "tool_name": "t",
        "tool_call_id": "c2",
        "iteration": 1,
    },
]


def documents(claims=CLAIMS, readings=READINGS):
    claims = json.loads(json.dumps(claims))
    claims["claims"][0]["delivers"] = [{"entity": "acme", "field": "revenue", "value": 12.4}]
    claims["claims"][1]["delivers"] = [{"entity": "acme", "field": "driver", "value": "enterprise"}]
    return [
        Received("verification_report", "verification-report.json", REPORT),
        Received("claims", "claims.json", json.dumps(claims).encode()),
        Received("readings", "readings.json", json.dumps(readings).encode()),
    ]


def bundle():
    report, claims, readings = (json.loads(part.content) for part in documents())
    value = {
        "artifact_type": "ethos_review.bundle.v1",
        "verification_report": report,
        "claims": claims,
        "readings": readings,
    }
    return [Received("bundle", "bundle.json", json.dumps(value).encode())]


def assess(received, policy=DEFAULT_POLICY):
    return decide(read_received(received, policy), policy)


def decision_on(assessment, claim_id, outcome="approve", rationale="Read both passages."):
    return ReviewerDecision(
        claim_id=claim_id,
        outcome=outcome,
        reviewer_id="9",
        reviewer_name="Jun Ito",
        rationale=rationale,
        decided_at="2026-01-31T09:00:00Z",
        shown_sha256=shown_digest(assessment.claim(claim_id), assessment.policy),
        supersedes=0,
    )


def sealed(received=None, policy=DEFAULT_POLICY, seal=SEAL):
    assessment = assess(received or documents(), policy)
    decisions = {"claim-growth-driver": decision_on(assessment, "claim-growth-driver")}
    return build_statement(assessment, decisions, seal)


def test_a_statement_says_everything_that_shaped_the_release():
    statement = sealed()
    predicate = statement["predicate"]
    assert statement["subject"] == [
        {"name": part.name, "digest": {"sha256": hashlib.sha256(part.content).hexdigest()}}
        for part in documents()
    ]
    assert predicate["engine"] == {
        "name": "ethos-review",
        "version": __version__,
        "contract_version": "1.0.0",
    }
    assert predicate["policy"] == DEFAULT_POLICY.to_json()
    assert predicate["contract_decision"]["app_status"] == "partial_certified"
    assert predicate["caps"] == [
        {"claim_id": "claim-growth-driver", "code": "unsettled_by_readings", "lowers_to": "needs_review"}
    ]
    assert predicate["verdicts"][0] == {
        "claim_id": "claim-revenue",
        "entity": "acme",
        "field": "revenue",
        "normalization": "auto",
        "delivered_value": "12.4",
        "verdict": "agrees",
        "withholds": False,
        "readings": [
            {
                "position": 0,
                "tool_name": "t",
                "tool_call_id": "c1",
                "iteration": "0",
                "measured_at": None,
                "value": '"12.40"',
                "kind": "value",
                "relation": "same",
            }
        ],
    }
    assert predicate["reviewer_decisions"][0]["reviewer"] == {"id": "9", "name": "Jun Ito"}
    assert predicate["release"] == {
        "answer_status": "partial",
        "released_claim_ids": ["claim-revenue", "claim-growth-driver"],
        "reviewed_synthesis_claim_ids": ["claim-growth-driver"],
        "withheld_claim_ids": ["claim-office-background", "claim-margin"],
        "relevance": "direct",
        "disclosures": ["partial_answer", "reviewed_synthesis", "proof:non_grounded_checks"],
    }
    assert predicate["audit_checkpoint"] == {"sha256": "a" * 64, "length": 12}
    assert predicate["sealed_by"] == {"id": "7", "name": "Rosa Lind"}
    assert "supersedes" not in predicate


def test_a_release_names_the_review_it_supersedes():
    assert sealed(seal=replace(SEAL, supersedes="older"))["predicate"]["supersedes"] == "older"


@pytest.mark.parametrize("received", [documents(), documents()[:2], bundle()])
def test_an_emitted_statement_is_valid_and_replays_to_the_same_bytes(received):
    policy = Policy(name="house", version="4")
    payload = canonical_payload(sealed(received, policy))
    check_against_schema("release", read_release_payload(payload), "release-statement")
    assert replay(payload, received) == ()


def test_replay_takes_the_recorded_names_and_the_recorded_policy():
    policy = Policy(contract_version="1.1.0", reviewed_synthesis=False)
    received = documents()
    assessment = assess(received, policy)
    decisions = {
        assessed.claim.id: decision_on(assessment, assessed.claim.id)
        for assessed in assessment.claims
        if assessed.action == "needs_review"
    }
    payload = canonical_payload(build_statement(assessment, decisions, SEAL))
    assert replay(payload, [replace(part, name="downloaded.json") for part in received]) == ()


@pytest.mark.parametrize("place", [0, 1, 2])
def test_replay_names_the_document_of_which_a_byte_was_changed(place):
    payload = canonical_payload(sealed())
    for spoil in (
        lambda content: content + b" ",
        lambda content: content[:-1],
        lambda content: b"\xff" + content,
    ):
        changed = documents()
        changed[place] = replace(changed[place], content=spoil(changed[place].content))
        differences = replay(payload, changed)
        assert differences[0].pointer == f"/subject/{place}/digest/sha256"
        assert changed[place].name in differences[0].message


def test_replay_takes_the_documents_in_any_order():
    assert replay(canonical_payload(sealed()), documents()[::-1]) == ()


def test_replay_needs_the_same_number_of_documents():
    (difference,) = replay(canonical_payload(sealed()), documents()[:2])
    assert difference.pointer == "/subject"


@pytest.mark.parametrize(
    ("path", "value", "pointers"),
    [
        (["question"], "Another question?", ["/predicate/question"]),
        (["release", "relevance"], "partial", ["/predicate/release/relevance"]),
        (
            ["contract_decision", "grounding", "verification_report_ref"],
            "other.json",
            ["/predicate/contract_decision/grounding/verification_report_ref"],
        ),
        (["verdicts", 1, "verdict"], "incomparable", ["/predicate/verdicts/1/verdict"]),
        (["caps"], [], ["/predicate/caps/0"]),
        (["release", "disclosures"], [], [f"/predicate/release/disclosures/{index}" for index in range(3)]),
        (["engine", "contract_version"], "1.1.0", ["/predicate/engine/contract_version"]),
        (
            ["reviewer_decisions", 0, "shown_sha256"],
            "b" * 64,
            ["/predicate/reviewer_decisions/0/shown_sha256"],
        ),
        (
            ["reviewer_decisions", 0, "rationale"],
            " ",
            ["/predicate/reviewer_decisions"],
        ),
        (
            ["reviewer_decisions", 0, "claim_id"],
            "claim-revenue",
            ["/predicate/release/answer_status"],
        ),
    ],
)
def test_replay_names_every_member_that_comes_out_otherwise(path, value, pointers):
    statement = json.loads(json.dumps(sealed()))
    place = statement["predicate"]
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value
    differences = replay(canonical_payload(statement), documents())
    assert [difference.pointer for difference in differences][: len(pointers)] == pointers


def test_replay_finds_an_approval_that_no_person_could_give_and_a_claim_sealed_undecided():
    statement = json.loads(json.dumps(sealed()))
    statement["predicate"]["reviewer_decisions"][0]["claim_id"] = "claim-margin"
    messages = [difference.message for difference in replay(canonical_payload(statement), documents())]
    assert "The decision on claim claim-margin: approve is not possible at block." in messages
    assert "Claim claim-growth-driver was sealed without a decision." in messages


def test_replay_finds_a_payload_that_is_not_canonical():
    payload = json.dumps(sealed()).encode()
    (difference,) = replay(payload, documents())
    assert "canonical" in difference.message


def test_a_flood_of_differences_is_cut_off():
    many = [*READINGS, *[{**READINGS[0], "tool_call_id": f"x{number}"} for number in range(200)]]
    payload = canonical_payload(sealed(documents(readings=many)))
    other = documents(readings=[{**row, "tool_name": "other"} for row in many])
    assert len(replay(payload, other)) == MAX_DIFFERENCES


def test_undecided_claims_cannot_be_sealed():
    with pytest.raises(ValueError, match="undecided: claim-growth-driver"):
        build_statement(assess(documents()), {}, SEAL)


@pytest.mark.parametrize(
    ("claim_id", "changes", "message"),
    [
        ("claim-growth-driver", {"shown_sha256": "0" * 64}, "no longer what would be decided on"),
        ("claim-growth-driver", {"rationale": "  "}, "needs a rationale"),
        ("claim-growth-driver", {"outcome": "undo"}, "undo is not possible"),
        ("claim-growth-driver", {"claim_id": "claim-revenue"}, "taken on claim claim-revenue"),
        ("claim-revenue", {}, "approve is not possible at show_final"),
        ("claim-revenue", {"outcome": "block", "rationale": ""}, "needs a rationale"),
        ("claim-margin", {}, "approve is not possible at block"),
    ],
)
def test_a_decision_that_does_not_stand_cannot_be_sealed(claim_id, changes, message):
    assessment = assess(documents())
    decisions = {"claim-growth-driver": decision_on(assessment, "claim-growth-driver")}
    decisions[claim_id] = replace(decision_on(assessment, claim_id), **changes)
    with pytest.raises(ValueError, match=message):
        build_statement(assessment, decisions, SEAL)


def test_a_decision_on_no_claim_cannot_be_sealed():
    assessment = assess(documents())
    approved = decision_on(assessment, "claim-growth-driver")
    with pytest.raises(ValueError, match="there is no such claim"):
        build_statement(assessment, {approved.claim_id: approved, "other": approved}, SEAL)


def test_numbers_that_canonical_json_cannot_hold_keep_their_digits():
    rows = [{**READINGS[0], "value": 0, "iteration": 2**53 - 1, "measured_at": 0}, READINGS[1]]
    content = json.dumps(rows).replace('"value": 0', '"value": 12.40000000000000000001e0')
    content = content.replace('"measured_at": 0', '"measured_at": 123456789012345678901234567890')
    received = [*documents()[:2], Received("readings", "readings.json", content.encode())]
    assessment = assess(received)
    row = next(iter(verdicts_to_json(assessment)))["readings"][0]
    assert row["value"] == "12.40000000000000000001"
    assert row["iteration"] == str(2**53 - 1)
    assert row["measured_at"] == "123456789012345678901234567890"
    decisions = {"claim-growth-driver": decision_on(assessment, "claim-growth-driver")}
    payload = canonical_payload(build_statement(assessment, decisions, SEAL))
    assert replay(payload, received) == ()


def test_a_release_that_would_list_a_flood_of_readings_is_refused():
    claims = [claim(f"c{number}", "v0001", delivers=(delivered(1),)) for number in range(2_000)]
    assessment = decide(submission(report(check("v0001")), answer(*claims), tuple([reading(1)] * 1_000)))
    with pytest.raises(DocumentError, match="2,000,000 compared readings"):
        build_statement(assessment, {}, SEAL)


def test_a_release_that_would_repeat_a_large_value_too_often_is_refused():
    large = ["x" * 60_000] * 20
    claims = [claim(f"c{number}", "v0001", delivers=(delivered(large),)) for number in range(100)]
    assessment = decide(submission(report(check("v0001")), answer(*claims)))
    with pytest.raises(DocumentError, match="characters of values"):
        build_statement(assessment, {}, SEAL)


@pytest.mark.parametrize(
    ("changed", "code"),
    [
        ({"_type": "https://in-toto.io/Statement/v0.1"}, "wrong_statement_type"),
        ({"_type": None}, "wrong_statement_type"),
        ({"predicateType": "https://docushell.com/ethos/grounding/v1"}, "wrong_predicate_type"),
        ({"predicate": {}}, "missing_member"),
        ({"extra": 1}, "unknown_member"),
    ],
)
def test_what_is_not_a_release_is_refused_by_its_own_code(changed, code):
    payload = json.dumps({**sealed(), **changed}).encode()
    with pytest.raises(DocumentError) as refused:
        read_release_payload(payload)
    assert refused.value.problems[0].code == code


@pytest.mark.parametrize("payload", [b"", b"[]", b"\xff", b'"release"'])
def test_a_payload_that_is_no_object_is_refused(payload):
    with pytest.raises(DocumentError):
        read_release_payload(payload)


@st.composite
def uploads(draw):
    """Generated documents as bytes, so that everything passes through reading as well."""
    a_report = draw(reports())
    an_answer = draw(claims_for(a_report, supports=draw(st.booleans())))
    claims = [
        {
            **claim_to_json(a_claim),
            "delivers": [{"entity": "acme", "field": "revenue", "value": draw(fact_values)}],
        }
        for a_claim in an_answer.claims
    ]
    rows = [{**READINGS[0], "value": value} for value in draw(st.lists(fact_values, max_size=3))]
    base = json.loads(REPORT)
    checks = [
        {**base["checks"][0], "id": a_check.id, "status": a_check.status, "warnings": list(a_check.warnings)}
        | {"semantic_unverified": a_check.semantic_unverified}
        for a_check in a_report.checks
    ]
    made_report = base | {
        "checks": checks,
        "fingerprint_stale": a_report.fingerprint_stale,
        "all_evidence_grounded": a_report.all_evidence_grounded,
        "capability_limits": list(a_report.capability_limits),
        "unsupported_claim_kinds": list(a_report.unsupported_claim_kinds),
        "warnings": list(a_report.warnings),
    }
    return [
        Received("verification_report", "r.json", json.dumps(made_report).encode()),
        Received("claims", "c.json", json_text({"question": "What?", "claims": claims}).encode()),
        Received("readings", "x.json", json_text(rows).encode()),
    ]


@given(uploads(), st.data())
@settings(max_examples=100, deadline=None)
def test_whatever_is_sealed_is_valid_under_its_schemas_and_replays_to_the_same_bytes(received, data):
    try:
        assessment = assess(received)
    except DocumentError as refusal:
        check_against_schema("invalid_request", refusal.to_json(), "invalid-request")
        return
    decisions = {}
    for assessed in assessment.claims:
        outcomes = allowed_outcomes(assessed)
        if assessed.action == "needs_review" or (outcomes and data.draw(st.booleans())):
            outcome = data.draw(st.sampled_from(outcomes))
            decisions[assessed.claim.id] = decision_on(assessment, assessed.claim.id, outcome)
    statement = build_statement(assessment, decisions, SEAL)
    decision = assessment.contract_decision.to_json()
    check_against_schema("contract_decision", decision, "contract-decision")
    payload = canonical_payload(statement)
    assert read_document("release", "p", payload, PAYLOAD_LIMITS).value == json.loads(payload) == statement
    envelope = sign_payload(payload, SIGNER)
    check_against_schema("envelope", json.loads(envelope), "dsse-envelope")
    opened = open_release(envelope, [TrustedKey(SIGNER.public_key)])
    assert (opened.payload, opened.statement) == (payload, statement)
    assert replay(opened.payload, received) == ()
