"""From documents to everything the engine says before people decide (spec 3.1 to 3.5)."""

from __future__ import annotations

import json
from dataclasses import replace
from decimal import Decimal

import pytest

from ethos_review.engine.assessment import Received, decide, read_received, read_submission, shown_digest
from ethos_review.engine.documents import Document, read_document
from ethos_review.engine.errors import DocumentError
from ethos_review.engine.policy import DEFAULT_POLICY, Policy
from tests.engine.strategies import (
    answer,
    check,
    claim,
    delivered,
    known,
    reading,
    report,
    submission,
)
from tests.engine.test_statement import bundle, documents
from tests.engine.wrapping import WRAPPERS, pem, wrapped

REPORT = report(check("v0001"), check("v0002", "not_found", reason="element_not_found"))


def assess(*claims, readings=(), a_report=REPORT, policy=DEFAULT_POLICY):
    return decide(submission(a_report, answer(*claims), tuple(readings)), policy)


def test_a_claims_action_is_the_lowest_of_contract_and_caps():
    assessed = assess(
        claim("fine", "v0001", delivers=(delivered(42),)),
        claim("contradicted", "v0001", delivers=(delivered(40),)),
        claim("unsettled", "v0001", delivers=(delivered("n/a"),)),
        claim("stated", citation_grounded=True),
        claim("ungrounded", "v0002", delivers=(delivered(42),)),
        readings=[reading(42)],
    )
    assert [(a.claim.id, a.contract.release_action, a.caps, a.action) for a in assessed.claims] == [
        ("fine", "show_final", (), "show_final"),
        ("contradicted", "show_final", ("contradicted_by_reading",), "block"),
        ("unsettled", "show_final", ("unsettled_by_readings",), "needs_review"),
        ("stated", "show_final", ("no_check_behind_grounding",), "needs_review"),
        ("ungrounded", "block", (), "block"),
    ]


def test_a_value_is_judged_by_the_readings_of_exactly_its_entity_and_field():
    assessed = assess(
        claim(
            "a",
            "v0001",
            delivers=(delivered(42), delivered(42, entity="Acme"), delivered(42, field="margin")),
        ),
        readings=[reading(40, entity="Acme"), reading(42), reading(41, field="margin"), reading(42)],
    )
    verdicts = [
        (judged.verdict, [row.position for row in judged.readings]) for judged in assessed.claims[0].judged
    ]
    assert verdicts == [("agrees", [1, 3]), ("contradicts", [0]), ("contradicts", [2])]


def test_no_readings_are_silence_and_never_support():
    assessed = assess(
        claim("a", "v0002", delivers=(delivered(42),)), claim("b", "v0001", delivers=(delivered(42),))
    )
    assert [a.action for a in assessed.claims] == ["block", "show_final"]
    assert {judged.verdict for a in assessed.claims for judged in a.judged} == {"uncollected"}


def test_agreement_never_raises_an_action():
    synthesis = claim("a", "v0001", claim_type="synthesis", delivers=(delivered(42),))
    assert assess(synthesis, readings=[reading(42)] * 3).claims[0].action == "needs_review"


def test_a_claim_is_found_by_its_id():
    assessed = assess(claim("a", "v0001"), claim("b", "v0002"))
    assert assessed.claim("b") is assessed.claims[1]
    assert assessed.has_claim("a")
    assert not assessed.has_claim("c")
    with pytest.raises(KeyError):
        assessed.claim("c")


def test_the_checks_stand_in_the_order_cited():
    assessed = assess(claim("a", "v0002", "v0001"))
    assert [check.id for check in assessed.claims[0].checks] == ["v0002", "v0001"]


def test_the_gravest_verdict_stands_for_the_claim():
    values = (delivered(42), delivered("n/a"), delivered(41))
    assessed = assess(claim("a", "v0001", delivers=values), claim("b", "v0001"), readings=[reading(42)])
    assert [a.verdict for a in assessed.claims] == ["contradicts", None]


def test_the_policys_contract_version_is_applied():
    assessed = assess(claim("a", "v0001"), policy=Policy(contract_version="1.1.0"))
    assert assessed.contract_decision.schema_version == "1.1.0"


def test_problems_are_placed_where_the_upload_has_them():
    claims = answer(
        claim("a", "v0009"),
        claim("b", "v0001", "v0008"),
        claim("c", "v0007"),
        claim("d", "v0001", citation_grounded=False),
    )
    entries = {
        "claims": [
            {"check_id": "v0009"},
            {"check_ids": ["v0001", "v0008"]},
            {"check_ids": ["v0007"]},
            {"check_id": "v0001"},
        ]
    }
    parts = (Document("verification_report", "r", b"", "", {}), Document("claims", "c", b"", "", entries))
    whole = (Document("bundle", "b", b"", "", {"claims": entries}),)
    for kept, role, prefix in ((parts, "claims", ""), (whole, "bundle", "/claims")):
        with pytest.raises(DocumentError) as refused:
            decide(replace(submission(REPORT, claims), documents=kept))
        assert [(p.document, p.pointer, p.code) for p in refused.value.problems] == [
            (role, f"{prefix}/claims/0/check_id", "unknown_check_id"),
            (role, f"{prefix}/claims/1/check_ids/1", "unknown_check_id"),
            (role, f"{prefix}/claims/2/check_ids/0", "unknown_check_id"),
            (role, f"{prefix}/claims/3/citation_grounded", "grounding_conflict"),
        ]


PARTS = {part.role: read_document(part.role, part.name, part.content) for part in documents()}
REPORT_DOCUMENT, CLAIMS_DOCUMENT, READINGS_DOCUMENT = PARTS.values()
BUNDLE_DOCUMENT = read_document("bundle", "bundle.json", bundle()[0].content)


