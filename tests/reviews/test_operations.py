from __future__ import annotations

import base64
import hashlib
import json
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from django.contrib.auth.models import Group, Permission
from django.db import connection, models
from pytest_django import Settings

from ethos_review.accounts.models import User
from ethos_review.accounts.roles import ROLES
from ethos_review.audit.models import Event
from ethos_review.engine.assessment import shown_digest
from ethos_review.engine.envelope import load_public_key, open_release
from ethos_review.engine.errors import DocumentError
from ethos_review.engine.keys import TrustedKey
from ethos_review.engine.release import make_release
from ethos_review.reviews import operations
from ethos_review.reviews.assessments import assessment_of, current_decisions
from ethos_review.reviews.models import (
    Claim,
    Document,
    Reading,
    Release,
    Review,
    ReviewerDecision,
    SigningKey,
)
from ethos_review.reviews.operations import (
    Decided,
    NotAllowed,
    Refused,
    Stale,
    Superseded,
    Upload,
    check_uploads,
    load_sample,
    submit_review,
)
from tests.factories import (
    answer,
    bundle,
    check,
    claim,
    four_claims,
    make_review,
    make_reviewer,
    make_submitter,
    make_user,
    parts,
    reading,
    report,
    synthesis,
    upload,
)

pytestmark = pytest.mark.django_db

FACT, JOINED, UNSETTLED, MISSING = range(4)  # the claims of `four_claims`


@pytest.fixture
def review(submitter: User) -> Review:
    return make_review(submitter)


def digest(review: Review, position: int) -> str:
    review = Review.objects.select_related("policy").get(pk=review.pk)
    assessment = assessment_of(review)
    return shown_digest(assessment.claims[position], assessment.policy)


def decide(actor: User, review: Review, position: int, outcome: str = "approve", **form: Any) -> Decided:
    if "shown_sha256" not in form:
        form["shown_sha256"] = digest(review, position)
    form = {"rationale": "Read it.", "based_on": 0} | form
    return operations.decide_claim(
        actor=actor, review_id=review.review_id, position=position, outcome=outcome, **form
    )


def undo(actor: User, review: Review, position: int, based_on: int = 1) -> Decided:
    return operations.undo_decision(
        actor=actor, review_id=review.review_id, position=position, based_on=based_on
    )


def decide_all(actor: User, review: Review) -> None:
    decide(actor, review, JOINED)
    decide(actor, review, UNSETTLED, "block")


def seal(actor: User, review: Review, based_on: int | None = None) -> Release:
    return operations.seal_review(actor=actor, review_id=review.review_id, based_on=based_on)


def counts(review: Review) -> tuple[str, int, int, int]:
    review.refresh_from_db()
    return review.status, review.undecided_count, review.released_count, review.withheld_count


def rows() -> dict[str, int]:
    """How many rows there are of everything that an operation writes."""
    kinds: list[type[models.Model]] = [Review, Document, Claim, Reading, ReviewerDecision, Release, Event]
    return {kind.__name__: kind._default_manager.count() for kind in kinds}


