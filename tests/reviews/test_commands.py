from __future__ import annotations

import hashlib
import json
import os
import stat
from collections.abc import Callable
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
import rfc8785
from cryptography.hazmat.primitives.serialization import load_pem_private_key
from django.core import checks
from django.core.management import CommandError, call_command
from django.db import connection, models
from pytest_django import Settings
from securesystemslib.signer import CryptoSigner

from ethos_review.accounts.models import User
from ethos_review.audit.models import AppendOnlyError, ChainHead, Checkpoint, Event
from ethos_review.audit.operations import event_digest, record_event
from ethos_review.engine.envelope import open_checkpoint, public_key_pem, unverified_payload, write_key
from ethos_review.engine.statement import canonical_payload
from ethos_review.engine.verification import verify_release
from ethos_review.reviews import operations, signing
from ethos_review.reviews.models import (
    Claim,
    Document,
    PolicyRecord,
    Reading,
    Release,
    Review,
    ReviewerDecision,
    SigningKey,
)
from ethos_review.reviews.signing import trusted_keys
from ethos_review.reviews.verification import find_differences, one_snapshot
from tests.factories import decide, four_claims, make_review, make_reviewer, make_submitter

pytestmark = pytest.mark.django_db


def run(command: str, *arguments: str) -> str:
    out = StringIO()
    call_command(command, *arguments, stdout=out)
    return out.getvalue()


@pytest.fixture
def sealed() -> Review:
    """A sealed review with a changed mind, beside an open one with an undone decision."""
    submitter, reviewer = make_submitter(), make_reviewer()
    review, other = make_review(submitter), make_review(submitter, four_claims("Open?"))
    decide(reviewer, other, 0, "block")
    operations.undo_decision(actor=reviewer, review_id=other.review_id, position=0, based_on=1)
    decide(reviewer, other, 1, "approve")
    for position, outcome in ((1, "block"), (1, "approve"), (2, "block")):
        decide(reviewer, review, position, outcome)
    operations.seal_review(actor=reviewer, review_id=review.review_id)
    return review


def differences() -> list[str]:
    """The lines of a run that fails, and says how many they are."""
    out = StringIO()
    with pytest.raises(CommandError) as failed:
        call_command("verify_audit", stdout=out)
    found = out.getvalue().splitlines()
    assert found
    assert str(failed.value) == f"{len(found)} differences."
    return found


def change(model: type[models.Model], column: str, value: Any, where: str = "1 = 1") -> None:
    """Behind the back of the product, as someone with the database's password could."""
    table = model._meta.db_table
    with connection.cursor() as cursor:
        cursor.execute(f"UPDATE {table} SET {column} = %s WHERE {where}", [value])  # noqa: S608
        assert cursor.rowcount >= 1


def _write_anew(change_details: Callable[[dict[str, Any]], object]) -> None:
    """The whole chain, so that it is one again."""
    previous = "0" * 64
    for event in Event.objects.order_by("sequence"):
        details = json.loads(event.details)
        change_details(details)
        event.previous_sha256, event.details = previous, rfc8785.dumps(details).decode()
        previous = event.sha256 = event_digest(event, details)
        for column in ("previous_sha256", "details", "sha256"):
            change(Event, column, getattr(event, column), f"sequence = {event.sequence}")
    change(ChainHead, "sha256", previous)


def flipped(content: bytes) -> bytes:
    """The same length, one bit of one byte in the middle changed."""
    middle = len(content) // 2
    return content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :]


