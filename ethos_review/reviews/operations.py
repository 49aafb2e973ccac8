"""What a person or a pipeline can do to a review: one function, one transaction, one audit event each."""

from __future__ import annotations

import hashlib
import unicodedata
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import UTC
from pathlib import Path
from typing import Final
from uuid import UUID

from django.db import IntegrityError, connection, transaction
from django.db.models import Max, Model, QuerySet
from django.utils import timezone

from ethos_review import __version__
from ethos_review.accounts.models import User
from ethos_review.accounts.rights import still_has
from ethos_review.audit.operations import record_event, rfc3339
from ethos_review.engine.assessment import Assessment, ClaimAssessment, Received, assess, shown_digest
from ethos_review.engine.envelope import KeyFileError
from ethos_review.engine.errors import DocumentError, Problem
from ethos_review.engine.policy import Policy
from ethos_review.engine.recognition import Description, describe
from ethos_review.engine.release import allowed_outcomes, make_release, rationale_required, seals_by_policy
from ethos_review.engine.statement import SealFacts, build_statement, canonical_payload, check_listable
from ethos_review.reviews import signing
from ethos_review.reviews.assessments import (
    assessment_of,
    claim_columns,
    claim_state,
    content_digest,
    count_columns,
    current_decisions,
    derive,
    derived_columns,
    kept_documents,
    reading_columns,
    search_text,
    verifier_keys_of,
)
from ethos_review.reviews.bindings import (
    EVENT_OF_OUTCOME,
    decision_digest,
    document_details,
    release_details,
)
from ethos_review.reviews.leases import keep_lease
from ethos_review.reviews.models import (
    Claim,
    Document,
    KeptBytesChanged,
    Reading,
    Release,
    Review,
    ReviewerDecision,
    ReviewLease,
    SearchText,
)
from ethos_review.reviews.policies import (
    current_policy,
    key_that_signed,
    policy_of,
    record_of,
    verifier_keys,
)
from ethos_review.reviews.queries import visible_to
from ethos_review.reviews.rights import (
    MAY_NOT_DECIDE,
    MAY_NOT_SEAL,
    MAY_NOT_SUBMIT,
    OTHERS_DECIDE,
    OTHERS_SEAL,
    is_barred,
    still_undecided,
)

LONGEST_RATIONALE: Final = 10_000  # characters
LONGEST_FILE_NAME: Final = 255  # characters
SAMPLE: Final = Path(__file__).parent / "sample"
SAMPLE_ONCE_EACH: Final = UUID(int=0)  # of what was loaded by others before
_CAUSES_OF_A_RATIONALE: Final = {
    "unsettled_by_readings": "the readings do not settle it",
    "no_check_behind_grounding": "no check stands behind its grounding",
}
SAMPLE_FILES: Final = {
    "bundle.json": Document.Role.BUNDLE,
    "verification-report.json": Document.Role.VERIFICATION_REPORT,
    "claims.json": Document.Role.CLAIMS,
    "readings.json": Document.Role.READINGS,
}


@dataclass(frozen=True, slots=True)
class Upload:
    """One uploaded file. `role` is a Document.Role value."""

    role: str
    name: str
    media_type: str
    content: bytes


@dataclass(frozen=True, slots=True)
class Submitted:
    review: Review
    created: bool  # False when the same bytes were already submitted: `review` is the existing one


@dataclass(frozen=True, slots=True)
class Decided:
    decision: ReviewerDecision  # with its claim, and the review as it is now
    repeated: bool  # the same form arrived twice; nothing was written the second time


class NotAllowed(Exception):
    """The acting person may not do this; the message says why (one sentence)."""


class Refused(Exception):
    """The act does not fit the state. The message is for people.

    `code`: sealed, outcome_not_allowed, rationale_required, rationale_too_long, rationale_unreadable,
    undecided_claims, nothing_to_undo, no_signing_key, documents_changed, documents_refused, decisions_changed.
    """

    def __init__(self, code: str, message: str) -> None:
        self.code = code
        super().__init__(message)


class Superseded(Exception):
    """A colleague decided first: `current` is their decision (None when they undid it)."""

    def __init__(self, current: ReviewerDecision | None) -> None:
        self.current = current
        super().__init__("someone else decided this claim first")


class Stale(Exception):
    """What was shown is no longer what would be decided on."""


