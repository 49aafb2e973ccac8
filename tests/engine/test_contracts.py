"""A refusal by a schema is explained by place, code and sentence, within bounds (spec 2.1, 5.2)."""

from decimal import Decimal

import pytest

from ethos_review.engine.contracts import accepts, check_against_schema
from ethos_review.engine.errors import DocumentError
from tests.engine.mutations import EXAMPLES, example_paths, example_value

CLAIMS = example_value(EXAMPLES / "claims" / "valid" / "one-claim.json")
REPORT = example_value(EXAMPLES / "verification-report" / "valid" / "version-1.0.0.json")


def problems_of(value, name, pointer=""):
    with pytest.raises(DocumentError) as refusal:
        check_against_schema("claims", value, name, pointer)
    check_against_schema("invalid_request", refusal.value.to_json(), "invalid-request")
    return refusal.value.problems


@pytest.mark.parametrize(
    ("name", "example", "pointer", "code", "message"),
    [
        (
            "claims",
            "misspelt-member",
            "/claims/0/claimType",
            "unknown_member",
            "`claimType` is not a known member here. Did you mean `claim_type`?",
        ),
        (
            "claims",
            "misspelt-member",
            "/claims/0",
            "missing_member",
            "Entry 0 of `claims` lacks the member `claim_type`. Add it.",
        ),
        (
            "claims",
            "unknown-type",
            "/claims/0/claim_type",
            "not_allowed_value",
            "`claim_type` must be “source_fact”, “synthesis” or “unsupported”, not “fact”.",
        ),
        (
            "claims",
            "blank-text",
            "/claims/0/text",
            "wrong_format",
            "`text` must be a text that is not blank, not “\u2003”.",
        ),
        (
            "claims",
            "check-id-and-check-ids",
            "/claims/0",
            "conflicting_members",
            "Entry 0 of `claims` must not have `check_ids` and `check_id` at the same time. Keep one of them.",
        ),
        (
            "claims",
            "neither-checks-nor-grounding",
            "/claims/0",
            "missing_member",
            "Entry 0 of `claims` needs `check_ids`, `check_id` or `citation_grounded`.",
        ),
        (
            "claims",
            "value-and-answer-field",
            "/claims/0/delivers/0",
            "conflicting_members",
            "Entry 0 of `delivers` must not have `value` and `answer_field` at the same time. Keep one of them.",
        ),
        (
            "claims",
            "neither-value-nor-answer-field",
            "/claims/0/delivers/0",
            "missing_member",
            "Entry 0 of `delivers` needs `value` or `answer_field`.",
        ),
        (
            "claims",
            "empty-check-ids",
            "/claims/0/check_ids",
            "too_few_entries",
            "`check_ids` must have at least 1 entry, not 0.",
        ),
        (
            "claims",
            "repeated-check-id",
            "/claims/0/check_ids/1",
            "repeated_entry",
            "Entry 1 of `check_ids` repeats “v0001”. Keep it once.",
        ),
        (
            "claims",
            "grounding-as-text",
            "/claims/0/citation_grounded",
            "wrong_type",
            "`citation_grounded` must be true or false, not a string.",
        ),
        ("claims", "no-question", "", "missing_member", "The document lacks the member `question`. Add it."),
        (
            "verification-report",
            "unknown-version",
            "/schema_version",
            "not_allowed_value",
            "`schema_version` must be “1.0.0” or “1.1.0”, not “1.2.0”.",
        ),
        (
            "verification-report",
            "citation-without-a-locator",
            "/checks/0/claim/citation",
            "missing_member",
            "`citation` needs at least one of `page`, `element_id`, `span_id`, `table_id`, `cell` or `bbox`.",
        ),
        (
            "verification-report",
            "box-with-a-fraction",
            "/checks/0/evidence/bbox/3",
            "wrong_type",
            "Entry 3 of `bbox` must be a whole number, not 3.5.",
        ),
        (
            "verification-report",
            "negative-cell",
            "/checks/1/claim/citation/cell/row",
            "out_of_range",
            "`row` must be at least 0, not -1.",
        ),
        (
            "verification-report",
            "digest-with-a-final-newline",
            "/verification_config_sha256",
            "wrong_format",
            "`verification_config_sha256` must be 64 lower-case hexadecimal digits, "
            "not “3f79bb7b435b05321651daefd374cdc681dc06faa65e374e38337b88ca046dea\\u000a”.",
        ),
        (
            "readings",
            "mixed-spelling",
            "/0/tool_name",
            "unknown_member",
            "`tool_name` is not a known member here. Did you mean `toolName`?",
        ),
        (
            "readings",
            "unknown-member",
            "/0/unit",
            "unknown_member",
            "`unit` is not a known member here. Known members: `entity`, `field`, `value`, `tool_name`, "
            "`tool_call_id`, `iteration`, `measured_at`.",
        ),
        (
            "readings",
            "fact-without-entity",
            "/tool_results/0/result/facts/0",
            "missing_member",
            "Entry 0 of `facts` lacks the member `entity`. Add it.",
        ),
        (
            "readings",
            "text",
            "",
            "wrong_type",
            "The document must be an object or an array, not a string.",
        ),
        (
            "dsse-envelope",
            "seventeen-signatures",
            "/signatures",
            "too_many_entries",
            "`signatures` must have at most 16 entries, not 17.",
        ),
        (
            "dsse-envelope",
            "empty-payload-type",
            "/payloadType",
            "wrong_format",
            "`payloadType` must not be empty.",
        ),
        (
            "policy",
            "too-deep-limit",
            "/limits/nesting_depth",
            "out_of_range",
            "`nesting_depth` must be at most 200, not 100000.",
        ),
        (
            "release-statement",
            "contradictory-contract-decision",
            "/predicate/contract_decision/claims/0/release_action",
            "not_allowed_value",
            "`release_action` must be “show_final”, not “block”.",
        ),
    ],
)
def test_a_refusal_says_where_and_what_to_do(name, example, pointer, code, message):
    problems = problems_of(example_value(EXAMPLES / name / "invalid" / f"{example}.json"), name)
    assert (pointer, code, message) in [
        (problem.pointer, problem.code, problem.message) for problem in problems
    ]