class TestVerifyAudit:
    def test_what_nobody_changed_is_proven_with_the_last_digest(self, sealed: Review) -> None:
        said = run("verify_audit")

        assert said == (
            f"{Event.objects.count()} events and 2 reviews are what the chain says. "
            f"Its last digest is {ChainHead.objects.get().sha256}.\n"
        )

    def test_an_empty_database_is_proven_too(self) -> None:
        assert "0 events and 0 reviews" in run("verify_audit")

    @pytest.mark.parametrize("role", ["verification_report", "claims", "readings"])
    def test_one_bit_of_a_document_is_found(self, sealed: Review, role: str) -> None:
        document = Document.objects.get(review=sealed, role=role)
        change(Document, "content", flipped(bytes(document.content)), f"id = {document.pk}")

        found = differences()

        where = f"review {sealed.review_id}, document {role}"
        assert found[0] == f"{where}: its bytes are not those its digest names"
        assert any("release: replayed" in line for line in found)

    def test_a_document_changed_together_with_its_digest_is_found(self, sealed: Review) -> None:
        document = Document.objects.get(review=sealed, role="claims")
        content = bytes(document.content).replace(b"Claim fact.", b"Claim fake.")
        change(Document, "content", content, f"id = {document.pk}")
        change(Document, "sha256", hashlib.sha256(content).hexdigest(), f"id = {document.pk}")

        assert (
            f"review {sealed.review_id}, document claims: it is not the one that was submitted"
            in differences()
        )

    @pytest.mark.parametrize(
        ("column", "value"), [("name", "other.json"), ("media_type", "text/plain"), ("sha256", "0" * 64)]
    )
    def test_what_is_said_about_a_document_is_held_to_it(
        self, sealed: Review, column: str, value: str
    ) -> None:
        change(Document, column, value, f"review_id = {sealed.pk} AND role = 'claims'")

        assert (
            f"review {sealed.review_id}, document claims: it is not the one that was submitted"
            in differences()
        )

    @pytest.mark.parametrize(
        ("column", "value"),
        [
            ("rationale", "Reed it."),
            ("reviewer_name", "someone else"),
            ("reviewer_id", "submitter"),
            ("decided_at", "2020-01-01 00:00:00+00:00"),
            ("shown_sha256", "f" * 64),
            ("outcome", "block"),
        ],
    )
    def test_a_changed_decision_is_found(self, sealed: Review, column: str, value: str) -> None:
        decision = ReviewerDecision.objects.get(claim__review=sealed, outcome="approve")
        held = User.objects.get(username=value).pk if column == "reviewer_id" else value
        change(ReviewerDecision, column, held, f"id = {decision.pk}")

        where = f"review {sealed.review_id}, claim 1, decision 2"
        assert f"{where}: it is not the one that its event tells of" in differences()

    def test_a_decision_that_supersedes_another_one_is_found(self, sealed: Review) -> None:
        decision = ReviewerDecision.objects.get(claim__review=sealed, outcome="approve")
        stray = ReviewerDecision.objects.get(claim__review=sealed, claim__position=2)
        change(ReviewerDecision, "supersedes_id", stray.pk, f"id = {decision.pk}")

        assert any("does not supersede the decision before it" in line for line in differences())

    def test_a_deleted_decision_is_found(self, sealed: Review) -> None:
        decision = ReviewerDecision.objects.get(claim__review__status="needs_review", outcome="approve")
        claim = decision.claim
        change(Claim, "decision_id", None, f"id = {claim.pk}")
        with connection.cursor() as cursor:
            cursor.execute("DELETE FROM reviews_reviewerdecision WHERE id = %s", [decision.pk])

        where = f"review {claim.review.review_id}, claim 1, decision 1"
        assert f"{where}: the chain tells of it, but it is gone" in differences()

    def test_an_invented_decision_is_found(self, sealed: Review) -> None:
        decision = ReviewerDecision.objects.get(claim__review__status="needs_review", outcome="approve")
        review = decision.claim.review
        unsettled = Claim.objects.get(review=review, position=2)
        decision.pk, decision._state.adding, decision.claim = None, True, unsettled  # type: ignore[assignment]
        decision.save()

        where = f"review {review.review_id}, claim 2, decision 1"
        assert f"{where}: no event tells of it" in differences()

    @pytest.mark.parametrize("decided", [None, "block"])
    def test_a_claim_whose_current_decision_was_exchanged_is_found(
        self, sealed: Review, decided: str | None
    ) -> None:
        other = ReviewerDecision.objects.filter(
            claim__review=sealed, claim__position=1, outcome=decided
        ).first()
        change(Claim, "decision_id", other and other.pk, f"review_id = {sealed.pk} AND position = 1")

        assert (
            f"review {sealed.review_id}, claim 1: decision does not follow from its documents"
            in differences()
        )

    @pytest.mark.parametrize(
        ("column", "value"),
        [
            ("text", "Claim fake."),
            ("claim_id", "fake"),
            ("action", "block"),
            ("verdict", "agrees"),
            ("turns", 9),
            ("question_relevance", "unrelated"),
        ],
    )
    def test_a_changed_claim_is_found(self, sealed: Review, column: str, value: Any) -> None:
        change(Claim, column, value, f"review_id = {sealed.pk} AND position = 0")

        where = f"review {sealed.review_id}, claim 0"
        assert any(line.startswith(f"{where}: {column}") for line in differences())

    @pytest.mark.parametrize(
        "column", ["value", "entity", "field", "tool_name", "tool_call_id", "measured_at"]
    )
    def test_a_changed_reading_is_found(self, sealed: Review, column: str) -> None:
        change(Reading, column, '"x"', f"review_id = {sealed.pk}")

        where = f"review {sealed.review_id}, reading 0"
        assert f"{where}: {column} does not follow from its documents" in differences()

    @pytest.mark.parametrize("model", [Reading, Claim])
    def test_a_deleted_row_is_found(self, sealed: Review, model: type[models.Model]) -> None:
        with connection.cursor() as cursor:
            cursor.execute(
                f"DELETE FROM {model._meta.db_table} WHERE review_id = %s AND position = %s",  # noqa: S608
                [sealed.pk, 3 if model is Claim else 0],
            )

        assert differences()

    @pytest.mark.parametrize(
        ("column", "value"),
        [
            ("question", "What else?"),
            ("external_id", "other"),
            ("parser", "other"),
            ("app_status", "certified"),
            ("proof_status", "verified"),
            ("contract_version", "1.1.0"),
            ("submitted_at", "2020-01-01 00:00:00+00:00"),
            ("copy", 7),
            ("content_sha256", "0" * 64),
            ("verifier_key", "PEM"),
            ("engine_version", "9.9.9"),
            ("revision", 99),
        ],
    )
    def test_a_changed_review_is_found(self, sealed: Review, column: str, value: Any) -> None:
        change(Review, column, value, f"id = {sealed.pk}")

        assert any(line.startswith(f"review {sealed.review_id}") for line in differences())

    def test_another_submitter_is_found(self, sealed: Review) -> None:
        change(Review, "submitter_id", make_submitter("other").pk, f"id = {sealed.pk}")

        where = f"review {sealed.review_id}"
        assert f"{where}: its submitter is not the person who submitted it" in differences()

    def test_changed_counts_are_found(self, sealed: Review) -> None:
        with connection.cursor() as cursor:
            cursor.execute(
                "UPDATE reviews_review SET released_count = released_count + 1, "
                "withheld_count = withheld_count - 1 WHERE id = %s",
                [sealed.pk],
            )

        assert any("released_count, withheld_count" in line for line in differences())

    def test_another_policy_is_found(self, sealed: Review, settings: Settings, tmp_path: Path) -> None:
        path = tmp_path / "policy.json"
        path.write_text('{"artifact_type": "ethos_review.policy.v1", "name": "lax", "version": "1"}')
        settings.POLICY_FILE = str(path)
        lax = make_review(User.objects.get(username="submitter"), four_claims("Lax?")).policy
        change(Review, "policy_id", lax.pk, f"id = {sealed.pk}")

        where = f"review {sealed.review_id}"
        assert f"{where}: its policy is not the one that was applied last" in differences()

    @pytest.mark.parametrize(
        ("column", "value"),
        [("content", '{"name":"x"}'), ("content", "[" * 100_000), ("name", "x"), ("version", "x")],
    )
    def test_a_changed_policy_is_found(self, sealed: Review, column: str, value: str) -> None:
        change(PolicyRecord, column, value)

        assert any(line.startswith("policy ") for line in differences())

    def test_another_first_use_of_a_policy_is_found(self, sealed: Review) -> None:
        change(PolicyRecord, "first_used_at", "2020-01-01 00:00:00")

        where = f"policy {sealed.policy.pk}"
        assert differences() == [f"{where}: its first use is not the one that the events tell of"]

    @pytest.mark.parametrize(
        ("first_used_at", "is_found"),
        [("2020-01-01 00:00:00+00:00", False), ("2099-01-01 00:00:00+00:00", True)],
    )
    def test_in_events_of_an_older_version_a_policy_was_at_least_not_used_before_its_first_use(
        self, sealed: Review, first_used_at: str, is_found: bool
    ) -> None:
        """They did not say when a policy was used first, only that it was."""
        _write_anew(lambda details: details.pop("policy_first_used_at", None))
        change(PolicyRecord, "first_used_at", first_used_at)

        where = f"policy {sealed.policy.pk}"
        told = f"{where}: its first use is not the one that the events tell of"
        assert (told in differences()) == is_found

    def test_an_invented_policy_is_found(self, sealed: Review) -> None:
        content = '{"name":"lax","version":"1"}'
        invented = PolicyRecord.objects.create(
            sha256=hashlib.sha256(content.encode()).hexdigest(),
            name="lax",
            version="1",
            content=content,
            first_used_at=sealed.submitted_at,
        )

        assert differences() == [f"policy {invented.pk}: no event tells of its use"]

    def test_what_the_queue_searches_is_held_to_the_documents(self, sealed: Review) -> None:
        with connection.cursor() as cursor:
            cursor.execute("DELETE FROM reviews_searchtext WHERE review_id = %s", [sealed.pk])

        where = f"review {sealed.review_id}"
        assert differences() == [
            f"{where}: the text that the queue searches does not follow from its documents"
        ]

    @pytest.mark.skipif(connection.vendor != "sqlite", reason="PostgreSQL stores no such thing")
    def test_afterwards_the_connection_reads_texts_as_strictly_as_before(self, sealed: Review) -> None:
        before = connection.connection.text_factory

        run("verify_audit")
        with pytest.raises(ZeroDivisionError), one_snapshot():
            raise ZeroDivisionError

        assert connection.connection.text_factory is before

    def test_one_bit_of_a_release_is_found(self, sealed: Review) -> None:
        change(Release, "envelope", flipped(bytes(Release.objects.get().envelope)))

        found = differences()

        where = f"review {sealed.review_id}, release"
        assert found[0] == f"{where}: its bytes are not those its digest names"
        assert len(found) == 2

    @pytest.mark.parametrize(
        ("column", "value"),
        [
            ("envelope_sha256", "0" * 64),
            ("answer_status", "complete"),
            ("sealed_at", "2020-01-01 00:00:00+00:00"),
            ("sealed_by_name", "someone else"),
            ("sealed_by_id", None),
        ],
    )
    def test_what_is_said_about_a_release_is_held_to_it(
        self, sealed: Review, column: str, value: Any
    ) -> None:
        change(Release, column, value)

        where = f"review {sealed.review_id}, release"
        assert f"{where}: it is not the one that its event tells of" in differences()

    def test_the_release_of_another_review_is_found(self, sealed: Review) -> None:
        release = Release.objects.get()
        other = Review.objects.exclude(pk=sealed.pk).get()
        change(Release, "review_id", other.pk)

        found = differences()

        assert f"review {sealed.review_id}: it was sealed, but its release is gone" in found
        assert f"review {other.review_id}, release: it was signed for another review" in found
        assert release.review == sealed

    @pytest.mark.parametrize("column", ["public_pem", "key_id"])
    def test_a_changed_key_is_found(self, sealed: Review, column: str) -> None:
        key = SigningKey.objects.get()
        held = str(getattr(key, column))
        change(SigningKey, column, held.replace("A", "B") if column == "public_pem" else "0" * 64)

        assert any(line.startswith("signing key ") for line in differences())

    def test_a_chain_that_was_written_anew_is_found_by_what_was_sealed(self, sealed: Review) -> None:
        change(Event, "actor_name", "nobody", "actor_name = 'reviewer'")
        _write_anew(lambda details: None)

        length = Event.objects.count() - 1
        assert differences() == [
            f"checkpoint {Checkpoint.objects.get().pk}: the chain is not the one that was signed at {length} events",
            f"review {sealed.review_id}, release: the chain is not the one that was sealed at {length} events",
        ]

    @pytest.mark.parametrize(
        ("column", "value"),
        [
            ("length", 1),
            ("sha256", "0" * 64),
            ("taken_at", "2020-01-01 00:00:00+00:00"),
            ("key_id", "0" * 64),
            ("envelope_sha256", "0" * 64),
        ],
    )
    def test_a_changed_checkpoint_is_found(self, sealed: Review, column: str, value: Any) -> None:
        change(Checkpoint, column, value)

        assert any(line.startswith("checkpoint ") for line in differences())

    def test_one_bit_of_a_checkpoint_is_found(self, sealed: Review) -> None:
        checkpoint = Checkpoint.objects.get()
        change(Checkpoint, "envelope", flipped(bytes(checkpoint.envelope)))

        assert f"checkpoint {checkpoint.pk}: its bytes are not those its digest names" in differences()

    def test_a_deleted_checkpoint_of_a_release_is_found(self, sealed: Review) -> None:
        with connection.cursor() as cursor:
            cursor.execute("DELETE FROM audit_checkpoint")

        assert differences() == [f"review {sealed.review_id}, release: the checkpoint that it names is gone"]

    @pytest.mark.parametrize(
        ("column", "value"),
        [
            ("first_used_at", "2020-01-01 00:00:00+00:00"),
            ("retired_at", None),
            ("retired_at", "2099-01-01 00:00:00+00:00"),
        ],
    )
    def test_what_is_said_about_a_key_is_held_to_it(self, sealed: Review, column: str, value: Any) -> None:
        key = SigningKey.objects.get()
        run("retire_signing_key", key.key_id)
        change(SigningKey, column, value)

        where = f"signing key {key.key_id}"
        assert f"{where}: its first use and retirement are not those that the events tell of" in differences()

    def test_a_key_retired_behind_the_back_of_the_chain_is_found(self, sealed: Review) -> None:
        change(SigningKey, "retired_at", "2020-01-01 00:00:00+00:00")

        found = differences()

        assert any(line.startswith("signing key ") for line in found)
        assert any(line.startswith(f"review {sealed.review_id}, release: It was signed at") for line in found)

    def test_a_deleted_key_is_found(self, sealed: Review) -> None:
        reviewer = User.objects.get(username="reviewer")
        record_event(
            actor=reviewer, action="key_used", object_type="signing_key", object_id="0" * 64, details={}
        )

        assert differences() == [f"signing key {'0' * 64}: the chain tells of it, but it is gone"]

    def test_a_public_key_written_otherwise_is_found(self, sealed: Review) -> None:
        key = SigningKey.objects.get()
        change(SigningKey, "public_pem", key.public_pem + "\n")

        assert f"signing key {key.key_id}: its public key is not written as it was kept" in differences()

    def test_a_deleted_review_is_found(self, sealed: Review) -> None:
        review = make_review(User.objects.get(username="submitter"), four_claims("Gone?"))
        with connection.cursor() as cursor:
            for table in ("searchtext", "claim", "reading", "document"):
                cursor.execute(f"DELETE FROM reviews_{table} WHERE review_id = %s", [review.pk])  # noqa: S608
            cursor.execute("DELETE FROM reviews_review WHERE id = %s", [review.pk])

        assert differences() == [f"review {review.review_id}: the chain tells of it, but it is gone"]

    @pytest.mark.skipif(connection.vendor != "sqlite", reason="PostgreSQL stores no such thing")
    @pytest.mark.parametrize("wrong", [b"\xff", b"O"], ids=["no text", "no time"])
    @pytest.mark.parametrize(
        ("model", "column"),
        [
            *((Event, column) for column in ("at", "details", "actor_name", "sha256", "previous_sha256")),
            *((Review, column) for column in ("review_id", "submitted_at", "question", "parser")),
            *((Document, column) for column in ("name", "sha256", "role")),
            *((Claim, column) for column in ("text", "claim_id")),
            *((Reading, column) for column in ("value", "tool_name")),
            *((ReviewerDecision, column) for column in ("decided_at", "rationale", "shown_sha256")),
            *((Release, column) for column in ("sealed_at", "envelope_sha256", "sealed_by_name")),
            *((Checkpoint, column) for column in ("taken_at", "sha256")),
            *((SigningKey, column) for column in ("first_used_at", "public_pem", "key_id")),
            *((PolicyRecord, column) for column in ("content", "name")),
        ],
    )
    def test_what_cannot_be_read_any_more_is_named_and_hides_nothing_else(
        self, sealed: Review, model: type[models.Model], column: str, wrong: bytes
    ) -> None:
        other = make_review(User.objects.get(username="submitter"), four_claims("And this?"))
        document = Document.objects.with_content().get(review=other, role="claims")
        change(Document, "content", flipped(bytes(document.content)), f"id = {document.pk}")
        table, key = model._meta.db_table, model._meta.pk.column  # type: ignore[union-attr]
        with connection.cursor() as cursor:
            cursor.execute("PRAGMA ignore_check_constraints = ON")
            cursor.execute(
                f"UPDATE {table} SET {column} = CAST(%s || substr(CAST({column} AS BLOB), 2) AS TEXT) "  # noqa: S608
                f"WHERE {key} = (SELECT min({key}) FROM {table})",
                [wrong],
            )
            cursor.execute("PRAGMA ignore_check_constraints = OFF")

        with one_snapshot():
            found = [str(difference) for difference in find_differences()]

        of_other = f"review {other.review_id}, document claims: its bytes are not those its digest names"
        assert of_other in found
        assert any(not line.startswith(f"review {other.review_id}") for line in found)

    def test_a_member_that_events_of_a_chain_written_anew_lack_is_named(self, sealed: Review) -> None:
        _write_anew(lambda details: details.pop("policy", None))

        submitted = Event.objects.filter(action="review_submitted").earliest("sequence")
        assert f"event {submitted.sequence}: what it tells of cannot be read" in differences()

    @pytest.mark.skipif(connection.vendor != "sqlite", reason="PostgreSQL stores an id in one form")
    def test_an_id_that_no_page_finds_any_more_is_named(self, sealed: Review) -> None:
        with connection.cursor() as cursor:
            cursor.execute(
                "UPDATE reviews_review SET review_id = upper(review_id) WHERE id = %s", [sealed.pk]
            )

        told = "review_id is not stored in the form that this program writes"
        assert differences() == [f"review in row {sealed.pk}: {told}"]

    def test_a_changed_event_is_named(self, sealed: Review) -> None:
        change(Event, "actor_name", "nobody", "sequence = 2")

        assert differences()[0] == "event 2: its digest does not match what it says"


