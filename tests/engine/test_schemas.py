"""Every document has a schema, with examples that it accepts and refuses (spec 2)."""

import json
import re
from decimal import Decimal

import jsonschema
import jsonschema_rs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from referencing import Registry
from referencing.jsonschema import DRAFT202012

from ethos_review.engine.contracts import SCHEMAS, accepts, explain_refusal, schema_uri
from tests.engine.mutations import SCHEMA_NAMES, example_paths, example_value, spoiled_values

DOCUMENTS = {
    "audit-checkpoint",
    "audit-event",
    "bundle",
    "claims",
    "contract-decision",
    "dsse-envelope",
    "in-toto-statement",
    "invalid-request",
    "key-set",
    "policy",
    "readings",
    "release-statement",
    "verification-report",
}
OPEN_OBJECTS = {  # objects with named members that take others too, because another document or program owns them
    ("dsse-envelope", ""),
    ("dsse-envelope", "/$defs/signature"),
    ("readings", "/$defs/semantic_result"),
    ("readings", "/$defs/semantic_result/properties/provenance"),
    ("readings", "/$defs/fact"),
    ("readings", "/$defs/point"),
}


def load(name):
    return json.loads((SCHEMAS / f"{name}.schema.json").read_text(encoding="utf-8"))


def nodes(schema, pointer=""):
    """Every object in a schema with its JSON Pointer."""
    if isinstance(schema, dict):
        yield pointer, schema
    entries = (
        schema.items() if isinstance(schema, dict) else enumerate(schema) if isinstance(schema, list) else ()
    )
    for token, entry in entries:
        yield from nodes(entry, f"{pointer}/{token}")


def keyword_values(keyword):
    return [
        pytest.param(node[keyword], id=f"{name}{pointer}")
        for name in SCHEMA_NAMES
        for pointer, node in nodes(load(name))
        if keyword in node and not pointer.endswith("/properties")
    ]


def test_there_is_one_schema_for_each_document():
    assert set(SCHEMA_NAMES) == DOCUMENTS


@pytest.mark.parametrize("name", SCHEMA_NAMES)
def test_a_schema_is_a_valid_schema_of_draft_2020_12(name):
    schema = load(name)
    jsonschema.Draft202012Validator.check_schema(schema)
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert schema["$id"] == schema_uri(name)
    assert schema["title"]
    assert schema["description"]


@pytest.mark.parametrize("name", SCHEMA_NAMES)
def test_objects_refuse_unknown_members(name):
    conditional = ("/if", "/then", "/else", "/allOf", "/anyOf", "/not")
    schema = load(name)
    is_a_choice = "allOf" in schema and "additionalProperties" not in schema  # then each branch is closed
    found = {
        (name, pointer)
        for pointer, node in nodes(schema)
        if "properties" in node
        and node.get("additionalProperties") is not False
        and not pointer.endswith("/properties")
        and not any(part in pointer for part in conditional)
        and not (pointer == "" and is_a_choice)
    }
    assert found == {entry for entry in OPEN_OBJECTS if entry[0] == name}


@pytest.mark.parametrize("pattern", keyword_values("pattern"))
def test_a_pattern_is_written_for_the_whole_string(pattern):
    assert pattern.startswith("^")
    assert pattern.endswith("$")


@pytest.mark.parametrize("items", keyword_values("items"))
def test_the_entries_of_an_array_have_a_schema_of_their_own(items):
    assert list(items) == ["$ref"]  # so that a sound entry is passed over quickly when a refusal is explained


@pytest.mark.parametrize("name", SCHEMA_NAMES)
def test_a_schema_has_several_examples_of_both_kinds(name):
    assert len(example_paths(name, "valid")) >= 2
    assert len(example_paths(name, "invalid")) >= 5


@pytest.mark.parametrize(
    "path",
    [path for name in SCHEMA_NAMES for path in example_paths(name, "valid")],
    ids=lambda path: path.stem,
)
def test_a_valid_example_is_accepted_by_both_validators(path):
    name = path.parts[-3]
    value = example_value(path)
    assert list(explain_refusal("example", value, name)) == []
    assert accepts(name, value)


@pytest.mark.parametrize(
    "path",
    [path for name in SCHEMA_NAMES for path in example_paths(name, "invalid")],
    ids=lambda path: path.stem,
)
def test_an_invalid_example_is_refused_by_both_validators(path):
    name = path.parts[-3]
    value = example_value(path)
    assert list(explain_refusal("example", value, name))
    assert not accepts(name, value)


def plain_validator(name):
    """jsonschema without what the product makes of it, except that a pattern means the whole string."""
    schema = load(name)
    registry = Registry().with_resources(
        (schema_uri(other), DRAFT202012.create_resource(without_dialect(load(other))))
        for other in SCHEMA_NAMES
    )
    return _Plain(without_dialect(schema), registry=registry)


def without_dialect(schema):
    return {keyword: value for keyword, value in schema.items() if keyword != "$schema"}


def whole_pattern(_, pattern, instance, __):
    if isinstance(instance, str) and not re.fullmatch(pattern, instance):
        yield jsonschema.ValidationError("does not match")


def is_whole(_, value):
    return isinstance(value, int | Decimal) and not isinstance(value, bool) and int(value) == value


_Plain = jsonschema.validators.extend(
    jsonschema.Draft202012Validator,
    {"pattern": whole_pattern},
    type_checker=jsonschema.Draft202012Validator.TYPE_CHECKER.redefine("integer", is_whole),
)
PLAIN = {name: plain_validator(name) for name in SCHEMA_NAMES}


@settings(max_examples=250)
@given(st.data())
@pytest.mark.parametrize("name", SCHEMA_NAMES)
def test_the_validators_agree_on_spoiled_documents(name, data):
    value = data.draw(spoiled_values(name))
    accepted = accepts(name, value)
    assert PLAIN[name].is_valid(value) == accepted
    assert (not list(explain_refusal("example", value, name))) == accepted


STRINGS = [
    "",
    " ",
    "\n",
    "\u0085",
    "\u001c",
    "\u3000 \u2003",
    "\u200b",
    "\ufeff",
    "a",
    " a ",
    "a\n",
    "\na",
    "v0001",
    "v0001\n",
    "v٠٠٠١",
    "0" * 64,
    "0" * 64 + "\n",
    "/a~1b",
    "/a\n",
    "snake_case",
    "snake_case\n",
    "2026-03-20T10:15:00Z",
    "2026-03-20T10:15:00Z\n",
    "２026-03-20T10:15:00Z",
]


@pytest.mark.parametrize("text", STRINGS)
@pytest.mark.parametrize("pattern", sorted({param.values[0] for param in keyword_values("pattern")}))
def test_the_validators_agree_on_the_edges_of_patterns(pattern, text):
    schema = {"type": "string", "pattern": pattern}
    assert jsonschema_rs.is_valid(schema, text) == bool(re.fullmatch(pattern, text))


@given(st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=4))
def test_blank_means_white_space_only_as_python_has_it(text):
    claims = {"question": text, "claims": []}
    assert accepts("claims", claims) == bool(text.strip())
