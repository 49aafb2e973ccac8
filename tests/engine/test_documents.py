"""Bytes become a Document, or are refused with a place and a next step (spec 2.1)."""

import hashlib
import json
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ethos_review.engine.contracts import check_against_schema
from ethos_review.engine.documents import Limits, read_document
from ethos_review.engine.errors import DocumentError
from ethos_review.engine.strict_json import DEFAULT_LIMITS
from tests.engine.mutations import encoded, problems_of
from tests.engine.strategies import json_values

KIB = 1024


def value_of(content, limits=DEFAULT_LIMITS):
    return read_document("claims", "claims.json", content, limits).value


def refused(content, limits=DEFAULT_LIMITS):
    with pytest.raises(DocumentError) as refusal:
        value_of(content, limits)
    check_against_schema("invalid_request", refusal.value.to_json(), "invalid-request")
    return [(problem.pointer, problem.code, problem.message) for problem in refusal.value.problems]


def test_the_bytes_are_kept_as_received_with_their_digest():
    content = b'\xef\xbb\xbf {"a": 1.50}\r\n'
    document = read_document("claims", "claims.json", content)
    assert document.content == content
    assert document.sha256 == hashlib.sha256(content).hexdigest()
    assert (document.role, document.name, document.value) == ("claims", "claims.json", {"a": Decimal("1.50")})


def test_a_byte_order_mark_is_ignored_for_parsing():
    assert value_of(b'\xef\xbb\xbf{"a":1}') == {"a": 1}


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ('{"a": 1}'.encode("utf-16"), "UTF-16 (seen at byte 0)"),
        (b"\xfe\xff\x00{\x00}", "UTF-16 (seen at byte 0)"),
        ('{"a": 1}'.encode("utf-16-le"), "UTF-16 (seen at byte 1)"),
        ('{"a": 1}'.encode("utf-16-be"), "UTF-16 (seen at byte 0)"),
        ('{"a": 1}'.encode("utf-32"), "UTF-32 (seen at byte 0)"),
        ('{"a": 1}'.encode("utf-32-le"), "UTF-32 (seen at byte 1)"),
        ('{"a": 1}'.encode("utf-32-be"), "UTF-32 (seen at byte 0)"),
        (b'{"a": "\xff"}', "Byte 7 (0xff)"),
        (b'\xef\xbb\xbf{"a": "\xc3"}', "Byte 10 (0xc3)"),
        (b'{"a": "\xed\xa0\x80"}', "Byte 7 (0xed)"),
    ],
)
def test_other_encodings_are_refused_naming_them_and_the_byte(content, said):
    ((pointer, code, message),) = refused(content)
    assert (pointer, code) == ("", "not_utf8")
    assert said in message


