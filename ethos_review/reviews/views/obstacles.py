"""Why an act did not happen, as an answer: what to say, what to do next, and which status it has."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from ethos_review.reviews.models import ReviewerDecision
from ethos_review.reviews.operations import NotAllowed, Refused, Stale, Superseded


@dataclass(frozen=True, slots=True)
class Obstacle:
    code: str
    status: int
    message: str
    next_step: str = ""
    current: ReviewerDecision | None = None  # what a colleague decided first

    @property
    def concerns_rationale(self) -> bool:
        return self.code.startswith("rationale")


INCOMPLETE_FORM = Obstacle(
    "incomplete_form",
    400,
    "The form was not complete, so nothing was changed.",
    "Load the page again and decide anew.",
)


T = TypeVar("T")


def attempt(act: Callable[[], T]) -> T | Obstacle:
    """Do it; what stands in the way comes back as a value."""
    try:
        return act()
    except Superseded as lost:
        return _decided_first(lost.current)
    except Stale:
        return Obstacle(
            "stale",
            409,
            "What you saw is no longer what would be decided on, so nothing was changed.",
            "Look at the claim as it is now, then decide again. Your text is still here.",
        )
    except Refused as refused:
        obstacle = Obstacle(refused.code, 409, str(refused))
        return Obstacle(refused.code, 422, str(refused)) if obstacle.concerns_rationale else obstacle
    except NotAllowed as refused:
        return Obstacle("not_allowed", 403, str(refused))


def _decided_first(current: ReviewerDecision | None) -> Obstacle:
    if current is None:
        message = "A colleague undid the decision on this claim. Yours was not recorded; your text is kept."
        return Obstacle("superseded", 409, message, "Decide anew if you still think so.")
    message = "A colleague decided this claim first. Your decision was not recorded; your text is kept."
    return Obstacle("superseded", 409, message, "Leave it as it is, or undo it and decide anew.", current)
