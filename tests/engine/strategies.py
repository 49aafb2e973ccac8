"""Hypothesis strategies of the engine's tests: JSON values, readings, claims, reports, whole submissions."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from hypothesis import strategies as st

from ethos_review.engine.assessment import Submission
from ethos_review.engine.claims import AnswerClaims, Claim, DeliveredValue
from ethos_review.engine.decision import CONTRACT_VERSIONS
from ethos_review.engine.documents import Document
from ethos_review.engine.readings import Reading
from ethos_review.engine.report import Check, Report
from ethos_review.engine.values import NORMALIZATIONS

normalizations = st.sampled_from(NORMALIZATIONS)

# A small pool on purpose: equal values in other spellings, and near misses, must meet often.
numbers = st.sampled_from(
    [
        *(0, 1, 40, 42, 100, 10**30),
        *map(Decimal, ("42.5", "42.50", "4.25E+1", "-0", "1E+2", "1E+9999", "1E-9999")),
        Decimal("0.1000000000000000000000000000001"),
    ]
)
texts = st.sampled_from(
    [
        *("42.5", " 42.50 ", "1e2", "100", "007", "-0", "1e99999999999999999999", "true", "null", "[1]"),
        *("Settled ", "settled", "SETTLED", "set\u00a0 tled", "n/a", "", " ", "unknown", " UNKNOWN "),
        *("\u00e9", "e\u0301", "\u00c9", "ß", "SS"),
    ]
)
scalars = st.none() | st.booleans() | numbers | texts
json_values = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["a", "b", "kind", "value"]), inner, max_size=3)
    ),
    max_leaves=5,
)


def known(value: Any) -> dict[str, Any]:
    return {"kind": "known", "value": value, "evidence": "as read"}


UNKNOWN = {"kind": "unknown", "reason": "no row"}
NOT_APPLICABLE = {"kind": "not-applicable", "evidence": "no such year"}
MALFORMED = {"kind": "known"}

claim_objects = st.one_of(
    json_values.map(known),
    st.just(known(None)),
    st.sampled_from(
        [UNKNOWN, NOT_APPLICABLE, MALFORMED, {"kind": "unknown"}, {"kind": "unknown", "reason": 5}]
    ),
)
fact_values = st.one_of(scalars, json_values, claim_objects, st.just(known(known(42))))


def reading(value: Any, entity: str = "acme", field: str = "revenue", call: str = "c1") -> Reading:
    return Reading(entity, field, value, "ledger", call, 0, None)


def delivered(
    value: Any = None,
    normalization: str = "auto",
    *,
    stated: bool = True,
    entity: str = "acme",
    field: str = "revenue",
) -> DeliveredValue:
    return DeliveredValue(entity, field, normalization, stated, value if stated else None)


fields = st.sampled_from(["revenue", "margin"])
readings = st.builds(lambda value, field: reading(value, field=field), fact_values, fields)
delivered_values = st.builds(
    lambda value, normalization, stated, field: delivered(value, normalization, stated=stated, field=field),
    fact_values,
    normalizations,
    st.sampled_from([True, True, True, False]),
    fields,
)

STATUSES = (
    "grounded",
    "not_found",
    "mismatch",
    "stale",
    "unsupported_claim_kind",
    "capability_blocked",
    "error",
)
RELEVANCES = ("direct_answer", "supports_answer", "background_only", "unrelated")
TYPES = ("source_fact", "synthesis", "unsupported")
SUPPORTS = ("supported", "unsupported", "contradicted", "not_evaluated")


def check(id: str, status: str = "grounded", *, semantic_unverified: bool = False, **members: Any) -> Check:
    return Check(
        {
            "id": id,
            "claim": {"kind": "quote", "text": "Revenue was $12.4M.", "citation": {"page": "p0001"}},
            "status": status,
            "match_method": "exact_text" if status == "grounded" else "none",
            "semantic_unverified": semantic_unverified,
            "warnings": list(members.pop("warnings", ())),
            **members,
        }
    )


def report(*checks: Check, **members: Any) -> Report:
    """A report that is consistent with itself (spec 2.2)."""
    stale = members.pop("fingerprint_stale", False)
    unsupported = members.pop("unsupported_claim_kinds", ())
    supported = [check for check in checks if check.status != "unsupported_claim_kind"]
    certified = (
        bool(supported)
        and all(check.status == "grounded" for check in supported)
        and not any(check.semantic_unverified for check in checks)
        and not unsupported
        and not stale
    )
    return Report(
        name="verification-report.json",
        wrapper="bare",
        signed_by=None,
        value={"checks": [check.value for check in checks]},
        schema_version="1.1.0",
        fingerprint_stale=stale,
        all_evidence_grounded=certified,
        capability_limits=members.pop("capability_limits", ()),
        unsupported_claim_kinds=unsupported,
        warnings=members.pop("warnings", ()),
    )


def claim(
    id: str = "claim-revenue",
    *check_ids: str,
    question_relevance: str = "direct_answer",
    claim_type: str = "source_fact",
    citation_grounded: bool | None = None,
    claim_support: str | None = None,
    delivers: tuple[DeliveredValue, ...] = (),
) -> Claim:
    return Claim(
        id=id,
        text=f"Text of {id}.",
        question_relevance=question_relevance,
        claim_type=claim_type,
        check_ids=check_ids,
        citation_grounded=citation_grounded,
        claim_support=claim_support,
        delivers=delivers,
    )


def answer(*claims: Claim, notes: tuple[str, ...] | None = None, ref: str | None = None) -> AnswerClaims:
    return AnswerClaims("What changed?", ref, notes, claims)


def submission(report: Report, answer: AnswerClaims, readings: tuple[Reading, ...] = ()) -> Submission:
    claims = {"question": answer.question, "claims": [claim_to_json(claim) for claim in answer.claims]}
    documents = (
        Document("verification_report", "report.json", b"{}", "0" * 64, {}),
        Document("claims", "claims.json", b"{}", "1" * 64, claims),
    )
    return Submission(documents, report, answer, readings)


@st.composite
def checks(draw: st.DrawFn) -> tuple[Check, ...]:
    """Mostly grounded, so that every row of the contract's tables is met."""
    status = st.one_of(st.just("grounded"), st.sampled_from(STATUSES))
    warnings = st.sampled_from([(), (), ("capability_limited",), ("partial_parse",)])
    return tuple(
        check(
            f"v{number:04d}",
            draw(status),
            semantic_unverified=draw(st.sampled_from([False, False, False, True])),
            warnings=draw(warnings),
        )
        for number in range(1, draw(st.integers(0, 4)) + 1)
    )


