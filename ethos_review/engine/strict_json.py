"""Strict JSON within limits: bytes become a value, or problems with pointers and positions (spec 2.1)."""

from __future__ import annotations

import codecs
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from itertools import accumulate, chain, islice
from json.decoder import JSONDecodeError
from typing import Any, Final, NoReturn, TypeAlias, cast

from ethos_review.engine.collector import without_collector
from ethos_review.engine.errors import MAX_PROBLEMS, DocumentError, Problem, join_pointer, listed, quoted

Json: TypeAlias = "bool | int | Decimal | str | list[Json] | dict[str, Json] | None"
"""A parsed value: integers are int, other numerals Decimal, so none passes through binary floating point."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What one document may hold (spec 2.1): settings of the policy; lengths in bytes, counts in entries."""

    document_bytes: int = 16 * 1024 * 1024
    nesting_depth: int = 64
    entries: int = 100_000
    string_bytes: int = 64 * 1024
    numeral_digits: int = 1_000
    numeral_exponent: int = 9_999


DEFAULT_LIMITS: Final = Limits()


@without_collector
def parse_json(role: str, content: bytes, limits: Limits) -> Json:
    """The value in `content`, in linear time. Raises DocumentError for document `role` (spec 2.1)."""
    if len(content) > limits.document_bytes:
        _refuse(
            role,
            "document_too_large",
            f"The document has {len(content):,} bytes; at most {limits.document_bytes:,} are accepted "
            "(setting `limits.document_bytes`). Split it into smaller reviews, or ask the operator.",
        )
    text, skipped = _decode(role, content)
    try:
        value, members, faults = _parse(text, limits)
    except JSONDecodeError as error:
        _refuse_syntax(role, error, skipped)
    except RecursionError:
        raise DocumentError([_too_deep(role, text, skipped, limits)]) from None
    outline = _outline(content)
    repeats = outline.count(b":") != members
    too_deep = _is_too_deep(outline, limits)
    if not (repeats or too_deep or faults or _may_hold_bad_strings(content, limits)):
        return cast(Json, value)
    if repeats:
        value = _parse_marking_repeated_names(text, limits)
    problems = [_too_deep(role, text, skipped, limits)] if too_deep else []
    problems += listed(_faults_in(role, _levels(value, limits), limits))
    if repeats and not problems:  # those marked stood in a value that another repeated name has replaced
        message = "Somewhere, a member name stands more than once in one object. Keep one of them."
        _refuse(role, "duplicate_member", message)
    if problems:
        raise DocumentError(problems)
    return cast(Json, value)


def _refuse(role: str, code: str, message: str) -> NoReturn:
    raise DocumentError([Problem(role, "", code, message)])


_WIDE_MARKS: Final = (  # the longer marks first: UTF-32 LE begins like UTF-16 LE
    (codecs.BOM_UTF32_LE, "UTF-32"),
    (codecs.BOM_UTF32_BE, "UTF-32"),
    (codecs.BOM_UTF16_LE, "UTF-16"),
    (codecs.BOM_UTF16_BE, "UTF-16"),
)


def _decode(role: str, content: bytes) -> tuple[str, int]:
    """The text, and how many bytes of byte-order mark were left out before it."""
    for mark, encoding in _WIDE_MARKS:
        if content.startswith(mark):
            _refuse_encoding(role, encoding, 0)
    # JSON begins with ASCII, so a zero among its first bytes is the other half of a wider character.
    guess = json.detect_encoding(content[:4])
    if not guess.startswith("utf-8"):
        _refuse_encoding(role, guess[:6].upper(), content.index(0))
    skipped = len(codecs.BOM_UTF8) if content.startswith(codecs.BOM_UTF8) else 0
    try:
        return content[skipped:].decode("utf-8"), skipped
    except UnicodeDecodeError as error:
        byte = skipped + error.start
        message = f"Byte {byte} (0x{content[byte]:02x}) is not valid UTF-8. Save the document as UTF-8."
        _refuse(role, "not_utf8", message)


def _refuse_encoding(role: str, encoding: str, byte: int) -> NoReturn:
    message = f"The document is {encoding} (seen at byte {byte}). Save it as UTF-8."
    _refuse(role, "not_utf8", message)


@dataclass(frozen=True, slots=True)
class _Fault:
    """Stands in the parsed value where a numeral or a constant is refused, until its pointer is known."""

    code: str
    message: str


class _RepeatedNames(dict[str, Any]):
    """An object in which a member name stands more than once."""

    names: tuple[str, ...]