class TestSubmit:
    def test_the_bytes_are_kept_exactly_as_received(self, submitter: User) -> None:
        uploads = parts(answer(claim("fact", "v0001")))
        spaced = Upload(
            "claims", "claims.json", "application/json", b"\xef\xbb\xbf  " + uploads[1].content + b"\n\n"
        )

        review = make_review(submitter, [uploads[0], spaced])

        document = Document.objects.get(review=review, role="claims")
        assert bytes(document.content) == spaced.content
        assert document.sha256 == hashlib.sha256(spaced.content).hexdigest()
        assert (document.name, document.media_type, document.size) == (
            "claims.json",
            "application/json",
            len(spaced.content),
        )

    def test_a_review_starts_with_its_claims_counted(self, review: Review) -> None:
        assert counts(review) == ("needs_review", 2, 1, 1)
        assert review.claim_count == 4
        assert (review.question, review.parser) == ("What changed?", "test-parser 1.0")
        assert (review.contract_version, review.app_status) == ("1.0.0", "partial_certified")

    def test_every_claim_and_reading_has_a_row(self, review: Review) -> None:
        claims = list(Claim.objects.filter(review=review).order_by("position"))
        assert [row.claim_id for row in claims] == ["fact", "joined", "unsettled", "missing"]
        assert [row.action for row in claims] == ["show_final", "needs_review", "needs_review", "block"]
        assert [row.verdict for row in claims] == ["", "", "settled-unknown", ""]
        kept = Reading.objects.get(review=review)
        assert (kept.entity, kept.field, kept.tool_name) == ("acme", "revenue", "ledger")
        assert json.loads(kept.value) == {"kind": "unknown", "reason": "The ledger is closed."}

    def test_one_event_tells_of_it_without_any_text_of_the_answer(
        self, review: Review, submitter: User
    ) -> None:
        event = Event.objects.get()
        assert (event.action, event.actor, event.object_id) == (
            "review_submitted",
            submitter,
            str(review.review_id),
        )
        assert [document["role"] for document in json.loads(event.details)["documents"]] == [
            "verification_report",
            "claims",
            "readings",
        ]
        assert "Claim fact" not in event.details
        assert "What changed" not in event.details

    def test_a_bundle_is_one_document(self, submitter: User) -> None:
        review = make_review(submitter, bundle(answer(claim("fact", "v0001")), external_id="run 7"))

        assert Document.objects.get(review=review).role == "bundle"
        assert review.external_id == "run 7"

    def test_an_answer_without_claims_releases_nothing(self, submitter: User) -> None:
        review = make_review(submitter, parts(answer()))

        assert counts(review) == ("ready_to_seal", 0, 0, 0)

    def test_ids_and_numbers_of_any_size_are_kept(self, submitter: User) -> None:
        long_id = "claim-" + "x" * 20_000
        rows = [reading(1, iteration=2**53 - 1, measured_at=10**30)]
        review = make_review(submitter, parts(answer(claim(long_id, "v0001")), readings=rows))

        assert Claim.objects.get(review=review).claim_id == long_id
        kept = Reading.objects.get(review=review)
        assert (kept.iteration, kept.measured_at) == (2**53 - 1, str(10**30))

    @pytest.mark.parametrize(
        ("uploads", "document", "pointer", "code"),
        [
            ([], "bundle", "", "missing_document"),
            ([upload("claims", answer())], "verification_report", "", "missing_document"),
            ([upload("verification_report", report())], "claims", "", "missing_document"),
            ([upload("readings", [])], "verification_report", "", "missing_document"),
            ([*bundle(answer()), upload("claims", answer())], "claims", "", "not_beside_a_bundle"),
            ([*parts(answer()), upload("claims", answer())], "claims", "", "too_many_files"),
            ([Upload("bundle", "", "text/plain", b"{}")], "bundle", "", "bad_file_name"),
            ([Upload("bundle", "a\0b", "text/plain", b"{}")], "bundle", "", "bad_file_name"),
            ([Upload("bundle", "half \ud800", "text/plain", b"{}")], "bundle", "", "bad_file_name"),
            ([Upload("bundle", "x" * 256, "text/plain", b"{}")], "bundle", "", "bad_file_name"),
            (parts(b"\xff\xfe"), "claims", "", "not_utf8"),
            (parts(answer(claim("fact", "v0009"))), "claims", "/claims/0/check_ids/0", "unknown_check_id"),
        ],
    )
    def test_a_refused_upload_says_why_and_stores_nothing(
        self, submitter: User, uploads: list[Upload], document: str, pointer: str, code: str
    ) -> None:
        with pytest.raises(DocumentError) as refusal:
            submit_review(actor=submitter, uploads=uploads)

        problem = refusal.value.problems[0]
        assert (problem.document, problem.pointer, problem.code) == (document, pointer, code)
        assert set(rows().values()) == {0}

    def test_an_answer_that_no_release_could_list_is_refused_before_it_is_stored(
        self, submitter: User
    ) -> None:
        """1,001 claims deliver a fact of 1,000 readings: a release would list each reading for each claim."""
        delivers = [{"entity": "acme", "field": "revenue", "value": 1}]
        claims = [claim(f"claim-{number}", "v0001", delivers=delivers) for number in range(1_001)]
        uploads = parts(answer(*claims), readings=[reading(1)] * 1_000)

        with pytest.raises(DocumentError) as refusal:
            submit_review(actor=submitter, uploads=uploads)

        assert refusal.value.problems[0].code == "too_many_compared_readings"
        assert set(rows().values()) == {0}

    def test_a_media_type_that_cannot_be_one_is_not_kept(self, submitter: User) -> None:
        [sent] = bundle(answer())
        review = make_review(submitter, [Upload("bundle", sent.name, "x" * 101, sent.content)])

        assert Document.objects.get(review=review).media_type == "application/octet-stream"

    def test_checking_decides_everything_and_stores_nothing(self) -> None:
        assessment = check_uploads(four_claims())

        assert [claim.action for claim in assessment.claims] == [
            "show_final",
            "needs_review",
            "needs_review",
            "block",
        ]
        assert set(rows().values()) == {0}

    @pytest.mark.parametrize("role", ["Reviewer", "Auditor", "Operator"])
    def test_only_a_submitter_submits(self, role: str) -> None:
        with pytest.raises(NotAllowed):
            submit_review(actor=make_user("other", role), uploads=four_claims())

        assert set(rows().values()) == {0}

    def test_an_inactive_submitter_submits_nothing(self, submitter: User) -> None:
        submitter.is_active = False
        with pytest.raises(NotAllowed):
            submit_review(actor=submitter, uploads=four_claims())

    def test_the_same_bytes_lead_to_the_existing_review(self, submitter: User, review: Review) -> None:
        before = rows()

        submitted = submit_review(actor=submitter, uploads=four_claims())

        assert (submitted.review, submitted.created) == (review, False)
        assert rows() == before

    def test_the_names_of_the_files_make_no_other_review(self, submitter: User, review: Review) -> None:
        renamed = [
            Upload(upload.role, f"other-{upload.name}", upload.media_type, upload.content)
            for upload in four_claims()
        ]

        assert not submit_review(actor=submitter, uploads=renamed).created

    def test_the_same_bytes_again_on_purpose_make_another_review(
        self, submitter: User, review: Review
    ) -> None:
        second = submit_review(actor=submitter, uploads=four_claims(), again=uuid4())
        third = submit_review(actor=submitter, uploads=four_claims(), again=uuid4())

        assert [second.review.copy, third.review.copy] == [1, 2]
        assert second.created
        assert submit_review(actor=submitter, uploads=four_claims()).review == third.review

    def test_a_colleagues_review_of_the_same_bytes_is_not_shown(self, review: Review) -> None:
        with pytest.raises(DocumentError) as refusal:
            submit_review(actor=make_submitter("other"), uploads=four_claims())

        assert refusal.value.problems[0].code == "already_submitted"

    def test_two_people_submit_the_same_bytes_on_purpose(self, submitter: User, review: Review) -> None:
        other = make_submitter("other")

        own = submit_review(actor=other, uploads=four_claims(), again=uuid4()).review

        assert submit_review(actor=other, uploads=four_claims()).review == own
        assert submit_review(actor=submitter, uploads=four_claims()).review == review


