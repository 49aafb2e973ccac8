"""Reviews and what belongs to them; uploaded bytes, decisions and releases are only ever added."""

from __future__ import annotations

import uuid
from datetime import datetime
from typing import ClassVar

from django.conf import settings
from django.db import models
from django.db.models import CheckConstraint, F, Q, UniqueConstraint
from django.db.models.functions import Length
from django.db.models.lookups import Exact

from ethos_review.audit.models import (
    DIGEST_LENGTH,
    AppendOnlyError,
    AppendOnlyModel,
    AppendOnlyQuerySet,
    digest_check,
)

ACTIONS = ("show_final", "needs_review", "block")


class KeptBytesChanged(Exception):
    """What is stored of a review is no longer what was received or derived; the message names it."""


class PolicyRecord(AppendOnlyModel):
    """A policy that was in force, so that what was decided under it can be replayed."""

    sha256 = models.CharField(max_length=DIGEST_LENGTH, unique=True)
    name = models.TextField()
    version = models.TextField()
    content = models.TextField()  # the policy document, canonical JSON
    first_used_at = models.DateTimeField()

    class Meta:
        default_permissions = ()
        constraints = (digest_check("sha256", "policy_digest_length"),)

    def __str__(self) -> str:
        return f"{self.name} {self.version}"


class SigningKey(AppendOnlyModel):
    """The public half of a key that signed a release or a checkpoint."""

    key_id = models.CharField(max_length=DIGEST_LENGTH, unique=True)
    public_pem = models.TextField()
    first_used_at = models.DateTimeField()
    retired_at = models.DateTimeField(null=True)  # from when it no longer signs

    def retire(self, at: datetime) -> None:
        """The one thing that ever changes, and once."""
        if self.retired_at is not None:
            raise AppendOnlyError(f"Signing key {self.key_id} is retired, and stays so.")
        self.retired_at = at
        models.Model.save(self, update_fields=["retired_at"])

    class Meta:
        default_permissions = ()

    def __str__(self) -> str:
        return self.key_id


class Review(models.Model):
    """One uploaded answer. The counts and labels are derived from its documents and decisions, for lists."""

    class Status(models.TextChoices):
        NEEDS_REVIEW = "needs_review", "Needs review"
        READY_TO_SEAL = "ready_to_seal", "Ready to seal"
        SEALED = "sealed", "Sealed"

    review_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    external_id = models.TextField(blank=True)
    supersedes = models.ForeignKey("self", on_delete=models.PROTECT, null=True, related_name="superseded_by")
    submitter = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="reviews", db_index=False
    )
    submitted_at = models.DateTimeField()
    content_sha256 = models.CharField(max_length=DIGEST_LENGTH)  # over the roles and digests of its documents
    copy = models.PositiveIntegerField(
        default=0
    )  # 0, or 1, 2 … when the same bytes were submitted again on purpose
    again = models.UUIDField(null=True, editable=False)  # which showing of the form asked for that
    policy = models.ForeignKey(PolicyRecord, on_delete=models.PROTECT, related_name="+", db_index=False)
    engine_version = models.CharField(max_length=50)  # that the counts and actions were derived by
    verifier_key = models.TextField(blank=True)  # PEM of the key that signed the report; empty when unsigned

    question = models.TextField()
    contract_version = models.CharField(max_length=10)
    app_status = models.CharField(max_length=50)
    proof_status = models.CharField(max_length=20)
    parser = models.TextField(blank=True)  # name and version, clipped
    verdicts = models.TextField(blank=True)  # of its claims, each once, with a comma on either side

    status = models.CharField(max_length=20, choices=Status.choices)
    revision = models.PositiveIntegerField(default=0)  # grows with every change of what would be sealed
    claim_count = models.PositiveIntegerField()
    undecided_count = models.PositiveIntegerField()  # at needs_review without a current decision
    released_count = models.PositiveIntegerField()  # would be shown if sealed now
    withheld_count = models.PositiveIntegerField()

    class Meta:
        default_permissions = ("view",)
        permissions = (
            ("submit_review", "Can submit a review"),
            ("view_every_review", "Can see reviews that others submitted"),
            ("decide_claim", "Can approve and block claims"),
            ("seal_review", "Can seal and sign a review"),
        )
        indexes = (
            # The counts of the queue's tabs, under every filter but a text.
            models.Index(
                fields=[
                    "status",
                    "submitter",
                    "undecided_count",
                    "submitted_at",
                    "app_status",
                    "verdicts",
                    "parser",
                ]
            ),
            models.Index(fields=["status", "submitted_at", "id"]),
            models.Index(fields=["submitter", "submitted_at", "id"]),
            models.Index(fields=["submitted_at", "id"]),
            models.Index(fields=["status", "-undecided_count", "submitted_at", "id"]),
            models.Index(fields=["-undecided_count", "submitted_at", "id"]),
        )
        constraints = (
            UniqueConstraint(fields=["content_sha256", "copy"], name="one_review_per_uploaded_bytes"),
            UniqueConstraint(
                fields=["content_sha256", "submitter", "again"], name="one_more_review_per_form_shown"
            ),
            digest_check("content_sha256", "review_digest_length"),
            CheckConstraint(condition=~Q(supersedes=F("id")), name="no_review_supersedes_itself"),
            CheckConstraint(
                condition=Q(claim_count=F("undecided_count") + F("released_count") + F("withheld_count")),
                name="every_claim_is_counted_once",
            ),
            CheckConstraint(
                condition=(Q(status="needs_review") & Q(undecided_count__gt=0))
                | (Q(status__in=["ready_to_seal", "sealed"]) & Q(undecided_count=0)),
                name="status_follows_from_undecided",
            ),
        )

    def __str__(self) -> str:
        return self.question