def _parse(text: str, limits: Limits) -> tuple[Any, int, bool]:
    """The value, how many members its objects have, and whether it holds faults."""
    members = 0

    def count_members(found: dict[str, Any]) -> dict[str, Any]:
        nonlocal members
        members += len(found)
        return found

    faults: list[_Fault] = []
    value = json.JSONDecoder(object_hook=count_members, **_numeral_hooks(limits, faults)).decode(text)
    return value, members, bool(faults)


def _parse_marking_repeated_names(text: str, limits: Limits) -> Any:
    marked = 0

    def read_members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        nonlocal marked
        members = dict(pairs)
        if len(members) == len(pairs) or marked >= MAX_PROBLEMS:
            return members
        marked += 1
        repeated = _RepeatedNames(pairs)
        counts = Counter(name for name, _ in pairs)
        repeated.names = tuple(name for name, count in counts.items() if count > 1)
        return repeated

    return json.JSONDecoder(object_pairs_hook=read_members, **_numeral_hooks(limits, [])).decode(text)


def _numeral_hooks(limits: Limits, faults: list[_Fault]) -> dict[str, Any]:
    """How numbers are read: exactly, leaving the first MAX_PROBLEMS faults in the value and in `faults`."""

    def read_integer(text: str, digits: int = limits.numeral_digits) -> Any:
        if len(text) <= digits and text != "-0":
            return int(text)
        return read_numeral(text)

    def read_fraction(text: str, digits: int = limits.numeral_digits) -> Any:
        if len(text) <= digits and "e" not in text and "E" not in text:
            return Decimal(text)
        return read_numeral(text)

    def read_numeral(text: str) -> Any:
        if len(faults) >= MAX_PROBLEMS:
            return None
        fault = _numeral_fault(text, limits)
        if fault is not None:
            return keep(fault)
        return int(text) if text.lstrip("-").isdecimal() and text != "-0" else Decimal(text)

    def read_constant(name: str) -> Any:
        if len(faults) >= MAX_PROBLEMS:
            return None
        return keep(
            _Fault("not_a_number", f"{name} is not JSON. Leave the member out, or write null or a number.")
        )

    def keep(fault: _Fault) -> _Fault:
        faults.append(fault)
        return fault

    return {"parse_int": read_integer, "parse_float": read_fraction, "parse_constant": read_constant}


def _numeral_fault(text: str, limits: Limits) -> _Fault | None:
    digits = sum(character.isdecimal() for character in text)
    if digits > limits.numeral_digits:
        return _Fault(
            "too_many_digits",
            f"The number has {digits:,} digits; at most {limits.numeral_digits:,} are accepted "
            "(setting `limits.numeral_digits`). Round it.",
        )
    _, _, exponent = text.lower().partition("e")
    if exponent and abs(int(exponent)) > limits.numeral_exponent:
        return _Fault(
            "exponent_too_large",
            f"The exponent of {quoted(text)} is beyond ±{limits.numeral_exponent:,} "
            "(setting `limits.numeral_exponent`). Check the number.",
        )
    return None


_SYNTAX: Final = {  # what the standard library says, and what helps a newcomer more
    "Expecting value": "A value is expected here: a string in double quotes, a number, true, false, null, "
    "an array or an object",
    "Expecting property name": "A member name in double quotes is expected here",
    "Illegal trailing comma": "There must be no comma after the last entry",
    "Expecting ',' delimiter": "A comma is expected here, or the end of the array or object",
    "Expecting ':' delimiter": "A colon is expected here, between a member's name and its value",
    "Unterminated string": "The string that begins here has no closing double quote",
    "Invalid control character": "A string holds a line break, a tab or another control character; write "
    "it as an escape such as \\n",
    "Invalid \\u": "After \\u four hexadecimal digits are expected",
    "Invalid \\escape": 'After a backslash only one of these is allowed: " \\ / b f n r t u',
}


def _refuse_syntax(role: str, error: JSONDecodeError, skipped: int) -> NoReturn:
    text, position = error.doc, error.pos
    place = _place(text, position, skipped)
    if not text.strip(" \t\r\n"):
        _refuse(role, "empty_document", "The document is empty. Send the JSON document itself.")
    if error.msg.startswith("Extra data"):
        _refuse(
            role,
            "trailing_data",
            f"{place}: the JSON value has ended, but more text follows. Send one JSON value per document.",
        )
    if text[position : position + 1] == "\0":
        _refuse(
            role, "nul_character", f"{place}: the document holds U+0000, which cannot be stored. Remove it."
        )
    what = next((said for begins, said in _SYNTAX.items() if error.msg.startswith(begins)), error.msg)
    _refuse(role, "syntax_error", f"{place}: {what[0].lower()}{what[1:]}.")


