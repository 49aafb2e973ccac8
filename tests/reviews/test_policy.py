from __future__ import annotations

import base64
import json
from io import StringIO
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from django.core.exceptions import ImproperlyConfigured
from django.core.management import CommandError, call_command
from pytest_django import Settings

from ethos_review.accounts.models import User
from ethos_review.audit.models import Event
from ethos_review.engine.errors import DocumentError
from ethos_review.reviews import operations, policies
from ethos_review.reviews.models import Claim, PolicyRecord, Release, Review, ReviewerDecision
from ethos_review.reviews.operations import Refused, Stale
from ethos_review.reviews.queries import open_card, review_page
from ethos_review.reviews.queue import queue_page
from ethos_review.reviews.verification import find_differences
from tests.factories import (
    answer,
    check,
    claim,
    decide,
    four_claims,
    make_review,
    make_user,
    parts,
    report,
    synthesis,
)
from tests.reviews.policies import PutInForce

pytestmark = pytest.mark.django_db


def counts(review: Review) -> tuple[str, int, int, int]:
    review.refresh_from_db()
    return review.status, review.undecided_count, review.released_count, review.withheld_count


def predicate_of(release: Release) -> Any:
    return json.loads(base64.b64decode(json.loads(bytes(release.envelope))["payload"]))["predicate"]


class TestFile:
    def test_without_a_file_the_conservative_policy_is_in_force(self) -> None:
        policy = policies.current_policy()

        assert (policy.name, policy.version, policy.separate_duties) == ("conservative", "1", True)

    def test_the_file_is_in_force(self, put_in_force: PutInForce) -> None:
        put_in_force(reviewed_synthesis=False)

        assert policies.current_policy().name == "test"
        assert not policies.current_policy().reviewed_synthesis

    @pytest.mark.parametrize(
        ("content", "named"),
        [
            (None, "cannot be read"),
            ("{", "cannot be used"),
            ('{"name": "x"}', "cannot be used"),
            (
                '{"artifact_type": "ethos_review.policy.v1", "name": "x", "version": "1", "seperate_duties": true}',
                "separate_duties",
            ),
        ],
    )
    def test_a_broken_file_stops_the_start(
        self, settings: Settings, tmp_path: Path, content: str | None, named: str
    ) -> None:
        path = tmp_path / "policy.json"
        if content is not None:
            path.write_text(content)
        settings.POLICY_FILE = str(path)

        with pytest.raises(ImproperlyConfigured, match=named):
            policies.current_policy()

    @pytest.mark.parametrize(("content", "named"), [(None, "cannot be read"), ("x", "cannot be used")])
    def test_a_broken_verifier_key_stops_the_start(
        self, settings: Settings, tmp_path: Path, content: str | None, named: str
    ) -> None:
        path = tmp_path / "verifier.pem"
        if content is not None:
            path.write_text(content)
        settings.VERIFIER_KEY_FILES = [str(path)]

        with pytest.raises(ImproperlyConfigured, match=named):
            policies.verifier_keys()

    def test_a_policy_is_kept_once_from_its_first_use(self, submitter: User) -> None:
        first, second = make_review(submitter), make_review(submitter, again=uuid4())

        assert first.policy == second.policy == PolicyRecord.objects.get()
        assert policies.policy_of(first.policy) == policies.current_policy()