def check_uploads(uploads: list[Upload], *, actor: User | None = None) -> Assessment:
    """The whole decision without storing anything. Raises DocumentError.

    With `actor`, also that a review which the bundle supersedes is one that this person may supersede.
    """
    problems = _problems_of_files(uploads)
    if problems:
        raise DocumentError(_without_what_follows([*_problems_in_files(uploads), *problems]))
    policy = current_policy()
    received = [Received(upload.role, upload.name, upload.content) for upload in uploads]
    assessment = assess(received, policy, verifier_keys())
    check_listable(assessment)
    if actor is not None:
        _superseded_review(actor, assessment)
    return assessment


def recognise_upload(upload: Upload) -> Description:
    """What one chosen file is, before anything is submitted; a `role` of "" takes any that can be submitted.

    Raises DocumentError, also for a document of another role.
    """
    problems = _problems_of_names([upload])
    if problems:
        raise DocumentError(problems)
    found = describe(upload.name, upload.content, current_policy(), verifier_keys())
    if found.kind not in Document.Role.values:
        message = f"This is a {found.sentence}. Choose a verification report, claims, readings, or a bundle."
        raise DocumentError([Problem(found.kind, "", "other_document", message)])
    if upload.role and found.kind != upload.role:
        asked, label = Document.Role(upload.role).label.lower(), Document.Role(found.kind).label.lower()
        message = f"This is not the {asked} but another document: {found.sentence}. Choose it as {label}."
        raise DocumentError([Problem(found.kind, "", "other_document", message)])
    return found


def existing_review(*, actor: User, uploads: list[Upload]) -> Review | None:
    """The review that these bytes already have, among those that the person may see."""
    return visible_to(actor).filter(content_sha256=_content_digest(uploads)).order_by("-copy").first()


def submit_review(*, actor: User, uploads: list[Upload], again: UUID | None = None) -> Submitted:
    """Either one bundle, or verification_report + claims (+ readings).

    `again` makes one more review of bytes that were submitted before: one for each value, so that a form sent
    twice makes no third. Raises DocumentError, NotAllowed.
    """
    _require(actor, "reviews.submit_review", MAY_NOT_SUBMIT)
    assessment = check_uploads(uploads)
    supersedes = _superseded_review(actor, assessment)
    digests = {document.role: document.sha256 for document in assessment.submission.documents}
    same_bytes = Review.objects.filter(content_sha256=content_digest(digests.items()))
    sent_before = same_bytes.filter(submitter=actor, again=again)
    while True:
        existing = sent_before.first() if again else _submitted_before(actor, uploads[0].role, same_bytes)
        if existing:
            return Submitted(existing, created=False)
        latest_copy = same_bytes.aggregate(latest=Max("copy"))["latest"] if again else None
        copy = 0 if latest_copy is None else latest_copy + 1
        try:
            with transaction.atomic():
                review = _store(actor, uploads, digests, assessment, supersedes, copy, again)
                return Submitted(review, created=True)
        except IntegrityError:
            # Someone stored the same bytes at the same moment; whatever else failed would fail again.
            if not (same_bytes.filter(copy=copy) | sent_before).exists():
                raise


def decide_claim(
    *,
    actor: User,
    review_id: UUID,
    position: int,
    outcome: str,
    rationale: str,
    shown_sha256: str,
    based_on: int,
) -> Decided:
    """Approve or block one claim (spec 3.6).

    `based_on` is the `sequence` of the latest decision on the claim that the form was made from (0 for none).
    Raises NotAllowed, Refused, Superseded, Stale, Review.DoesNotExist, Claim.DoesNotExist.
    """
    _require(actor, "reviews.decide_claim", MAY_NOT_DECIDE)
    rationale = _cleaned(rationale)
    with _review_to_change(actor, review_id) as (review, policy):
        claim, latest = _claim_with_latest(review, position)
        repeated = _repeated(actor, claim, latest, based_on)
        if repeated and (repeated.outcome, repeated.rationale, repeated.shown_sha256) == (
            outcome,
            rationale,
            shown_sha256,
        ):
            return Decided(repeated, repeated=True)
        _refuse_closed(actor, review, policy, OTHERS_DECIDE)
        if claim.turns != based_on:
            raise Superseded(claim.decision)
        assessed = _assessed(review, position)
        if shown_digest(assessed, policy) != shown_sha256:
            raise Stale
        if outcome not in allowed_outcomes(assessed):
            raise Refused("outcome_not_allowed", _why_not_allowed(assessed))
        if not rationale and rationale_required(assessed, outcome):
            raise Refused("rationale_required", _why_a_rationale(assessed, outcome))
        decision = _decide(actor, review, policy, claim, latest, outcome, rationale, shown_sha256)
        return Decided(decision, repeated=False)