def _place(text: str, position: int, skipped: int) -> str:
    before = text[:position]
    line, column = before.count("\n") + 1, position - before.rfind("\n")
    return f"Line {line}, column {column} (byte {skipped + len(before.encode('utf-8'))})"


_ESCAPE: Final = re.compile(rb"\\.", re.DOTALL)
_AS_SQUARE: Final = bytes.maketrans(b"{}", b"[]")
_NOT_IN_OUTLINE: Final = bytes(set(range(256)) - set(b'[]{}":'))
_CONTAINERS: Final = frozenset({dict, list, _RepeatedNames})
_TOKEN: Final = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"?|[][{},:]', re.DOTALL)
_MAX_TOKENS: Final = 1_000_000  # a place so far into a hostile document is not worth a reader's time
_ROUNDS: Final = 12  # quick for documents as they are; a deeper one is measured step by step


def _outline(content: bytes) -> bytes:
    """The brackets of a JSON text, all as square ones, and a colon for each member; strings are left out.

    It tells how deep the value is and how many members it was written with, without walking through it.
    """
    marks = _ESCAPE.sub(b"", content).translate(_AS_SQUARE, _NOT_IN_OUTLINE)
    # What stands behind an odd number of quotes is inside a string; pairs of quotes change nothing about that.
    return b"".join(marks.replace(b'""', b"").split(b'"')[::2])


def _is_too_deep(outline: bytes, limits: Limits) -> bool:
    brackets = outline.replace(b":", b"")
    depth = 0
    while brackets and depth < _ROUNDS:  # each takes away the innermost level
        brackets = brackets.replace(b"[]", b"")
        depth += 1
    steps = map((92).__sub__, brackets)  # 92 stands between the codes of [ and ]: up one, down one
    return depth + max(accumulate(steps), default=0) > limits.nesting_depth


def _levels(root: Any, limits: Limits) -> list[list[Any]]:
    """Arrays and objects by depth: first an array around `root`, so that the root too has a place in one.

    At most one level more than the limit allows.
    """
    levels: list[list[Any]] = []
    level: list[Any] = [[root]]
    while level and len(levels) <= limits.nesting_depth + 1:
        levels.append(level)
        level = [
            child
            for container in level
            for child in (container if type(container) is list else container.values())
            if type(child) in _CONTAINERS
        ]
    return levels


def _too_deep(role: str, text: str, skipped: int, limits: Limits) -> Problem:
    """The first array or object that lies too deep, found without recursion."""
    message = (
        f"arrays and objects are nested more than {limits.nesting_depth} deep "
        "(setting `limits.nesting_depth`). Flatten the document."
    )
    path: list[str | int] = []  # the token of the entry being read, per open array or object
    last_string = ""
    for token in islice(_TOKEN.finditer(text), _MAX_TOKENS):
        found = token.group()
        if found in ("[", "{"):
            if len(path) == limits.nesting_depth:
                place = _place(text, token.start(), skipped)
                return Problem(role, join_pointer("", *path), "too_deep", f"{place}: {message}")
            path.append(0 if found == "[" else "")
        elif not path:
            break
        elif found in ("]", "}"):
            path.pop()
        elif found == ",":
            if isinstance(path[-1], int):
                path[-1] += 1
        elif found == ":":
            path[-1] = cast(str, json.loads(last_string))
        else:
            last_string = found
    return Problem(role, "", "too_deep", f"Somewhere, {message}")


_RISKY_ESCAPE: Final = re.compile(rb"\\u(?:[dD][89a-fA-F]|0000)")
_STRING_EDGE: Final = re.compile(rb'[^\\]"')
_UNSTORABLE: Final = re.compile("[\0\ud800-\udfff]")


def _may_hold_bad_strings(content: bytes, limits: Limits) -> bool:
    """False is certain: no string is too long, none holds U+0000 or half a surrogate pair. Cheap."""
    if _RISKY_ESCAPE.search(content):
        return True
    # Inside a string every quote follows a backslash. A string longer than the limit covers at least one
    # whole window of half that length, and so a window in which no quote follows anything else.
    window = limits.string_bytes // 2
    if window < 16:
        return True
    return any(
        _STRING_EDGE.search(content, start, start + window) is None
        for start in range(0, len(content) - window, window)
    )


