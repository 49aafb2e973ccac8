"""The sample reviews are accepted and have the fates that their README promises."""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import ethos_review
from ethos_review.engine.assessment import Assessment, decide, read_submission
from ethos_review.engine.documents import Document, read_document
from ethos_review.engine.release import make_release, rationale_required, undecided_claim_ids

SAMPLE = Path(ethos_review.__file__).parent / "reviews" / "sample"
EXPECTED: dict[str, dict[str, dict[str, Any]]] = json.loads((SAMPLE / "expected.json").read_text("utf-8"))
README = (SAMPLE / "README.md").read_text("utf-8")
FOLDERS = sorted(path.name for path in SAMPLE.iterdir() if path.is_dir())

VERDICTS = {
    "omitted",
    "uncollected",
    "incomparable",
    "contradicts",
    "contradicts-a-reading",
    "settled-unknown",
    "settled-doubt",
    "agrees",
    "doubt-on-both-sides",
    "disputed",
    "declined",
}
REASONS = {
    "certified",
    "supported_synthesis_needs_review",
    "grounded_but_irrelevant",
    "cannot_answer_from_sources",
    "claim_support_not_evaluated",
    "unsupported_claim",
    "contradicted_claim",
}
CAPS = {"contradicted_by_reading", "unsettled_by_readings", "no_check_behind_grounding"}


@cache
def assess(folder: str) -> Assessment:
    def read(role: str, name: str) -> Document | None:
        path = SAMPLE / folder / name
        return read_document(role, name, path.read_bytes()) if path.exists() else None

    return decide(
        read_submission(
            report=read("verification_report", "verification-report.json"),
            claims=read("claims", "claims.json"),
            readings=read("readings", "readings.json"),
            bundle=read("bundle", "bundle.json"),
        )
    )


def outcomes(folder: str) -> dict[str, dict[str, Any]]:
    return {
        assessed.claim.id: {
            "action": assessed.action,
            "reason": assessed.contract.release_reason,
            "verdicts": [judged.verdict for judged in assessed.judged],
            "caps": list(assessed.caps),
        }
        for assessed in assess(folder).claims
    }


def readme_section(folder: str) -> str:
    _, section = README.split(f"\n## {folder}\n")
    return section.split("\n## ")[0]


def readme_outcomes(folder: str) -> dict[str, dict[str, Any]]:
    table: dict[str, dict[str, Any]] = {}
    for line in readme_section(folder).splitlines():
        if not line.startswith("| `"):
            continue
        claim_id, action, reason, verdicts, caps = line.strip("| ").split(" | ")[:5]
        table[claim_id.strip("`")] = {
            "action": action.strip("`"),
            "reason": reason.strip("`"),
            "verdicts": re.findall(r"`([^`]+)`", verdicts),
            "caps": re.findall(r"`([^`]+)`", caps),
        }
    return table


def everything(member: str) -> set[str]:
    found: set[str] = set()
    for claims in EXPECTED.values():
        for outcome in claims.values():
            value = outcome[member]
            found.update([value] if isinstance(value, str) else value)
    return found


def form_of_readings(value: Any) -> str:
    if isinstance(value, list):
        return "camel-case rows" if "toolName" in value[0] else "bare array"
    return "tool results" if "tool_results" in value else "rows with a version"


def test_the_index_the_folders_and_the_expectations_name_the_same_reviews_in_order() -> None:
    index = json.loads((SAMPLE / "sample.json").read_text("utf-8"))
    assert [entry["folder"] for entry in index] == FOLDERS
    assert list(EXPECTED) == FOLDERS
    assert all(entry["title"] and entry["teaches"] for entry in index)


@pytest.mark.parametrize("folder", FOLDERS)
def test_a_sample_is_accepted_and_decided_as_expected(folder: str) -> None:
    assert outcomes(folder) == EXPECTED[folder]


@pytest.mark.parametrize("folder", FOLDERS)
def test_the_readme_tells_each_claims_fate(folder: str) -> None:
    assert readme_outcomes(folder) == EXPECTED[folder]