class TestSupersedes:
    def supersede(self, actor: User, review_id: object) -> Review:
        uploads = bundle(answer(claim("fact", "v0001")), supersedes=str(review_id))
        return submit_review(actor=actor, uploads=uploads).review

    def test_a_new_review_supersedes_a_sealed_one(self, submitter: User, reviewer: User) -> None:
        old = make_review(submitter, parts(answer(claim("fact", "v0001"))))
        seal(reviewer, old)

        new = self.supersede(submitter, old.review_id)

        assert new.supersedes == old
        assert statement_of(seal(reviewer, new))["predicate"]["supersedes"] == str(old.review_id)

    @pytest.mark.parametrize("named", ["no id", "00000000-0000-4000-8000-000000000000"])
    def test_only_a_review_that_exists_is_superseded(self, submitter: User, named: str) -> None:
        with pytest.raises(DocumentError) as refusal:
            self.supersede(submitter, named)

        problem = refusal.value.problems[0]
        assert (problem.document, problem.pointer, problem.code) == (
            "bundle",
            "/supersedes",
            "unknown_review",
        )

    def test_only_a_review_that_the_submitter_sees_is_superseded(
        self, reviewer: User, submitter: User
    ) -> None:
        old = make_review(submitter, parts(answer(claim("fact", "v0001"))))
        seal(reviewer, old)

        with pytest.raises(DocumentError, match="no review with this id"):
            self.supersede(make_submitter("other"), old.review_id)

    def test_an_open_review_is_not_superseded(self, submitter: User, review: Review) -> None:
        with pytest.raises(DocumentError) as refusal:
            self.supersede(submitter, review.review_id)

        assert refusal.value.problems[0].code == "review_not_sealed"

    def test_checking_for_a_person_looks_at_it_too(self, submitter: User, review: Review) -> None:
        uploads = bundle(answer(claim("fact", "v0001")), supersedes=str(review.review_id))

        with pytest.raises(DocumentError):
            check_uploads(uploads, actor=submitter)


