"""JSON Schema validation of values: jsonschema-rs accepts, jsonschema explains a refusal (spec 5.2)."""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any, Final, TypeAlias

import jsonschema_rs
from jsonschema import Draft202012Validator, ValidationError, validators
from referencing import Registry
from referencing.jsonschema import DRAFT202012

from ethos_review.engine.errors import MAX_PROBLEMS, DocumentError, Problem, join_pointer, quoted
from ethos_review.engine.strict_json import Json

SCHEMAS: Final = Path(__file__).parents[2] / "schemas"
_LONGEST_NAME_TO_CORRECT: Final = 64  # difflib takes quadratic time
_LONGEST_NUMBER_SHOWN: Final = 30


def check_against_schema(role: str, value: Json, schema_name: str, pointer: str = "") -> None:
    """Raises DocumentError with up to MAX_PROBLEMS problems, each with a pointer and a sentence.

    `value` stands at `pointer` of document `role`. Time is linear in the size of `value`, also for a refusal.
    """
    if not accepts(schema_name, value):
        problems = list(islice(explain_refusal(role, value, schema_name, pointer), MAX_PROBLEMS))
        # When the two validators disagree, the value is not accepted.
        raise DocumentError(
            problems or [Problem(role, pointer, "not_accepted", f"This is not a valid {schema_name}.")]
        )


def accepts(schema_name: str, value: Json) -> bool:
    """Whether jsonschema-rs accepts `value` under `schemas/<schema_name>.schema.json`."""
    return _accepting_validator(schema_uri(schema_name)).is_valid(value)


def explain_refusal(role: str, value: Json, schema_name: str, pointer: str = "") -> Iterator[Problem]:
    """What jsonschema finds wrong, one problem after the other; nothing when it accepts."""
    for error in _explaining_validator(schema_uri(schema_name)).iter_errors(value):
        path = list(error.absolute_path)
        message = f"{_subject(path)} {error.message}"
        yield Problem(role, join_pointer(pointer, *path), _CODES[str(error.validator)], message)


def schema_uri(schema_name: str) -> str:
    return f"urn:ethos-review:schema:{schema_name}:v1"


def _subject(path: Sequence[str | int]) -> str:
    if not path:
        return "The document"
    if isinstance(path[-1], str):
        return _code(path[-1])
    name = next((token for token in reversed(path) if isinstance(token, str)), None)
    return f"Entry {path[-1]}" + ("" if name is None else f" of {_code(name)}")


def _code(name: str) -> str:
    return f"`{quoted(name)[1:-1]}`"


@cache
def _schemas() -> Mapping[str, dict[str, Any]]:
    """Every schema by its URI, with references that are absolute and so mean the same everywhere."""
    schemas = {}
    for path in SCHEMAS.glob("*.schema.json"):
        schema = json.loads(path.read_text(encoding="utf-8"))
        # Named here once for all: where a schema names its dialect, jsonschema leaves `_Explainer` for its own.
        del schema["$schema"]
        schemas[schema["$id"]] = _with_absolute_references(schema, schema["$id"])
    return schemas


def _with_absolute_references(schema: Any, uri: str) -> Any:
    if isinstance(schema, list):
        return [_with_absolute_references(entry, uri) for entry in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        name: uri + entry
        if name == "$ref" and isinstance(entry, str) and entry.startswith("#")
        else _with_absolute_references(entry, uri)
        for name, entry in schema.items()
    }


@cache
def _accepting_validator(uri: str) -> jsonschema_rs.Validator:
    registry = jsonschema_rs.Registry(list(_schemas().items()), draft=jsonschema_rs.Draft202012)
    return jsonschema_rs.Draft202012Validator({"$ref": uri}, registry=registry)


@cache
def _explaining_validator(uri: str) -> Any:
    registry: Registry[Any] = Registry().with_resources(
        (uri, DRAFT202012.create_resource(schema)) for uri, schema in _schemas().items()
    )
    return _Explainer(_schemas()[uri], registry=registry)


# Each function below is a keyword of JSON Schema. It replaces the library's own, which would spell out a whole
# hostile value in its message, or, where noted, take too long. A message begins after the subject.

