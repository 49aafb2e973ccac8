"""The rules that led to a claim's action, in order and in words (spec 3.7)."""

from __future__ import annotations

import json
from decimal import Decimal

import pytest
from hypothesis import given, settings

from ethos_review.engine.assessment import decide
from ethos_review.engine.contracts import SCHEMAS
from ethos_review.engine.errors import DocumentError
from ethos_review.engine.explain import REASONS, explain, why
from tests.engine.strategies import (
    UNKNOWN,
    answer,
    check,
    claim,
    delivered,
    known,
    reading,
    report,
    submission,
    submissions,
)

REPORT = report(
    check("v0001"),
    check("v0002"),
    check("v0003", "not_found", reason="element_not_found"),
    check("v0004", semantic_unverified=True),
    check("v0005", "mismatch"),
)


def assessed(a_claim, *readings, a_report=REPORT):
    return decide(submission(a_report, answer(a_claim), readings)).claims[0]


def test_the_rules_stand_in_the_order_they_apply():
    a_claim = claim("a", "v0001", "v0002", claim_type="synthesis", delivers=(delivered(42), delivered("n/a")))
    rules = explain(assessed(a_claim, reading(42)))
    assert [rule.code for rule in rules] == [
        "checks_reusable",
        "question_relevance",
        "claim_type",
        "supported_synthesis_needs_review",
        "verdict:agrees",
        "verdict:incomparable",
        "unsettled_by_readings",
        "action:needs_review",
    ]
    assert [rule.sentence for rule in rules] == [
        "Both cited checks are reusable, so the claim is grounded.",
        "Relevance is “directly answers”.",
        "Type is “synthesis”.",
        "Grounded, relevant synthesis needs review under the contract.",
        "acme · revenue: The reading agrees. Agreement changes nothing.",
        "acme · revenue: The readings cannot be compared safely with what the claim states.",
        "Readings that do not settle a value withhold the claim until a person decides.",
        "Needs review: a person decides.",
    ]


def test_each_rule_carries_the_facts_it_used():
    a_claim = claim("a", "v0001", "v0003", delivers=(delivered(Decimal("42.50"), "number"),))
    grounding, relevance, labels, row, verdict, action = explain(
        assessed(a_claim, reading(42), reading(None))
    )[:6]
    assert grounding.facts["checks"] == [
        {"id": "v0001", "status": "grounded", "reason": None, "semantic_unverified": False},
        {"id": "v0003", "status": "not_found", "reason": "element_not_found", "semantic_unverified": False},
    ]
    assert relevance.facts == {"question_relevance": "direct_answer"}
    assert labels.facts == {"claim_type": "source_fact"}
    assert row.facts == {"release_action": "block", "release_reason": "cannot_answer_from_sources"}
    assert verdict.facts["delivered_value"] == "42.50"
    assert verdict.facts["readings"] == [
        {"position": 0, "kind": "value", "relation": "different"},
        {"position": 1, "kind": "doubt", "relation": None},
    ]
    assert action.facts == {"lowers_to": "block"}


def test_labels_of_contract_1_1_0_are_explained():
    labelled = claim("a", "v0001", claim_support="not_evaluated")
    codes = [rule.code for rule in explain(assessed(labelled))]
    assert codes[2:5] == ["claim_type", "claim_support", "claim_support_not_evaluated"]
    legacy = claim("a", "v0001", claim_type="unsupported", claim_support="unsupported")
    assert [rule.code for rule in explain(assessed(legacy))][2:4] == ["claim_support", "unsupported_claim"]