def undo_decision(*, actor: User, review_id: UUID, position: int, based_on: int) -> Decided:
    """A new decision with outcome `undo` that supersedes the current one.

    Raises NotAllowed, Refused, Superseded, Stale, Review.DoesNotExist, Claim.DoesNotExist.
    """
    _require(actor, "reviews.decide_claim", MAY_NOT_DECIDE)
    with _review_to_change(actor, review_id) as (review, policy):
        claim, latest = _claim_with_latest(review, position)
        repeated = _repeated(actor, claim, latest, based_on)
        if repeated and repeated.outcome == ReviewerDecision.Outcome.UNDO:
            return Decided(repeated, repeated=True)
        _refuse_closed(actor, review, policy, OTHERS_DECIDE)
        if claim.turns != based_on:
            raise Superseded(claim.decision)
        if claim.decision is None:
            raise Refused("nothing_to_undo", "There is no decision on this claim to undo.")
        shown_sha256 = shown_digest(_assessed(review, position), policy)
        undone = _decide(actor, review, policy, claim, latest, "undo", "", shown_sha256)
        return Decided(undone, repeated=False)


def seal_review(*, actor: User, review_id: UUID, based_on: int | None = None) -> Release:
    """Compute the final release, sign it, freeze the review (spec 2.7, 3.6).

    `based_on` is the `revision` of the review that the last look showed. Sealing a sealed review again returns
    its release when the same person asks twice. Raises NotAllowed, Refused, Stale, Review.DoesNotExist.
    """
    _require(actor, "reviews.seal_review", MAY_NOT_SEAL)
    with _review_to_change(actor, review_id) as (review, policy):
        release = Release.objects.filter(review=review).first()
        if release and release.sealed_by_id == actor.pk:
            return release
        _refuse_closed(actor, review, policy, OTHERS_SEAL)
        if based_on is not None and based_on != review.revision:
            raise Stale
        if review.undecided_count:
            raise Refused("undecided_claims", still_undecided(review.undecided_count))
        try:
            assessment = derive(kept_documents(review), policy, verifier_keys_of(review))
            release = _seal(review, assessment, actor)
            _require_still(actor, "reviews.seal_review", MAY_NOT_SEAL)
            return release
        except KeptBytesChanged as changed:
            raise Refused("documents_changed", str(changed)) from changed
        except DocumentError as refused:
            raise Refused("documents_refused", refused.problems[0].message) from refused
        except KeyFileError as missing:
            raise Refused("no_signing_key", f"Nothing can be signed. {missing}") from missing


def bring_up_to_date(*, review_id: UUID, among: QuerySet[Review]) -> bool:
    """Derive an open review again when the policy in force, or the engine, is not the one it was derived by.

    Decisions on what is shown otherwise now lapse: the claim is undecided again, the decisions stay on record.
    True when that happened. Raises Refused where the documents are not acceptable any more; Review.DoesNotExist.
    """
    policy = current_policy()
    if _is_settled(among.select_related("policy").get(review_id=review_id), policy):
        return False
    with transaction.atomic():
        review, before = _lock(among, review_id)
        if _is_settled(review, policy):
            return False
        engine_before = review.engine_version
        try:
            assessment = derive(kept_documents(review), policy, verifier_keys())
        except KeptBytesChanged as changed:
            raise Refused("documents_changed", str(changed)) from changed
        except DocumentError as refused:
            raise Refused(
                "documents_refused",
                f"The policy {policy.name} {policy.version} accepts these documents no longer, so nothing can be "
                f"decided on them: {refused.problems[0].message}",
            ) from refused
        lapsed = _derive_again(review, assessment)
        record_event(
            actor=None,
            actor_name=policy.name,
            action="policy_applied",
            object_type="review",
            object_id=str(review_id),
            details={
                "policy_before": before.sha256,
                "policy": policy.sha256,
                "policy_first_used_at": rfc3339(review.policy.first_used_at),
                "engine_before": engine_before,
                "engine": __version__,
                "lapsed_decisions": [[position, sequence] for position, sequence in lapsed],
            },
        )
        return True


