"""Why a person takes no part in a review: the same rule and the same sentences on pages and in operations."""

from __future__ import annotations

from typing import Final

from ethos_review.accounts.models import User
from ethos_review.engine.policy import Policy
from ethos_review.reviews.models import Review

MAY_NOT_SUBMIT: Final = "Your role does not let you submit reviews."
MAY_NOT_DECIDE: Final = "Your role does not let you decide claims."
MAY_NOT_SEAL: Final = "Your role does not let you seal reviews."
OTHERS_DECIDE: Final = "You submitted this review, so someone else decides its claims."
OTHERS_SEAL: Final = "You submitted this review, so someone else seals it."


def is_barred(user: User, review: Review, policy: Policy) -> bool:
    """While duties are separate, a submitter takes no part in the own review (spec 3.6)."""
    return policy.separate_duties and review.submitter_id == user.pk


def still_undecided(count: int) -> str:
    if not count:
        return "No claim is undecided."
    return f"{count} claim{' is' if count == 1 else 's are'} still undecided."