class TestCreateSigningKey:
    def test_a_key_is_made_that_only_its_owner_can_read(self, tmp_path: Path) -> None:
        said = run("create_signing_key", str(tmp_path / "key.pem"))

        assert stat.S_IMODE((tmp_path / "key.pem").stat().st_mode) == 0o600
        assert f"ETHOS_REVIEW_SIGNING_KEY_FILE={tmp_path / 'key.pem'}" in said

    def test_a_key_is_made_under_the_passphrase_of_the_settings(
        self, tmp_path: Path, settings: Settings
    ) -> None:
        settings.SIGNING_KEY_PASSPHRASE = "correct horse"
        run("create_signing_key", str(tmp_path / "key.pem"))

        pem = (tmp_path / "key.pem").read_bytes()
        with pytest.raises(TypeError):
            load_pem_private_key(pem, None)
        assert load_pem_private_key(pem, b"correct horse")

    def test_a_key_is_never_overwritten(self, tmp_path: Path) -> None:
        run("create_signing_key", str(tmp_path / "key.pem"))
        before = (tmp_path / "key.pem").read_bytes()

        with pytest.raises(CommandError, match="there already"):
            run("create_signing_key", str(tmp_path / "key.pem"))
        assert (tmp_path / "key.pem").read_bytes() == before

    def test_a_key_that_was_made_seals(self, tmp_path: Path, settings: Settings, sealed: Review) -> None:
        run("create_signing_key", str(tmp_path / "new.pem"))
        settings.SIGNING_KEY_FILE = str(tmp_path / "new.pem")
        other = Review.objects.exclude(pk=sealed.pk).get()
        reviewer = User.objects.get(username="reviewer")
        decide(reviewer, other, 2, "block")

        release = operations.seal_review(actor=reviewer, review_id=other.review_id)

        assert release.signing_key != sealed.release.signing_key
        assert run("verify_audit")