def load_sample(*, actor: User) -> int:
    """Submit every sample review that this person cannot see yet; how many those were."""
    loaded = 0
    for folder in sorted(path for path in SAMPLE.iterdir() if path.is_dir()):
        uploads = sample_uploads(folder)
        same_bytes = Review.objects.filter(content_sha256=_content_digest(uploads))
        by_others = same_bytes.exists()
        if not (same_bytes & visible_to(actor)).exists():
            again = SAMPLE_ONCE_EACH if by_others else None
            loaded += submit_review(actor=actor, uploads=uploads, again=again).created
    return loaded


def sample_uploads(folder: Path) -> list[Upload]:
    return [
        Upload(role, name, "application/json", (folder / name).read_bytes())
        for name, role in SAMPLE_FILES.items()
        if (folder / name).exists()
    ]


def _require(actor: User, permission: str, otherwise: str) -> None:
    if not actor.has_perm(permission):
        raise NotAllowed(otherwise)


def _require_still(actor: User, permission: str, otherwise: str) -> None:
    """Asked when the act is recorded: between the request and this moment the right may have been taken away."""
    if not still_has(actor, permission):
        raise NotAllowed(otherwise)


def _problems_of_names(uploads: list[Upload]) -> list[Problem]:
    return [
        Problem(upload.role, "", "bad_file_name", "Give the file a plain name of at most 255 characters.")
        for upload in uploads
        if not (0 < len(upload.name) <= LONGEST_FILE_NAME and upload.name.isprintable())
    ]


def _problems_of_files(uploads: list[Upload]) -> list[Problem]:
    """Spec 2.5: one bundle, or a report and claims with optional readings."""
    problems = _problems_of_names(uploads)
    roles = Counter(upload.role for upload in uploads)
    problems += [
        Problem(role, "", "too_many_files", f"Send one file as {role}, not {count}.")
        for role, count in roles.items()
        if count > 1
    ]
    if "bundle" in roles:
        problems += [
            Problem(role, "", "not_beside_a_bundle", "A bundle holds everything; send it alone.")
            for role in roles
            if role != "bundle"
        ]
    elif not roles:
        message = "Send one bundle, or a verification report and the claims."
        problems.append(Problem("bundle", "", "missing_document", message))
    else:
        problems += [
            Problem(role, "", "missing_document", f"Add the {noun}, or send one bundle instead.")
            for role, noun in (("verification_report", "verification report"), ("claims", "claims document"))
            if role not in roles
        ]
    return problems


def _problems_in_files(uploads: list[Upload]) -> list[Problem]:
    """Of each file by itself; while a file is missing or too many, nothing else reads them."""
    problems: list[Problem] = []
    for upload in uploads:
        if _problems_of_names([upload]):
            continue  # told with the names of all files
        try:
            recognise_upload(upload)
        except DocumentError as refused:
            problems += [
                problem if problem.document == "release" else replace(problem, document=upload.role)
                for problem in refused.problems
            ]
    return problems


def _without_what_follows(problems: list[Problem]) -> list[Problem]:
    """While a file stands in another's place, nobody knows yet which document is missing."""
    misplaced = any(problem.code == "other_document" for problem in problems)
    return [problem for problem in problems if not (misplaced and problem.code == "missing_document")]


def _superseded_review(actor: User, assessment: Assessment) -> Review | None:
    """The review that the bundle names (spec 2.5): one that the submitter sees, and sealed."""
    named = assessment.submission.supersedes
    if named is None:
        return None
    try:
        review = visible_to(actor).filter(review_id=UUID(named)).first()
    except ValueError:
        review = None
    if review is None:
        message = "You can see no review with this id. Take the id from the address of its page."
        raise DocumentError([Problem("bundle", "/supersedes", "unknown_review", message)])
    if review.status != Review.Status.SEALED:
        message = "This review is still open, so there is nothing to supersede. Have it sealed first."
        raise DocumentError([Problem("bundle", "/supersedes", "review_not_sealed", message)])
    return review


def _content_digest(uploads: list[Upload]) -> str:
    return content_digest((upload.role, hashlib.sha256(upload.content).hexdigest()) for upload in uploads)


def _submitted_before(actor: User, role: str, same_bytes: QuerySet[Review]) -> Review | None:
    # In this order: a review that appears in between is then seen by the second query, too.
    if not same_bytes.exists():
        return None
    review = (same_bytes & visible_to(actor)).order_by("-copy").first()
    if review is None:
        message = (
            "Someone else submitted exactly these bytes. Submit again on purpose to get your own review."
        )
        raise DocumentError([Problem(role, "", "already_submitted", message)])
    return review