def test_documents_give_the_submission_that_their_bytes_give():
    assert read_submission(
        report=REPORT_DOCUMENT, claims=CLAIMS_DOCUMENT, readings=READINGS_DOCUMENT
    ) == read_received(documents())
    assert read_submission(report=REPORT_DOCUMENT, claims=CLAIMS_DOCUMENT) == read_received(documents()[:2])
    assert read_submission(bundle=BUNDLE_DOCUMENT) == read_received(bundle())


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"report": REPORT_DOCUMENT},
        {"claims": CLAIMS_DOCUMENT},
        {"readings": READINGS_DOCUMENT},
        {"bundle": BUNDLE_DOCUMENT, "report": REPORT_DOCUMENT},
        {"bundle": BUNDLE_DOCUMENT, "claims": CLAIMS_DOCUMENT},
        {"bundle": BUNDLE_DOCUMENT, "readings": READINGS_DOCUMENT},
    ],
)
def test_another_set_of_documents_is_a_mistake_of_the_caller(given):
    with pytest.raises(ValueError, match="bundle"):
        read_submission(**given)


def test_a_bundle_holds_the_parts_that_stand_alone_otherwise():
    together, apart = read_received(bundle()), read_received(documents())
    assert (together.answer, together.readings) == (apart.answer, apart.readings)
    assert together.report.name == "verification-report.json"
    assert [document.role for document in together.documents] == ["bundle"]
    value = json.loads(bundle()[0].content)
    del value["readings"]
    named = value | {"external_id": "pipeline-7", "supersedes": "an older review"}
    read = read_received([Received("bundle", "b.json", json.dumps(named).encode())])
    assert (read.readings, read.external_id, read.supersedes) == ((), "pipeline-7", "an older review")


@pytest.mark.parametrize("wrapper", WRAPPERS)
def test_a_report_that_contradicts_its_checks_is_refused_in_a_bundle_too(wrapper):
    value = json.loads(bundle()[0].content)
    value["verification_report"] = wrapped(
        value["verification_report"] | {"all_evidence_grounded": True}, wrapper
    )
    with pytest.raises(DocumentError) as refused:
        read_received([Received("bundle", "b.json", json.dumps(value).encode())], verifier_keys=(pem(),))
    (problem,) = refused.value.problems
    assert (problem.document, problem.code) == ("bundle", "report_inconsistent")
    assert problem.pointer.startswith("/verification_report")


def test_an_unknown_member_of_a_bundle_is_refused():
    value = json.loads(bundle()[0].content) | {"reading": []}
    with pytest.raises(DocumentError) as refused:
        read_received([Received("bundle", "b.json", json.dumps(value).encode())])
    assert refused.value.problems[0].code == "unknown_member"


def test_faulty_readings_refuse_the_upload_although_readings_may_be_left_out():
    received = [*documents()[:2], Received("readings", "readings.json", b'[{"entity": "acme"}]')]
    with pytest.raises(DocumentError) as refused:
        read_received(received)
    assert {problem.document for problem in refused.value.problems} == {"readings"}


BASE = claim("a", "v0001", delivers=(delivered(42),))


READ = (reading(42),)


def digest(*, a_claim=BASE, readings=READ, a_report=REPORT, policy=DEFAULT_POLICY):
    return shown_digest(
        assess(a_claim, readings=readings, a_report=a_report, policy=policy).claims[0], policy
    )


def test_the_same_things_shown_have_the_same_digest_for_ever():
    """Releases record it, and a release must replay under every later version."""
    assert digest() == "a6f26f157f421dcc5458a5ef24816a613c60efbd9c61b9b1ec84a07ddb71f78b"


@pytest.mark.parametrize(
    "changed",
    [
        {"a_claim": replace(BASE, text="Another text.")},
        {"a_claim": replace(BASE, question_relevance="supports_answer")},
        {"a_claim": replace(BASE, claim_type="synthesis")},
        {"a_claim": replace(BASE, delivers=(delivered(Decimal("42.0")),))},
        {"a_claim": replace(BASE, delivers=(delivered(42, "number"),))},
        {"a_claim": replace(BASE, delivers=())},
        {"a_claim": replace(BASE, citation_grounded=True)},
        {"readings": ()},
        {"readings": (reading(42), reading(42))},
        {"readings": (reading(known(42)),)},
        {"readings": (reading(42, call="c2"),)},
        {"a_report": report(check("v0001", warnings=("partial_parse",)), check("v0002", "not_found"))},
        {"a_report": report(check("v0001"), check("v0002"), fingerprint_stale=True)},
        {"policy": Policy(reviewed_synthesis=False)},
        {"policy": Policy(version="2")},
    ],
)
def test_anything_else_shown_has_another_digest(changed):
    assert digest(**changed) != digest()


def test_what_is_shown_elsewhere_does_not_change_a_claims_digest():
    alone = assess(BASE, readings=[reading(42)])
    beside = assess(BASE, claim("b", "v0002"), readings=[reading(42), reading(7, field="margin")])
    assert shown_digest(alone.claims[0], DEFAULT_POLICY) == shown_digest(beside.claims[0], DEFAULT_POLICY)


def test_many_claims_that_deliver_one_large_value_are_decided_and_digested_in_time():
    large = [Decimal(f"{number}.5") for number in range(20_000)]
    claims = [claim(f"c{number}", "v0001", delivers=(delivered(large),)) for number in range(2_000)]
    assessed = assess(*claims, readings=[reading(list(large))] * 2)
    assert {a.verdict for a in assessed.claims} == {"agrees"}
    assert len({shown_digest(a, DEFAULT_POLICY) for a in assessed.claims}) == 2_000
