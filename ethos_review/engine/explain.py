"""The ordered list of rules that led to a claim's action: codes, facts and sentences, no HTML (spec 3.7)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, cast

from ethos_review.engine.assessment import ClaimAssessment
from ethos_review.engine.caps import LOWERS_TO
from ethos_review.engine.documents import Json
from ethos_review.engine.report import Check
from ethos_review.engine.verdict import ComparedReading, JudgedValue

_LONGEST_VALUE: Final = 60  # characters of a value inside a sentence

_RELEVANCE: Final = {
    "direct_answer": "directly answers",
    "supports_answer": "supports the answer",
    "background_only": "background only",
    "unrelated": "unrelated",
}
_TYPE: Final = {"source_fact": "source fact", "synthesis": "synthesis", "unsupported": "unsupported"}
_SUPPORT: Final = {
    "supported": "The application found that the cited evidence supports the claim.",
    "unsupported": "The application found that the cited evidence does not support the claim.",
    "contradicted": "The application found that the cited evidence contradicts the claim.",
    "not_evaluated": "Nobody evaluated whether the cited evidence supports the claim.",
}
_CONTRACT_ROW: Final = {
    "certified": "A grounded, relevant source fact is final under the contract.",
    "supported_synthesis_needs_review": "Grounded, relevant synthesis needs review under the contract.",
    "claim_support_not_evaluated": "Grounded, but its support was not evaluated: the contract wants review.",
    "grounded_but_irrelevant": "Grounded, but it does not answer the question: blocked under the contract.",
    "unsupported_claim": "A claim that its evidence does not support is blocked under the contract.",
    "contradicted_claim": "A claim that its evidence contradicts is blocked under the contract.",
    "cannot_answer_from_sources": "A claim that is not grounded is blocked under the contract.",
}
_CAP: Final = {
    "contradicted_by_reading": "A contradiction that was found always blocks.",
    "unsettled_by_readings": "Readings that do not settle a value withhold the claim until a person decides.",
    "no_check_behind_grounding": "No check stands behind its grounding, so it is never final by itself.",
}
_ACTION: Final = {
    "show_final": "Final: it is shown unless a person holds it back.",
    "needs_review": "Needs review: a person decides.",
    "block": "Blocked: it is not shown.",
}
_STATUS: Final = {
    "grounded": "is grounded",
    "not_found": "found nothing",
    "mismatch": "does not match",
    "stale": "is stale",
    "unsupported_claim_kind": "is of a kind that was not checked",
    "capability_blocked": "was blocked by a missing capability",
    "error": "ended in an error",
}
# Why a check is not grounded, in few words: for sentences here and for badges.
REASONS: Final = {
    "missing_locator": "it names no place",
    "missing_required_text": "it quotes no text",
    "unsupported_claim_kind": "of a kind that is not checked",
    "stale_fingerprint": "the source has changed",
    "missing_source_fingerprint": "the source has no fingerprint",
    "missing_citation_fingerprint": "the citation has no fingerprint",
    "missing_span_capability": "the parser gives no spans",
    "missing_table_capability": "the parser gives no tables",
    "unknown_coordinate_origin": "coordinates that cannot be read",
    "element_not_found": "no such element",
    "span_not_found": "no such span",
    "page_not_found": "no such page",
    "bbox_not_found": "nothing in the box",
    "locator_conflict": "its places contradict each other",
    "missing_page_for_bbox": "a box without a page",
    "missing_table_cell_locator": "it names no cell",
    "table_not_found": "no such table",
    "table_cell_not_found": "no such cell",
    "text_mismatch": "the text differs",
}


@dataclass(frozen=True, slots=True)
class Rule:
    code: str
    sentence: str  # plain English, ready to show
    facts: dict[str, Json]

    def to_json(self) -> dict[str, Json]:
        return {"code": self.code, "sentence": self.sentence, "facts": self.facts}


def explain(claim: ClaimAssessment) -> tuple[Rule, ...]:
    """The rules in the order they apply (spec 3.7).

    Grounding, relevance, type or support, the contract's row, the verdict on each delivered value, each cap,
    the action.
    """
    contract = claim.contract
    return (
        _grounding(claim),
        Rule(
            "question_relevance",
            f"Relevance is “{_RELEVANCE[contract.question_relevance]}”.",
            {"question_relevance": contract.question_relevance},
        ),
        *_labels(claim),
        Rule(
            contract.release_reason,
            _CONTRACT_ROW[contract.release_reason],
            {"release_action": contract.release_action, "release_reason": contract.release_reason},
        ),
        *(_verdict(judged) for judged in claim.judged),
        *(Rule(cap, _CAP[cap], {"lowers_to": LOWERS_TO[cap]}) for cap in claim.caps),
        Rule(
            f"action:{claim.action}",
            _ACTION[claim.action],
            {"action": claim.action, "contract_action": contract.release_action, "caps": list(claim.caps)},
        ),
    )


def reviewed_as(claim_type: str) -> str:
    """What a claim is called that a reviewer released: the release lists all of them as reviewed synthesis."""
    return "Reviewed synthesis" if claim_type == "synthesis" else "Released after review"


def grounding_wording(proof_status: str) -> str:
    """What may be said about grounding, and no more (spec 01, law 2)."""
    if proof_status == "unverified":
        return "Ethos did not verify citation grounding."
    return "Ethos verified citation grounding."


def why(claim: ClaimAssessment, *, decided: bool = False) -> str:
    """Why the claim is where it is, in a sentence or two: the gravest reason first.

    With `decided` a person has decided it already, so nobody is said to be about to.
    """
    who_decides = "" if decided else " A person decides."
    if claim.action == "show_final":
        return "Its citations are grounded, and it is a relevant fact stated by the source."
    for judged in claim.judged:
        if judged.accuses:
            return f"{_contradiction(judged)} {_CAP['contradicted_by_reading']}"
    if claim.action == "block":
        return _why_blocked(claim)
    for judged in claim.judged:
        if judged.withholds:
            return f"{_VERDICT[judged.verdict]}{who_decides}"
    if "no_check_behind_grounding" in claim.caps:
        return f"The application states that it is grounded, but no check stands behind that.{who_decides}"
    if claim.contract.release_reason == "claim_support_not_evaluated":
        return f"Grounded, but nobody evaluated whether the evidence supports it.{who_decides}"
    return f"Grounded and relevant, but it {_synthesis(len(claim.claim.check_ids))}.{who_decides}"


def _why_blocked(claim: ClaimAssessment) -> str:
    reason = claim.contract.release_reason
    if reason == "grounded_but_irrelevant" and not claim.claim.check_ids:
        return "The application states that it is grounded, and that it does not answer the question."
    if reason == "grounded_but_irrelevant":
        return "It stands in the source, but it does not answer the question."
    if reason == "unsupported_claim":
        return "Its citations are grounded, but they do not support what it says."
    if reason == "contradicted_claim":
        return "Its citations are grounded, but they contradict what it says."
    if not claim.claim.check_ids:
        return "It cites no check, and the application states that it is not grounded."
    return _grounding(claim).sentence


def _synthesis(checks: int) -> str:
    return f"combines {checks} passages" if checks > 1 else "goes beyond what the passage says"


def _grounding(claim: ClaimAssessment) -> Rule:
    grounded = claim.contract.citation_grounded
    facts: dict[str, Json] = {
        "citation_grounded": grounded,
        "fingerprint_stale": claim.report.fingerprint_stale,
        "checks": [
            {
                "id": check.id,
                "status": check.status,
                "reason": check.reason,
                "semantic_unverified": check.semantic_unverified,
            }
            for check in claim.checks
        ],
    }
    if not claim.claim.check_ids:
        said = "is grounded" if grounded else "is not grounded"
        return Rule(
            "grounding_stated", f"The claim cites no check; the application states that it {said}.", facts
        )
    if grounded:
        return Rule(
            "checks_reusable",
            f"{_cited_checks_are(len(claim.claim.check_ids))} reusable, so the claim is grounded.",
            facts,
        )
    if claim.report.fingerprint_stale:
        return Rule(
            "fingerprint_stale",
            "The report is about another version of the source, so none of its checks is reusable.",
            facts,
        )
    failing = [check for check in claim.checks if check.status != "grounded" or check.semantic_unverified]
    named = "; ".join(map(_failing, failing[:3]))
    more = f"; and {len(failing) - 3} more" if len(failing) > 3 else ""
    return Rule("checks_not_reusable", f"Not grounded: {named}{more}.", facts)


def _cited_checks_are(number: int) -> str:
    if number == 1:
        return "The cited check is"
    return "Both cited checks are" if number == 2 else f"All {number} cited checks are"


def _failing(check: Check) -> str:
    if check.status == "grounded":
        return f"check {check.id} is grounded, but its meaning was not verified"
    reason = f" ({REASONS[check.reason]})" if check.reason and check.reason != check.status else ""
    return f"check {check.id} {_STATUS[check.status]}{reason}"


def _labels(claim: ClaimAssessment) -> list[Rule]:
    rules = []
    contract = claim.contract
    if contract.claim_type is not None:
        rules.append(
            Rule(
                "claim_type", f"Type is “{_TYPE[contract.claim_type]}”.", {"claim_type": contract.claim_type}
            )
        )
    if contract.claim_support is not None:
        rules.append(
            Rule("claim_support", _SUPPORT[contract.claim_support], {"claim_support": contract.claim_support})
        )
    return rules


_VERDICT: Final = {
    "incomparable": "The readings cannot be compared safely with what the claim states.",
    "disputed": "The readings disagree with each other, and the answer leaves the value open.",
    "settled-unknown": "A tool read that the value is not known, but the claim states one.",
    "settled-doubt": "A tool read nothing definite, but the claim states a value.",
    "doubt-on-both-sides": "Neither the claim nor the readings know the value.",
    "declined": "The answer leaves open a value that was read. That changes nothing.",
    "agrees": "The readings agree. Agreement changes nothing.",
    "uncollected": "No tool read this fact, so nothing was compared.",
    "omitted": "The answer does not state the field, so nothing was compared.",
}


def _verdict(judged: JudgedValue) -> Rule:
    delivered = judged.delivered
    compared = judged.readings
    named = f"{delivered.entity} · {delivered.field}"
    said = _contradiction(judged) if judged.accuses else _VERDICT[judged.verdict]
    if judged.verdict == "agrees" and len(compared) == 1:
        said = "The reading agrees. Agreement changes nothing."
    return Rule(
        f"verdict:{judged.verdict}",
        f"{_short(named)}: {said}",
        {
            "entity": delivered.entity,
            "field": delivered.field,
            "normalization": delivered.normalization,
            "delivered_value": judged.delivered_text,
            "verdict": judged.verdict,
            "withholds": judged.withholds,
            "readings": [cast("dict[str, Json]", _row(reading)) for reading in compared],
        },
    )


def _row(compared: ComparedReading) -> dict[str, int | str | None]:
    return {"position": compared.position, "kind": compared.kind, "relation": compared.relation}


def _contradiction(judged: JudgedValue) -> str:
    against = cast(ComparedReading, judged.first_contradiction)
    read_text = judged.fact.value_text(against.reading.value)
    read = "that there is no value" if against.kind == "absence" else _short(read_text)
    others = " Other readings differ." if judged.verdict == "contradicts-a-reading" else ""
    stated = _short(cast(str, judged.delivered_text))
    return f"{_short(against.reading.tool_name)} read {read}; the claim states {stated}.{others}"


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST_VALUE else text[: _LONGEST_VALUE - 1] + "…"
