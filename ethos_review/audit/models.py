"""The event chain: each event holds the digest of the one before it."""

from __future__ import annotations

from typing import Any, Final, NoReturn, TypeVar

from django.conf import settings
from django.db import models
from django.db.models import CheckConstraint, Q, UniqueConstraint
from django.db.models.functions import Length
from django.db.models.lookups import Exact

ACTIONS: Final = (  # of every event that the product records
    "review_submitted",
    "claim_approved",
    "claim_blocked",
    "decision_undone",
    "policy_applied",
    "review_sealed",
    "key_used",
    "key_retired",
    "audit_exported",
    "signed_in",
    "sign_in_failed",
    "person_locked_out",
    "signed_out_everywhere",
    "person_created",
    "person_deactivated",
    "person_reactivated",
    "role_changed",
    "password_link_made",
    "password_changed",
    "second_factor_added",
    "second_factor_removed",
    "token_created",
    "token_revoked",
)
DIGEST_LENGTH = 64  # lower-case hex characters of a SHA-256


def digest_check(field: str, name: str) -> CheckConstraint:
    return CheckConstraint(condition=Exact(Length(field), DIGEST_LENGTH), name=name)


class AppendOnlyError(Exception):
    """A row that is only ever added was about to be changed or deleted."""


Row = TypeVar("Row", bound=models.Model)


class AppendOnlyQuerySet(models.QuerySet[Row]):
    """Refuses every bulk road to a change."""

    def _refuse(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise AppendOnlyError(f"{self.model.__name__} rows are only ever added.")

    update = bulk_update = update_or_create = delete = _refuse


class AppendOnlyModel(models.Model):
    """Rows are added and then stay as they are (spec 1, laws 6 to 8)."""

    objects = models.Manager.from_queryset(AppendOnlyQuerySet)()

    class Meta:
        abstract = True

    def save(self, *args: Any, **kwargs: Any) -> None:
        if not self._state.adding:
            raise AppendOnlyError(f"{type(self).__name__} {self.pk} stays as it is.")
        super().save(*args, **kwargs | {"force_insert": True})

    def delete(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise AppendOnlyError(f"{type(self).__name__} {self.pk} stays as it is.")


class Event(AppendOnlyModel):
    """One thing that happened. Written in the transaction of what it records, and never changed."""

    sequence = models.BigIntegerField(primary_key=True)  # from 1, without gaps
    at = models.DateTimeField()
    actor = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="+")
    actor_name = models.CharField(max_length=200)
    action = models.CharField(max_length=40, db_index=True)
    object_type = models.CharField(max_length=40)
    object_id = models.CharField(max_length=200)
    details = models.TextField()  # canonical JSON, without texts from documents
    previous_sha256 = models.CharField(max_length=DIGEST_LENGTH)
    sha256 = models.CharField(max_length=DIGEST_LENGTH, unique=True)

    class Meta:
        default_permissions = ("view",)
        ordering = ("-sequence",)
        indexes = (models.Index(fields=["object_type", "object_id"]),)
        constraints = (
            CheckConstraint(condition=Q(sequence__gte=1), name="event_sequence_from_1"),
            digest_check("sha256", "event_digest_length"),
            digest_check("previous_sha256", "event_previous_digest_length"),
        )

    def __str__(self) -> str:
        return f"{self.sequence} {self.action}"

    @property
    def review_id(self) -> str:
        """The review that it is about, or that its claim is of; empty for any other object."""
        return self.object_id.partition("/")[0] if self.object_type in {"review", "claim"} else ""

    @property
    def position(self) -> str:
        """The place of its claim in the review; empty for any other object."""
        return self.object_id.partition("/")[2] if self.object_type == "claim" else ""


class Checkpoint(AppendOnlyModel):
    """The chain at one moment, signed: whoever writes the chain anew cannot write these anew, too."""

    length = models.BigIntegerField()  # how many events the chain had
    sha256 = models.CharField(max_length=DIGEST_LENGTH)  # of the last one
    taken_at = models.DateTimeField()
    key_id = models.CharField(max_length=DIGEST_LENGTH)
    envelope = models.BinaryField()
    envelope_sha256 = models.CharField(max_length=DIGEST_LENGTH)

    class Meta:
        default_permissions = ()
        constraints = (
            UniqueConstraint(fields=["length", "sha256"], name="one_checkpoint_per_state_of_the_chain"),
            CheckConstraint(condition=Q(length__gte=0), name="checkpoint_length_from_0"),
            digest_check("sha256", "checkpoint_digest_length"),
            digest_check("envelope_sha256", "checkpoint_envelope_digest_length"),
        )

    def __str__(self) -> str:
        return f"{self.length} events"


class ChainHead(models.Model):
    """The one row that writers lock, so that the chain cannot fork."""

    id = models.PositiveSmallIntegerField(primary_key=True, default=1)
    length = models.BigIntegerField(default=0)
    sha256 = models.CharField(max_length=DIGEST_LENGTH)

    class Meta:
        default_permissions = ()
        constraints = (
            CheckConstraint(condition=Q(id=1), name="one_chain_head"),
            digest_check("sha256", "chain_head_digest_length"),
        )

    def __str__(self) -> str:
        return f"{self.length} events"
