"""What the engine decides without people, as one JSON object: `ethos-review decide` and the API say the same."""

from __future__ import annotations

from ethos_review.engine.assessment import Assessment
from ethos_review.engine.documents import Json
from ethos_review.engine.explain import explain
from ethos_review.engine.statement import caps_to_json, verdicts_to_json


def outcome_to_json(assessment: Assessment) -> dict[str, Json]:
    return {
        "contract_decision": assessment.contract_decision.to_json(),
        "verdicts": list(verdicts_to_json(assessment)),
        "caps": list(caps_to_json(assessment)),
        "claims": {
            assessed.claim.id: {
                "action": assessed.action,
                "reasons": [rule.to_json() for rule in explain(assessed)],
            }
            for assessed in assessment.claims
        },
    }