def _faults_in(role: str, levels: list[list[Any]], limits: Limits) -> Iterator[Problem]:
    """The first faults with their pointers, level by level; only the path to a fault is ever spelled out."""
    found: list[tuple[Any, str | int, _Fault]] = []
    depth_of: dict[int, int] = {}
    for depth, level in enumerate(levels[: limits.nesting_depth + 1]):
        if _is_clean(level, limits):
            continue
        for container in level:
            if len(found) >= MAX_PROBLEMS:
                break
            for token, fault in islice(_own_faults(container, limits), MAX_PROBLEMS - len(found)):
                found.append((container, token, fault))
                depth_of[id(container)] = depth
    parents = _parents(levels, depth_of)
    root = levels[0][0][0]
    for container, token, fault in found:
        path = [token]
        while id(container) in parents:
            container, step = parents[id(container)]
            path.append(step)
        pointer = join_pointer("", *reversed(path[:-1]))
        if not (fault.code == "string_too_long" and _is_payload(root, pointer)):
            yield Problem(role, pointer, fault.code, fault.message)


def _is_clean(level: list[Any], limits: Limits) -> bool:
    """Whether a whole level holds no fault, found without looking at each of its entries in turn."""
    objects = [container for container in level if type(container) is not list]
    values = [*chain.from_iterable(container for container in level if type(container) is list)]
    values += chain.from_iterable(members.values() for members in objects)
    if _RepeatedNames in set(map(type, objects)) or _Fault in set(map(type, values)):
        return False
    strings = [*chain.from_iterable(objects), *(value for value in values if type(value) is str)]
    longest = max(map(len, strings), default=0)
    return 4 * longest <= limits.string_bytes and not _UNSTORABLE.search("".join(strings))


def _is_payload(root: Any, pointer: str) -> bool:
    """In a DSSE envelope a whole report stands as one string: there the limit of the document holds."""
    if pointer == "/verification_report/payload":
        root = root["verification_report"]
    elif pointer != "/payload":
        return False
    return "payloadType" in root and "signatures" in root


def _parents(levels: list[list[Any]], depth_of: dict[int, int]) -> dict[int, tuple[Any, str | int]]:
    """For the containers in `depth_of` (by id) and all above them: the one they stand in, and where in it."""
    parents: dict[int, tuple[Any, str | int]] = {}
    wanted: set[int] = set()
    for depth in range(max(depth_of.values(), default=0), 0, -1):
        wanted |= {identity for identity, own_depth in depth_of.items() if own_depth == depth}
        above: set[int] = set()
        for container in levels[depth - 1]:
            for token, child in _entries(container):
                if id(child) in wanted:
                    parents[id(child)] = (container, token)
                    above.add(id(container))
        wanted = above
    return parents


def _entries(container: Any) -> Iterable[tuple[str | int, Any]]:
    return cast(
        "Iterable[tuple[str | int, Any]]",
        enumerate(container) if type(container) is list else container.items(),
    )


def _own_faults(container: Any, limits: Limits) -> Iterator[tuple[str | int, _Fault]]:
    """The faults of the entries and names that stand in this very array or object."""
    if type(container) is not list:
        for name in container:
            for fault in _string_faults(name, limits, "name"):
                yield name, fault
        if type(container) is _RepeatedNames:
            for name in container.names:
                yield (
                    name,
                    _Fault(
                        "duplicate_member",
                        f"The member {quoted(name)} stands more than once in one object. Keep one of them.",
                    ),
                )
    for token, child in _entries(container):
        if type(child) is str:
            for fault in _string_faults(child, limits, "string"):
                yield token, fault
        elif type(child) is _Fault:
            yield token, child


def _string_faults(text: str, limits: Limits, noun: str) -> Iterator[_Fault]:
    bad = _UNSTORABLE.search(text)
    if bad and bad.group() == "\0":
        yield _Fault("nul_character", f"The {noun} holds U+0000, which cannot be stored. Remove it.")
    elif bad:
        yield _Fault(
            "unpaired_surrogate",
            f"The {noun} holds \\u{ord(bad.group()):04x}, half of a surrogate pair, which is no character. "
            "Write both halves, or neither.",
        )
    if 4 * len(text) > limits.string_bytes:
        length = len(text.encode("utf-8", "surrogatepass"))
        if length > limits.string_bytes:
            yield _Fault(
                "string_too_long",
                f"The {noun} has {length:,} bytes; at most {limits.string_bytes:,} are accepted "
                "(setting `limits.string_bytes`). Shorten it.",
            )
