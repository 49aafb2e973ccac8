"""Proof that nothing was changed: the chain, and every stored row held against what it vouches for."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from django.db import connection, transaction
from securesystemslib.signer import SSlibKey  # type: ignore[attr-defined]

from ethos_review import __version__
from ethos_review.audit.models import Checkpoint, Event
from ethos_review.audit.operations import rfc3339
from ethos_review.audit.queries import any_text, each_readable, head_fault, read_chain
from ethos_review.engine.assessment import Assessment, shown_digest
from ethos_review.engine.envelope import (
    EnvelopeError,
    KeyFileError,
    load_public_key,
    open_checkpoint,
    open_release,
    public_key_pem,
)
from ethos_review.engine.errors import DocumentError
from ethos_review.engine.statement import replay
from ethos_review.reviews.assessments import (
    as_received,
    claim_columns,
    claim_state,
    content_digest,
    count_columns,
    derive,
    derived_columns,
    reading_columns,
    search_text,
    verifier_keys_of,
)
from ethos_review.reviews.bindings import decision_digest, document_details, release_details
from ethos_review.reviews.models import (
    Claim,
    Document,
    PolicyRecord,
    Reading,
    Release,
    Review,
    ReviewerDecision,
    SearchText,
    SigningKey,
)
from ethos_review.reviews.policies import policy_of
from ethos_review.reviews.signing import kept_key, trusted_key
from ethos_review.reviews.stored_forms import stored_otherwise
from ethos_review.reviews.vouched import PolicyVouched, ReviewVouched, Vouched


@dataclass(frozen=True, slots=True)
class Difference:
    """One thing that is not what the chain or the kept bytes say."""

    where: str
    what: str

    def __str__(self) -> str:
        return f"{self.where}: {self.what}"


@contextmanager
def one_snapshot() -> Iterator[None]:
    """What is read inside is the database at one moment, and nobody waits for it."""
    with any_text(), _one_moment():
        yield


@contextmanager
def _one_moment() -> Iterator[None]:
    if connection.in_atomic_block:
        yield
    elif connection.vendor == "postgresql":
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
            yield
    else:
        with connection.cursor() as cursor:
            cursor.execute("BEGIN DEFERRED")
            try:
                yield
            finally:
                cursor.execute("COMMIT")


def find_differences() -> Iterator[Difference]:
    """Recompute the chain, every document's digest, every decision's and release's binding (spec 6.2).

    Read inside `one_snapshot`, or what is written meanwhile looks changed.
    """
    vouched = Vouched()
    for event, fault in read_chain():
        where = f"event {event.sequence}"
        if fault:
            yield Difference(where, fault)
        elif not _is_noted(event, vouched):
            yield Difference(where, "what it tells of cannot be read")
    if fault := head_fault():
        yield Difference("chain", fault)
    for where, columns in stored_otherwise():
        yield Difference(where, f"{columns} is not stored in the form that this program writes")
    yield from _differences_of_policies(vouched.policies)
    yield from _differences_of_keys(vouched.keys)
    for number, checkpoint in each_readable(Checkpoint.objects.all()):
        where = f"checkpoint {number}"
        if checkpoint is None:
            yield Difference(where, "it cannot be read")
        else:
            yield from _unless_unreadable(where, _differences_of_checkpoint(where, checkpoint))
    yield from _differences_of_reviews(vouched.reviews)


def _unless_unreadable(where: str, differences: Iterator[Difference]) -> Iterator[Difference]:
    """Whatever was written into one row, the others are looked at."""
    try:
        yield from differences
    except Exception as error:
        yield Difference(where, f"it cannot be read: {type(error).__name__}")


def _is_noted(event: Event, vouched: Vouched) -> bool:
    """Somebody who writes the whole chain anew can make events that tell of nothing."""
    try:
        vouched.note(event)
    except (ValueError, KeyError, TypeError, AttributeError):
        return False
    return True


def _differences_of_reviews(vouched: dict[str, ReviewVouched]) -> Iterator[Difference]:
    """`vouched` is what the events say about each review, by its id."""
    for number, review in each_readable(Review.objects.select_related("policy", "supersedes")):
        if review is None:
            yield Difference(f"the review in row {number}", "it cannot be read")
            continue
        where = f"review {review.review_id}"
        told = vouched.pop(str(review.review_id), ReviewVouched())
        yield from _unless_unreadable(where, _differences_of(where, review, told))
    for review_id in vouched:
        yield Difference(f"review {review_id}", "the chain tells of it, but it is gone")


def _differences_of_policies(vouched: dict[str, PolicyVouched]) -> Iterator[Difference]:
    """`vouched` is what the events say about each policy, by its digest."""
    for number, record in each_readable(PolicyRecord.objects.all()):
        where = f"policy {number}"
        if record is None:
            yield Difference(where, "it cannot be read")
            continue
        if hashlib.sha256(record.content.encode()).hexdigest() != record.sha256 or (
            (record.name, record.version) != _named(record.content)
        ):
            yield Difference(where, "it is not the policy that its digest names")
        use = vouched.pop(record.sha256, None)
        if use is None:
            yield Difference(where, "no event tells of its use")
        elif not _is_first_use(record, use):
            yield Difference(where, "its first use is not the one that the events tell of")
    for sha256 in vouched:
        yield Difference(f"policy {sha256}", "the chain tells of it, but it is gone")


def _is_first_use(record: PolicyRecord, use: PolicyVouched) -> bool:
    if use.first_used_at is not None:
        return rfc3339(record.first_used_at) == use.first_used_at
    return record.first_used_at is not None and record.first_used_at <= use.earliest


def _differences_of_keys(vouched: dict[str, dict[str, Any]]) -> Iterator[Difference]:
    """`vouched` is what the events say about each signing key."""
    for number, key in each_readable(SigningKey.objects.all()):
        where = f"signing key {key.key_id}" if key else f"the signing key in row {number}"
        if key is None:
            yield Difference(where, "it cannot be read")
            continue
        public = _public_key(key.public_pem)
        if public is None or public.keyid != key.key_id:
            yield Difference(where, "its id is not the one of the public key kept for it")
        elif public_key_pem(public).decode() != key.public_pem:
            yield Difference(where, "its public key is not written as it was kept")
        facts = {"first_used_at": rfc3339(key.first_used_at)}
        if key.retired_at:
            facts["retired_at"] = rfc3339(key.retired_at)
        if vouched.pop(key.key_id, {}) != facts:
            yield Difference(where, "its first use and retirement are not those that the events tell of")
    for key_id in vouched:
        yield Difference(f"signing key {key_id}", "the chain tells of it, but it is gone")


def _differences_of_checkpoint(where: str, row: Checkpoint) -> Iterator[Difference]:
    envelope = bytes(row.envelope)
    if hashlib.sha256(envelope).hexdigest() != row.envelope_sha256:
        yield Difference(where, "its bytes are not those its digest names")
    try:
        state = open_checkpoint(envelope, [trusted_key(kept_key(row.key_id))]).checkpoint
    except SigningKey.DoesNotExist:
        yield Difference(where, f"its signing key {row.key_id} is not kept")
        return
    except (EnvelopeError, KeyFileError) as refused:
        yield Difference(where, str(refused))
        return
    if (state.length, state.sha256, state.taken_at) != (row.length, row.sha256, rfc3339(row.taken_at)):
        yield Difference(where, "its length, digest and time are not those that were signed")
    if not _is_in_chain(state.length, state.sha256):
        yield Difference(where, f"the chain is not the one that was signed at {state.length} events")


def _named(policy: str) -> tuple[str, str]:
    try:
        content = json.loads(policy)
        return content["name"], content["version"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return "", ""


def _key_id(pem: str) -> str | None:
    """None without a key; empty for what is not one."""
    key = _public_key(pem)
    if key is not None:
        return str(key.keyid)
    return "" if pem else None


def _public_key(pem: str) -> SSlibKey | None:
    try:
        return load_public_key(pem.encode())
    except KeyFileError:
        return None


def _differences_of(where: str, review: Review, vouched: ReviewVouched) -> Iterator[Difference]:
    documents = list(Document.objects.with_content().filter(review=review))
    for document in documents:
        if hashlib.sha256(bytes(document.content)).hexdigest() != document.sha256:
            yield Difference(f"{where}, document {document.role}", "its bytes are not those its digest names")
    yield from _differences_from_submission(where, review, documents, vouched)
    decisions = list(
        ReviewerDecision.objects.filter(claim__review=review)
        .select_related("claim", "supersedes")
        .order_by("claim__position", "sequence")
    )
    yield from _differences_from_decisions(where, review, decisions, vouched)
    yield from _differences_from_seal(where, review, documents, vouched)
    try:
        assessment = derive(documents, policy_of(review.policy), verifier_keys_of(review))
    except (DocumentError, ValueError, KeyError, TypeError) as error:
        yield Difference(where, f"its documents cannot be decided on: {error}")
        return
    if _key_id(review.verifier_key) != assessment.submission.report.signed_by:
        yield Difference(where, "its verifier_key is not the one that signed the report")
    if review.engine_version == __version__:
        yield from _differences_from_derived(where, review, assessment, decisions, vouched.lapsed)


def _differences_from_submission(
    where: str, review: Review, documents: list[Document], vouched: ReviewVouched
) -> Iterator[Difference]:
    if vouched.submission is None:
        yield Difference(where, "no event tells of its submission")
        return
    recorded = {document["role"]: document for document in vouched.submission["documents"]}
    for document in documents:
        if recorded.pop(document.role, None) != document_details(document):
            yield Difference(f"{where}, document {document.role}", "it is not the one that was submitted")
    for role in recorded:
        yield Difference(f"{where}, document {role}", "it was submitted, but it is gone")
    facts = {
        "submitted_at": rfc3339(review.submitted_at),
        "copy": review.copy,
        "supersedes": str(review.supersedes.review_id) if review.supersedes else None,
    }
    for name, value in facts.items():
        if vouched.submission[name] != value:
            yield Difference(where, f"its {name} is {value}, not {vouched.submission[name]}")
    if review.policy.sha256 != vouched.policy:
        yield Difference(where, "its policy is not the one that was applied last")
    if vouched.engine is not None and review.engine_version != vouched.engine:
        yield Difference(where, "its engine_version is not the one that derived it last")
    if review.revision != vouched.changes:
        yield Difference(where, f"its revision is {review.revision}, but {vouched.changes} events changed it")
    if review.submitter_id != vouched.submitter_id:
        yield Difference(where, "its submitter is not the person who submitted it")
    if review.content_sha256 != content_digest((document.role, document.sha256) for document in documents):
        yield Difference(where, "its content_sha256 is not the digest of its documents")


def _differences_from_decisions(
    where: str, review: Review, decisions: list[ReviewerDecision], vouched: ReviewVouched
) -> Iterator[Difference]:
    recorded = dict(vouched.decisions)
    previous: ReviewerDecision | None = None
    for decision in decisions:
        position = decision.claim.position
        here = f"{where}, claim {position}, decision {decision.sequence}"
        expected = recorded.pop((position, decision.sequence), None)
        if expected is None:
            yield Difference(here, "no event tells of it")
        elif expected != decision_digest(decision, review.review_id, position):
            yield Difference(here, "it is not the one that its event tells of")
        earlier = previous if previous and previous.claim_id == decision.claim_id else None
        if decision.supersedes != earlier:
            yield Difference(here, "it does not supersede the decision before it")
        previous = decision
    for position, sequence in recorded:
        yield Difference(
            f"{where}, claim {position}, decision {sequence}", "the chain tells of it, but it is gone"
        )


def _differences_from_seal(
    where: str, review: Review, documents: list[Document], vouched: ReviewVouched
) -> Iterator[Difference]:
    release = Release.objects.select_related("signing_key").filter(review=review).first()
    if release is None:
        if vouched.seal is not None or review.status == Review.Status.SEALED:
            yield Difference(where, "it was sealed, but its release is gone")
        elif review.status != _open_status(review):
            yield Difference(where, f"its status is {review.status}, which does not follow from its claims")
        return
    here = f"{where}, release"
    if review.status != Review.Status.SEALED:
        yield Difference(where, f"it has a release, but its status is {review.status}")
    envelope = bytes(release.envelope)
    if hashlib.sha256(envelope).hexdigest() != release.envelope_sha256:
        yield Difference(here, "its bytes are not those its digest names")
    if vouched.seal is None:
        yield Difference(here, "no event tells of it")
    elif vouched.seal != release_details(release):
        yield Difference(here, "it is not the one that its event tells of")
    try:
        opened = open_release(envelope, [trusted_key(release.signing_key)])
    except (EnvelopeError, KeyFileError) as refused:
        yield Difference(here, str(refused))
        return
    predicate: Any = opened.statement["predicate"]
    checkpoint = predicate["audit_checkpoint"]
    if predicate["review_id"] != str(review.review_id):
        yield Difference(here, "it was signed for another review")
    if not _is_in_chain(checkpoint["length"], checkpoint["sha256"]):
        yield Difference(here, f"the chain is not the one that was sealed at {checkpoint['length']} events")
    if not Checkpoint.objects.filter(length=checkpoint["length"], sha256=checkpoint["sha256"]).exists():
        yield Difference(here, "the checkpoint that it names is gone")
    for difference in replay(opened.payload, as_received(documents), verifier_keys_of(review)):
        yield Difference(
            here, f"replayed, {difference.pointer or 'it'} comes out differently. {difference.message}"
        )


def _open_status(review: Review) -> str:
    is_undecided = Claim.objects.filter(review=review, action="needs_review", decision=None).exists()
    return Review.Status.NEEDS_REVIEW if is_undecided else Review.Status.READY_TO_SEAL


def _is_in_chain(length: int, sha256: str) -> bool:
    return Event.objects.filter(sequence=length, sha256=sha256).exists() if length else True


def _differences_from_derived(
    where: str,
    review: Review,
    assessment: Assessment,
    decisions: list[ReviewerDecision],
    lapsed: set[tuple[int, int]],
) -> Iterator[Difference]:
    """The rows that lists and counts are made from, held against the kept bytes and the decisions."""
    latest = {decision.claim.position: decision for decision in decisions}
    claims = list(Claim.objects.filter(review=review).select_related("decision").order_by("position"))
    states = []
    for position, assessed in enumerate(assessment.claims):
        current = latest.get(position)
        if current and (
            current.outcome == "undo"
            or (position, current.sequence) in lapsed
            or current.shown_sha256 != shown_digest(assessed, assessment.policy)
        ):
            current = None
        states.append(claim_state(assessed.action, current.outcome if current else None, assessment.policy))
        expected = {
            **claim_columns(assessed),
            "position": position,
            "turns": latest[position].sequence if position in latest else 0,
            "decision": current,
        }
        if position >= len(claims):
            yield Difference(f"{where}, claim {position}", "it is gone")
        elif wrong := _wrong_columns(claims[position], expected):
            yield Difference(f"{where}, claim {position}", f"{wrong} does not follow from its documents")
    for row in claims[len(states) :]:
        yield Difference(f"{where}, claim {row.position}", "no document holds it")
    kept_text = SearchText.objects.filter(review=review).first()
    if kept_text is None or kept_text.text != search_text(assessment):
        yield Difference(where, "the text that the queue searches does not follow from its documents")
    readings = list(Reading.objects.filter(review=review).order_by("position"))
    if len(readings) != len(assessment.submission.readings):
        yield Difference(where, "its readings are not as many as its documents hold")
    for position, (kept, reading) in enumerate(zip(readings, assessment.submission.readings, strict=False)):
        if wrong := _wrong_columns(kept, {"position": position, **reading_columns(reading)}):
            yield Difference(f"{where}, reading {position}", f"{wrong} does not follow from its documents")
    columns: dict[str, object] = {**derived_columns(assessment), **count_columns(states)}
    if wrong := _wrong_columns(review, columns):
        yield Difference(where, f"{wrong} does not follow from its documents and decisions")


def _wrong_columns(row: Review | Claim | Reading, expected: dict[str, Any]) -> str:
    return ", ".join(name for name, value in expected.items() if getattr(row, name) != value)
