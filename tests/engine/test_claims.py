"""The claims document is read, or refused (spec 2.3)."""

import copy
from decimal import Decimal

import pytest
from hypothesis import given

from ethos_review.engine.claims import AnswerClaims, Claim, DeliveredValue, read_claims
from ethos_review.engine.documents import Limits, read_document
from ethos_review.engine.errors import DocumentError
from ethos_review.engine.strict_json import DEFAULT_LIMITS
from tests.engine.mutations import (
    encoded,
    example_paths,
    problems_of,
    resolves,
    spoiled_bytes,
    spoiled_values,
)

CLAIM = {
    "id": "claim-service",
    "text": "The pump was last serviced on 14 March.",
    "check_ids": ["v0001"],
    "question_relevance": "direct_answer",
    "claim_type": "source_fact",
}
CLAIMS = {"question": "When was the pump last serviced?", "claims": [CLAIM]}
DELIVERED = {"entity": "pump-7", "field": "pressure_bar", "value": Decimal("4.20")}


def document(value, role="claims", limits=DEFAULT_LIMITS):
    return read_document(role, "claims.json", encoded(value), limits)


def read(value):
    return read_claims(document(value))


def claims_with(**members):
    return {**CLAIMS, "claims": [{**CLAIM, **members}]}


def claims_without(name, **members):
    return {**CLAIMS, "claims": [{**{key: value for key, value in CLAIM.items() if key != name}, **members}]}


def refusal_of(value, **kwargs):
    with pytest.raises(DocumentError) as refusal:
        read_claims(document(value, **kwargs))
    return refusal.value.problems


def test_a_claim_is_read_with_all_its_members():
    delivers = [{**DELIVERED, "normalization": "number"}, {**DELIVERED, "value": None}]
    value = {
        **claims_with(citation_grounded=True, claim_support="supported", delivers=delivers),
        "verification_report_ref": "pump-report.json",
        "notes": ["one", ""],
    }
    assert read(value) == AnswerClaims(
        question="When was the pump last serviced?",
        verification_report_ref="pump-report.json",
        notes=("one", ""),
        claims=(
            Claim(
                id="claim-service",
                text="The pump was last serviced on 14 March.",
                question_relevance="direct_answer",
                claim_type="source_fact",
                check_ids=("v0001",),
                citation_grounded=True,
                claim_support="supported",
                delivers=(
                    DeliveredValue("pump-7", "pressure_bar", "number", True, Decimal("4.20")),
                    DeliveredValue("pump-7", "pressure_bar", "auto", True, None),
                ),
            ),
        ),
    )


def test_what_is_left_out_is_none_or_empty():
    read_value = read(claims_without("check_ids", citation_grounded=False))
    (claim,) = read_value.claims
    assert (read_value.verification_report_ref, read_value.notes) == (None, None)
    assert (claim.check_ids, claim.citation_grounded, claim.claim_support, claim.delivers) == (
        (),
        False,
        None,
        (),
    )


def test_no_claims_at_all_can_be_read():
    assert read({**CLAIMS, "claims": []}).claims == ()


def test_the_older_single_check_id_is_read_as_one_of_the_check_ids():
    (claim,) = read(claims_without("check_ids", check_id="v0007")).claims
    assert claim.check_ids == ("v0007",)


@pytest.mark.parametrize(
    ("path", "stated", "found"),
    [
        ("q3", True, {"revenue": "12.4", "": {"x": 1}, "note": None}),
        ("q3.revenue", True, "12.4"),
        ("q3.note", True, None),
        ("q3..x", True, 1),
        ("q3.margin", False, None),
        ("q4.revenue", False, None),
        ("q3.revenue.musd", False, None),
        ("list.0", False, None),
        ("q3.revenue ", False, None),
    ],
)
def test_an_answer_field_is_a_dot_path_into_the_answer(path, stated, found):
    answer = {"q3": {"revenue": "12.4", "": {"x": 1}, "note": None}, "list": [1]}
    delivers = [{"entity": "acme", "field": "revenue", "answer_field": path}]
    (claim,) = read({**claims_with(delivers=delivers), "answer": answer}).claims
    assert claim.delivers == (DeliveredValue("acme", "revenue", "auto", stated, found),)


def test_without_an_answer_no_answer_field_is_stated():
    delivers = [{"entity": "acme", "field": "revenue", "answer_field": "q3"}]
    (claim,) = read(claims_with(delivers=delivers)).claims
    assert claim.delivers == (DeliveredValue("acme", "revenue", "auto", False, None),)


@pytest.mark.parametrize(
    "value",
    [{"kind": "known"}, {"kind": "unknown", "reason": 5}, {"kind": "known", "value": 1, "evidence": "x"}],
)
def test_a_claim_object_is_kept_also_when_it_is_malformed(value):
    (claim,) = read(claims_with(delivers=[{**DELIVERED, "value": value}])).claims
    assert claim.delivers[0].value == value