class SearchText(models.Model):
    """What the free text of the queue's filter looks at: the question and the claims, folded for comparison."""

    review = models.OneToOneField(
        Review, on_delete=models.PROTECT, primary_key=True, related_name="search_text"
    )
    text = models.TextField()

    class Meta:
        default_permissions = ()

    def __str__(self) -> str:
        return self.text[:80]


class ReviewLease(models.Model):
    """Who is at work on a review, until when. It keeps colleagues apart; no decision ever depends on it."""

    review = models.OneToOneField(Review, on_delete=models.PROTECT, primary_key=True, related_name="lease")
    holder = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    expires_at = models.DateTimeField()

    class Meta:
        default_permissions = ()

    def __str__(self) -> str:
        return f"{self.holder} until {self.expires_at}"


class DocumentManager(models.Manager.from_queryset(AppendOnlyQuerySet["Document"])):  # type: ignore[misc]
    """Lists documents as received, without their content, which may be large; `with_content` reads that, too."""

    def get_queryset(self) -> AppendOnlyQuerySet[Document]:
        return self.with_content().defer("content")

    def with_content(self) -> AppendOnlyQuerySet[Document]:
        return super().get_queryset().order_by("id")  # type: ignore[no-any-return]


class Document(AppendOnlyModel):
    """The exact bytes of one uploaded document: the audit artifact."""

    class Role(models.TextChoices):
        VERIFICATION_REPORT = "verification_report", "Verification report"
        CLAIMS = "claims", "Claims"
        READINGS = "readings", "Readings"
        BUNDLE = "bundle", "Bundle"

    review = models.ForeignKey(Review, on_delete=models.PROTECT, related_name="documents", db_index=False)
    role = models.CharField(max_length=30, choices=Role.choices)
    name = models.CharField(max_length=255)
    media_type = models.CharField(max_length=100)
    size = models.PositiveIntegerField()  # bytes
    sha256 = models.CharField(max_length=DIGEST_LENGTH)
    content = models.BinaryField()

    objects: ClassVar[DocumentManager] = DocumentManager()

    class Meta:
        default_permissions = ()
        constraints = (
            UniqueConstraint(fields=["review", "role"], name="one_document_per_role"),
            CheckConstraint(
                condition=Q(role__in=["verification_report", "claims", "readings", "bundle"]),
                name="document_role_is_known",
            ),
            CheckConstraint(
                condition=Exact(Length("content"), F("size")), name="document_size_is_its_length"
            ),
            digest_check("sha256", "document_digest_length"),
        )

    def __str__(self) -> str:
        return f"{self.role} {self.name}"