class TestRotation:
    def rotate(self, settings: Settings, path: Path) -> None:
        run("create_signing_key", str(path))
        settings.SIGNING_KEY_FILE = str(path)

    def seal_the_other(self, sealed: Review) -> Release:
        other = Review.objects.exclude(pk=sealed.pk).get()
        reviewer = User.objects.get(username="reviewer")
        decide(reviewer, other, 2, "block")
        return operations.seal_review(actor=reviewer, review_id=other.review_id)

    def test_old_releases_verify_and_new_ones_carry_the_new_key(
        self, sealed: Review, settings: Settings, tmp_path: Path
    ) -> None:
        self.rotate(settings, tmp_path / "new.pem")
        new = self.seal_the_other(sealed)
        old = sealed.release
        run("retire_signing_key", old.signing_key.key_id)

        keys = trusted_keys()

        assert [key.retired_at is None for key in keys] == [False, True]
        for release in (old, new):
            verification = verify_release(bytes(release.envelope), keys)
            assert verification.release is not None, verification
            assert verification.release.key_ids == (release.signing_key.key_id,)
        assert old.signing_key != new.signing_key
        assert run("verify_audit")

    def test_a_retired_key_seals_nothing_more(self, sealed: Review) -> None:
        run("retire_signing_key", sealed.release.signing_key.key_id)

        with pytest.raises(operations.Refused, match="was retired on") as refused:
            self.seal_the_other(sealed)
        assert refused.value.code == "no_signing_key"
        with pytest.raises(CommandError, match="was retired on"):
            run("checkpoint_audit")
        assert run("verify_audit")

    def test_what_is_signed_with_a_retired_key_does_not_count(self, sealed: Review) -> None:
        run("retire_signing_key", sealed.release.signing_key.key_id)
        statement = json.loads(unverified_payload(bytes(sealed.release.envelope)))
        statement["predicate"]["sealed_at"] = "2099-01-01T00:00:00Z"

        forged = signing.sign(canonical_payload(statement))

        assert verify_release(forged, trusted_keys()).code == "retired_key"
        assert verify_release(bytes(sealed.release.envelope), trusted_keys()).valid

    def test_retiring_is_an_event_and_cannot_be_taken_back(self, sealed: Review) -> None:
        key_id = sealed.release.signing_key.key_id
        run("retire_signing_key", key_id)

        event = Event.objects.get(action="key_retired")
        assert (event.object_id, event.actor_name) == (key_id, "manage.py")
        with pytest.raises(CommandError, match="stays so"):
            run("retire_signing_key", key_id)
        with pytest.raises(CommandError, match="No key"):
            run("retire_signing_key", "0" * 64)
        assert Event.objects.filter(action="key_retired").count() == 1

    def test_the_key_set_holds_a_new_key_before_its_first_use(
        self, sealed: Review, settings: Settings, tmp_path: Path
    ) -> None:
        self.rotate(settings, tmp_path / "new.pem")

        keys = trusted_keys()

        assert keys[0].key.keyid == sealed.release.signing_key.key_id
        assert len(keys) == 2
        assert SigningKey.objects.count() == 1


