"""Problems and refusals as values (spec 2.8)."""

import json

import pytest

from ethos_review.engine.contracts import check_against_schema
from ethos_review.engine.errors import MAX_PROBLEMS, DocumentError, Problem, join_pointer, quoted

PROBLEM = Problem(
    "claims", "/claims/3/check_ids/0", "unknown_check_id", "The report does not have check “v0009”."
)


def test_a_refusal_without_a_reason_cannot_be_made():
    with pytest.raises(ValueError, match="reason"):
        DocumentError([])


def test_a_refusal_lists_at_most_fifty_problems():
    assert len(DocumentError([PROBLEM] * 51).problems) == MAX_PROBLEMS == 50


def test_a_refusal_lists_fewer_problems_when_their_pointers_are_long():
    far = Problem("claims", "/" + "n" * 40_000, "unknown_member", "Remove it.")
    assert DocumentError([PROBLEM, far, far, far]).problems == (PROBLEM, far)
    assert DocumentError([far, far]).problems == (far,)


def test_a_refusal_is_an_invalid_request_document():
    document = DocumentError([PROBLEM]).to_json()
    check_against_schema("invalid_request", document, "invalid-request")
    assert document["errors"] == [
        {
            "document": "claims",
            "pointer": "/claims/3/check_ids/0",
            "code": "unknown_check_id",
            "message": "The report does not have check “v0009”.",
        }
    ]


def test_a_refusal_reads_as_a_sentence_in_a_log():
    assert str(DocumentError([PROBLEM])) == f"claims/claims/3/check_ids/0: {PROBLEM.message}"


def test_the_problems_of_a_part_are_placed_in_the_bundle():
    (problem,) = DocumentError([PROBLEM]).moved("bundle", "/claims").problems
    assert (problem.document, problem.pointer) == ("bundle", "/claims/claims/3/check_ids/0")
    assert (problem.code, problem.message) == (PROBLEM.code, PROBLEM.message)


@pytest.mark.parametrize(
    ("tokens", "pointer"),
    [
        ((), "/a"),
        (("b", 0), "/a/b/0"),
        (("",), "/a/"),
        (("c/d", "e~f", "~1"), "/a/c~1d/e~0f/~01"),
        (("half \ud800",), "/a/half \\ud800"),
        (("nul \0",), "/a/nul \\u0000"),
    ],
)
def test_a_pointer_escapes_its_tokens_and_can_always_be_encoded(tokens, pointer):
    assert join_pointer("/a", *tokens) == pointer
    json.dumps(join_pointer("/a", *tokens), ensure_ascii=False).encode("utf-8")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("direct", "“direct”"),
        ("a\nb\0", "“a\\u000ab\\u0000”"),
        ("abc\u202edef", "“abc\\u202edef”"),
        ("x\ud83d", "“x\\ud83d”"),
        ("y" * 81, "“" + "y" * 80 + "…”"),
    ],
)
def test_a_quoted_value_stays_on_one_line_in_one_direction_and_short(text, shown):
    assert quoted(text) == shown