class TestSettings:
    def test_a_submitter_decides_where_duties_are_not_separate(self, put_in_force: PutInForce) -> None:
        put_in_force(separate_duties=False)
        both = make_user("both", "Submitter", "Reviewer")
        review = make_review(both)

        assert [listed.id for listed in queue_page(both).reviews] == [review.pk]
        decide(both, review, 1)
        decide(both, review, 2)
        assert operations.seal_review(actor=both, review_id=review.review_id).answer_status == "partial"

    def test_an_approval_releases_nothing_where_synthesis_stays_out(
        self, put_in_force: PutInForce, submitter: User, reviewer: User
    ) -> None:
        put_in_force(reviewed_synthesis=False)
        review = make_review(submitter)

        decide(reviewer, review, 1)
        decide(reviewer, review, 2)

        assert counts(review) == ("ready_to_seal", 0, 1, 3)
        release = operations.seal_review(actor=reviewer, review_id=review.review_id)
        assert predicate_of(release)["release"]["released_claim_ids"] == ["fact"]
        assert len(predicate_of(release)["reviewer_decisions"]) == 2

    def test_what_needs_no_review_is_sealed_by_the_policy(
        self, put_in_force: PutInForce, submitter: User
    ) -> None:
        put_in_force(auto_seal="nothing_to_review")

        review = make_review(submitter, parts(answer(claim("fact", "v0001"))))

        assert counts(review) == ("sealed", 0, 1, 0)
        release = review.release
        assert (release.sealed_by, release.sealed_by_name) == (None, "test")
        assert predicate_of(release)["sealed_by"]["name"] == "test"
        assert list(Event.objects.order_by("sequence").values_list("action", "actor_name")) == [
            ("review_submitted", "submitter"),
            ("key_used", "test"),
            ("review_sealed", "test"),
        ]

    def test_what_needs_review_is_not_sealed_by_the_policy(
        self, put_in_force: PutInForce, submitter: User, reviewer: User
    ) -> None:
        put_in_force(auto_seal="nothing_to_review")

        review = make_review(submitter)
        decide(reviewer, review, 1)
        decide(reviewer, review, 2)

        assert counts(review)[0] == "ready_to_seal"

    def test_without_a_key_the_policy_seals_nothing_and_the_upload_is_kept(
        self, put_in_force: PutInForce, submitter: User, settings: Settings
    ) -> None:
        put_in_force(auto_seal="nothing_to_review")
        settings.SIGNING_KEY_FILE = ""

        review = make_review(submitter, parts(answer(claim("fact", "v0001"))))

        assert counts(review)[0] == "ready_to_seal"

    def test_unsigned_reports_are_refused_where_signatures_are_required(
        self, put_in_force: PutInForce, submitter: User
    ) -> None:
        put_in_force(require_signed_reports=True)

        with pytest.raises(DocumentError):
            make_review(submitter)
        assert not Review.objects.exists()

    def test_limits_of_the_policy_hold(self, put_in_force: PutInForce, submitter: User) -> None:
        put_in_force(limits={"entries": 3})

        with pytest.raises(DocumentError) as refusal:
            make_review(submitter)
        assert refusal.value.problems[0].code == "too_many_entries"