@pytest.mark.parametrize("folder", FOLDERS)
def test_the_readme_tells_question_contract_and_proof(folder: str) -> None:
    decision = assess(folder).contract_decision
    assert (
        f"Question: “{decision.answer.question}” Contract {decision.schema_version} says `{decision.app_status}`; "
        f"proof `{decision.proof.proof_status}`."
    ) in readme_section(folder)


@pytest.mark.parametrize("folder", FOLDERS)
def test_the_readmes_overview_counts_final_review_and_blocked(folder: str) -> None:
    actions = [outcome["action"] for outcome in EXPECTED[folder].values()]
    counts = " / ".join(str(actions.count(action)) for action in ("show_final", "needs_review", "block"))
    (row,) = (line for line in README.splitlines() if line.startswith(f"| [{folder}](#{folder}) |"))
    assert f"| {counts} | {assess(folder).submission.report.schema_version} |" in row


def test_the_samples_show_every_verdict_reason_action_and_cap() -> None:
    assert everything("verdicts") == VERDICTS
    assert everything("reason") == REASONS
    assert everything("action") == {"show_final", "needs_review", "block"}
    assert everything("caps") == CAPS


def test_the_samples_use_both_report_versions_and_a_report_in_a_statement() -> None:
    reports = [assess(folder).submission.report for folder in FOLDERS]
    assert {report.schema_version for report in reports} == {"1.0.0", "1.1.0"}
    assert {report.wrapper for report in reports} == {"bare", "statement"}


def test_the_samples_use_every_form_of_readings() -> None:
    forms: set[str] = set()
    for folder in FOLDERS:
        for document in assess(folder).submission.documents:
            value: Any = document.value
            if document.role == "bundle":
                forms.add(form_of_readings(value["readings"]))
            elif document.role == "readings":
                forms.add(form_of_readings(value))
    assert forms == {"rows with a version", "bare array", "camel-case rows", "tool results"}


@pytest.mark.parametrize("folder", ["01-quarterly-report", "04-lease-break", "05-night-bus-timetable"])
def test_a_sample_without_claims_at_review_can_be_sealed_at_once(folder: str) -> None:
    assert undecided_claim_ids(assess(folder), {}) == ()


@pytest.mark.parametrize(
    ("folder", "status", "relevance", "disclosures"),
    [
        ("01-quarterly-report", "complete", "direct", ()),
        (
            "04-lease-break",
            "none",
            "none",
            ("no_support_in_sources", "proof:stale_fingerprint", "proof:non_grounded_checks"),
        ),
        (
            "05-night-bus-timetable",
            "none",
            "none",
            (
                "no_support_in_sources",
                "proof:capability_limited",
                "proof:unsupported_claim_kind",
                "proof:non_grounded_checks",
            ),
        ),
        ("03-fasting-guideline", "partial", "direct", ("partial_answer", "withheld_by_readings")),
    ],
)
def test_the_answer_of_a_sample_before_anybody_decides(
    folder: str, status: str, relevance: str, disclosures: tuple[str, ...]
) -> None:
    release = make_release(assess(folder), {})
    assert (release.answer_status, release.relevance, release.disclosures) == (status, relevance, disclosures)


@pytest.mark.parametrize(
    ("folder", "waiting", "with_rationale"),
    [("06-cladding-sheet", 7, 6), ("07-library-sundays", 4, 3), ("11-campus-energy", 20, 3)],
)
def test_so_many_claims_wait_and_so_many_approvals_need_a_rationale(
    folder: str, waiting: int, with_rationale: int
) -> None:
    assessment = assess(folder)
    claims = [assessment.claim(claim_id) for claim_id in undecided_claim_ids(assessment, {})]
    assert len(claims) == waiting
    assert sum(rationale_required(claim, "approve") for claim in claims) == with_rationale


def test_the_lift_offer_hides_an_override_a_zero_width_space_and_a_lookalike_letter_in_a_long_text() -> None:
    text = assess("10-lift-offer").claim("commitments").claim.text
    assert len(text) > 1_000
    for hidden in ("\u202e", "\u200b", "V\u0435ltora"):
        assert hidden in text