def _store(
    actor: User,
    uploads: list[Upload],
    digests: dict[str, str],
    assessment: Assessment,
    supersedes: Review | None,
    copy: int,
    again: UUID | None,
) -> Review:
    """`digests` are the SHA-256 of the uploads by role."""
    policy, report = assessment.policy, assessment.submission.report
    counts = count_columns(claim_state(assessed.action, None, policy) for assessed in assessment.claims)
    review = Review.objects.create(
        submitter=actor,
        submitted_at=timezone.now(),
        content_sha256=content_digest(digests.items()),
        copy=copy,
        again=again,
        supersedes=supersedes,
        policy=record_of(policy),
        engine_version=__version__,
        verifier_key=key_that_signed(report.signed_by),
        status=_open_status(counts["undecided_count"]),
        **derived_columns(assessment),
        **counts,
    )
    documents = Document.objects.bulk_create(
        Document(
            review=review,
            role=upload.role,
            name=upload.name,
            media_type=_media_type(upload),
            size=len(upload.content),
            sha256=digests[upload.role],
            content=upload.content,
        )
        for upload in uploads
    )
    _insert_many(
        Claim,
        [
            {"review_id": review.pk, "position": position, "turns": 0, **claim_columns(assessed)}
            for position, assessed in enumerate(assessment.claims)
        ],
    )
    _insert_many(
        Reading,
        [
            {"review_id": review.pk, "position": position, **reading_columns(reading)}
            for position, reading in enumerate(assessment.submission.readings)
        ],
    )
    SearchText.objects.create(review=review, text=search_text(assessment))
    record_event(
        actor=actor,
        action="review_submitted",
        object_type="review",
        object_id=str(review.review_id),
        details={
            "documents": [document_details(document) for document in documents],
            "submitted_at": rfc3339(review.submitted_at),
            "copy": copy,
            "supersedes": str(supersedes.review_id) if supersedes else None,
            "policy": policy.sha256,
            "policy_first_used_at": rfc3339(review.policy.first_used_at),
            "engine": __version__,
            "token": actor.token.key_id if actor.token else None,
        },
    )
    _require_still(actor, "reviews.submit_review", MAY_NOT_SUBMIT)
    if seals_by_policy(assessment):
        # Without a signature the review is stored all the same, and waits for a person to seal it.
        with suppress(KeyFileError), transaction.atomic():
            _seal(review, assessment, None)
    return review


def _insert_many(model: type[Model], rows: list[dict[str, str | int]]) -> None:
    """`bulk_create` spends ten times what the database needs on building its statements."""
    if not rows:
        return
    table = connection.ops.quote_name(model._meta.db_table)
    columns = ", ".join(map(connection.ops.quote_name, rows[0]))
    values = [tuple(row.values()) for row in rows]
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            copying = cursor.copy(f"COPY {table} ({columns}) FROM STDIN")
            with connection.wrap_database_errors, copying as copy:
                for value in values:
                    copy.write_row(value)
        else:
            places = ", ".join(["%s"] * len(rows[0]))
            cursor.executemany(f"INSERT INTO {table} ({columns}) VALUES ({places})", values)  # noqa: S608


def _media_type(upload: Upload) -> str:
    """As sent, where it can be one; never used to serve the document."""
    plain = upload.media_type.isascii() and upload.media_type.isprintable() and len(upload.media_type) <= 100
    return upload.media_type if plain else "application/octet-stream"


def _open_status(undecided_count: int) -> str:
    return Review.Status.NEEDS_REVIEW if undecided_count else Review.Status.READY_TO_SEAL


@contextmanager
def _review_to_change(actor: User, review_id: UUID) -> Iterator[tuple[Review, Policy]]:
    """One transaction on a review that nobody else changes meanwhile, with the policy it is decided under.

    Where another policy came into force, that is written first, and the person is told to look again: Stale.
    """
    reviews = visible_to(actor)
    with transaction.atomic():
        review, policy = _lock(reviews, review_id)
        if _is_settled(review, current_policy()):
            yield review, policy
            return
    bring_up_to_date(review_id=review_id, among=reviews)
    raise Stale


def _lock(among: QuerySet[Review], review_id: UUID) -> tuple[Review, Policy]:
    """The review, held until the transaction ends, and the policy it is decided under."""
    review = among.select_for_update(of=("self",)).select_related("policy", "lease").get(review_id=review_id)
    return review, policy_of(review.policy)


