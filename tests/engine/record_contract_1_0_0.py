"""Record what ethos-pdf 0.3.0, the helper of contract 1.0.0, decides on generated inputs.

Run it with an interpreter that has ethos-pdf 0.3.0 installed; it needs nothing else:

    python3 -m venv contract-venv && contract-venv/bin/pip install ethos-pdf==0.3.0
    contract-venv/bin/python tests/engine/record_contract_1_0_0.py
"""

from __future__ import annotations

import json
import random
from importlib.metadata import version
from pathlib import Path
from typing import Any

import ethos_pdf

CASES = 300
PLACE = Path(__file__).parent.parent / "data" / "contract-1.0.0" / "decisions.json"
STATUSES = ("not_found", "mismatch", "stale", "unsupported_claim_kind", "capability_blocked", "error")
RELEVANCES = ("direct_answer", "supports_answer", "background_only", "unrelated")
TYPES = ("source_fact", "synthesis", "unsupported")


def make_report(dice: random.Random) -> dict[str, Any]:
    checks = [
        {
            "id": f"v{number:04d}",
            "status": "grounded" if dice.random() < 0.7 else dice.choice(STATUSES),
            "semantic_unverified": dice.random() < 0.1,
            "warnings": ["capability_limited"] if dice.random() < 0.1 else [],
        }
        for number in range(1, dice.randint(0, 4) + 1)
    ]
    report = {
        "fingerprint_stale": dice.random() < 0.1,
        "all_evidence_grounded": False,
        "capability_limits": ["missing_spans"] if dice.random() < 0.2 else [],
        "unsupported_claim_kinds": ["region"] if dice.random() < 0.1 else [],
        "warnings": ["capability_limited"] if dice.random() < 0.1 else [],
        "checks": checks,
    }
    supported = [check for check in checks if check["status"] != "unsupported_claim_kind"]
    report["all_evidence_grounded"] = (
        bool(supported)
        and all(check["status"] == "grounded" for check in supported)
        and not any(check["semantic_unverified"] for check in checks)
        and not report["unsupported_claim_kinds"]
        and not report["fingerprint_stale"]
    )
    return report


def make_claims(dice: random.Random, report: dict[str, Any]) -> list[dict[str, Any]]:
    ids = [check["id"] for check in report["checks"]]
    if dice.random() < 0.03:
        ids.append("v9999")
    # Few kinds of claim in one answer, so that every status of the answer is met.
    relevances = dice.sample(RELEVANCES, dice.randint(1, 4))
    types = dice.choice((TYPES[:1], TYPES[:2], TYPES[1:2], TYPES))
    claims = []
    for number in range(dice.randint(0, 5)):
        claim: dict[str, Any] = {
            "id": f"claim-{number}",
            "text": f"Text of claim-{number}.",
            "question_relevance": dice.choice(relevances),
            "claim_type": dice.choice(types),
        }
        cited = dice.sample(ids, dice.randint(0, min(2, len(ids))))
        if cited:
            claim["check_ids"] = cited
        if not cited or dice.random() < 0.05:
            claim["citation_grounded"] = dice.random() < 0.5
        claims.append(claim)
    return claims


def make_case(dice: random.Random) -> dict[str, Any]:
    report = make_report(dice)
    case: dict[str, Any] = {
        "report": report,
        "claims": make_claims(dice, report),
        "notes": dice.choice((None, [], ["a note"])),
    }
    try:
        case["decision"] = ethos_pdf.app_answer_release_decision(
            "What changed?",
            report,
            case["claims"],
            verification_report_ref="verification-report.json",
            notes=case["notes"],
        )
    except ValueError:
        case["decision"] = None  # refused
    return case


def main() -> None:
    helper = f"ethos-pdf {version('ethos-pdf')}"
    if helper != "ethos-pdf 0.3.0":
        raise SystemExit(f"this interpreter has {helper}; contract 1.0.0 is what 0.3.0 implements")
    dice = random.Random(1)
    lines = ",\n".join(json.dumps(make_case(dice), separators=(",", ":")) for _ in range(CASES))
    PLACE.parent.mkdir(parents=True, exist_ok=True)
    PLACE.write_text(f'{{"recorded_with":"{helper}","cases":[\n{lines}\n]}}\n', encoding="utf-8")


if __name__ == "__main__":
    main()