@pytest.mark.parametrize(
    ("content", "code", "place"),
    [
        (b"", "empty_document", ""),
        (b" \r\n\t", "empty_document", ""),
        (b'{"a": 1} {"b": 2}', "trailing_data", "Line 1, column 10 (byte 9)"),
        (b"[1]\n\nx", "trailing_data", "Line 3, column 1 (byte 5)"),
        ('{"é":\n  tru}'.encode(), "syntax_error", "Line 2, column 3 (byte 9)"),
        (b'\xef\xbb\xbf{"a" 1}', "syntax_error", "Line 1, column 6 (byte 8)"),
        (b"{'a': 1}", "syntax_error", "Line 1, column 2 (byte 1)"),
        (b"[1,]", "syntax_error", "Line 1, column 4 (byte 3)"),
        (b"[01]", "syntax_error", "Line 1, column 3 (byte 2)"),
        (b"[1", "syntax_error", "Line 1, column 3 (byte 2)"),
        (b'["a', "syntax_error", "Line 1, column 2 (byte 1)"),
        (b'["a\nb"]', "syntax_error", "Line 1, column 4 (byte 3)"),
        (b'["\\x"]', "syntax_error", "Line 1, column 3 (byte 2)"),
        (b'["\\u12"]', "syntax_error", "Line 1, column"),
        (b'["a\x00"]', "nul_character", "Line 1, column 4 (byte 3)"),
        (b"[+1]", "syntax_error", "Line 1, column 2 (byte 1)"),
        (b"[.5]", "syntax_error", "Line 1, column 2 (byte 1)"),
        (b"[1] // no", "trailing_data", "Line 1, column 5 (byte 4)"),
        ("[٣]".encode(), "syntax_error", "Line 1, column 2 (byte 1)"),
    ],
)
def test_what_is_not_json_is_refused_with_line_column_and_byte(content, code, place):
    ((pointer, found, message),) = refused(content)
    assert (pointer, found) == ("", code)
    assert message.startswith(place)


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b'{"a": [{"b": 1, "b": 2}]}', [("/a/0/b", "duplicate_member")]),
        (
            b'{"a": 1, "b": 2, "a": 3, "b": 4, "a": 5}',
            [("/a", "duplicate_member"), ("/b", "duplicate_member")],
        ),
        (b'{"a": {"x": 1, "x": {"y": NaN}}}', [("/a/x", "duplicate_member"), ("/a/x/y", "not_a_number")]),
        (b'{"\\u0061": 1, "a": 2}', [("/a", "duplicate_member")]),
        (b"NaN", [("", "not_a_number")]),
        (b"[1, NaN, Infinity, -Infinity]", [(f"/{place}", "not_a_number") for place in (1, 2, 3)]),
        (b'{"a/b": {"c~d": NaN}}', [("/a~1b/c~0d", "not_a_number")]),
        (b'["\\ud800"]', [("/0", "unpaired_surrogate")]),
        (b'["\\udc00\\ud83d"]', [("/0", "unpaired_surrogate")]),
        (b'["\\\\ud83d\\ude00"]', [("/0", "unpaired_surrogate")]),
        (b'{"a": {"x\\udfff": 1}}', [("/a/x\\udfff", "unpaired_surrogate")]),
        (b'["ok", "\\u0000"]', [("/1", "nul_character")]),
        (b'{"a\\u0000": [NaN]}', [("/a\\u0000", "nul_character"), ("/a\\u0000/0", "not_a_number")]),
    ],
)
def test_a_fault_in_a_value_is_refused_with_its_pointer(content, expected):
    assert [(pointer, code) for pointer, code, _ in refused(content)] == expected


@pytest.mark.parametrize(
    "content",
    [b'["\\ud83d\\ude00"]', b'["\\\\ud800"]', b'["\\\\u0000"]', '["😀 \ufeff"]'.encode(), b'["\\u001f"]'],
)
def test_whole_characters_and_escaped_backslashes_are_accepted(content):
    assert value_of(content) == json.loads(content)


@pytest.mark.parametrize(
    ("content", "limits", "pointer", "code", "setting"),
    [
        (b"[1, 2, 3]", Limits(document_bytes=8), "", "document_too_large", "document_bytes"),
        (b'{"a": [[]]}', Limits(nesting_depth=2), "/a/0", "too_deep", "nesting_depth"),
        (b"[" * 65 + b"]" * 65, Limits(), "/0" * 64, "too_deep", "nesting_depth"),
        (b'{"a":' * 100_000 + b"1" + b"}" * 100_000, Limits(), "/a" * 64, "too_deep", "nesting_depth"),
        (b'[0, {"a": [' * 50_000, Limits(), "/1/a/0" * 21 + "/1", "too_deep", "nesting_depth"),
        (b'{"a": "12345"}', Limits(string_bytes=4), "/a", "string_too_long", "string_bytes"),
        (b'{"12345": 0}', Limits(string_bytes=4), "/12345", "string_too_long", "string_bytes"),
        ('["ééé"]'.encode(), Limits(string_bytes=5), "/0", "string_too_long", "string_bytes"),
        (b'["' + b"x" * (64 * KIB + 1) + b'"]', Limits(), "/0", "string_too_long", "string_bytes"),
        (b'["' + b'\\"' * (64 * KIB + 1) + b'"]', Limits(), "/0", "string_too_long", "string_bytes"),
        (b'["' + b"\\\\" * (64 * KIB + 1) + b'"]', Limits(), "/0", "string_too_long", "string_bytes"),
        (b"[" + b"1" * 1001 + b"]", Limits(), "/0", "too_many_digits", "numeral_digits"),
        (b"[-0." + b"0" * 1000 + b"]", Limits(), "/0", "too_many_digits", "numeral_digits"),
        (b"[" + b"1" * 100_000 + b"]", Limits(), "/0", "too_many_digits", "numeral_digits"),
        (b"[1e10000]", Limits(), "/0", "exponent_too_large", "numeral_exponent"),
        (b"[0.001E-10000]", Limits(), "/0", "exponent_too_large", "numeral_exponent"),
        (b"[1e+" + b"9" * 900 + b"]", Limits(), "/0", "exponent_too_large", "numeral_exponent"),
    ],
)
def test_over_a_limit_is_refused_naming_the_limit_and_its_setting(content, limits, pointer, code, setting):
    ((found_pointer, found_code, message),) = refused(content, limits)
    assert (found_pointer, found_code) == (pointer, code)
    assert f"`limits.{setting}`" in message
    assert f"{getattr(limits, setting):,}" in message