class TestChange:
    """The policy in force is no longer the one that an open review was decided under."""

    def test_a_decision_made_under_the_old_policy_lapses(
        self, put_in_force: PutInForce, submitter: User, reviewer: User
    ) -> None:
        review = make_review(submitter)
        approval = decide(reviewer, review, 1)
        decide(reviewer, review, 0, "block")
        put_in_force()

        assert operations.bring_up_to_date(review_id=review.review_id, among=Review.objects.all())

        assert counts(review) == ("needs_review", 2, 1, 1)
        assert policies.policy_of(review.policy).name == "test"
        row = Claim.objects.get(review=review, position=1)
        assert (row.decision, row.turns) == (None, 1)
        assert list(ReviewerDecision.objects.filter(claim=row)) == [approval]
        event = Event.objects.first()
        assert event is not None
        assert (event.action, event.actor, event.actor_name) == ("policy_applied", None, "test")
        assert json.loads(event.details)["lapsed_decisions"] == [[0, 1], [1, 1]]
        assert list(find_differences()) == []

    def test_a_lapsed_decision_stands_no_more_when_the_old_policy_comes_back(
        self, put_in_force: PutInForce, submitter: User, reviewer: User
    ) -> None:
        review = make_review(submitter)
        approval = decide(reviewer, review, 1)
        put_in_force()
        assert operations.bring_up_to_date(review_id=review.review_id, among=Review.objects.all())
        put_in_force.settings.POLICY_FILE = ""
        assert operations.bring_up_to_date(review_id=review.review_id, among=Review.objects.all())

        row = Claim.objects.get(review=review, position=1)
        assert row.decision is None
        assert list(find_differences()) == []

        Claim.objects.filter(pk=row.pk).update(
            decision=approval
        )  # as someone with the database's password could
        Review.objects.filter(pk=review.pk).update(undecided_count=1, released_count=2)
        assert any("decision does not follow" in str(difference) for difference in find_differences())

    def test_a_review_of_many_claims_is_derived_again(
        self, put_in_force: PutInForce, submitter: User
    ) -> None:
        many = answer(*(synthesis(f"c{number}", "v0001") for number in range(6_000)))
        review = make_review(submitter, parts(many))
        put_in_force(contract_version="1.1.0")

        assert operations.bring_up_to_date(review_id=review.review_id, among=Review.objects.all())
        assert Claim.objects.filter(contract_reason="claim_support_not_evaluated").count() == 6_000

    def test_applying_it_twice_changes_nothing(self, put_in_force: PutInForce, submitter: User) -> None:
        review = make_review(submitter)
        put_in_force()
        operations.bring_up_to_date(review_id=review.review_id, among=Review.objects.all())
        events = Event.objects.count()

        assert not operations.bring_up_to_date(review_id=review.review_id, among=Review.objects.all())
        assert Event.objects.count() == events

    def test_a_form_from_before_is_stale_and_the_new_state_is_kept(
        self, put_in_force: PutInForce, submitter: User, reviewer: User
    ) -> None:
        review = make_review(submitter)
        shown = open_card(reviewer, review.review_id, 1).shown_sha256
        put_in_force()

        with pytest.raises(Stale):
            operations.decide_claim(
                actor=reviewer,
                review_id=review.review_id,
                position=1,
                outcome="approve",
                rationale="Read it.",
                shown_sha256=shown,
                based_on=0,
            )

        assert review_page(reviewer, review.review_id).review.policy.name == "test"
        assert decide(reviewer, review, 1).sequence == 1

    def test_a_seal_from_before_is_stale(
        self, put_in_force: PutInForce, submitter: User, reviewer: User
    ) -> None:
        review = make_review(submitter, parts(answer(claim("fact", "v0001"))))
        put_in_force()

        with pytest.raises(Stale):
            operations.seal_review(actor=reviewer, review_id=review.review_id)

        release = operations.seal_review(actor=reviewer, review_id=review.review_id)
        assert predicate_of(release)["policy"]["name"] == "test"

    def test_a_lapsed_decision_is_decided_anew_and_both_stay_on_record(
        self, put_in_force: PutInForce, submitter: User, reviewer: User
    ) -> None:
        review = make_review(submitter, parts(answer(synthesis("joined", "v0001"))))
        first = decide(reviewer, review, 0)
        put_in_force()
        operations.bring_up_to_date(review_id=review.review_id, among=Review.objects.all())

        second = decide(reviewer, review, 0)

        assert (second.sequence, second.supersedes) == (2, first)
        release = operations.seal_review(actor=reviewer, review_id=review.review_id)
        assert predicate_of(release)["reviewer_decisions"][0]["supersedes"] == 1
        assert list(find_differences()) == []

    def test_the_same_form_again_does_not_bring_a_lapsed_decision_back(
        self, put_in_force: PutInForce, submitter: User, reviewer: User
    ) -> None:
        review = make_review(submitter)
        form = {
            "position": 1,
            "outcome": "approve",
            "rationale": "Read it.",
            "shown_sha256": open_card(reviewer, review.review_id, 1).shown_sha256,
            "based_on": 0,
        }
        operations.decide_claim(actor=reviewer, review_id=review.review_id, **form)  # type: ignore[arg-type]
        put_in_force()

        with pytest.raises(Stale):
            operations.decide_claim(actor=reviewer, review_id=review.review_id, **form)  # type: ignore[arg-type]
        with pytest.raises(operations.Superseded):
            operations.decide_claim(actor=reviewer, review_id=review.review_id, **form)  # type: ignore[arg-type]

        assert counts(review)[1] == 2

    def test_claims_are_counted_under_the_new_policy(
        self, put_in_force: PutInForce, submitter: User, reviewer: User
    ) -> None:
        review = make_review(submitter, parts(answer(claim("fact", "v0001"), synthesis("joined", "v0001"))))
        put_in_force(contract_version="1.1.0")

        operations.bring_up_to_date(review_id=review.review_id, among=Review.objects.all())

        assert counts(review) == ("needs_review", 2, 0, 0)
        assert review.contract_version == "1.1.0"
        assert set(Claim.objects.filter(review=review).values_list("contract_reason", flat=True)) == {
            "claim_support_not_evaluated"
        }
        assert list(find_differences()) == []

    def test_a_sealed_review_stays_as_it_is(
        self, put_in_force: PutInForce, submitter: User, reviewer: User
    ) -> None:
        review = make_review(submitter, parts(answer(claim("fact", "v0001"))))
        operations.seal_review(actor=reviewer, review_id=review.review_id)
        put_in_force()

        assert not operations.bring_up_to_date(review_id=review.review_id, among=Review.objects.all())
        assert review_page(reviewer, review.review_id).review.policy.name == "conservative"
        assert list(find_differences()) == []

    def test_documents_that_the_new_policy_refuses_are_not_decided_on(
        self, put_in_force: PutInForce, submitter: User, reviewer: User
    ) -> None:
        review = make_review(submitter)
        shown = open_card(reviewer, review.review_id, 1).shown_sha256
        put_in_force(require_signed_reports=True)

        with pytest.raises(Refused) as refusal:
            operations.decide_claim(
                actor=reviewer,
                review_id=review.review_id,
                position=1,
                outcome="approve",
                rationale="",
                shown_sha256=shown,
                based_on=0,
            )

        assert refusal.value.code == "documents_refused"
        assert counts(review)[0] == "needs_review"

    def test_the_command_applies_it_to_every_open_review(
        self, put_in_force: PutInForce, submitter: User, reviewer: User
    ) -> None:
        for number in range(3):
            make_review(submitter, four_claims(f"Question {number}?"))
        sealed = make_review(submitter, parts(answer(claim("fact", "v0001"))))
        operations.seal_review(actor=reviewer, review_id=sealed.review_id)
        put_in_force()
        out = StringIO()

        call_command("apply_policy", stdout=out)
        call_command("apply_policy", stdout=out)

        assert out.getvalue().splitlines() == [
            "Policy test 1: 3 open reviews were derived again.",
            "Policy test 1: 0 open reviews were derived again.",
        ]

    def test_the_command_names_what_is_no_longer_acceptable(
        self, put_in_force: PutInForce, submitter: User
    ) -> None:
        review = make_review(submitter)
        put_in_force(require_signed_reports=True)
        err = StringIO()

        with pytest.raises(CommandError, match="1 open reviews"):
            call_command("apply_policy", stdout=StringIO(), stderr=err)
        assert str(review.review_id) in err.getvalue()

    def test_another_version_of_the_engine_derives_an_open_review_again(
        self, submitter: User, reviewer: User
    ) -> None:
        review = make_review(submitter)
        approval = decide(reviewer, review, 1)
        Review.objects.filter(pk=review.pk).update(engine_version="0.0.1", released_count=1, withheld_count=2)

        assert operations.bring_up_to_date(review_id=review.review_id, among=Review.objects.all())

        assert counts(review) == ("needs_review", 1, 2, 1)
        assert Claim.objects.get(review=review, position=1).decision == approval


