"""What the scopes of an API token let a program do: never decide, seal, hold a review, or manage people."""

from __future__ import annotations

from typing import Final

SUBMIT: Final = "submit"
READ: Final = "read"

SCOPES: Final[dict[str, frozenset[str]]] = {
    READ: frozenset({"reviews.view_review"}),
    # Whoever submits the same bytes again is led to the own review that they have.
    SUBMIT: frozenset({"reviews.submit_review", "reviews.view_review"}),
}
SCOPE_WORDS: Final[dict[str, str]] = {
    READ: "Its own reviews: their state, releases, contract decisions and documents.",
    SUBMIT: "Submits documents for review, and checks them without storing anything.",
}
EVERY_CHOICE: Final = (READ, f"{READ} {SUBMIT}", SUBMIT)  # as a token keeps them