@pytest.mark.parametrize(
    ("content", "limits"),
    [
        (b"[1, 2, 3]", Limits(document_bytes=9)),
        (b"[" * 64 + b"]" * 64, Limits()),
        (b'["' + b"x" * 64 * KIB + b'"]', Limits()),
        (b'["' + b'\\"' * 64 * KIB + b'"]', Limits()),
        (b'["' + b"\\u00e9" * 32 * KIB + b'"]', Limits()),
        (b"[" + b"1" * 1000 + b", -" + b"1" * 1000 + b"]", Limits()),
        (b"[1e9999, 1E-9999, 0e0]", Limits()),
    ],
)
def test_at_a_limit_is_accepted(content, limits):
    assert isinstance(value_of(content, limits), list)


def test_the_payload_of_an_envelope_may_be_as_long_as_the_document():
    payload = b"e30=" * 20_000
    envelope = b'{"payload": "%b", "payloadType": "t", "signatures": []}' % payload
    assert value_of(envelope)["payload"] == payload.decode()
    bundle = b'{"verification_report": %b}' % envelope
    assert value_of(bundle)["verification_report"]["payload"] == payload.decode()
    ((pointer, code, _),) = refused(b'{"claims": %b}' % envelope)
    assert (pointer, code) == ("/claims/payload", "string_too_long")


def test_all_problems_are_listed_at_once():
    content = b'{"a": NaN, "b": ["\\u0000", {"c": 1, "c": 2}], "d": 1e99999}'
    assert {(pointer, code) for pointer, code, _ in refused(content)} == {
        ("/a", "not_a_number"),
        ("/b/0", "nul_character"),
        ("/b/1/c", "duplicate_member"),
        ("/d", "exponent_too_large"),
    }


def test_faults_above_the_depth_limit_are_listed_beside_it():
    problems = refused(b'{"a": NaN, "b": [[NaN]]}', Limits(nesting_depth=2))
    assert [(pointer, code) for pointer, code, _ in problems] == [
        ("/b/0", "too_deep"),
        ("/a", "not_a_number"),
    ]


@pytest.mark.parametrize(
    "entry", [b"NaN", b'{"a":1,"a":2}', b"1e99999", b'"\\ud800"', b'"\\u0000"', b'{"\\u0000":0}']
)
def test_of_a_hundred_thousand_problems_fifty_are_listed(entry):
    assert len(refused(b"[" + b",".join([entry] * 100_000) + b"]")) == 50


@pytest.mark.parametrize("entry", [b"NaN", b'{"a":1,"a":2}', b"1e99999", b'"\\ud800"'])
def test_pointers_through_long_names_are_not_repeated_fifty_times(entry):
    opened = b'{"' + b"n" * 10_000 + b'":'
    content = opened * 20 + b"[" + b",".join([entry] * 100) + b"]" + b"}" * 20
    ((pointer, _, _),) = refused(content)
    assert pointer.startswith(("/" + "n" * 10_000) * 20 + "/0")