class TestSigners:
    def test_a_key_from_the_environment_signs(self, settings: Settings, tmp_path: Path) -> None:
        key = write_key(tmp_path / "key.pem", b"correct horse")
        settings.SIGNING_KEY_FILE = ""
        settings.SIGNING_KEY = (tmp_path / "key.pem").read_text()
        settings.SIGNING_KEY_PASSPHRASE = "correct horse"

        assert trusted_keys()[-1].key == key

    def test_a_signer_is_chosen_by_its_uri(self, settings: Settings, tmp_path: Path) -> None:
        key = write_key(tmp_path / "key.pem")
        (tmp_path / "public.pem").write_bytes(public_key_pem(key))
        settings.SIGNING_KEY_FILE = ""
        settings.SIGNING_KEY_URI = f"file2:{tmp_path / 'key.pem'}"
        settings.SIGNING_PUBLIC_KEY_FILE = str(tmp_path / "public.pem")

        assert json.loads(run("checkpoint_audit"))["signatures"][0]["keyid"] == key.keyid
        assert run("verify_audit")

    @pytest.mark.parametrize(
        ("changed", "said"),
        [
            ({"SIGNING_KEY_URI": "nowhere:key"}, "of scheme nowhere cannot be used"),
            ({"SIGNING_PUBLIC_KEY_FILE": ""}, "ETHOS_REVIEW_SIGNING_PUBLIC_KEY_FILE"),
            ({"SIGNING_PUBLIC_KEY_FILE": "/nowhere/key.pem"}, "/nowhere/key.pem cannot be read"),
            ({"SIGNING_KEY": "PEM"}, "More than one signing key"),
            ({"SIGNING_KEY_URI": "", "SIGNING_KEY": "PEM"}, "ETHOS_REVIEW_SIGNING_KEY is not a private key"),
            ({"SIGNING_KEY_URI": "", "SIGNING_KEY": ""}, "No signing key is configured"),
        ],
    )
    def test_what_cannot_sign_is_said_with_the_next_step(
        self, settings: Settings, tmp_path: Path, changed: dict[str, str], said: str
    ) -> None:
        (tmp_path / "public.pem").write_bytes(public_key_pem(write_key(tmp_path / "key.pem")))
        chosen = {
            "SIGNING_KEY_FILE": "",
            "SIGNING_KEY_URI": f"file2:{tmp_path / 'key.pem'}",
            "SIGNING_PUBLIC_KEY_FILE": str(tmp_path / "public.pem"),
        }
        for name, value in (chosen | changed).items():
            setattr(settings, name, value)

        assert said in signing.why_nothing_can_be_signed()

    def test_a_signer_with_another_key_than_it_says_is_refused(
        self, settings: Settings, tmp_path: Path
    ) -> None:
        write_key(tmp_path / "key.pem")
        (tmp_path / "public.pem").write_bytes(public_key_pem(write_key(tmp_path / "other.pem")))
        settings.SIGNING_KEY_FILE = ""
        settings.SIGNING_KEY_URI = f"file2:{tmp_path / 'key.pem'}"
        settings.SIGNING_PUBLIC_KEY_FILE = str(tmp_path / "public.pem")

        assert "cannot be used" in signing.why_nothing_can_be_signed()

    def test_a_signer_that_is_gone_when_it_should_sign_refuses_the_seal_and_leaves_nothing(
        self, sealed: Review, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        other = Review.objects.exclude(pk=sealed.pk).get()
        reviewer = User.objects.get(username="reviewer")
        decide(reviewer, other, 2, "block")
        before = Event.objects.count()

        def gone(self: object, message: bytes) -> None:
            raise ConnectionError("the module does not answer")

        monkeypatch.setattr(CryptoSigner, "sign", gone)
        with pytest.raises(operations.Refused, match="the module does not answer"):
            operations.seal_review(actor=reviewer, review_id=other.review_id)
        assert (Event.objects.count(), Checkpoint.objects.count()) == (before, 1)
        assert run("verify_audit")


class TestCheckpoint:
    def test_a_seal_makes_the_checkpoint_that_the_release_names(self, sealed: Review) -> None:
        checkpoint = Checkpoint.objects.get()
        predicate = json.loads(unverified_payload(bytes(sealed.release.envelope)))["predicate"]

        assert predicate["audit_checkpoint"] == {
            "length": checkpoint.length,
            "sha256": checkpoint.sha256,
        }

    def test_a_chain_that_has_not_grown_is_signed_once(self, sealed: Review) -> None:
        first, second = run("checkpoint_audit"), run("checkpoint_audit")

        assert first == second
        state = open_checkpoint(first.encode(), trusted_keys()).checkpoint
        head = ChainHead.objects.get()
        assert (state.length, state.sha256) == (head.length, head.sha256)
        assert Checkpoint.objects.count() == 2
        assert run("verify_audit")

    def test_the_first_use_of_a_key_is_in_what_it_signs(self) -> None:
        state = open_checkpoint(run("checkpoint_audit").encode(), trusted_keys()).checkpoint

        assert state.length == Event.objects.count() == 1
        assert Event.objects.get().action == "key_used"

    def test_a_checkpoint_is_never_changed_or_deleted(self, sealed: Review) -> None:
        checkpoint = Checkpoint.objects.get()
        for act in (checkpoint.save, checkpoint.delete, Checkpoint.objects.all().delete):
            with pytest.raises(AppendOnlyError):
                act()


class TestLoadSample:
    def test_the_sample_is_submitted_once(self) -> None:
        make_submitter()

        first, second = run("load_sample", "submitter"), run("load_sample", "submitter")

        assert first == f"{Review.objects.count()} sample reviews were submitted.\n"
        assert second == "0 sample reviews were submitted.\n"
        assert run("verify_audit")

    def test_without_the_account_it_says_so(self) -> None:
        with pytest.raises(CommandError, match="There is no account nobody"):
            run("load_sample", "nobody")

    def test_without_the_right_it_says_what_to_do(self) -> None:
        make_reviewer()
        with pytest.raises(CommandError, match="role Submitter"):
            run("load_sample", "reviewer")


class TestCheck:
    def test_a_trial_without_a_key_is_warned(self, settings: Settings) -> None:
        settings.SIGNING_KEY_FILE = ""
        found = checks.run_checks(tags=[checks.Tags.security])
        assert [(message.id, message.level) for message in found if message.id == "ethos_review.W001"] == [
            ("ethos_review.W001", checks.WARNING)
        ]

    @pytest.mark.parametrize("file", ["", "/nowhere/key.pem", os.devnull])
    def test_production_without_a_key_does_not_start(self, settings: Settings, file: str) -> None:
        settings.SIGNING_KEY_FILE, settings.HTTPS, settings.DEBUG = file, True, False

        with pytest.raises(CommandError, match="create_signing_key"):
            call_command("check", stdout=StringIO(), stderr=StringIO())