def test_errors_name_only_the_branch_that_the_document_has():
    problems = problems_of({"tool_results": [{}], "readings": []}, "readings")
    assert {problem.pointer for problem in problems} == {"/tool_results/0", "/readings"}
    assert not any("schema_version" in problem.message for problem in problems)


def test_an_unknown_version_is_the_only_problem_of_a_newer_report():
    (problem,) = problems_of({**REPORT, "schema_version": "2.0.0", "novelty": {}}, "verification-report")
    assert problem.pointer == "/schema_version"


def test_pointers_begin_where_the_value_stands():
    (problem,) = problems_of({**CLAIMS, "question": 5}, "claims", "/claims")
    assert problem.pointer == "/claims/question"


@pytest.mark.parametrize("path", example_paths("verification-report", "valid"), ids=lambda path: path.stem)
def test_a_valid_document_raises_nothing(path):
    check_against_schema("verification_report", example_value(path), "verification-report")


def test_of_a_hundred_thousand_problems_fifty_are_explained():
    assert len(problems_of({**REPORT, "checks": [{"id": 5}] * 100_000}, "verification-report")) == 50
    assert len(problems_of({**CLAIMS, **{f"member-{n}": 0 for n in range(100_000)}}, "claims")) == 50


def test_a_problem_behind_a_hundred_thousand_sound_entries_is_found():
    checks = [REPORT["checks"][0]] * 100_000 + [{**REPORT["checks"][0], "status": "verified"}]
    (problem,) = problems_of({**REPORT, "checks": checks}, "verification-report")
    assert problem.pointer == "/checks/100000/status"


def test_repeated_entries_are_found_among_a_hundred_thousand():
    check_ids = [f"v{number:06}" for number in range(100_000)]
    claim = {**CLAIMS["claims"][0], "check_ids": [*check_ids, "v000007"]}
    (problem,) = problems_of({**CLAIMS, "claims": [claim]}, "claims")
    assert problem.pointer == "/claims/0/check_ids/100000"


def test_entries_of_the_wrong_kind_are_not_compared_with_each_other():
    limits = [{"a": number} for number in range(20_000)]
    assert len(problems_of({**REPORT, "capability_limits": limits}, "verification-report")) == 50


@pytest.mark.parametrize("question", [["x" * 1000] * 1000, {"x" * 1000: [1] * 1000}, 10**999, "\n" * 1000])
def test_a_message_stays_short_whatever_the_value(question):
    (problem,) = problems_of({**CLAIMS, "question": question}, "claims")
    assert len(problem.message) < 250


def test_a_very_long_unknown_name_is_answered_with_the_known_ones():
    (problem,) = problems_of({**CLAIMS, "question" * 8000: 1}, "claims")
    assert "Known members: `question`" in problem.message
    assert len(problem.message) < 250


def test_a_member_name_is_escaped_in_the_pointer():
    (problem,) = problems_of({**CLAIMS, "a/b~c": 1}, "claims")
    assert problem.pointer == "/a~1b~0c"


@pytest.mark.parametrize(
    ("value", "whole"), [("1", True), ("1.0", True), ("1e2", True), ("1.5", False), ("-0", True)]
)
def test_a_number_is_whole_by_its_value_not_by_its_spelling(value, whole):
    row = {
        "entity": "e",
        "field": "f",
        "value": 1,
        "tool_name": "t",
        "tool_call_id": "c",
        "iteration": Decimal(value),
    }
    assert accepts("readings", [row]) == whole
