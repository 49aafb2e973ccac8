"""The contract decision, versions 1.0.0 and 1.1.0 (spec 3.2)."""

from __future__ import annotations

import pytest

from ethos_review.engine.decision import decide_contract
from ethos_review.engine.errors import MAX_PROBLEMS, DocumentError
from ethos_review.engine.report import summarise_proof
from tests.engine.strategies import RELEVANCES, SUPPORTS, TYPES, answer, check, claim, report

IRRELEVANT = ("background_only", "unrelated")
REPORT = report(check("v0001"), check("v0002"), check("v0003", "not_found"))


def decide(*claims, contract_version="auto", a_report=REPORT, **members):
    return decide_contract(a_report, summarise_proof(a_report), answer(*claims, **members), contract_version)


def problems(*claims, **settings):
    with pytest.raises(DocumentError) as refused:
        decide(*claims, **settings)
    return [(problem.document, problem.pointer, problem.code) for problem in refused.value.problems]


def outcome(a_claim, **settings):
    decided = decide(a_claim, **settings).claims[0]
    return decided.release_action, decided.release_reason


ROWS_1_0_0 = [
    *[(True, relevance, "source_fact", "show_final", "certified") for relevance in RELEVANCES[:2]],
    *[
        (True, relevance, "synthesis", "needs_review", "supported_synthesis_needs_review")
        for relevance in RELEVANCES[:2]
    ],
    *[
        (True, relevance, claim_type, "block", "grounded_but_irrelevant")
        for relevance in IRRELEVANT
        for claim_type in TYPES[:2]
    ],
    *[
        (False, relevance, claim_type, "block", "cannot_answer_from_sources")
        for relevance in RELEVANCES
        for claim_type in TYPES
    ],
]


@pytest.mark.parametrize(("grounded", "relevance", "claim_type", "action", "reason"), ROWS_1_0_0)
def test_every_row_of_contract_1_0_0(grounded, relevance, claim_type, action, reason):
    cited = claim("a", "v0001" if grounded else "v0003", question_relevance=relevance, claim_type=claim_type)
    stated = claim("a", question_relevance=relevance, claim_type=claim_type, citation_grounded=grounded)
    assert outcome(cited) == (action, reason)
    assert outcome(stated) == (action, reason)


ROWS_1_1_0 = [
    *[
        (False, support, relevance, claim_type, "block", "cannot_answer_from_sources")
        for support in SUPPORTS
        for relevance in RELEVANCES
        for claim_type in TYPES[:2]
    ],
    *[
        (True, support, relevance, claim_type, action, reason)
        for support, action, reason in (
            ("unsupported", "block", "unsupported_claim"),
            ("contradicted", "block", "contradicted_claim"),
            ("not_evaluated", "needs_review", "claim_support_not_evaluated"),
        )
        for relevance in RELEVANCES
        for claim_type in TYPES[:2]
    ],
    *[
        (True, "supported", relevance, "source_fact", "show_final", "certified")
        for relevance in RELEVANCES[:2]
    ],
    *[
        (True, "supported", relevance, "synthesis", "needs_review", "supported_synthesis_needs_review")
        for relevance in RELEVANCES[:2]
    ],
    *[
        (True, "supported", relevance, claim_type, "block", "grounded_but_irrelevant")
        for relevance in IRRELEVANT
        for claim_type in TYPES[:2]
    ],
]


@pytest.mark.parametrize(("grounded", "support", "relevance", "claim_type", "action", "reason"), ROWS_1_1_0)
def test_every_row_of_contract_1_1_0(grounded, support, relevance, claim_type, action, reason):
    labelled = claim(
        "a",
        "v0001" if grounded else "v0003",
        question_relevance=relevance,
        claim_type=claim_type,
        claim_support=support,
    )
    assert outcome(labelled) == (action, reason)


