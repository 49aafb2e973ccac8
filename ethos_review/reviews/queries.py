"""What pages and lists show: one function each, a fixed number of database queries whatever the size."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final
from uuid import UUID

from django.db.models import Count, Q, QuerySet, Sum
from django.utils import timezone

from ethos_review.accounts.models import User
from ethos_review.engine.assessment import Assessment, ClaimAssessment, shown_digest
from ethos_review.engine.explain import Rule, explain, why
from ethos_review.engine.policy import Policy
from ethos_review.engine.release import Release as EngineRelease
from ethos_review.engine.release import allowed_outcomes, make_release, rationale_required
from ethos_review.reviews import signing
from ethos_review.reviews.assessments import assessment_of, claim_state, current_decisions
from ethos_review.reviews.models import Claim, Document, Release, Review, ReviewerDecision, SigningKey
from ethos_review.reviews.policies import current_policy, policy_of

PAGE_SIZE: Final = 50
TABS: Final = (
    ("needs_me", "Needs me"),
    ("ready_to_seal", "Ready to seal"),
    ("sealed", "Sealed"),
    ("all", "All"),
)
GROUPS: Final = (("needs_review", "Needs review"), ("final", "Final"), ("blocked", "Blocked"))
GROUP_OF_ACTION: Final = {"needs_review": "needs_review", "show_final": "final", "block": "blocked"}
EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Tab:
    key: str  # needs_me | ready_to_seal | sealed | all
    label: str
    count: int
    current: bool


@dataclass(frozen=True, slots=True)
class QueuePage:
    tabs: tuple[Tab, ...]
    reviews: tuple[Review, ...]  # submitter joined
    next_cursor: str  # "" on the last page
    decided_today: int  # decisions by this person since midnight UTC
    open_claims: int  # undecided claims this person may decide


@dataclass(frozen=True, slots=True)
class Card:
    """One claim on the review page."""

    row: Claim
    assessment: ClaimAssessment
    why: str  # one sentence
    group: str  # needs_review | final | blocked  (by `assessment.action`; a held-back final claim stays in its group)
    decision: ReviewerDecision | None  # the current one
    latest_sequence: int  # of any decision on the claim, 0 for none: the form's `based_on`
    released: bool  # would be shown if sealed now
    outcomes: tuple[str, ...]  # what this person may do now: approve, block
    refusal: str  # why this person may do nothing, "" when they may or nothing is to be done
    can_undo: bool
    rationale_required_to_approve: bool


@dataclass(frozen=True, slots=True)
class OpenCard:
    """What a card shows when it is opened."""

    card: Card
    rules: tuple[Rule, ...]
    shown_sha256: str
    history: tuple[ReviewerDecision, ...]  # oldest first


@dataclass(frozen=True, slots=True)
class ReviewPage:
    review: Review  # submitter, policy and release (without envelope) joined
    assessment: Assessment
    groups: tuple[tuple[str, str, tuple[Card, ...]], ...]  # (key, label, cards): needs_review, final, blocked
    preview: EngineRelease  # what would be released if sealed now
    preview_claims: tuple[
        tuple[Card, bool], ...
    ]  # released cards in release order, True when reviewed synthesis
    relevance_wording: str  # "direct" | "partial" | "off-topic" | "none"
    opened: OpenCard | None
    can_seal: bool
    seal_refusal: str  # why not, "" when can_seal


def visible_to(user: User) -> QuerySet[Review]:
    """Every review, or the person's own, or none (spec 4.4)."""
    if not user.has_perm("reviews.view_review"):
        return Review.objects.none()
    if user.has_perm("reviews.view_every_review"):
        return Review.objects.all()
    return Review.objects.filter(submitter=user)


def queue_page(user: User, *, tab: str = "needs_me", cursor: str = "") -> QueuePage:
    """An unknown tab shows the first; a cursor that nobody handed out shows the first page."""
    current = tab if tab in dict(TABS) else TABS[0][0]
    counts, open_claims = _counts(user)
    reviews, next_cursor = _keyset_page(
        visible_to(user).filter(_in_tab(user, current)).select_related("submitter"),
        cursor,
        oldest_first=current == "needs_me",
    )
    midnight = timezone.now().replace(hour=0, minute=0, second=0, microsecond=0)
    return QueuePage(
        tabs=tuple(Tab(key, label, counts[key], key == current) for key, label in TABS),
        reviews=reviews,
        next_cursor=next_cursor,
        decided_today=user.decisions.filter(decided_at__gte=midnight).exclude(outcome="undo").count(),
        open_claims=open_claims,
    )