@st.composite
def reports(draw: st.DrawFn) -> Report:
    return report(
        *draw(checks()),
        fingerprint_stale=draw(st.sampled_from([False, False, False, True])),
        capability_limits=draw(st.sampled_from([(), (), ("missing_spans",)])),
        unsupported_claim_kinds=draw(st.sampled_from([(), (), ("region",)])),
        warnings=draw(st.sampled_from([(), (), ("capability_limited",)])),
    )


@st.composite
def claims_for(draw: st.DrawFn, report: Report, *, supports: bool, delivers: bool = False) -> AnswerClaims:
    """Claims on a report, also ones that the contract refuses."""
    ids = [check.id for check in report.checks] + (["v9999"] if draw(st.integers(0, 30)) == 0 else [])
    made = []
    for number in range(draw(st.integers(0, 5))):
        cited = tuple(draw(st.lists(st.sampled_from(ids), unique=True, max_size=3))) if ids else ()
        stated = st.sampled_from([None, None, None, None, True, False]) if cited else st.booleans()
        made.append(
            claim(
                f"claim-{number}",
                *cited,
                question_relevance=draw(st.sampled_from(RELEVANCES)),
                claim_type=draw(st.sampled_from(("source_fact", "synthesis", *TYPES))),
                citation_grounded=draw(stated),
                claim_support=draw(st.sampled_from([None, "supported", *SUPPORTS])) if supports else None,
                delivers=tuple(draw(st.lists(delivered_values, max_size=2))) if delivers else (),
            )
        )
    notes = draw(st.sampled_from([None, (), ("a note",)]))
    return answer(*made, notes=notes, ref=draw(st.sampled_from([None, "other.json"])))


@st.composite
def submissions(draw: st.DrawFn) -> Submission:
    a_report = draw(reports())
    made = draw(claims_for(a_report, supports=draw(st.booleans()), delivers=True))
    return submission(a_report, made, tuple(draw(st.lists(readings, max_size=4))))


contract_versions = st.sampled_from(("auto", *CONTRACT_VERSIONS))


def report_to_json(report: Report) -> dict[str, Any]:
    """What of a report the contract's own helper reads."""
    return {
        "fingerprint_stale": report.fingerprint_stale,
        "all_evidence_grounded": report.all_evidence_grounded,
        "capability_limits": list(report.capability_limits),
        "unsupported_claim_kinds": list(report.unsupported_claim_kinds),
        "warnings": list(report.warnings),
        "checks": [
            {
                "id": check.id,
                "status": check.status,
                "semantic_unverified": check.semantic_unverified,
                "warnings": list(check.warnings),
            }
            for check in report.checks
        ],
    }


def claim_to_json(claim: Claim) -> dict[str, Any]:
    made: dict[str, Any] = {
        "id": claim.id,
        "text": claim.text,
        "question_relevance": claim.question_relevance,
        "claim_type": claim.claim_type,
    }
    if claim.check_ids:
        made["check_ids"] = list(claim.check_ids)
    if claim.citation_grounded is not None:
        made["citation_grounded"] = claim.citation_grounded
    if claim.claim_support is not None:
        made["claim_support"] = claim.claim_support
    return made