def _is_settled(review: Review, policy: Policy) -> bool:
    """Sealed, or derived by this engine under this policy."""
    derived_now = review.policy.sha256 == policy.sha256 and review.engine_version == __version__
    return derived_now or review.status == Review.Status.SEALED


def _refuse_closed(actor: User, review: Review, policy: Policy, own: str) -> None:
    """A sealed review takes nothing, and while duties are separate a submitter takes no part (spec 3.6)."""
    if is_barred(actor, review, policy):
        raise NotAllowed(own)
    if review.status == Review.Status.SEALED:
        release = review.release
        at = release.sealed_at.astimezone(UTC)
        message = f"{release.sealed_by_name} sealed this review on {at:%Y-%m-%d at %H:%M} UTC; it is final."
        raise Refused("sealed", message)


def _claim_with_latest(review: Review, position: int) -> tuple[Claim, ReviewerDecision | None]:
    claim = Claim.objects.select_related("decision").get(review=review, position=position)
    claim.review = review
    latest = claim.decision
    if latest is None and claim.turns:
        latest = ReviewerDecision.objects.get(claim=claim, sequence=claim.turns)
    if latest:
        latest.claim = claim
    return claim, latest


def _repeated(
    actor: User, claim: Claim, latest: ReviewerDecision | None, based_on: int
) -> ReviewerDecision | None:
    """The decision that this person made from the very same state, if it still stands."""
    if latest is None or latest.reviewer_id != actor.pk or claim.turns != based_on + 1:
        return None
    stands = claim.decision_id == latest.pk or latest.outcome == ReviewerDecision.Outcome.UNDO
    return latest if stands else None


def _assessed(review: Review, position: int) -> ClaimAssessment:
    try:
        return assessment_of(review).claims[position]
    except KeptBytesChanged as changed:
        raise Refused("documents_changed", str(changed)) from changed


def _decide(
    actor: User,
    review: Review,
    policy: Policy,
    claim: Claim,
    latest: ReviewerDecision | None,
    outcome: str,
    rationale: str,
    shown_sha256: str,
) -> ReviewerDecision:
    decision = ReviewerDecision.objects.create(
        claim=claim,
        sequence=claim.turns + 1,
        outcome=outcome,
        reviewer=actor,
        reviewer_name=actor.name,
        rationale=rationale,
        decided_at=timezone.now(),
        shown_sha256=shown_sha256,
        supersedes=latest,
    )
    undone = outcome == ReviewerDecision.Outcome.UNDO
    changed = Claim.objects.filter(pk=claim.pk, turns=claim.turns).update(
        decision=None if undone else decision, turns=decision.sequence
    )
    if not changed:
        raise Superseded(claim.decision)
    before = claim_state(claim.action, claim.decision.outcome if claim.decision else None, policy)
    after = claim_state(claim.action, None if undone else outcome, policy)
    for state, step in ((before, -1), (after, 1)):
        setattr(review, f"{state}_count", getattr(review, f"{state}_count") + step)
    review.status = _open_status(review.undecided_count)
    review.revision += 1
    review.save(update_fields=["undecided_count", "released_count", "withheld_count", "status", "revision"])
    keep_lease(actor, review)
    record_event(
        actor=actor,
        action=EVENT_OF_OUTCOME[outcome],
        object_type="claim",
        object_id=f"{review.review_id}/{claim.position}",
        details={
            "sequence": decision.sequence,
            "decision_sha256": decision_digest(decision, review.review_id, claim.position),
        },
    )
    _require_still(actor, "reviews.decide_claim", MAY_NOT_DECIDE)
    return decision