def review_page(user: User, review_id: UUID, *, opened: int | None = None, after: int = -1) -> ReviewPage:
    """Raises Review.DoesNotExist, also for a review this person may not see.

    `opened` is the position of the claim that stands open; without it, the next one behind `after` that waits for
    this person does, from the top again after the last.
    """
    review = (
        visible_to(user)
        .select_related("submitter", "policy", "supersedes", "release")
        .defer("release__envelope")
        .get(review_id=review_id)
    )
    assessment = assessment_of(review)
    rows = list(Claim.objects.filter(review=review).select_related("decision").order_by("position"))
    card = _card_maker(user, review)
    cards = [card(row, assessed) for row, assessed in zip(rows, assessment.claims, strict=True)]
    preview = make_release(assessment, current_decisions(rows))
    by_claim_id = {card.row.claim_id: card for card in cards}
    reviewed = frozenset(preview.reviewed_synthesis_claim_ids)
    seal_refusal = _why_not_sealed(user, review)
    place = _next_waiting(cards, after) if opened is None else opened
    return ReviewPage(
        review=review,
        assessment=assessment,
        groups=tuple(
            (key, label, tuple(card for card in cards if card.group == key)) for key, label in GROUPS
        ),
        preview=preview,
        preview_claims=tuple(
            (by_claim_id[claim_id], claim_id in reviewed) for claim_id in preview.released_claim_ids
        ),
        relevance_wording=preview.relevance,
        opened=_open(cards[place], assessment.policy) if place is not None and place < len(cards) else None,
        can_seal=not seal_refusal,
        seal_refusal=seal_refusal,
    )


def open_card(user: User, review_id: UUID, position: int) -> OpenCard:
    """Raises Review.DoesNotExist, also for a review this person may not see, and Claim.DoesNotExist."""
    review = visible_to(user).select_related("policy", "submitter").get(review_id=review_id)
    row = Claim.objects.select_related("decision").get(review=review, position=position)
    assessment = assessment_of(review)
    return _open(_card_maker(user, review)(row, assessment.claims[position]), assessment.policy)


def release_of(user: User, review_id: UUID) -> Release:
    """With the review and the signing key joined. Raises Release.DoesNotExist."""
    return (
        Release.objects.filter(review__in=visible_to(user))
        .select_related("review__submitter", "review__policy", "review__supersedes", "signing_key")
        .get(review__review_id=review_id)
    )


def document_of(user: User, review_id: UUID, role: str) -> Document:
    """With its content. Raises Document.DoesNotExist."""
    documents = Document.objects.with_content()
    return documents.get(review__in=visible_to(user), review__review_id=review_id, role=role)


def contract_decision_of(user: User, review_id: UUID) -> bytes:
    """The contract decision (spec 2.6) as JSON. Raises Review.DoesNotExist."""
    review = visible_to(user).select_related("policy").get(review_id=review_id)
    decision = assessment_of(review).contract_decision.to_json()
    return json.dumps(decision, ensure_ascii=False, indent=2).encode()


def public_key(key_id: str) -> SigningKey:
    """Raises SigningKey.DoesNotExist."""
    return SigningKey.objects.get(key_id=key_id)


def _in_tab(user: User, key: str) -> Q:
    if key == "needs_me":
        return Q(status=Review.Status.NEEDS_REVIEW) & _may_decide(user)
    return Q() if key == "all" else Q(status=key)


def _may_decide(user: User) -> Q:
    if not user.has_perm("reviews.decide_claim"):
        return Q(pk__in=[])
    return ~Q(submitter=user) if current_policy().separate_duties else Q()