class TestDecide:
    def test_an_approval_is_recorded_with_who_when_why_and_what_was_shown(
        self, reviewer: User, review: Review
    ) -> None:
        reviewer.display_name = "Rosa Lind"
        shown = digest(review, JOINED)

        decided = decide(reviewer, review, JOINED, rationale=" Both passages\r\nsay so. ")

        decision = ReviewerDecision.objects.get()
        assert decided == Decided(decision, repeated=False)
        assert (decision.outcome, decision.reviewer, decision.reviewer_name) == (
            "approve",
            reviewer,
            "Rosa Lind",
        )
        assert (decision.rationale, decision.shown_sha256) == ("Both passages\nsay so.", shown)
        assert (decision.sequence, decision.supersedes) == (1, None)
        assert Claim.objects.get(review=review, position=JOINED).decision == decision

    @pytest.mark.parametrize(
        ("position", "outcome", "expected"),
        [
            (JOINED, "approve", ("needs_review", 1, 2, 1)),
            (JOINED, "block", ("needs_review", 1, 1, 2)),
            (UNSETTLED, "approve", ("needs_review", 1, 2, 1)),
            (FACT, "block", ("needs_review", 2, 0, 2)),
        ],
    )
    def test_a_decision_moves_the_counts(
        self, reviewer: User, review: Review, position: int, outcome: str, expected: tuple[str, int, int, int]
    ) -> None:
        decide(reviewer, review, position, outcome)

        assert counts(review) == expected

    def test_the_last_decision_makes_a_review_ready_to_seal(self, reviewer: User, review: Review) -> None:
        decide_all(reviewer, review)

        assert counts(review) == ("ready_to_seal", 0, 2, 2)

    @pytest.mark.parametrize(
        ("outcome", "action"), [("approve", "claim_approved"), ("block", "claim_blocked")]
    )
    def test_one_event_tells_of_a_decision_without_its_texts(
        self, reviewer: User, review: Review, outcome: str, action: str
    ) -> None:
        decide(reviewer, review, JOINED, outcome, rationale="a very secret reason")

        event = Event.objects.first()
        assert event is not None
        assert (event.action, event.actor, event.object_id) == (action, reviewer, f"{review.review_id}/1")
        assert "secret" not in event.details
        assert Event.objects.count() == 2

    @pytest.mark.parametrize(
        ("position", "outcome"),
        [(FACT, "approve"), (MISSING, "approve"), (MISSING, "block"), (JOINED, "release"), (JOINED, "undo")],
    )
    def test_people_never_release_more_than_the_engine_allows(
        self, reviewer: User, review: Review, position: int, outcome: str
    ) -> None:
        before = rows()

        with pytest.raises(Refused) as refusal:
            decide(reviewer, review, position, outcome)

        assert refusal.value.code == "outcome_not_allowed"
        assert rows() == before

    @pytest.mark.parametrize(
        ("position", "outcome"),
        [(FACT, "block"), (JOINED, "block"), (UNSETTLED, "approve"), (UNSETTLED, "block")],
    )
    @pytest.mark.parametrize("rationale", ["", " \t\r\n", "\u00a0\u2003", "\u200b\u2060\ufeff"])
    def test_what_needs_a_rationale_is_refused_without_one(
        self, reviewer: User, review: Review, position: int, outcome: str, rationale: str
    ) -> None:
        with pytest.raises(Refused) as refusal:
            decide(reviewer, review, position, outcome, rationale=rationale)

        assert refusal.value.code == "rationale_required"
        assert not ReviewerDecision.objects.exists()
        asked_why = "Write why, for those who read this decision later."
        if outcome == "approve":
            asked_why = "Approving needs a reason because the readings do not settle it. Write why."
        assert str(refusal.value) == asked_why

    def test_plain_synthesis_is_approved_without_a_rationale(self, reviewer: User, review: Review) -> None:
        assert decide(reviewer, review, JOINED, rationale="  ").decision.rationale == ""

    def test_grounding_that_is_only_stated_needs_a_rationale(self, submitter: User, reviewer: User) -> None:
        review = make_review(submitter, parts(answer(claim("stated"))))

        with pytest.raises(Refused) as refusal:
            decide(reviewer, review, 0, rationale="")

        assert refusal.value.code == "rationale_required"
        because = "Approving needs a reason because no check stands behind its grounding. Write why."
        assert str(refusal.value) == because

    @pytest.mark.parametrize(
        ("rationale", "code"),
        [
            ("x" * 10_001, "rationale_too_long"),
            ("a\0b", "rationale_unreadable"),
            ("half \ud800 pair", "rationale_unreadable"),
        ],
    )
    def test_a_rationale_that_some_database_cannot_hold_is_refused_on_all(
        self, reviewer: User, review: Review, rationale: str, code: str
    ) -> None:
        with pytest.raises(Refused) as refusal:
            decide(reviewer, review, JOINED, rationale=rationale)

        assert refusal.value.code == code

    def test_a_rationale_of_the_greatest_length_is_kept(self, reviewer: User, review: Review) -> None:
        decision = decide(reviewer, review, JOINED, rationale="🎈" * 10_000).decision

        decision.refresh_from_db()
        assert decision.rationale == "🎈" * 10_000

    @pytest.mark.parametrize("role", ["Submitter", "Auditor", "Operator"])
    def test_only_a_reviewer_decides(self, review: Review, role: str) -> None:
        with pytest.raises(NotAllowed):
            decide(make_user("other", role), review, JOINED)

        assert not ReviewerDecision.objects.exists()

    def test_an_inactive_reviewer_decides_nothing(self, reviewer: User, review: Review) -> None:
        reviewer.is_active = False
        with pytest.raises(NotAllowed):
            decide(reviewer, review, JOINED)

    @pytest.mark.parametrize("superuser", [False, True])
    def test_whoever_submitted_does_not_decide(self, superuser: bool) -> None:
        both = make_user("both", "Submitter", "Reviewer", is_superuser=superuser)
        review = make_review(both)

        with pytest.raises(NotAllowed, match="someone else decides"):
            decide(both, review, JOINED)
        assert not ReviewerDecision.objects.exists()

    def test_a_review_that_the_reviewer_may_not_see_is_not_there(
        self, review: Review, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        Group.objects.create(name="Narrow")
        monkeypatch.setitem(ROLES, "Narrow", frozenset({"reviews.view_review", "reviews.decide_claim"}))

        with pytest.raises(Review.DoesNotExist):
            decide(make_user("narrow", "Narrow"), review, JOINED)

    def test_a_permission_past_every_role_counts_for_nothing(self, review: Review) -> None:
        Group.objects.create(name="Friends")
        person = make_user("someone", "Auditor", "Friends")
        person.user_permissions.set(Permission.objects.all())
        for group in Group.objects.all():
            group.permissions.set(Permission.objects.all())

        with pytest.raises(NotAllowed):
            decide(User.objects.get(pk=person.pk), review, JOINED)

    def test_a_claim_that_is_not_there_takes_no_decision(self, reviewer: User, review: Review) -> None:
        with pytest.raises(Claim.DoesNotExist):
            decide(reviewer, review, 4, shown_sha256="0" * 64)

    def test_the_same_form_twice_is_one_decision(self, reviewer: User, review: Review) -> None:
        first = decide(reviewer, review, JOINED)
        before = rows()

        second = decide(reviewer, review, JOINED)

        assert second == Decided(first.decision, repeated=True)
        assert rows() == before

    @pytest.mark.parametrize("change", [{"outcome": "block"}, {"rationale": "Another."}])
    def test_another_form_from_the_same_page_is_told_of_the_decision(
        self, reviewer: User, review: Review, change: dict[str, str]
    ) -> None:
        first = decide(reviewer, review, JOINED)

        with pytest.raises(Superseded) as told:
            decide(reviewer, review, JOINED, **change)

        assert told.value.current == first.decision

    def test_a_colleague_who_was_first_is_named(self, reviewer: User, review: Review) -> None:
        first = decide(make_reviewer("colleague"), review, JOINED)

        with pytest.raises(Superseded) as told:
            decide(reviewer, review, JOINED, "block")

        assert told.value.current == first.decision
        assert ReviewerDecision.objects.count() == 1

    def test_an_old_tab_overwrites_nothing_after_an_undo(self, reviewer: User, review: Review) -> None:
        colleague = make_reviewer("colleague")
        decide(colleague, review, JOINED)
        undo(colleague, review, JOINED)

        with pytest.raises(Superseded) as told:
            decide(reviewer, review, JOINED)

        assert told.value.current is None

    def test_a_changed_mind_is_a_new_decision_that_names_the_old(
        self, reviewer: User, review: Review
    ) -> None:
        first = decide(reviewer, review, JOINED).decision

        second = decide(reviewer, review, JOINED, "block", based_on=1).decision

        assert (second.sequence, second.supersedes) == (2, first)
        assert list(ReviewerDecision.objects.order_by("sequence")) == [first, second]
        assert Claim.objects.get(review=review, position=JOINED).decision == second
        assert counts(review) == ("needs_review", 1, 1, 2)

    def test_what_was_not_shown_is_not_decided(self, reviewer: User, review: Review) -> None:
        with pytest.raises(Stale):
            decide(reviewer, review, JOINED, shown_sha256="0" * 64)

        assert not ReviewerDecision.objects.exists()

    def test_the_digest_of_another_claim_is_stale(self, reviewer: User, review: Review) -> None:
        with pytest.raises(Stale):
            decide(reviewer, review, JOINED, shown_sha256=digest(review, UNSETTLED))

    def test_nothing_is_decided_on_bytes_that_were_changed(self, reviewer: User, review: Review) -> None:
        assessment = check_uploads(four_claims())
        with connection.cursor() as cursor:
            cursor.execute(
                f"UPDATE {Document._meta.db_table} SET content = %s, size = 2 WHERE role = 'claims'",  # noqa: S608
                [b"{}"],
            )

        with pytest.raises(Refused) as refusal:
            decide(
                reviewer, review, JOINED, shown_sha256=shown_digest(assessment.claims[1], assessment.policy)
            )

        assert refusal.value.code == "documents_changed"


class TestUndo:
    def test_undo_brings_the_claim_back(self, reviewer: User, review: Review) -> None:
        first = decide(reviewer, review, JOINED).decision

        undone = undo(reviewer, review, JOINED).decision

        row = Claim.objects.get(review=review, position=JOINED)
        assert (row.decision, row.turns) == (None, 2)
        assert (undone.outcome, undone.sequence, undone.supersedes) == ("undo", 2, first)
        assert counts(review) == ("needs_review", 2, 1, 1)
        event = Event.objects.first()
        assert event is not None
        assert event.action == "decision_undone"

    def test_after_an_undo_the_claim_is_decided_anew(self, reviewer: User, review: Review) -> None:
        decide(reviewer, review, JOINED)
        undone = undo(reviewer, review, JOINED).decision

        third = decide(reviewer, review, JOINED, "block", based_on=2).decision

        assert (third.sequence, third.supersedes) == (3, undone)

    def test_a_final_claim_that_was_held_back_is_final_again(self, reviewer: User, review: Review) -> None:
        decide(reviewer, review, FACT, "block")

        undo(reviewer, review, FACT)

        assert counts(review) == ("needs_review", 2, 1, 1)

    @pytest.mark.parametrize("position", [FACT, JOINED, MISSING])
    def test_nothing_decided_is_nothing_to_undo(self, reviewer: User, review: Review, position: int) -> None:
        with pytest.raises(Refused) as refusal:
            undo(reviewer, review, position, based_on=0)

        assert refusal.value.code == "nothing_to_undo"

    def test_the_same_undo_twice_is_one(self, reviewer: User, review: Review) -> None:
        decide(reviewer, review, JOINED)
        first = undo(reviewer, review, JOINED)

        assert undo(reviewer, review, JOINED) == Decided(first.decision, repeated=True)
        assert ReviewerDecision.objects.count() == 2

    def test_undo_of_a_decision_that_a_colleague_changed_tells_of_it(
        self, reviewer: User, review: Review
    ) -> None:
        decide(reviewer, review, JOINED)
        changed = decide(make_reviewer("colleague"), review, JOINED, "block", based_on=1).decision

        with pytest.raises(Superseded) as told:
            undo(reviewer, review, JOINED)

        assert told.value.current == changed

    @pytest.mark.parametrize("role", ["Submitter", "Auditor", "Operator"])
    def test_only_a_reviewer_undoes(self, reviewer: User, review: Review, role: str) -> None:
        decide(reviewer, review, JOINED)
        with pytest.raises(NotAllowed):
            undo(make_user("other", role), review, JOINED)

    def test_a_sealed_review_cannot_be_undone(self, reviewer: User, review: Review) -> None:
        decide_all(reviewer, review)
        seal(reviewer, review)
        before = rows()

        with pytest.raises(Refused) as refusal:
            undo(reviewer, review, JOINED)

        assert refusal.value.code == "sealed"
        assert rows() == before


def statement_of(release: Release) -> Any:
    envelope = json.loads(bytes(release.envelope))
    return json.loads(base64.b64decode(envelope["payload"]))


class TestSeal:
    def test_a_seal_signs_what_was_decided(self, reviewer: User, review: Review) -> None:
        decide(reviewer, review, JOINED, rationale="Both passages say so.")
        decide(reviewer, review, UNSETTLED, "block", rationale="Nobody knows.")

        release = seal(reviewer, review)

        key = load_public_key(release.signing_key.public_pem.encode())
        predicate: Any = open_release(bytes(release.envelope), [TrustedKey(key)]).statement["predicate"]
        assert predicate["review_id"] == str(review.review_id)
        assert predicate["release"]["released_claim_ids"] == ["fact", "joined"]
        assert predicate["release"]["answer_status"] == release.answer_status == "partial"
        assert predicate["sealed_by"] == {"id": str(reviewer.pk), "name": "reviewer"}
        assert [
            (decision["claim_id"], decision["outcome"], decision["rationale"], decision["supersedes"])
            for decision in predicate["reviewer_decisions"]
        ] == [
            ("joined", "approve", "Both passages say so.", 0),
            ("unsettled", "block", "Nobody knows.", 0),
        ]

    def test_the_checkpoint_is_the_chain_just_before_the_seal(self, reviewer: User, review: Review) -> None:
        decide_all(reviewer, review)

        checkpoint = statement_of(seal(reviewer, review))["predicate"]["audit_checkpoint"]

        sealed = Event.objects.first()
        assert sealed is not None
        assert sealed.action == "review_sealed"
        assert checkpoint == {"sha256": sealed.previous_sha256, "length": sealed.sequence - 1}

    def test_the_first_use_of_a_key_is_an_event(self, reviewer: User, submitter: User) -> None:
        for question in ("First?", "Second?"):
            seal(reviewer, make_review(submitter, parts(answer(claim("fact", "v0001"), question=question))))

        event = Event.objects.get(action="key_used")
        assert event.object_id == SigningKey.objects.get().key_id

    def test_every_subject_is_a_kept_document(self, reviewer: User, review: Review) -> None:
        decide_all(reviewer, review)

        subjects = statement_of(seal(reviewer, review))["subject"]

        assert [(subject["name"], subject["digest"]["sha256"]) for subject in subjects] == list(
            Document.objects.filter(review=review).order_by("id").values_list("name", "sha256")
        )

    def test_a_seal_freezes_the_review(self, reviewer: User, review: Review) -> None:
        decide_all(reviewer, review)
        seal(reviewer, review)

        assert counts(review) == ("sealed", 0, 2, 2)
        with pytest.raises(Refused) as refusal:
            decide(reviewer, review, FACT, "block")
        assert refusal.value.code == "sealed"
        assert "reviewer sealed this review on" in str(refusal.value)

    @pytest.mark.parametrize("decided", [0, 1])
    def test_an_undecided_claim_is_not_sealed_over(
        self, reviewer: User, review: Review, decided: int
    ) -> None:
        if decided:
            decide(reviewer, review, JOINED)

        with pytest.raises(Refused) as refusal:
            seal(reviewer, review)

        assert refusal.value.code == "undecided_claims"
        assert not Release.objects.exists()

    def test_sealing_twice_gives_the_same_release_to_the_same_person(
        self, reviewer: User, review: Review
    ) -> None:
        decide_all(reviewer, review)
        first = seal(reviewer, review, based_on=2)
        before = rows()

        assert seal(reviewer, review, based_on=2) == first
        assert rows() == before

    def test_a_colleague_is_told_who_sealed(self, reviewer: User, review: Review) -> None:
        decide_all(reviewer, review)
        seal(reviewer, review)

        with pytest.raises(Refused) as refusal:
            seal(make_reviewer("colleague"), review)

        assert refusal.value.code == "sealed"
        assert "reviewer sealed" in str(refusal.value)

    def test_a_last_look_at_another_state_is_stale(self, reviewer: User, review: Review) -> None:
        decide_all(reviewer, review)
        decide(make_reviewer("colleague"), review, JOINED, "block", based_on=1)

        with pytest.raises(Stale):
            seal(reviewer, review, based_on=2)

        assert not Release.objects.exists()

    @pytest.mark.parametrize("role", ["Submitter", "Auditor", "Operator"])
    def test_only_a_reviewer_seals(self, reviewer: User, review: Review, role: str) -> None:
        decide_all(reviewer, review)
        with pytest.raises(NotAllowed):
            seal(make_user("other", role), review)

    def test_whoever_submitted_does_not_seal(self) -> None:
        both = make_user("both", "Submitter", "Reviewer")
        review = make_review(both, parts(answer(claim("fact", "v0001"))))

        with pytest.raises(NotAllowed, match="someone else seals"):
            seal(both, review)

    @pytest.mark.parametrize("file", ["", "/nowhere/key.pem"])
    def test_without_a_key_nothing_is_sealed(
        self, reviewer: User, review: Review, settings: Settings, file: str
    ) -> None:
        decide_all(reviewer, review)
        before = rows()
        settings.SIGNING_KEY_FILE = file

        with pytest.raises(Refused) as refusal:
            seal(reviewer, review)

        assert refusal.value.code == "no_signing_key"
        assert rows() == before
        assert counts(review)[0] == "ready_to_seal"

    def test_a_key_that_others_can_read_is_not_used(
        self,
        reviewer: User,
        review: Review,
        settings: Settings,
        tmp_path: Path,
        signing_key_file: Path,
    ) -> None:
        decide_all(reviewer, review)
        settings.SIGNING_KEY_FILE = str(tmp_path / "open.pem")
        (tmp_path / "open.pem").write_bytes(signing_key_file.read_bytes())
        (tmp_path / "open.pem").chmod(0o644)

        with pytest.raises(Refused) as refusal:
            seal(reviewer, review)

        assert refusal.value.code == "no_signing_key"

    def test_an_answer_without_claims_is_sealed_as_none(self, reviewer: User, submitter: User) -> None:
        release = seal(reviewer, make_review(submitter, parts(answer())))

        assert release.answer_status == "none"


def test_the_counts_are_those_of_the_release_that_would_be_sealed(reviewer: User, review: Review) -> None:
    decide(reviewer, review, JOINED)
    decide(reviewer, review, FACT, "block")

    review = Review.objects.select_related("policy").get(pk=review.pk)
    release = make_release(
        assessment_of(review),
        current_decisions(Claim.objects.filter(review=review).select_related("decision")),
    )
    assert review.released_count == len(release.released_claim_ids)
    assert review.withheld_count + review.undecided_count == len(release.withheld_claim_ids)


class TestSample:
    def test_every_sample_is_submitted_once(self, submitter: User) -> None:
        loaded = load_sample(actor=submitter)

        assert loaded == Review.objects.count() >= 6
        assert load_sample(actor=submitter) == 0

    def test_another_submitter_gets_reviews_of_their_own(self, submitter: User) -> None:
        loaded = load_sample(actor=submitter)
        other = make_submitter("other")

        assert load_sample(actor=other) == loaded
        assert load_sample(actor=other) == 0

    def test_only_a_submitter_loads_it(self, reviewer: User) -> None:
        with pytest.raises(NotAllowed):
            load_sample(actor=reviewer)


def test_a_check_that_repeats_an_id_is_refused_like_any_other(submitter: User) -> None:
    with pytest.raises(DocumentError):
        submit_review(
            actor=submitter,
            uploads=parts(answer(synthesis("a", "v0001")), report(check("v0001"), check("v0001"))),
        )