@pytest.mark.parametrize(
    ("stated", "support", "reason"),
    [
        (None, "unsupported", "unsupported_claim"),
        ("not_evaluated", "unsupported", "unsupported_claim"),
        ("unsupported", "unsupported", "unsupported_claim"),
        ("contradicted", "contradicted", "contradicted_claim"),
    ],
)
def test_the_legacy_type_unsupported_becomes_a_support_label_under_1_1_0(stated, support, reason):
    legacy = claim("a", "v0001", claim_type="unsupported", claim_support=stated)
    other = claim("b", "v0001", claim_support="supported")
    decided = decide(legacy, other).claims[0]
    assert (decided.claim_type, decided.claim_support) == (None, support)
    assert (decided.release_action, decided.release_reason) == ("block", reason)
    assert "claim_type" not in decided.to_json()


def test_one_support_label_chooses_contract_1_1_0_and_the_others_count_as_not_evaluated():
    decision = decide(claim("a", "v0001", claim_support="supported"), claim("b", "v0002"))
    assert decision.schema_version == "1.1.0"
    assert [decided.claim_support for decided in decision.claims] == ["supported", "not_evaluated"]
    assert decision.claims[1].release_reason == "claim_support_not_evaluated"


def test_without_a_support_label_contract_1_0_0_applies():
    decision = decide_contract(REPORT, summarise_proof(REPORT), answer(claim("a", "v0001")))
    assert decision.schema_version == "1.0.0"
    assert "claim_support" not in decision.to_json()["claims"][0]


def test_a_policy_can_pin_contract_1_1_0():
    decision = decide(claim("a", "v0001"), contract_version="1.1.0")
    assert decision.schema_version == "1.1.0"
    assert decision.claims[0].release_action == "needs_review"


def test_pinning_contract_1_0_0_never_ignores_a_support_label():
    labelled = claim("b", "v0001", claim_support="contradicted")
    assert problems(claim("a", "v0001"), labelled, contract_version="1.0.0") == [
        ("claims", "/claims/1/claim_support", "contract_version_conflict")
    ]


def test_an_unknown_contract_version_is_refused():
    with pytest.raises(ValueError, match="unknown contract version"):
        decide(contract_version="2.0.0")


def test_a_claim_is_grounded_only_when_every_check_it_cites_is_reusable():
    assert decide(claim("a", "v0001", "v0002")).claims[0].citation_grounded
    assert not decide(claim("a", "v0001", "v0003")).claims[0].citation_grounded


@pytest.mark.parametrize("spoiled", [{"fingerprint_stale": True}, {"semantic_unverified": True}])
def test_a_stale_report_or_an_unverified_meaning_grounds_nothing(spoiled):
    stale = spoiled.get("fingerprint_stale", False)
    a_report = report(
        check("v0001", semantic_unverified=spoiled.get("semantic_unverified", False)), fingerprint_stale=stale
    )
    assert outcome(claim("a", "v0001"), a_report=a_report) == ("block", "cannot_answer_from_sources")


def test_every_unknown_check_id_is_named_with_its_place():
    assert problems(claim("a", "v0001", "v0009"), claim("b", "v0008")) == [
        ("claims", "/claims/0/check_ids/1", "unknown_check_id"),
        ("claims", "/claims/1/check_ids/0", "unknown_check_id"),
    ]
    with pytest.raises(DocumentError, match="Claim “a” cites check “v0009”"):
        decide(claim("a", "v0009"))


@pytest.mark.parametrize(("check_id", "stated"), [("v0001", False), ("v0003", True)])
def test_grounding_stated_otherwise_than_computed_is_refused(check_id, stated):
    assert problems(claim("a", check_id, citation_grounded=stated)) == [
        ("claims", "/claims/0/citation_grounded", "grounding_conflict")
    ]
    assert (
        decide(claim("a", check_id, citation_grounded=not stated)).claims[0].citation_grounded is not stated
    )


def test_a_refused_label_says_what_is_stated_and_what_was_computed():
    for a_claim, said in (
        (
            claim("a", "v0001", citation_grounded=False),
            "states `citation_grounded` false, but its checks make it true.",
        ),
        (
            claim("a", "v0003", citation_grounded=True),
            "states `citation_grounded` true, but its checks make it false.",
        ),
        (claim("a", "v0001", claim_support="supported"), "which contract 1.0.0 does not know"),
    ):
        with pytest.raises(DocumentError, match=said):
            decide(a_claim, contract_version="1.0.0")