def _counts(user: User) -> tuple[Counter[str], int]:
    """How many reviews are in each tab, and how many undecided claims this person may decide.

    One walk over an index that holds all it needs, in its order.
    """
    groups = (
        visible_to(user)
        .values_list("status", "submitter_id")
        .annotate(reviews=Count("*"), undecided=Sum("undecided_count"))
        .order_by()
    )
    own = user.pk if current_policy().separate_duties else None
    decides = user.has_perm("reviews.decide_claim")
    counts, open_claims = Counter[str](), 0
    for status, submitter_id, reviews, undecided in groups:
        counts["all"] += reviews
        if status != Review.Status.NEEDS_REVIEW:
            counts[status] += reviews
        elif decides and submitter_id != own:
            counts["needs_me"] += reviews
            open_claims += undecided
    return counts, open_claims


def _keyset_page(
    reviews: QuerySet[Review], cursor: str, *, oldest_first: bool
) -> tuple[tuple[Review, ...], str]:
    """A page that stays right while rows come and go: it continues after a row, not after a number of rows."""
    after = _parse_cursor(cursor)
    if after is not None:
        at, pk = after
        # The first condition alone lets the index find the place; the second one keeps ties apart.
        reviews = (
            reviews.filter(submitted_at__gte=at).exclude(submitted_at=at, id__lte=pk)
            if oldest_first
            else reviews.filter(submitted_at__lte=at).exclude(submitted_at=at, id__gte=pk)
        )
    order = ("submitted_at", "id") if oldest_first else ("-submitted_at", "-id")
    found = list(reviews.order_by(*order)[: PAGE_SIZE + 1])
    shown = found[:PAGE_SIZE]
    return tuple(shown), _cursor_after(shown[-1]) if len(found) > PAGE_SIZE else ""


def _cursor_after(review: Review) -> str:
    return f"{(review.submitted_at - EPOCH) // timedelta(microseconds=1)}-{review.pk}"


def _parse_cursor(cursor: str) -> tuple[datetime, int] | None:
    at, _, pk = cursor.partition("-")
    if not (cursor.isascii() and at.isdecimal() and pk.isdecimal() and len(cursor) < 36):
        return None
    try:
        return EPOCH + timedelta(microseconds=int(at)), int(pk)
    except OverflowError:
        return None


def _card_maker(user: User, review: Review) -> Callable[[Claim, ClaimAssessment], Card]:
    policy = policy_of(review.policy)
    refusal = _why_not_decided(user, review)

    def make(row: Claim, assessed: ClaimAssessment) -> Card:
        row.review = review
        outcome = row.decision.outcome if row.decision else None
        possible = allowed_outcomes(assessed)
        return Card(
            row=row,
            assessment=assessed,
            why=why(assessed),
            group=GROUP_OF_ACTION[assessed.action],
            decision=row.decision,
            latest_sequence=row.turns,
            released=claim_state(assessed.action, outcome, policy) == "released",
            outcomes=possible if not refusal and outcome is None else (),
            refusal=refusal if possible else "",
            can_undo=not refusal and outcome is not None,
            rationale_required_to_approve=rationale_required(assessed, "approve"),
        )

    return make


def _next_waiting(cards: Sequence[Card], after: int) -> int | None:
    waiting = [card.row.position for card in cards if "approve" in card.outcomes]
    return next((position for position in waiting if position > after), waiting[0] if waiting else None)


def _open(card: Card, policy: Policy) -> OpenCard:
    return OpenCard(
        card=card,
        rules=explain(card.assessment),
        shown_sha256=shown_digest(card.assessment, policy),
        history=tuple(ReviewerDecision.objects.filter(claim=card.row).order_by("sequence")),
    )


def _why_not_decided(user: User, review: Review) -> str:
    """Why this person takes no decision on any claim of the review; empty when they may."""
    if review.status == Review.Status.SEALED:
        return "This review is sealed: its decisions are final."
    if not user.has_perm("reviews.decide_claim"):
        return "Your role does not let you decide claims."
    if current_policy().separate_duties and review.submitter_id == user.pk:
        return "You submitted this review, so someone else decides its claims."
    return ""


def _why_not_sealed(user: User, review: Review) -> str:
    if review.status == Review.Status.SEALED:
        return "This review is sealed."
    if not user.has_perm("reviews.seal_review"):
        return "Your role does not let you seal reviews."
    if current_policy().separate_duties and review.submitter_id == user.pk:
        return "You submitted this review, so someone else seals it."
    if review.undecided_count:
        left = review.undecided_count
        return f"{left} claims are still undecided." if left > 1 else "One claim is still undecided."
    return signing.why_nothing_can_be_signed()