class TestSignedReports:
    def signed(self, key: Ed25519PrivateKey) -> dict[str, Any]:
        statement = {
            "_type": "https://in-toto.io/Statement/v1",
            "subject": [{"name": "answer", "digest": {"sha256": "0" * 64}}],
            "predicateType": "https://docushell.com/ethos/grounding/v1",
            "predicate": report(check("v0001")),
        }
        payload, kind = json.dumps(statement).encode(), b"application/vnd.in-toto+json"
        message = b"DSSEv1 %d %b %d %b" % (len(kind), kind, len(payload), payload)
        return {
            "payloadType": kind.decode(),
            "payload": base64.b64encode(payload).decode(),
            "signatures": [{"sig": base64.b64encode(key.sign(message)).decode()}],
        }

    def believe(self, settings: Settings, path: Path, key: Ed25519PrivateKey) -> None:
        path.write_bytes(key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo))
        settings.VERIFIER_KEY_FILES = [str(path)]

    def test_a_review_stays_readable_after_its_verifier_key_was_replaced(
        self, settings: Settings, tmp_path: Path, submitter: User, reviewer: User
    ) -> None:
        old, new = Ed25519PrivateKey.generate(), Ed25519PrivateKey.generate()
        self.believe(settings, tmp_path / "old.pem", old)
        review = make_review(submitter, parts(answer(claim("fact", "v0001")), self.signed(old)))
        self.believe(settings, tmp_path / "new.pem", new)

        assert review_page(reviewer, review.review_id).assessment.submission.report.signed_by
        operations.seal_review(actor=reviewer, review_id=review.review_id)
        assert list(find_differences()) == []

    def test_a_report_of_an_unknown_verifier_is_refused(
        self, settings: Settings, tmp_path: Path, submitter: User
    ) -> None:
        self.believe(settings, tmp_path / "known.pem", Ed25519PrivateKey.generate())

        with pytest.raises(DocumentError):
            make_review(
                submitter, parts(answer(claim("fact", "v0001")), self.signed(Ed25519PrivateKey.generate()))
            )