def test_a_claim_without_checks_and_without_stated_grounding_is_refused():
    assert problems(claim("a")) == [("claims", "/claims/0", "grounding_not_stated")]


@pytest.mark.parametrize("grounding", [{"citation_grounded": True}, {}])
def test_an_unsupported_claim_that_comes_out_grounded_is_refused_under_1_0_0(grounding):
    cited = [] if grounding else ["v0001"]
    assert problems(claim("a", *cited, claim_type="unsupported", **grounding)) == [
        ("claims", "/claims/0/claim_type", "unsupported_claim_grounded")
    ]


def test_type_unsupported_with_support_supported_is_refused_under_1_1_0():
    assert problems(claim("a", "v0003", claim_type="unsupported", claim_support="supported")) == [
        ("claims", "/claims/0/claim_support", "support_conflict")
    ]


def test_a_document_full_of_problems_lists_the_first_fifty():
    assert len(problems(*[claim(f"c{number}", "v9999") for number in range(100_000)])) == MAX_PROBLEMS


FINAL = claim("final", "v0001")
SYNTHESIS = claim("synthesis", "v0001", claim_type="synthesis")
IRRELEVANT_CLAIM = claim("irrelevant", "v0001", question_relevance="unrelated")
UNGROUNDED = claim("ungrounded", "v0003")
SUPPORTED = claim("supported", "v0001", claim_support="supported")
SUPPORTED_SYNTHESIS = claim("s", "v0001", claim_type="synthesis", claim_support="supported")
UNEVALUATED = claim("unevaluated", "v0001", claim_support="not_evaluated")
CONTRADICTED = claim("contradicted", "v0001", claim_support="contradicted")
UNSUPPORTED = claim("unsupported", "v0001", claim_support="unsupported")
SUPPORTED_IRRELEVANT = claim("i", "v0001", claim_support="supported", question_relevance="unrelated")


@pytest.mark.parametrize(
    ("claims", "status"),
    [
        ([], "cannot_answer_from_sources"),
        ([FINAL], "certified"),
        ([FINAL, SYNTHESIS], "partial_certified"),
        ([FINAL, UNGROUNDED], "partial_certified"),
        ([SYNTHESIS, IRRELEVANT_CLAIM], "supported_synthesis_needs_review"),
        ([IRRELEVANT_CLAIM, UNGROUNDED], "grounded_but_irrelevant"),
        ([UNGROUNDED], "cannot_answer_from_sources"),
        ([SUPPORTED], "certified"),
        ([SUPPORTED, CONTRADICTED], "partial_certified"),
        ([UNEVALUATED, SUPPORTED_SYNTHESIS, CONTRADICTED], "claim_support_needs_review"),
        ([SUPPORTED_SYNTHESIS, CONTRADICTED], "supported_synthesis_needs_review"),
        ([CONTRADICTED, SUPPORTED_IRRELEVANT], "claim_support_rejected"),
        ([UNSUPPORTED], "claim_support_rejected"),
        ([SUPPORTED_IRRELEVANT], "grounded_but_irrelevant"),
    ],
)
def test_the_status_of_the_answer_follows_from_its_claims(claims, status):
    assert decide(*claims).app_status == status


def test_the_report_is_referred_to_by_its_file_name_unless_the_claims_say_otherwise():
    assert decide(FINAL).verification_report_ref == "verification-report.json"
    assert decide(FINAL, ref="elsewhere.json").verification_report_ref == "elsewhere.json"


def test_notes_are_repeated_only_when_given():
    assert "notes" not in decide(FINAL).to_json()
    assert decide(FINAL, notes=()).to_json()["notes"] == []
    assert decide(FINAL, notes=("n",)).to_json()["notes"] == ["n"]


def test_claim_ids_are_listed_by_action_in_claim_order():
    decision = decide(UNGROUNDED, SYNTHESIS, FINAL, IRRELEVANT_CLAIM).to_json()
    assert decision["final_answer_claim_ids"] == ["final"]
    assert decision["review_claim_ids"] == ["synthesis"]
    assert decision["blocked_claim_ids"] == ["ungrounded", "irrelevant"]