@pytest.mark.parametrize(
    ("value", "pointer", "code"),
    [
        ({"claims": []}, "", "missing_member"),
        ({"question": "Why?"}, "", "missing_member"),
        ({**CLAIMS, "question": " \u3000"}, "/question", "wrong_format"),
        ({**CLAIMS, "claims": {}}, "/claims", "wrong_type"),
        ({**CLAIMS, "claims": [CLAIM, {**CLAIM, "id": "b"}, CLAIM]}, "/claims/2/id", "duplicate_claim_id"),
        ({**CLAIMS, "answer": []}, "/answer", "wrong_type"),
        ({**CLAIMS, "notes": "one"}, "/notes", "wrong_type"),
        ({**CLAIMS, "verification_report_ref": ""}, "/verification_report_ref", "wrong_format"),
        ({**CLAIMS, "claim": []}, "/claim", "unknown_member"),
        (claims_without("id"), "/claims/0", "missing_member"),
        (claims_with(text="\n"), "/claims/0/text", "wrong_format"),
        (claims_with(question_relevance="relevant"), "/claims/0/question_relevance", "not_allowed_value"),
        (claims_with(claim_type="fact"), "/claims/0/claim_type", "not_allowed_value"),
        (claims_with(claim_support="yes"), "/claims/0/claim_support", "not_allowed_value"),
        (claims_with(check_ids=[]), "/claims/0/check_ids", "too_few_entries"),
        (claims_with(check_ids=["v0001", "v0001"]), "/claims/0/check_ids/1", "repeated_entry"),
        (claims_with(check_ids="v0001"), "/claims/0/check_ids", "wrong_type"),
        (claims_with(check_id="v0001"), "/claims/0", "conflicting_members"),
        (claims_without("check_ids"), "/claims/0", "missing_member"),
        (claims_with(citation_grounded=1), "/claims/0/citation_grounded", "wrong_type"),
        (claims_with(delivers=[{**DELIVERED, "entity": " "}]), "/claims/0/delivers/0/entity", "wrong_format"),
        (
            claims_with(delivers=[{**DELIVERED, "answer_field": "a"}]),
            "/claims/0/delivers/0",
            "conflicting_members",
        ),
        (claims_with(delivers=[{"entity": "a", "field": "b"}]), "/claims/0/delivers/0", "missing_member"),
        (
            claims_with(delivers=[{**DELIVERED, "normalization": "loose"}]),
            "/claims/0/delivers/0/normalization",
            "not_allowed_value",
        ),
        ([], "", "wrong_type"),
        ("claims", "", "wrong_type"),
    ],
)
def test_a_bad_document_is_refused_with_pointer_and_code(value, pointer, code):
    assert (pointer, code) in [(problem.pointer, problem.code) for problem in refusal_of(value)]


def test_every_repeated_id_is_named_with_its_first_use():
    claims = [{**CLAIM, "id": name} for name in ("a", "b", "a", "b", "a")]
    problems = refusal_of({**CLAIMS, "claims": claims})
    assert [problem.pointer for problem in problems] == ["/claims/2/id", "/claims/3/id", "/claims/4/id"]
    assert problems[1].message == "Claims 1 and 3 have the same id “b”. Give each its own."


def test_too_many_claims_are_refused_naming_the_setting():
    claims = [{**CLAIM, "id": str(number)} for number in range(3)]
    (problem,) = refusal_of({**CLAIMS, "claims": claims}, limits=Limits(entries=2))
    assert (problem.pointer, problem.code) == ("/claims", "too_many_entries")
    assert "`limits.entries`" in problem.message


def test_problems_carry_the_role_of_the_document():
    assert {problem.document for problem in refusal_of({}, role="bundle")} == {"bundle"}


@pytest.mark.parametrize("path", example_paths("claims", "valid"), ids=lambda path: path.stem)
def test_the_examples_are_read(path):
    read_claims(read_document("claims", path.name, path.read_bytes()))


def test_reading_changes_nothing_in_the_document():
    parsed = document(claims_with(delivers=[DELIVERED]))
    before = copy.deepcopy(parsed.value)
    read_claims(parsed)
    assert parsed.value == before


@given(spoiled_values("claims"))
def test_a_spoiled_document_is_read_or_refused_with_places_that_are_there(value):
    for problem in problems_of(lambda: read(value)):
        assert resolves(value, problem.pointer)


@given(spoiled_bytes(("claims",)))
def test_spoiled_bytes_are_read_or_refused(content):
    problems_of(lambda: read_claims(read_document("claims", "claims.json", content)))
