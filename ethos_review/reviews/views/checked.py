"""What “Check only” shows: the parts of the review page, made of documents that nobody keeps.

Nothing can be asked for later, so one page shows as many claims as fit on it, and counts the rest.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from django.template.loader import render_to_string
from django.utils.safestring import SafeString

from ethos_review.engine.assessment import Assessment
from ethos_review.engine.explain import explain, why
from ethos_review.engine.release import Release, make_release, seals_by_policy
from ethos_review.reviews.assessments import claim_state, count_columns, derived_columns
from ethos_review.reviews.models import Claim, PolicyRecord, Review
from ethos_review.reviews.queries import GROUP_OF_ACTION, GROUPS, Card, OpenCard

# Bytes: with the form, style and scripts a page stays below 150 KB (spec 6.4).
ROOM_FOR_CARDS: Final = 38_000
ROOM_WITHOUT_EVIDENCE: Final = 16_000  # of that; so that of many claims some stand with their evidence
ROOM_FOR_PASSAGES: Final = 6_000


@dataclass(frozen=True, slots=True)
class CheckedGroup:
    key: str
    label: str
    count: int
    with_evidence: tuple[SafeString, ...]  # the first cards
    without_evidence: tuple[SafeString, ...]  # those that follow

    @property
    def left_out(self) -> int:
        return self.count - len(self.with_evidence) - len(self.without_evidence)


@dataclass(frozen=True, slots=True)
class CheckedPage:
    """Named as a ReviewPage where a part of the page shows the same."""

    review: Review  # never saved
    assessment: Assessment
    groups: tuple[CheckedGroup, ...]  # those with claims
    preview: Release  # what would be released if it were submitted and sealed now
    preview_claims: tuple[tuple[Card, bool], ...]  # the first ones
    seals_at_once: bool  # when it is submitted, by the policy

    @property
    def passages_left_out(self) -> int:
        return len(self.preview.released_claim_ids) - len(self.preview_claims)

    @property
    def with_evidence_count(self) -> int:
        return sum(len(group.with_evidence) for group in self.groups)

    @property
    def shown_count(self) -> int:
        return sum(group.count - group.left_out for group in self.groups)


def checked_page(assessment: Assessment) -> CheckedPage:
    """Without a database query."""
    places: dict[str, list[int]] = {key: [] for key, _ in GROUPS}
    for place, assessed in enumerate(assessment.claims):
        places[GROUP_OF_ACTION[assessed.action]].append(place)
    closed, opened = _cards(assessment, tuple(places.values()))
    return CheckedPage(
        review=_review(assessment),
        assessment=assessment,
        groups=tuple(
            CheckedGroup(
                key,
                label,
                count=len(places[key]),
                with_evidence=tuple(opened[place] for place in places[key] if place in opened),
                without_evidence=tuple(
                    closed[place] for place in places[key] if place in closed and place not in opened
                ),
            )
            for key, label in GROUPS
            if places[key]
        ),
        preview=make_release(assessment, {}),
        preview_claims=tuple(_passages(assessment, places["final"])),
        seals_at_once=seals_by_policy(assessment),
    )


def _cards(
    assessment: Assessment, places: Sequence[Sequence[int]]
) -> tuple[dict[int, SafeString], dict[int, SafeString]]:
    """By the claim's place: what fits without evidence and, of these, what fits with it."""
    closed = _fitting(places, lambda place: _closed_card(assessment, place), ROOM_WITHOUT_EVIDENCE)
    left = ROOM_FOR_CARDS - sum(map(_weight, closed.values()))
    shown = [[place for place in group if place in closed] for group in places]
    return closed, _fitting(shown, lambda place: _open_card(assessment, place), left, closed)


def _fitting(
    places: Sequence[Sequence[int]],
    rendered: Callable[[int], SafeString],
    room: int,
    instead_of: Mapping[int, SafeString] | None = None,
) -> dict[int, SafeString]:
    """The first of each group, as many as fit; what a short group leaves over is for the longer ones."""
    taken: dict[int, SafeString] = {}
    for groups_left, group in zip(range(len(places), 0, -1), sorted(places, key=len), strict=True):
        share = room // groups_left
        for place in group:
            html = rendered(place)
            weight = _weight(html) - _weight((instead_of or {}).get(place, ""))
            if weight > share:
                break
            taken[place] = html
            share -= weight
            room -= weight
    return taken


def _passages(assessment: Assessment, places: Sequence[int]) -> Iterator[tuple[Card, bool]]:
    room = ROOM_FOR_PASSAGES
    for place in places:
        passage = (_card(assessment, place), False)
        room -= _weight(render_to_string("reviews/_passages.html", {"passages": [passage]}))
        if room < 0:
            return
        yield passage


def _weight(html: str) -> int:
    return len(html.encode())


def _closed_card(assessment: Assessment, place: int) -> SafeString:
    return render_to_string("reviews/_card.html", {"card": _card(assessment, place)})


def _open_card(assessment: Assessment, place: int) -> SafeString:
    card = _card(assessment, place)
    opened = OpenCard(card, rules=explain(card.assessment), shown_sha256="", history=(), undone_rationale="")
    return render_to_string("reviews/_card.html", {"card": card, "opened": opened})


def _card(assessment: Assessment, place: int) -> Card:
    """Of a claim that nobody can decide on, for it is not stored."""
    assessed = assessment.claims[place]
    return Card(
        row=Claim(position=place, text=assessed.claim.text, claim_type=assessed.claim.claim_type),
        assessment=assessed,
        why=why(assessed),
        group=GROUP_OF_ACTION[assessed.action],
        decision=None,
        latest_sequence=0,
        released=assessed.action == "show_final",
        outcomes=(),
        refusal="",
        can_undo=False,
        rationale_required_to_approve=False,
    )


def _review(assessment: Assessment) -> Review:
    policy, supersedes = assessment.policy, assessment.submission.supersedes
    states = (claim_state(assessed.action, None, policy) for assessed in assessment.claims)
    return Review(
        policy=PolicyRecord(sha256=policy.sha256, name=policy.name, version=policy.version),
        supersedes=Review(review_id=UUID(supersedes)) if supersedes else None,
        **derived_columns(assessment),
        **count_columns(states),
    )
