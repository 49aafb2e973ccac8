"""Whether a release that someone brings is the one that was sealed here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, cast
from uuid import UUID

from ethos_review.accounts.models import User
from ethos_review.engine.envelope import EnvelopeError, OpenedRelease, unverified_payload
from ethos_review.reviews.models import Release, Review
from ethos_review.reviews.queries import visible_to

EQUAL: Final = "equal"
DIFFERS: Final = "differs"
NOT_SEALED: Final = "not_sealed"
NOT_HERE: Final = "not_here"  # or not for this person to see


@dataclass(frozen=True, slots=True)
class Comparison:
    state: str
    review: Review | None = None


def compare_with_kept(user: User, release: OpenedRelease) -> Comparison:
    """Byte for byte, what was signed with what was signed here."""
    predicate = cast("dict[str, Any]", release.statement["predicate"])
    try:
        review = visible_to(user).filter(review_id=UUID(predicate["review_id"])).first()
    except ValueError:
        review = None
    if review is None:
        return Comparison(NOT_HERE)
    kept = Release.objects.filter(review=review).first()
    if kept is None:
        return Comparison(NOT_SEALED, review)
    try:
        equal = unverified_payload(bytes(kept.envelope)) == release.payload
    except EnvelopeError:
        equal = False
    return Comparison(EQUAL if equal else DIFFERS, review)