Keyword: TypeAlias = Iterator[ValidationError]
Validator: TypeAlias = Any  # the class that `validators.extend` makes has no type of its own


def _type(_: Validator, expected: str | list[str], instance: Any, __: object) -> Keyword:
    names = [expected] if isinstance(expected, str) else expected
    if not any(_TYPES.is_type(instance, name) for name in names):
        yield ValidationError(
            f"must be {_either(map(_NOUNS.__getitem__, names))}, not {_number_or_kind(instance)}."
        )


def _enum(_: Validator, options: list[Any], instance: Any, __: object) -> Keyword:
    if not any(_equal(instance, option) for option in options):
        yield ValidationError(
            f"must be {_either(map(_shown, options))}, not {_shown(instance)}."
            + _suggestion(instance, [option for option in options if isinstance(option, str)])
        )


def _const(_: Validator, only: Any, instance: Any, __: object) -> Keyword:
    if not _equal(instance, only):
        yield ValidationError(f"must be {_shown(only)}, not {_shown(instance)}.")


def _required(validator: Validator, names: list[str], instance: Any, _: object) -> Keyword:
    if validator.is_type(instance, "object"):
        for name in names:
            if name not in instance:
                yield ValidationError(f"lacks the member {_code(name)}. Add it.")


def _additional_properties(
    validator: Validator, allowed: bool, instance: Any, schema: Mapping[str, Any]
) -> Keyword:
    if validator.is_type(instance, "object") and not allowed:
        known = schema.get("properties", {})
        for name in instance:
            if name not in known:
                hint = _suggestion(name, known) or f" Known members: {', '.join(map(_code, known))}."
                yield ValidationError(f"is not a known member here.{hint}", path=(name,))


def _pattern(validator: Validator, pattern: str, instance: Any, schema: Mapping[str, Any]) -> Keyword:
    # A pattern means the whole string, as it does for jsonschema-rs; `$` alone lets a final newline through.
    if validator.is_type(instance, "string") and not re.fullmatch(pattern, instance):
        yield ValidationError(
            f"must be {schema.get('title', f'a text like {pattern}')}, not {_shown(instance)}."
        )


def _min_length(validator: Validator, least: int, instance: Any, _: object) -> Keyword:
    if validator.is_type(instance, "string") and len(instance) < least:
        yield ValidationError("must not be empty.")


def _min_items(validator: Validator, least: int, instance: Any, _: object) -> Keyword:
    if validator.is_type(instance, "array") and len(instance) < least:
        yield ValidationError(
            f"must have at least {_counted(least, 'entry', 'entries')}, not {len(instance):,}."
        )


def _max_items(validator: Validator, most: int, instance: Any, _: object) -> Keyword:
    if validator.is_type(instance, "array") and len(instance) > most:
        yield ValidationError(
            f"must have at most {_counted(most, 'entry', 'entries')}, not {len(instance):,}."
        )


def _min_properties(validator: Validator, least: int, instance: Any, schema: Mapping[str, Any]) -> Keyword:
    if validator.is_type(instance, "object") and len(instance) < least:
        yield ValidationError(f"needs at least one of {_either(map(_code, schema['properties']))}.")


def _minimum(validator: Validator, least: int, instance: Any, _: object) -> Keyword:
    if validator.is_type(instance, "number") and instance < least:
        yield ValidationError(f"must be at least {least:,}, not {_shown(instance)}.")


def _maximum(validator: Validator, most: int, instance: Any, _: object) -> Keyword:
    if validator.is_type(instance, "number") and instance > most:
        yield ValidationError(f"must be at most {most:,}, not {_shown(instance)}.")


def _unique_items(validator: Validator, unique: bool, instance: Any, _: object) -> Keyword:
    # The library compares all pairs. Our schemas ask it of strings only.
    if unique and validator.is_type(instance, "array"):
        seen: set[str] = set()
        for position, entry in enumerate(instance):
            if isinstance(entry, str):
                if entry in seen:
                    yield ValidationError(f"repeats {_shown(entry)}. Keep it once.", path=(position,))
                seen.add(entry)