class Claim(models.Model):
    """One claim as the engine decided it, for lists and for what people decide on."""

    review = models.ForeignKey(Review, on_delete=models.PROTECT, related_name="claims", db_index=False)
    position = models.PositiveIntegerField()  # 0-based place in the claims document
    claim_id = models.TextField()
    claim_id_sha256 = models.CharField(
        max_length=DIGEST_LENGTH
    )  # an index entry of PostgreSQL cannot hold a long id
    text = models.TextField()
    citation_grounded = models.BooleanField()
    question_relevance = models.CharField(max_length=20)
    claim_type = models.CharField(max_length=20)
    verdict = models.CharField(
        max_length=30, blank=True
    )  # the worst of its delivered values; empty when none
    contract_action = models.CharField(max_length=20)
    contract_reason = models.CharField(max_length=50)
    action = models.CharField(max_length=20)  # after caps
    decision = models.OneToOneField(
        "ReviewerDecision", on_delete=models.PROTECT, null=True, related_name="current_of"
    )  # the current one; null while undecided
    turns = models.PositiveIntegerField(
        default=0
    )  # how many decisions it ever took: the latest one's sequence

    class Meta:
        default_permissions = ()
        constraints = (
            UniqueConstraint(fields=["review", "claim_id_sha256"], name="claim_ids_unique_in_a_review"),
            UniqueConstraint(fields=["review", "position"], name="claim_positions_unique_in_a_review"),
            CheckConstraint(
                condition=Q(decision__isnull=True) | ~Q(action="block"),
                name="a_blocked_claim_takes_no_decision",
            ),
            CheckConstraint(
                condition=Q(decision__isnull=True) | Q(turns__gte=1), name="a_current_decision_was_a_turn"
            ),
            CheckConstraint(
                condition=Q(action="block", contract_action__in=ACTIONS)
                | Q(action="needs_review", contract_action__in=["show_final", "needs_review"])
                | Q(action="show_final", contract_action="show_final"),
                name="a_cap_never_raises",
            ),
        )

    def __str__(self) -> str:
        return self.claim_id


class Reading(AppendOnlyModel):
    """One reading of the run, in file order."""

    review = models.ForeignKey(Review, on_delete=models.PROTECT, related_name="readings", db_index=False)
    position = models.PositiveIntegerField()  # 0-based row
    entity = models.TextField()
    field = models.TextField()
    value = models.TextField()  # JSON text
    tool_name = models.TextField()
    tool_call_id = models.TextField()
    iteration = models.BigIntegerField()
    measured_at = models.TextField(blank=True)  # JSON text

    class Meta:
        default_permissions = ()
        constraints = (UniqueConstraint(fields=["review", "position"], name="reading_positions_unique"),)

    def __str__(self) -> str:
        return f"{self.entity} {self.field}"


class ReviewerDecision(AppendOnlyModel):
    """Approve, block, or undo by a person. A changed mind is a new row that names the one it supersedes."""

    class Outcome(models.TextChoices):
        APPROVE = "approve", "Approved"
        BLOCK = "block", "Blocked"
        UNDO = "undo", "Undone"

    claim = models.ForeignKey(Claim, on_delete=models.PROTECT, related_name="decisions", db_index=False)
    sequence = models.PositiveIntegerField()  # from 1 on each claim
    outcome = models.CharField(max_length=10, choices=Outcome.choices)
    reviewer = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="decisions", db_index=False
    )
    reviewer_name = models.CharField(max_length=150)  # as displayed at the time
    rationale = models.TextField(blank=True)
    decided_at = models.DateTimeField(db_index=True)
    shown_sha256 = models.CharField(max_length=DIGEST_LENGTH)  # digest of what was shown
    supersedes = models.OneToOneField(
        "self", on_delete=models.PROTECT, null=True, related_name="superseded_by"
    )

    class Meta:
        default_permissions = ()
        indexes = (models.Index(fields=["reviewer", "decided_at"]),)
        constraints = (
            UniqueConstraint(fields=["claim", "sequence"], name="one_decision_per_turn"),
            CheckConstraint(
                condition=Q(sequence=1, supersedes__isnull=True)
                | Q(sequence__gt=1, supersedes__isnull=False),
                name="a_later_decision_names_the_one_it_supersedes",
            ),
            CheckConstraint(
                condition=Q(outcome="approve")
                | (Q(outcome="block") & ~Q(rationale=""))
                | Q(outcome="undo", sequence__gt=1),
                name="an_outcome_is_known_and_blocking_has_a_rationale",
            ),
            digest_check("shown_sha256", "decision_digest_length"),
        )

    def __str__(self) -> str:
        return f"{self.outcome} by {self.reviewer_name}"


class Release(AppendOnlyModel):
    """The sealed outcome: the signed bytes, exactly as handed out."""

    review = models.OneToOneField(Review, on_delete=models.PROTECT, related_name="release")
    envelope = models.BinaryField()
    envelope_sha256 = models.CharField(max_length=DIGEST_LENGTH)
    signing_key = models.ForeignKey(SigningKey, on_delete=models.PROTECT, related_name="releases")
    answer_status = models.CharField(max_length=10)
    sealed_at = models.DateTimeField(db_index=True)
    sealed_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="+"
    )
    sealed_by_name = models.TextField()  # a person's name, or the policy's when it sealed by itself

    class Meta:
        default_permissions = ()
        constraints = (
            CheckConstraint(
                condition=Q(answer_status__in=["complete", "partial", "none"]), name="answer_status_is_known"
            ),
            digest_check("envelope_sha256", "release_digest_length"),
        )

    def __str__(self) -> str:
        return f"{self.answer_status} release"