@pytest.mark.parametrize(
    ("a_claim", "readings", "sentence"),
    [
        (
            claim("a", "v0001"),
            (),
            "Its citations are grounded, and it is a relevant fact stated by the source.",
        ),
        (
            claim("a", "v0001", "v0002", claim_type="synthesis"),
            (),
            "Grounded and relevant, but it combines 2 passages. A person decides.",
        ),
        (
            claim("a", "v0001", claim_type="synthesis"),
            (),
            "Grounded and relevant, but it goes beyond what the passage says. A person decides.",
        ),
        (
            claim("a", "v0001", claim_support="not_evaluated"),
            (),
            "Grounded, but nobody evaluated whether the evidence supports it. A person decides.",
        ),
        (
            claim("a", citation_grounded=True),
            (),
            "The application states that it is grounded, but no check stands behind that. A person decides.",
        ),
        (
            claim("a", "v0001", delivers=(delivered(412),)),
            (398,),
            "ledger read 398; the claim states 412. A contradiction that was found always blocks.",
        ),
        (
            claim("a", "v0001", delivers=(delivered(412),)),
            (412, 398),
            "ledger read 398; the claim states 412. Other readings differ. "
            "A contradiction that was found always blocks.",
        ),
        (
            claim("a", "v0001", delivers=(delivered(412),)),
            (known(None),),
            "ledger read that there is no value; the claim states 412. "
            "A contradiction that was found always blocks.",
        ),
        (
            claim("a", "v0001", delivers=(delivered(412),)),
            (UNKNOWN,),
            "A tool read that the value is not known, but the claim states one. A person decides.",
        ),
        (
            claim("a", "v0001", question_relevance="background_only"),
            (),
            "It stands in the source, but it does not answer the question.",
        ),
        (claim("a", "v0003"), (), "Not grounded: check v0003 found nothing (no such element)."),
        (
            claim("a", "v0004", "v0005", "v0001"),
            (),
            "Not grounded: check v0004 is grounded, but its meaning was not verified; "
            "check v0005 does not match.",
        ),
        (
            claim("a", citation_grounded=False),
            (),
            "It cites no check, and the application states that it is not grounded.",
        ),
        (
            claim("a", "v0001", claim_support="contradicted"),
            (),
            "Its citations are grounded, but they contradict what it says.",
        ),
        (
            claim("a", "v0001", claim_support="unsupported"),
            (),
            "Its citations are grounded, but they do not support what it says.",
        ),
    ],
)
def test_one_sentence_says_why_the_claim_is_where_it_is(a_claim, readings, sentence):
    assert why(assessed(a_claim, *map(reading, readings))) == sentence


def test_a_decided_claim_is_not_said_to_wait_for_a_person():
    waiting = assessed(claim("a", "v0001", "v0002", claim_type="synthesis"))
    assert why(waiting, decided=True) == "Grounded and relevant, but it combines 2 passages."
    unsettled = assessed(claim("a", "v0001", delivers=(delivered(412),)), reading(UNKNOWN))
    assert (
        why(unsettled, decided=True) == "A tool read that the value is not known, but the claim states one."
    )


def test_every_reason_of_a_check_has_its_words():
    schema = json.loads((SCHEMAS / "verification-report.schema.json").read_text(encoding="utf-8"))
    for version in ("check_1_0_0", "check_1_1_0"):
        assert set(REASONS) == set(schema["$defs"][version]["properties"]["reason"]["enum"])


def test_a_stale_report_is_named_as_the_reason():
    stale = report(check("v0001"), fingerprint_stale=True)
    said = why(assessed(claim("a", "v0001"), a_report=stale))
    assert said == "The report is about another version of the source, so none of its checks is reusable."


def test_a_long_value_is_shortened_in_a_sentence_and_whole_in_the_facts():
    long = "nine " * 100
    a_claim = assessed(claim("a", "v0001", delivers=(delivered(long),)), reading("ten"))
    assert len(why(a_claim)) < 200
    rule = next(rule for rule in explain(a_claim) if rule.code == "verdict:contradicts")
    assert rule.facts["delivered_value"] == json.dumps(long)


@given(submissions())
@settings(max_examples=150)
def test_every_claim_is_explained_and_nothing_says_that_ethos_verified_the_answer(a_submission):
    try:
        assessment = decide(a_submission)
    except DocumentError:
        return
    for a_claim in assessment.claims:
        rules = explain(a_claim)
        assert rules[-1].code == f"action:{a_claim.action}"
        assert [rule.code for rule in rules if rule.code in a_claim.caps] == list(a_claim.caps)
        assert json.loads(json.dumps([rule.to_json() for rule in rules]))
        said = " ".join([why(a_claim), *(rule.sentence for rule in rules)])
        assert "verified the answer" not in said
        assert why(a_claim).endswith(".")