def _items(validator: Validator, items: Any, instance: Any, _: object) -> Keyword:
    # Only refused entries are looked at closely: a fault behind 100,000 sound entries is found in time.
    if validator.is_type(instance, "array"):
        accepting = _accepting_validator(items["$ref"])
        for position, entry in enumerate(instance):
            if not accepting.is_valid(entry):
                yield from validator.descend(entry, items, path=position)


def _any_of(validator: Validator, branches: list[Any], instance: Any, _: object) -> Keyword:
    if not any(validator.evolve(schema=branch).is_valid(instance) for branch in branches):
        yield ValidationError(f"needs {_either(_code(branch['required'][0]) for branch in branches)}.")


def _not(validator: Validator, refused: Any, instance: Any, _: object) -> Keyword:
    if validator.evolve(schema=refused).is_valid(instance):
        names = " and ".join(map(_code, refused["required"]))
        yield ValidationError(f"must not have {names} at the same time. Keep one of them.")


_CODES: Final = {
    "type": "wrong_type",
    "enum": "not_allowed_value",
    "const": "not_allowed_value",
    "required": "missing_member",
    "anyOf": "missing_member",
    "minProperties": "missing_member",
    "additionalProperties": "unknown_member",
    "not": "conflicting_members",
    "pattern": "wrong_format",
    "minLength": "wrong_format",
    "minItems": "too_few_entries",
    "maxItems": "too_many_entries",
    "minimum": "out_of_range",
    "maximum": "out_of_range",
    "uniqueItems": "repeated_entry",
}

_NOUNS: Final = {
    "object": "an object",
    "array": "an array",
    "string": "a string",
    "number": "a number",
    "integer": "a whole number",
    "boolean": "true or false",
    "null": "null",
}

_LIBRARY_TYPES: Final = Draft202012Validator.TYPE_CHECKER
_TYPES: Final = _LIBRARY_TYPES.redefine(
    "integer",
    lambda _, value: (
        _LIBRARY_TYPES.is_type(value, "integer")
        or (isinstance(value, Decimal) and value == value.to_integral_value())
    ),
)

_Explainer: Final = validators.extend(  # type: ignore[no-untyped-call]
    Draft202012Validator,
    {
        "type": _type,
        "enum": _enum,
        "const": _const,
        "required": _required,
        "additionalProperties": _additional_properties,
        "pattern": _pattern,
        "minLength": _min_length,
        "minItems": _min_items,
        "maxItems": _max_items,
        "minProperties": _min_properties,
        "minimum": _minimum,
        "maximum": _maximum,
        "uniqueItems": _unique_items,
        "items": _items,
        "anyOf": _any_of,
        "not": _not,
    },
    type_checker=_TYPES,
)


def _equal(one: Any, other: Any) -> bool:
    return isinstance(one, bool) == isinstance(other, bool) and bool(one == other)


def _kind(instance: Any) -> str:
    if isinstance(instance, bool):
        return str(instance).lower()
    name = next(
        name for name in ("null", "string", "number", "array", "object") if _TYPES.is_type(instance, name)
    )
    return _NOUNS[name]


def _shown(instance: Any) -> str:
    return quoted(instance) if isinstance(instance, str) else _number_or_kind(instance)


def _number_or_kind(instance: Any) -> str:
    if not _TYPES.is_type(instance, "number"):
        return _kind(instance)
    text = str(instance)
    return text if len(text) <= _LONGEST_NUMBER_SHOWN else text[:_LONGEST_NUMBER_SHOWN] + "…"


def _either(words: Iterable[str]) -> str:
    *others, last = words
    return f"{', '.join(others)} or {last}" if others else last


def _counted(number: int, one: str, many: str) -> str:
    return f"{number:,} {one if number == 1 else many}"


def _suggestion(wrong: Any, known: Iterable[str]) -> str:
    if not isinstance(wrong, str) or len(wrong) > _LONGEST_NAME_TO_CORRECT:
        return ""
    by_spelling = {re.sub("[^a-z0-9]", "", name.lower()): name for name in known}
    near = difflib.get_close_matches(re.sub("[^a-z0-9]", "", wrong.lower()), by_spelling, n=1, cutoff=0.7)
    return f" Did you mean {_code(by_spelling[near[0]])}?" if near else ""
