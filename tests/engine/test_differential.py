"""The contract decision equals that of the contract's own helpers: ethos-pdf 0.6.0 live, 0.3.0 as recorded.

DIFFERENTIAL_EXAMPLES sets how many inputs are generated.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

import ethos_pdf
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ethos_review.engine.decision import decide_contract
from ethos_review.engine.errors import DocumentError
from ethos_review.engine.report import ProofSummary, Report, summarise_proof
from tests.engine.strategies import (
    answer,
    check,
    claim,
    claim_to_json,
    claims_for,
    report,
    report_to_json,
    reports,
)

RECORDED = json.loads(
    (Path(__file__).parent.parent / "data" / "contract-1.0.0" / "decisions.json").read_text("utf-8")
)


def proof_to_json(proof: ProofSummary) -> dict[str, object]:
    return {
        "proof_status": proof.proof_status,
        "request_certified": proof.request_certified,
        "reusable_grounded_check_ids": list(proof.reusable_grounded_check_ids),
        "needs_review_check_ids": list(proof.needs_review_check_ids),
        "proof_limitations": list(proof.proof_limitations),
    }


def engine_decision(a_report, an_answer, contract_version):
    """None when the engine refuses."""
    try:
        return decide_contract(a_report, summarise_proof(a_report), an_answer, contract_version).to_json()
    except DocumentError:
        return None


def helper_decision(a_report: Report, an_answer):
    """None when the helper refuses."""
    try:
        return ethos_pdf.app_answer_release_decision(
            an_answer.question,
            report_to_json(a_report),
            [claim_to_json(claim) for claim in an_answer.claims],
            verification_report_ref=an_answer.verification_report_ref or a_report.name,
            notes=an_answer.notes,
        )
    except ValueError:
        return None


@given(reports())
def test_the_proof_summary_equals_the_helpers(a_report):
    assert proof_to_json(summarise_proof(a_report)) == ethos_pdf.proof_summary(report_to_json(a_report))


@given(st.data())
@settings(max_examples=int(os.environ.get("DIFFERENTIAL_EXAMPLES", "500")))
def test_contract_1_1_0_equals_the_helpers_decision_and_its_refusals(data):
    a_report = data.draw(reports())
    an_answer = data.draw(claims_for(a_report, supports=True))
    assert engine_decision(a_report, an_answer, "1.1.0") == helper_decision(a_report, an_answer)


def test_the_recorded_decisions_come_from_a_helper_of_contract_1_0_0():
    assert RECORDED["recorded_with"] == "ethos-pdf 0.3.0"
    assert len(RECORDED["cases"]) >= 300
    assert {case["decision"]["schema_version"] for case in RECORDED["cases"] if case["decision"]} == {"1.0.0"}
    statuses = {case["decision"]["app_status"] for case in RECORDED["cases"] if case["decision"]}
    assert statuses == {
        "certified",
        "partial_certified",
        "supported_synthesis_needs_review",
        "grounded_but_irrelevant",
        "cannot_answer_from_sources",
    }
    assert any(case["decision"] is None for case in RECORDED["cases"])


@pytest.mark.parametrize("contract_version", ["auto", "1.0.0"])
def test_contract_1_0_0_equals_the_recorded_decisions_and_refusals(contract_version):
    for number, case in enumerate(RECORDED["cases"]):
        made = case["report"]
        a_report = report(
            *[
                check(
                    entry["id"],
                    entry["status"],
                    semantic_unverified=entry["semantic_unverified"],
                    warnings=tuple(entry["warnings"]),
                )
                for entry in made["checks"]
            ],
            fingerprint_stale=made["fingerprint_stale"],
            capability_limits=tuple(made["capability_limits"]),
            unsupported_claim_kinds=tuple(made["unsupported_claim_kinds"]),
            warnings=tuple(made["warnings"]),
        )
        assert report_to_json(a_report) == made
        an_answer = answer(
            *[
                claim(
                    entry["id"],
                    *entry.get("check_ids", ()),
                    question_relevance=entry["question_relevance"],
                    claim_type=entry["claim_type"],
                    citation_grounded=entry.get("citation_grounded"),
                )
                for entry in case["claims"]
            ],
            notes=None if case["notes"] is None else tuple(case["notes"]),
        )
        assert engine_decision(a_report, an_answer, contract_version) == case["decision"], f"case {number}"
