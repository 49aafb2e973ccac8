"""Hypothesis strategies that spoil documents: a parsed value at a random place, or its bytes."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from ethos_review.engine.contracts import SCHEMAS, check_against_schema
from ethos_review.engine.documents import read_document
from ethos_review.engine.errors import DocumentError, Problem

EXAMPLES = SCHEMAS / "examples"
SCHEMA_NAMES = sorted(path.name.removesuffix(".schema.json") for path in SCHEMAS.glob("*.schema.json"))

strange_values = st.sampled_from(
    [
        *(None, True, False, 0, 1, -1, 2**53, 10**30, Decimal("1.0"), Decimal("0.5"), Decimal("-0")),
        *(Decimal("1E+2"), Decimal("1E+9999"), Decimal("1E-9999")),
        *("", " ", "\n", "x", "v0001", "1.0.0", "٠", "\u0085", "a\u2028b", "https://in-toto.io/Statement/v1"),
        *([], {}, [[]], {"": 0}, {"kind": "known"}, ["v0001", "v0001"]),
    ]
)


def example_paths(schema_name: str, kind: str) -> list[Path]:
    return sorted((EXAMPLES / schema_name / kind).glob("*.json"))


def example_value(path: Path) -> Any:
    return read_document("example", path.name, path.read_bytes()).value


def places(value: Any) -> list[tuple[Any, Any]]:
    """Every (container, name or position) in a value."""
    found: list[tuple[Any, Any]] = []
    entries = (
        value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    )
    for token, entry in entries:
        found.append((value, token))
        found.extend(places(entry))
    return found


@st.composite
def spoiled_values(draw: st.DrawFn, schema_name: str) -> Any:
    """A valid example in which up to three places were changed; now and then it is still valid."""
    value = copy.deepcopy(example_value(draw(st.sampled_from(example_paths(schema_name, "valid")))))
    for _ in range(draw(st.integers(0, 3))):
        somewhere = places(value)
        if not somewhere:
            break
        container, token = draw(st.sampled_from(somewhere))
        act = draw(st.sampled_from(["replace", "replace", "remove", "add", "borrow"]))
        if act == "remove":
            del container[token]
        elif act == "replace":
            container[token] = copy.deepcopy(draw(strange_values))
        elif act == "borrow":
            other, other_token = draw(st.sampled_from(somewhere))
            container[token] = copy.deepcopy(other[other_token]) if _is_there(other, other_token) else None
        elif isinstance(container, dict):
            name = draw(st.sampled_from(["x", "", "id", "check_id", "toolName", "a/b~c"]))
            container[name] = copy.deepcopy(draw(strange_values))
        else:
            container.append(copy.deepcopy(container[token]))
    return value


def _is_there(container: Any, token: Any) -> bool:
    return token in container if isinstance(container, dict) else token < len(container)


def encoded(value: Any) -> bytes:
    """JSON bytes of a parsed value, decimals with their digits."""
    return _text(value).encode("utf-8")


def _text(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ",".join(f"{json.dumps(name)}:{_text(entry)}" for name, entry in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(_text, value)) + "]"
    return str(value) if isinstance(value, Decimal) else json.dumps(value)


hostile_bytes = st.sampled_from(
    [
        *(b"\x00", b"\xff", b"\xed\xa0\x80", b"\xef\xbb\xbf", b'"', b"\\", b"\\u0000", b"\\ud800"),
        *(b"{", b"}", b"[", b"]", b",", b":", b"\n", b"\r", b" ", b"//", b"'", b"[" * 70, b"9" * 1001),
        *(b"NaN", b"-Infinity", b"1e99999", b"-0", b'"id":1,', b'"x":[],'),
    ]
)


@st.composite
def spoiled_bytes(draw: st.DrawFn, schema_names: tuple[str, ...]) -> bytes:
    """A valid example, as bytes, with a few bytes put in, left out or overwritten."""
    paths = [path for name in schema_names for path in example_paths(name, "valid")]
    content = draw(st.sampled_from(paths)).read_bytes()
    for _ in range(draw(st.integers(1, 3))):
        start = draw(st.integers(0, len(content)))
        length = draw(st.sampled_from([0, 0, 1, 2, 40]))
        content = content[:start] + draw(hostile_bytes | st.binary(max_size=3)) + content[start + length :]
    return content


def problems_of(read: Callable[[], object]) -> tuple[Problem, ...]:
    """The problems for which `read` refuses, as an invalid_request document may list them; none when it does not."""
    try:
        read()
    except DocumentError as refusal:
        check_against_schema("invalid_request", refusal.to_json(), "invalid-request")
        return refusal.problems
    return ()


def resolves(value: Any, pointer: str) -> bool:
    """Whether the place that an RFC 6901 pointer names is there."""
    for token in pointer.split("/")[1:]:
        name = token.replace("~1", "/").replace("~0", "~")
        if isinstance(value, dict) and name in value:
            value = value[name]
        elif isinstance(value, list) and name.isdecimal() and int(name) < len(value):
            value = value[int(name)]
        else:
            return False
    return True
