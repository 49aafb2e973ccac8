"""Bytes become a Document: the exact bytes, their digest, and the value in them (spec 2.1)."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field

from ethos_review.engine.errors import DocumentError, Problem
from ethos_review.engine.strict_json import DEFAULT_LIMITS, Json, Limits, parse_json

__all__ = ["Document", "Json", "Limits", "check_entries", "check_entry_count", "read_document"]


@dataclass(frozen=True, slots=True)
class Document:
    """One received document: `content` are the bytes as received, `sha256` their lower-case hex digest."""

    role: str  # verification_report | claims | readings | bundle
    name: str  # file name as uploaded
    content: bytes = field(repr=False)
    sha256: str
    value: Json = field(repr=False)
    limits: Limits = DEFAULT_LIMITS  # those it was read under, and what it carries is read under


def read_document(role: str, name: str, content: bytes, limits: Limits = DEFAULT_LIMITS) -> Document:
    """Parse strictly, or raise DocumentError with pointers and positions (spec 2.1)."""
    sha256 = hashlib.sha256(content).hexdigest()
    return Document(role, name, content, sha256, parse_json(role, content, limits), limits)


def check_entries(document: Document, entries: Json, pointer: str, noun: str) -> None:
    """Raises DocumentError when `entries` is an array of more than `limits.entries` (spec 2.1)."""
    if isinstance(entries, list):
        check_entry_count(document, len(entries), pointer, noun)


def check_entry_count(document: Document, count: int, pointer: str, noun: str) -> None:
    """Raises DocumentError when `count` is more than `limits.entries` (spec 2.1)."""
    limit = document.limits.entries
    if count > limit:
        message = (
            f"The document holds {count:,} {noun}; at most {limit:,} are accepted "
            "(setting `limits.entries`). Split it into smaller reviews, or ask the operator."
        )
        raise DocumentError([Problem(document.role, pointer, "too_many_entries", message)])
