"""Comparing values: relation(a, b, normalization) (spec 3.3).

Two values are never compared with each other directly. Each is turned into a Key, and the relation follows
from the two keys alone; so many values compare in linear time, and `same` is an equivalence by construction.
"""

from __future__ import annotations

import hashlib
import json
import re
import unicodedata
from collections.abc import Callable, Mapping
from decimal import MAX_EMAX, MAX_PREC, MIN_EMIN, Context, Decimal, Inexact, InvalidOperation, Overflow
from typing import Final, NamedTuple

from ethos_review.engine.documents import Json

SAME: Final = "same"
DIFFERENT: Final = "different"
INCOMPARABLE: Final = "incomparable"

VALUE: Final = "value"
ABSENCE: Final = "absence"
UNKNOWN: Final = "unknown"
DOUBT: Final = "doubt"
MALFORMED: Final = "malformed"

# Wide enough that normalising neither rounds nor raises for anything that a Decimal can hold.
_EXACT = Context(
    prec=MAX_PREC, Emax=MAX_EMAX, Emin=MIN_EMIN, clamp=0, traps=[InvalidOperation, Overflow, Inexact]
)
_NUMERAL = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")  # RFC 8259 §6
_MOST_PLAIN_DIGITS = 60
_NUMERAL_START = frozenset("-0123456789")
_CLAIM_MEMBERS = {
    "known": (frozenset({"kind", "value", "evidence"}),),
    "unknown": (frozenset({"kind", "reason"}), frozenset({"kind", "reason", "evidence"})),
    "not-applicable": (frozenset({"kind", "evidence"}),),
}


def classify(value: Json) -> tuple[str, Json]:
    """The kind of a reading, and what of it is compared: a `known` Claim's value, else the value (spec 3.4).

    Kinds: `value`, `absence`, `unknown`, `doubt`, `malformed`. A `known` of a further Claim counts as that
    one.
    """
    while type(value) is dict:
        claim_kind = value.get("kind")
        if type(claim_kind) is not str or claim_kind not in _CLAIM_MEMBERS:
            return VALUE, value
        if value.keys() not in _CLAIM_MEMBERS[claim_kind] or not _texts_are_strings(value):
            return MALFORMED, value
        if claim_kind != "known":
            return UNKNOWN, value
        value = value["value"]
        if value is None:
            return ABSENCE, None
    if value is None or (type(value) is str and value.strip().casefold() == "unknown"):
        return DOUBT, value
    return VALUE, value


def _texts_are_strings(claim: dict[str, Json]) -> bool:
    return type(claim.get("evidence", "")) is str and type(claim.get("reason", "")) is str


class Key(NamedTuple):
    """What decides how a value compares under one normalization.

    Equal `canon`: the values are the same. Otherwise they are different when no element of the one is of
    another family than an element of the other, and incomparable when one is.
    """

    families: (
        str  # those of all elements, a line each; empty when there is nothing that could be incomparable
    )
    canon: str

    @property
    def is_mixed(self) -> bool:
        """Of several families: incomparable with everything that has a family and is not the same."""
        return "\n" in self.families


ABSENT: Final = Key("", "absent")  # `known(null)`, under every normalization
NOT_COMPARABLE: Final = Key("", "not comparable")  # the wrong kind for the normalization

_NUMBER = "NUMBER"
_TEXT = "TEXT"
_JSON = "JSON"
_TRUE = Key("BOOLEAN", "b1")
_FALSE = Key("BOOLEAN", "b0")
_NULL = Key("NULL", "z")


def relation(a: Json, b: Json, normalization: str = "auto") -> str:
    """`same`, `different` or `incomparable` (spec 3.3). A `known` Claim compares by its value."""
    return relation_of_keys(_key_of_any(a, normalization), _key_of_any(b, normalization))


def relation_of_keys(a: Key, b: Key) -> str:
    """The relation of the values behind two keys made under one normalization."""
    if a is ABSENT or b is ABSENT:
        return SAME if a is b else DIFFERENT
    if a is NOT_COMPARABLE or b is NOT_COMPARABLE:
        return INCOMPARABLE
    if a.canon == b.canon:
        return SAME
    if not a.families or not b.families or (a.families == b.families and not a.is_mixed):
        return DIFFERENT
    return INCOMPARABLE


def comparison_key(value: Json, normalization: str) -> Key:
    """The key of a value that `classify` has unwrapped. Raises ValueError for an unknown normalization."""
    make_key = _MAKE_KEY.get(normalization)
    if make_key is None:
        raise ValueError(f"unknown normalization {normalization!r}")
    return make_key(value)


def _key_of_any(value: Json, normalization: str) -> Key:
    kind, bare = classify(value)
    return ABSENT if kind == ABSENCE else comparison_key(bare, normalization)


def _auto_key(value: Json) -> Key:
    if type(value) is str:
        return _numeral_key(value) or _text_key(value)
    if value is None:
        return _NULL
    if type(value) is bool:
        return _TRUE if value else _FALSE
    if isinstance(value, (int, Decimal)):
        return Key(_NUMBER, _number_canon(str(value)))
    return _opaque(_exact_canon(value))


def _number_key(value: Json) -> Key:
    if type(value) is str:
        return _numeral_key(value) or NOT_COMPARABLE
    if isinstance(value, (int, Decimal)) and type(value) is not bool:
        return Key(_NUMBER, _number_canon(str(value)))
    return NOT_COMPARABLE


