"""Which cards of a long group a page shows at once; the others follow when they are scrolled to, or by a link."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from ethos_review.reviews.queries import Card

CARDS_AT_ONCE: Final = 20  # of each group: with three long ones a page stays below 150 KB (spec 6.4)


@dataclass(frozen=True, slots=True)
class Part:
    cards: tuple[Card, ...]
    before: Card | None  # the one just before these
    after: Card | None
    earlier: int  # how many stand before these
    later: int


def part_of(cards: Sequence[Card], position: int | None) -> Part:
    """The part that holds the claim at `position`, or the first one."""
    place = next((place for place, card in enumerate(cards) if card.row.position == position), 0)
    start = place - place % CARDS_AT_ONCE
    end = min(start + CARDS_AT_ONCE, len(cards))
    return Part(
        cards=tuple(cards[start:end]),
        before=cards[start - 1] if start else None,
        after=cards[end] if end < len(cards) else None,
        earlier=start,
        later=len(cards) - end,
    )