def _seal(review: Review, assessment: Assessment, actor: User | None) -> Release:
    """`actor` is None when the policy seals by itself. Raises KeyFileError; the transaction must not stand then."""
    sealed_by_name = actor.name if actor else assessment.policy.name
    # It holds the chain from here on: nothing else is recorded, and nobody retires the key, before this is done.
    checkpoint = signing.take_checkpoint(actor=actor, actor_name=sealed_by_name)
    signing_key = signing.key_in_use(actor, sealed_by_name)
    sealed_at = timezone.now()
    decisions = current_decisions(Claim.objects.filter(review=review).select_related("decision"))
    facts = SealFacts(
        review_id=str(review.review_id),
        external_id=review.external_id or None,
        audit_digest=checkpoint.sha256,
        audit_length=checkpoint.length,
        sealed_at=rfc3339(sealed_at),
        sealed_by_id=str(actor.pk) if actor else "policy",
        sealed_by_name=sealed_by_name,
        supersedes=str(review.supersedes.review_id) if review.supersedes else None,
    )
    try:
        payload = canonical_payload(build_statement(assessment, decisions, facts))
    except ValueError as mismatch:
        message = f"A stored decision does not fit this review: {mismatch}. Run `manage.py verify_audit`."
        raise Refused("decisions_changed", message) from mismatch
    envelope = signing.sign(payload)
    release = Release.objects.create(
        review=review,
        envelope=envelope,
        envelope_sha256=hashlib.sha256(envelope).hexdigest(),
        signing_key=signing_key,
        answer_status=make_release(assessment, decisions).answer_status,
        sealed_at=sealed_at,
        sealed_by=actor,
        sealed_by_name=sealed_by_name,
    )
    review.status = Review.Status.SEALED
    review.revision += 1
    review.save(update_fields=["status", "revision"])
    ReviewLease.objects.filter(review=review).delete()
    record_event(
        actor=actor,
        actor_name=sealed_by_name,
        action="review_sealed",
        object_type="review",
        object_id=str(review.review_id),
        details=release_details(release),
    )
    return release


def _derive_again(review: Review, assessment: Assessment) -> list[tuple[int, int]]:
    """Bring the rows of an open review in line with a new assessment.

    The decisions that lapsed: each the position of its claim, and its sequence.
    """
    policy = assessment.policy
    rows = Claim.objects.filter(review=review).select_related("decision").order_by("position")
    changed, states, lapsed = [], [], []
    for row, assessed in zip(rows, assessment.claims, strict=True):
        columns = claim_columns(assessed)
        differs = any(getattr(row, name) != value for name, value in columns.items())
        for name, value in columns.items():
            setattr(row, name, value)
        if row.decision and row.decision.shown_sha256 != shown_digest(assessed, policy):
            lapsed.append((row.position, row.decision.sequence))
            row.decision = None
            differs = True
        if differs:
            changed.append(row)
        states.append(claim_state(row.action, row.decision.outcome if row.decision else None, policy))
    columns_changed = [
        "decision",
        "citation_grounded",
        "verdict",
        "contract_action",
        "contract_reason",
        "action",
    ]
    # In parts: PostgreSQL takes 65,535 parameters in one statement.
    Claim.objects.bulk_update(changed, columns_changed, batch_size=1_000)
    counts = count_columns(states)
    derived: dict[str, object] = {
        "policy": record_of(policy),
        "engine_version": __version__,
        "verifier_key": key_that_signed(assessment.submission.report.signed_by),
        "revision": review.revision + 1,
        "status": _open_status(counts["undecided_count"]),
        **derived_columns(assessment),
        **counts,
    }
    for column, derived_value in derived.items():
        setattr(review, column, derived_value)
    review.save(update_fields=list(derived))
    return lapsed


def _cleaned(rationale: str) -> str:
    """Without outer white space; empty when nothing in it can be seen. The same limits on every database."""
    text = rationale.replace("\r\n", "\n").strip()
    if len(text) > LONGEST_RATIONALE:
        raise Refused(
            "rationale_too_long",
            f"The rationale has {len(text):,} characters; at most {LONGEST_RATIONALE:,} are kept. Shorten it.",
        )
    categories = {unicodedata.category(character) for character in text}
    if "\0" in text or "Cs" in categories:
        message = (
            "The rationale holds a character that cannot be stored. Type it again instead of pasting it."
        )
        raise Refused("rationale_unreadable", message)
    return text if any(category[0] not in "CZ" for category in categories) else ""


def _why_a_rationale(assessed: ClaimAssessment, outcome: str) -> str:
    if outcome != "approve":
        return "Write why, for those who read this decision later."
    causes = [cause for cap, cause in _CAUSES_OF_A_RATIONALE.items() if cap in assessed.caps]
    return f"Approving needs a reason because {' and '.join(causes)}. Write why."


def _why_not_allowed(assessed: ClaimAssessment) -> str:
    if assessed.action == "block":
        return "The engine blocked this claim; no person can release it."
    if assessed.action == "show_final":
        return "This claim is final already; it can be held back, not approved."
    return "A claim at needs review is either approved or blocked."