def _numeral_key(text: str) -> Key | None:
    """None when the text is not a JSON number."""
    numeral = text.strip()
    if numeral[:1] not in _NUMERAL_START or not _NUMERAL.fullmatch(numeral):
        return None
    try:
        return Key(_NUMBER, _number_canon(numeral))
    except InvalidOperation:  # an exponent of 18 digits or more: only equal text is surely the same
        return _opaque("h" + numeral)


def _text_key(value: Json) -> Key:
    if type(value) is not str:
        return NOT_COMPARABLE
    if value.isascii():
        return Key(_TEXT, "t" + " ".join(value.split()).lower())
    return Key(_TEXT, "t" + " ".join(unicodedata.normalize("NFC", value).split()).casefold())


def _boolean_key(value: Json) -> Key:
    if type(value) is not bool:
        return NOT_COMPARABLE
    return _TRUE if value else _FALSE


def _exact_key(value: Json) -> Key:
    return Key(_JSON, _exact_canon(value))


def _set_key(elements: Json) -> Key:
    if type(elements) is not list:
        return NOT_COMPARABLE
    keys = {_key_of_any(element, "auto") for element in elements}
    families = sorted({key.families for key in keys if key.families})
    return Key("\n".join(families), "S" + _sha256(json.dumps(sorted(key.canon for key in keys))))


def _opaque(canon: str) -> Key:
    """A value that is the same as its equal and incomparable with all others: a family of its own."""
    return Key(canon, canon)


def _number_canon(numeral: str) -> str:
    """One text for all numerals of one number: its plain digits, or, where those are many, its normal form."""
    if len(numeral) <= _MOST_PLAIN_DIGITS and "E" not in numeral and "e" not in numeral:
        return "n" + _without_trailing_zeros(numeral)
    normal = _EXACT.normalize(Decimal(numeral, _EXACT))
    if abs(normal.adjusted()) <= _MOST_PLAIN_DIGITS:
        plain = _without_trailing_zeros(format(normal, "f"))
        if len(plain) <= _MOST_PLAIN_DIGITS:
            return "n" + plain
    return f"N{normal}"


def _without_trailing_zeros(plain: str) -> str:
    if "." in plain:
        plain = plain.rstrip("0").rstrip(".")
    return "0" if plain == "-0" else plain


def _exact_canon(value: Json) -> str:
    text = _exact_text(value)
    return "x" + text if len(text) <= 64 else "X" + _sha256(text)


def _exact_text(value: Json) -> str:
    if isinstance(value, (int, Decimal)) and type(value) is not bool:
        return _number_canon(str(value))
    if type(value) is list:
        return f"[{','.join(map(_exact_text, value))}]"
    if type(value) is dict:
        return f"{{{','.join(f'{json.dumps(name)}:{_exact_text(value[name])}' for name in sorted(value))}}}"
    return json.dumps(value)


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


# `json.dumps` makes one at each call.
_COMPACT: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))


def json_text(value: Json) -> str:
    """Compact JSON text of a parsed value, numbers with the digits they came with (Decimal as str)."""
    try:
        return _COMPACT.encode(value)
    except TypeError:  # a Decimal somewhere, which the standard library cannot write
        return _json_text(value)


def _json_text(value: Json) -> str:
    if isinstance(value, Decimal):
        return str(value)
    if type(value) is list:
        return f"[{','.join(map(_json_text, value))}]"
    if type(value) is dict:
        members = (
            f"{json.dumps(name, ensure_ascii=False)}:{_json_text(member)}" for name, member in value.items()
        )
        return f"{{{','.join(members)}}}"
    return json.dumps(value, ensure_ascii=False)


_MAKE_KEY: Final[Mapping[str, Callable[[Json], Key]]] = {
    "auto": _auto_key,
    "text": _text_key,
    "number": _number_key,
    "boolean": _boolean_key,
    "exact": _exact_key,
    "set": _set_key,
}


_CONTAINERS = frozenset({list, dict})


def _is_large(value: Json) -> bool:
    return len(value) > 256 if type(value) is str else type(value) in _CONTAINERS


NORMALIZATIONS: Final = tuple(_MAKE_KEY)


class ValueMemo:
    """Keys and texts of large values, made once however many claims point at the same value of the answer."""

    __slots__ = ("_keys", "_texts")

    def __init__(self) -> None:
        # The value is kept beside its result, so that its id stays its own.
        self._keys: dict[tuple[int, str], tuple[Json, Key]] = {}
        self._texts: dict[int, tuple[Json, str, str]] = {}

    def key(self, value: Json, normalization: str) -> Key:
        if not _is_large(value):
            return comparison_key(value, normalization)
        place = (id(value), normalization)
        if place not in self._keys:
            self._keys[place] = (value, comparison_key(value, normalization))
        return self._keys[place][1]

    def text(self, value: Json) -> str:
        """The value's JSON text."""
        return self._text_of_large(value)[1] if _is_large(value) else json_text(value)

    def text_sha256(self, value: Json) -> str:
        """SHA-256 (hex) of the value's JSON text."""
        return self._text_of_large(value)[2] if _is_large(value) else _sha256(json_text(value))

    def _text_of_large(self, value: Json) -> tuple[Json, str, str]:
        if id(value) not in self._texts:
            text = json_text(value)
            self._texts[id(value)] = (value, text, _sha256(text))
        return self._texts[id(value)]
