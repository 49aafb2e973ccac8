"""Comparing texts that people typed."""

from __future__ import annotations

import unicodedata


def folded(text: str) -> str:
    """Alike for texts that differ in case, white space, or compatible forms of a character; on every database."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())
