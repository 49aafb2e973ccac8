"""What pages and lists show: one function each, a fixed number of database queries whatever the size."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from django.db.models import Count, Min, Q, QuerySet

from ethos_review.accounts.models import User
from ethos_review.audit.models import Checkpoint
from ethos_review.audit.queries import any_text, each_readable
from ethos_review.engine.assessment import Assessment, ClaimAssessment, shown_digest
from ethos_review.engine.dsse import load_verifier_key, public_key_pem
from ethos_review.engine.envelope import KeyFileError
from ethos_review.engine.explain import Rule, explain, why
from ethos_review.engine.policy import Policy
from ethos_review.engine.release import Release as EngineRelease
from ethos_review.engine.release import allowed_outcomes, make_release, rationale_required
from ethos_review.reviews import signing
from ethos_review.reviews.assessments import assessment_of, claim_state, current_decisions
from ethos_review.reviews.models import Claim, Document, Release, Review, ReviewerDecision, SigningKey
from ethos_review.reviews.policies import changed, current_policy, policy_of, verifier_keys
from ethos_review.reviews.rights import (
    MAY_NOT_DECIDE,
    MAY_NOT_SEAL,
    OTHERS_DECIDE,
    OTHERS_SEAL,
    is_barred,
    still_undecided,
)

GROUPS: Final = (("needs_review", "Needs review"), ("final", "Final"), ("blocked", "Blocked"))
GROUP_OF_ACTION: Final = {"needs_review": "needs_review", "show_final": "final", "block": "blocked"}


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

    @property
    def is_undecided(self) -> bool:
        return self.group == "needs_review" and self.decision is None


@dataclass(frozen=True, slots=True)
class OpenCard:
    """What a card shows when it is opened."""

    card: Card
    rules: tuple[Rule, ...]
    shown_sha256: str
    history: tuple[ReviewerDecision, ...]  # oldest first
    undone_rationale: str  # where this person took back a decision of theirs: its text, to go on from


@dataclass(frozen=True, slots=True)
class ReviewPage:
    review: Review  # submitter, policy, lease and release (without envelope) joined
    assessment: Assessment
    groups: tuple[tuple[str, str, tuple[Card, ...]], ...]  # (key, label, cards): needs_review, final, blocked
    preview: EngineRelease  # what would be released if sealed now
    preview_claims: tuple[
        tuple[Card, bool], ...
    ]  # released cards in release order, True when released after review
    opened: OpenCard | None
    can_seal: bool
    seal_refusal: str  # why not, "" when can_seal

    @property
    def held_back_count(self) -> int:
        """Of final claims: they stay in their group, so its heading counts them."""
        return sum(
            card.decision is not None for key, _, cards in self.groups if key == "final" for card in cards
        )

    @property
    def withheld(self) -> tuple[Card, ...]:
        """In the order of the groups; what is undecided is neither withheld nor released."""
        return tuple(
            card for _, _, cards in self.groups for card in cards if not (card.released or card.is_undecided)
        )


@dataclass(frozen=True, slots=True)
class ReleaseKey:
    """The key that signed a release."""

    key_id: str  # "" when it cannot be read
    changed: str  # what somebody changed of it in the database, "" for a key as it was kept


@dataclass(frozen=True, slots=True)
class SigningKeyLine:
    key_id: str
    key: SigningKey | None  # None for a configured key that signed nothing yet
    state: str  # signs | signed (is not configured any more) | retired | changed (in the database)
    release_count: int
    checkpoint_count: int


@dataclass(frozen=True, slots=True)
class VerifierKeyLine:
    key_id: str
    is_configured: bool  # otherwise reports that it signed were believed once
    review_count: int


@dataclass(frozen=True, slots=True)
class KeysPage:
    signing: tuple[SigningKeyLine, ...]  # the latest first
    refusal: str  # why nothing can be signed now, "" when it can
    verifiers: tuple[VerifierKeyLine, ...]


def visible_to(user: User) -> QuerySet[Review]:
    """Every review, or the person's own, or none (spec 4.4). The queue's counts say the same in SQL."""
    if not user.has_perm("reviews.view_review"):
        return Review.objects.none()
    if user.has_perm("reviews.view_every_review"):
        return Review.objects.all()
    return Review.objects.filter(submitter=user)


def review_page(user: User, review_id: UUID, *, opened: int | None = None, after: int = -1) -> ReviewPage:
    """Raises Review.DoesNotExist, also for a review this person may not see.

    `opened` is the position of the claim that stands open; without it, the next one behind `after` that waits for
    this person does, from the top again after the last.
    """
    review = (
        visible_to(user)
        .select_related("submitter", "policy", "supersedes", "release", "lease__holder")
        .defer("release__envelope")
        .get(review_id=review_id)
    )
    assessment = assessment_of(review)
    rows = list(Claim.objects.filter(review=review).select_related("decision").order_by("position"))
    if len(rows) != len(assessment.claims):
        raise changed("The kept claims are not as many as the documents hold.")
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
        opened=_open(user, cards[place], assessment.policy)
        if place is not None and place < len(cards)
        else None,
        can_seal=not seal_refusal,
        seal_refusal=seal_refusal,
    )


def open_card(user: User, review_id: UUID, position: int) -> OpenCard:
    """Raises Review.DoesNotExist, also for a review this person may not see, and Claim.DoesNotExist."""
    review = visible_to(user).select_related("policy", "submitter").get(review_id=review_id)
    row = Claim.objects.select_related("decision").get(review=review, position=position)
    assessment = assessment_of(review)
    card = _card_maker(user, review)(row, assessment.claims[position])
    return _open(user, card, assessment.policy)


def next_waiting(review: Review, after: int) -> int | None:
    """The position of the next undecided claim behind `after`, from the top again after the last."""
    # “Undecided” stands in the aggregates: as a condition, SQLite would look through all undecided claims there are.
    undecided = Q(action="needs_review", decision=None)
    waiting = Claim.objects.filter(review=review).aggregate(
        later=Min("position", filter=undecided & Q(position__gt=after)),
        first=Min("position", filter=undecided),
    )
    later: int | None = waiting["later"]
    first: int | None = waiting["first"]
    return first if later is None else later


def what_comes_next(user: User, review: Review) -> str:
    """After a submission: what is left to do, and by whom."""
    if review.status == Review.Status.SEALED:
        return "Submitted. Nothing in it needs review, so the policy sealed it at once; the release is final."
    who = "A reviewer"
    if user.has_perm("reviews.decide_claim"):
        who = "Another reviewer" if is_barred(user, review, current_policy()) else "You or another reviewer"
    count = review.undecided_count
    if not count:
        said = f"No claim needs a decision. {who} can seal it;"
    else:
        claims = "1 claim needs" if count == 1 else f"{count} claims need"
        said = f"{claims} a decision. {who} can decide, and seal when all is decided;"
    return f"Submitted for review. {said} until then no reader sees any of it."


def release_of(user: User, review_id: UUID) -> Release:
    """With the review joined. Raises Release.DoesNotExist."""
    return (
        Release.objects.filter(review__in=visible_to(user))
        .select_related("review__submitter", "review__policy", "review__supersedes")
        .get(review__review_id=review_id)
    )


def release_key(release: Release) -> ReleaseKey:
    try:
        key = signing.key_of(release)
    except KeyFileError:
        return ReleaseKey("", signing.UNREADABLE_KEY)
    return ReleaseKey(key.key_id, signing.why_not_trusted(key))


def document_of(user: User, review_id: UUID, role: str) -> Document:
    """With its content. Raises Document.DoesNotExist."""
    documents = Document.objects.with_content()
    return documents.get(review__in=visible_to(user), review__review_id=review_id, role=role)


def contract_decision_of(user: User, review_id: UUID) -> bytes:
    """The contract decision (spec 2.6) as JSON. Raises Review.DoesNotExist."""
    review = visible_to(user).select_related("policy").get(review_id=review_id)
    decision = assessment_of(review).contract_decision.to_json()
    return json.dumps(decision, ensure_ascii=False, indent=2).encode()


@any_text()
def keys_page() -> KeysPage:
    """Five queries, however many keys there are and whatever they signed."""
    rows = list(each_readable(SigningKey.objects.all()))[::-1]
    kept = [key for _, key in rows if key]
    releases = dict(Release.objects.values_list("signing_key").annotate(Count("id")).order_by())
    checkpoints = dict(Checkpoint.objects.values_list("key_id").annotate(Count("id")).order_by())
    current = signing.configured_key_id()
    lines = [_line_of(key, current, releases.get(key.pk, 0), checkpoints.get(key.key_id, 0)) for key in kept]
    lines += [
        SigningKeyLine(f"row {row}", None, "changed", releases.get(row, 0), 0)
        for row, key in rows
        if key is None
    ]
    if current and all(key.key_id != current for key in kept):
        lines.insert(0, SigningKeyLine(current, None, "signs", 0, 0))
    still_retired = next((key for key in kept if key.key_id == current and key.retired_at), None)
    return KeysPage(
        signing=tuple(lines),
        refusal=signing.why_retired(still_retired) if still_retired else signing.why_nothing_can_be_signed(),
        verifiers=_verifier_lines(),
    )


def _line_of(key: SigningKey, current: str | None, releases: int, checkpoints: int) -> SigningKeyLine:
    if signing.why_not_trusted(key):
        state = "changed"
    elif key.retired_at:
        state = "retired"
    else:
        state = "signs" if key.key_id == current else "signed"
    return SigningKeyLine(key.key_id, key, state, releases, checkpoints)


def _verifier_lines() -> tuple[VerifierKeyLine, ...]:
    configured = [pem.decode() for pem in verifier_keys()]
    signed = Review.objects.exclude(verifier_key="").values_list("verifier_key")
    believed = dict(signed.annotate(Count("id")).order_by())
    return tuple(
        VerifierKeyLine(_key_id(pem), pem in configured, believed.get(pem, 0))
        for pem in dict.fromkeys((*configured, *believed))
    )


def _key_id(pem: str) -> str:
    try:
        return str(load_verifier_key(pem.encode()).keyid)
    except (ValueError, AttributeError):  # SQLite keeps bytes, too
        return "no public key: it was changed"


def public_key(key_id: str) -> bytes:
    """PEM. Raises SigningKey.DoesNotExist, also for one that was changed in the database."""
    try:
        return public_key_pem(signing.trusted_key(signing.kept_key(key_id)).key)
    except KeyFileError:
        raise SigningKey.DoesNotExist from None


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
            why=why(assessed, decided=outcome is not None),
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


def _open(user: User, card: Card, policy: Policy) -> OpenCard:
    history = tuple(ReviewerDecision.objects.filter(claim=card.row).order_by("sequence"))
    return OpenCard(
        card=card,
        rules=explain(card.assessment),
        shown_sha256=shown_digest(card.assessment, policy),
        history=history,
        undone_rationale=_undone_rationale(user, history),
    )


def _undone_rationale(user: User, history: Sequence[ReviewerDecision]) -> str:
    if not history or history[-1].outcome != ReviewerDecision.Outcome.UNDO:
        return ""
    undone, undo = history[-2:]
    return undone.rationale if undone.reviewer_id == undo.reviewer_id == user.pk else ""


def _why_not_decided(user: User, review: Review) -> str:
    """Why this person takes no decision on any claim of the review; empty when they may."""
    if review.status == Review.Status.SEALED:
        return "This review is sealed: its decisions are final."
    if not user.has_perm("reviews.decide_claim"):
        return MAY_NOT_DECIDE
    if is_barred(user, review, current_policy()):
        return OTHERS_DECIDE
    return ""


def _why_not_sealed(user: User, review: Review) -> str:
    if review.status == Review.Status.SEALED:
        return "This review is sealed."
    if not user.has_perm("reviews.seal_review"):
        return MAY_NOT_SEAL
    if is_barred(user, review, current_policy()):
        return OTHERS_SEAL
    if review.undecided_count:
        return still_undecided(review.undecided_count)
    return signing.why_nothing_can_be_signed()