@pytest.mark.parametrize("hidden", [b'{"b":1,"b":2}', b"NaN", b"1e99999"])
def test_faults_in_a_value_that_a_repeated_name_replaces_hide_nothing(hidden):
    content = b'{"a": [' + b",".join([hidden] * 60) + b'], "a": 1}'
    assert [code for _, code, _ in refused(content)] == ["duplicate_member"]


@pytest.mark.parametrize("tail", [b"NaN", b'"\\u0000"', b'[{"a":1,"a":2}]'])
def test_a_fault_is_found_behind_much_that_is_sound(tail):
    ((pointer, _, _),) = refused(b"[" + b'{"a":["b"]},' * 100_000 + tail + b"]")
    assert pointer.startswith("/100000")


def test_numbers_keep_their_exact_decimal_value():
    value = value_of(b"[1, -7, 1.50, 1e2, 0.1000000000000000000000000000001, -0, -0.0, 9007199254740993]")
    assert [type(number) for number in value] == [int, int, *[Decimal] * 5, int]
    assert [str(number) for number in value] == [
        *("1", "-7", "1.50", "1E+2", "0.1000000000000000000000000000001", "-0", "-0.0", "9007199254740993")
    ]


@given(json_values)
def test_what_was_written_as_json_is_read_again(value):
    assert value_of(encoded(value)) == value


tricky_texts = st.sampled_from(
    ["a", "b", "", ":", '"', "\\", '\\"', '":', "[", "{[", "]}", "é", "\n", '\\":{"', "\u2028"]
)
# An object stands as a tuple of (name, value), so that it can be written with a name used twice.
written_trees = st.recursive(
    tricky_texts | st.integers(),
    lambda inner: (
        st.lists(inner, max_size=3) | st.lists(st.tuples(tricky_texts, inner), max_size=3).map(tuple)
    ),
    max_leaves=8,
)


def written(tree, colon):
    if isinstance(tree, tuple):
        return "{" + ",".join(json.dumps(name) + colon + written(value, colon) for name, value in tree) + "}"
    if isinstance(tree, list):
        return "[" + ",".join(written(value, colon) for value in tree) + "]"
    return json.dumps(tree, ensure_ascii=False)


def repeats_a_name(tree):
    if isinstance(tree, tuple):
        names = [name for name, _ in tree]
        return len(set(names)) < len(names) or any(repeats_a_name(value) for _, value in tree)
    return isinstance(tree, list) and any(map(repeats_a_name, tree))


def depth_of(tree):
    if isinstance(tree, tuple):
        return 1 + max((depth_of(value) for _, value in tree), default=0)
    return 1 + max(map(depth_of, tree), default=0) if isinstance(tree, list) else 0


@settings(max_examples=300)
@given(written_trees, st.sampled_from([":", " : ", ":\n", "\t:"]), st.integers(1, 4))
def test_repeated_names_and_depth_are_seen_whatever_the_strings_hold(tree, colon, limit):
    content = written(tree, colon).encode()
    codes = {problem.code for problem in problems_of(lambda: value_of(content, Limits(nesting_depth=limit)))}
    expected = {"duplicate_member"} if repeats_a_name(tree) else set()
    if depth_of(tree) <= limit:
        assert codes == expected
        assert codes or value_of(content) == json.loads(content)
    elif expected:
        assert codes  # the value that lies too deep may be one that a repeated name hides
    else:
        assert codes == {"too_deep"}


@given(st.binary(max_size=60))
def test_bytes_are_read_or_refused(content):
    problems_of(lambda: value_of(content))


@settings(max_examples=200)
@given(st.text(alphabet='{}[]",:\\u0dD8naN1e-. \n', max_size=30))
def test_what_python_reads_and_is_within_the_rules_is_read_alike(text):
    content = text.encode()
    try:
        value = value_of(content)
    except DocumentError:
        return
    assert value == json.loads(content, parse_float=Decimal)
