from __future__ import annotations

import json

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from pytest_django import DjangoAssertNumQueries, Settings

from ethos_review.accounts.models import User
from ethos_review.reviews import operations, queries
from ethos_review.reviews.models import Claim, Document, Release, Review, ReviewerDecision, SigningKey
from ethos_review.reviews.queries import Card, ReviewPage, open_card, review_page, visible_to
from tests.factories import (
    answer,
    bundle,
    claim,
    decide,
    four_claims,
    make_review,
    make_reviewer,
    make_submitter,
    make_user,
    parts,
    synthesis,
)

pytestmark = pytest.mark.django_db


def fresh(user: User) -> User:
    """As a request finds them: no permission remembered."""
    return User.objects.get(pk=user.pk)


def open_review(submitter: User, question: str = "Open?") -> Review:
    return make_review(submitter, four_claims(question))


def ready_review(submitter: User, question: str = "Ready?") -> Review:
    return make_review(submitter, parts(answer(claim("fact", "v0001"), question=question)))


def sealed_review(submitter: User, reviewer: User, question: str = "Sealed?") -> Review:
    review = ready_review(submitter, question)
    operations.seal_review(actor=reviewer, review_id=review.review_id)
    return review


class TestVisible:
    def test_a_submitter_sees_own_reviews(self, submitter: User) -> None:
        own = open_review(submitter)
        open_review(make_submitter("other"), "Another?")

        assert list(visible_to(submitter)) == [own]

    @pytest.mark.parametrize("role", ["Reviewer", "Auditor", "Operator"])
    def test_other_roles_see_every_review(self, submitter: User, role: str) -> None:
        review = open_review(submitter)

        assert list(visible_to(make_user("other", role))) == [review]

    def test_without_a_role_nothing_is_seen(self, submitter: User) -> None:
        open_review(submitter)

        assert not visible_to(make_user("other")).exists()

    @pytest.mark.parametrize("query", ["review_page", "open_card", "release_of", "document_of", "contract"])
    def test_a_colleagues_review_is_not_there_for_a_submitter(
        self, submitter: User, reviewer: User, query: str
    ) -> None:
        review = sealed_review(submitter, reviewer)
        other = make_submitter("other")
        ask = {
            "review_page": lambda: review_page(other, review.review_id),
            "open_card": lambda: open_card(other, review.review_id, 0),
            "release_of": lambda: queries.release_of(other, review.review_id),
            "document_of": lambda: queries.document_of(other, review.review_id, "claims"),
            "contract": lambda: queries.contract_decision_of(other, review.review_id),
        }[query]

        with pytest.raises((Review.DoesNotExist, Release.DoesNotExist, Document.DoesNotExist)):
            ask()


def cards(page: ReviewPage) -> list[Card]:
    return [card for _, _, group in page.groups for card in group]


def card_at(page: ReviewPage, position: int) -> Card:
    return next(card for card in cards(page) if card.row.position == position)


class TestReviewPage:
    def test_claims_stand_in_their_groups(self, submitter: User, reviewer: User) -> None:
        page = review_page(reviewer, open_review(submitter).review_id)

        assert [(key, label, [card.row.claim_id for card in group]) for key, label, group in page.groups] == [
            ("needs_review", "Needs review", ["joined", "unsettled"]),
            ("final", "Final", ["fact"]),
            ("blocked", "Blocked", ["missing"]),
        ]

    def test_the_next_claim_that_waits_for_this_person_stands_open(
        self, submitter: User, reviewer: User
    ) -> None:
        review = open_review(submitter)

        def opened(**options: int) -> str | None:
            page = review_page(reviewer, review.review_id, **options)
            return page.opened.card.row.claim_id if page.opened else None

        assert [opened(), opened(after=1), opened(after=2)] == ["joined", "unsettled", "joined"]
        decide(reviewer, review, 1)
        assert opened() == "unsettled"
        decide(reviewer, review, 2)
        assert opened() is None

    def test_nothing_stands_open_for_who_may_not_decide(self, submitter: User) -> None:
        review = open_review(submitter)

        assert review_page(submitter, review.review_id).opened is None

    def test_a_card_says_what_this_person_may_do(self, submitter: User, reviewer: User) -> None:
        page = review_page(reviewer, open_review(submitter).review_id)

        assert [(card.row.claim_id, card.outcomes, card.refusal) for card in cards(page)] == [
            ("joined", ("approve", "block"), ""),
            ("unsettled", ("approve", "block"), ""),
            ("fact", ("block",), ""),
            ("missing", (), ""),
        ]
        assert [card.rationale_required_to_approve for card in cards(page)[:2]] == [False, True]
        assert all(card.why for card in cards(page))

    @pytest.mark.parametrize(
        ("role", "refusal"),
        [
            ("Submitter", "Your role does not let you decide claims."),
            ("Auditor", "Your role does not let you decide claims."),
            ("Reviewer", "You submitted this review, so someone else decides its claims."),
        ],
    )
    def test_a_card_says_why_this_person_may_do_nothing(self, role: str, refusal: str) -> None:
        user = make_user("user", role, "Submitter")
        page = review_page(user, open_review(user).review_id)

        assert [(card.outcomes, card.can_undo, card.refusal) for card in cards(page)] == [
            ((), False, refusal),
            ((), False, refusal),
            ((), False, refusal),
            ((), False, ""),
        ]

    def test_a_decided_card_shows_the_decision_and_can_be_undone(
        self, submitter: User, reviewer: User
    ) -> None:
        review = open_review(submitter)
        decide(reviewer, review, 1)

        card = card_at(review_page(make_reviewer("colleague"), review.review_id), 1)

        assert card.decision == ReviewerDecision.objects.get()
        assert (card.latest_sequence, card.released, card.outcomes, card.can_undo) == (1, True, (), True)

    def test_a_final_claim_that_is_held_back_stays_in_its_group(
        self, submitter: User, reviewer: User
    ) -> None:
        review = open_review(submitter)
        decide(reviewer, review, 0, "block")

        card = card_at(review_page(reviewer, review.review_id), 0)

        assert (card.group, card.released) == ("final", False)

    def test_after_an_undo_the_form_is_made_from_the_undo(self, submitter: User, reviewer: User) -> None:
        review = open_review(submitter)
        decide(reviewer, review, 1)
        operations.undo_decision(actor=reviewer, review_id=review.review_id, position=1, based_on=1)

        card = card_at(review_page(reviewer, review.review_id), 1)

        assert (card.decision, card.latest_sequence, card.can_undo) == (None, 2, False)

    def test_the_preview_is_what_would_be_released_now(self, submitter: User, reviewer: User) -> None:
        review = open_review(submitter)
        decide(reviewer, review, 1)

        page = review_page(reviewer, review.review_id)

        assert [(card.row.claim_id, reviewed) for card, reviewed in page.preview_claims] == [
            ("fact", False),
            ("joined", True),
        ]
        assert (page.preview.answer_status, page.preview.relevance) == ("partial", "direct")

    def test_opening_a_claim_shows_its_rules_and_history(self, submitter: User, reviewer: User) -> None:
        review = open_review(submitter)
        decide(reviewer, review, 2)
        operations.undo_decision(actor=reviewer, review_id=review.review_id, position=2, based_on=1)

        page = review_page(reviewer, review.review_id, opened=2)

        assert page.opened is not None
        assert page.opened == open_card(reviewer, review.review_id, 2)
        assert page.opened.card.row.claim_id == "unsettled"
        assert page.opened.rules
        assert [decision.outcome for decision in page.opened.history] == ["approve", "undo"]

    def test_a_claim_that_is_not_there_is_not_opened(self, submitter: User, reviewer: User) -> None:
        review = open_review(submitter)

        assert review_page(reviewer, review.review_id, opened=4).opened is None
        with pytest.raises(Claim.DoesNotExist):
            open_card(reviewer, review.review_id, 4)

    @pytest.mark.parametrize("count", [1, 3])
    def test_the_page_needs_five_queries(
        self, submitter: User, reviewer: User, count: int, django_assert_num_queries: DjangoAssertNumQueries
    ) -> None:
        review = make_review(submitter, parts(answer(*(synthesis(f"c{n}", "v0001") for n in range(count)))))
        decide(reviewer, review, 0)
        user = fresh(reviewer)

        with django_assert_num_queries(5):  # permissions; review, documents, claims, opened claim's history
            page = review_page(user, review.review_id, opened=0)
            assert len(cards(page)) == count
            assert [document.name for document in page.review.documents.all()] == [
                "verification-report.json",
                "claims.json",
            ]
            assert page.review.submitter.name
            assert page.review.policy.name

    @pytest.mark.parametrize("count", [1, 3])
    def test_an_opened_card_needs_four_queries(
        self, submitter: User, reviewer: User, count: int, django_assert_num_queries: DjangoAssertNumQueries
    ) -> None:
        review = make_review(submitter, parts(answer(synthesis("c", "v0001"))))
        for _ in range(count):
            decide(reviewer, review, 0)
        user = fresh(reviewer)

        with django_assert_num_queries(4):
            assert len(open_card(user, review.review_id, 0).history) == count

    def test_documents_are_listed_without_their_content(self, submitter: User, reviewer: User) -> None:
        page = review_page(reviewer, open_review(submitter).review_id)

        assert all("content" in document.get_deferred_fields() for document in page.review.documents.all())


class TestSealing:
    def refusal(self, user: User, review: Review) -> str:
        page = review_page(user, review.review_id)
        assert page.can_seal == (page.seal_refusal == "")
        return page.seal_refusal

    def test_a_reviewer_may_seal_when_nothing_is_undecided(self, submitter: User, reviewer: User) -> None:
        assert self.refusal(reviewer, ready_review(submitter)) == ""

    def test_the_page_says_how_much_is_undecided(self, submitter: User, reviewer: User) -> None:
        review = open_review(submitter)
        assert self.refusal(reviewer, review) == "2 claims are still undecided."
        decide(reviewer, review, 1)
        assert self.refusal(reviewer, review) == "1 claim is still undecided."

    def test_the_page_says_that_it_is_sealed(self, submitter: User, reviewer: User) -> None:
        assert self.refusal(reviewer, sealed_review(submitter, reviewer)) == "This review is sealed."

    def test_the_page_says_that_somebody_else_seals_it(self) -> None:
        both = make_user("both", "Submitter", "Reviewer")

        assert "someone else seals it" in self.refusal(both, ready_review(both))

    def test_the_page_says_that_the_role_does_not_seal(self, submitter: User) -> None:
        assert "Your role" in self.refusal(submitter, ready_review(submitter))

    def test_the_page_says_that_there_is_no_key(
        self, submitter: User, reviewer: User, settings: Settings
    ) -> None:
        settings.SIGNING_KEY_FILE = ""

        assert "No signing key" in self.refusal(reviewer, ready_review(submitter))


@pytest.mark.skipif(connection.vendor != "sqlite", reason="PostgreSQL knows how many rows there are")
def test_the_next_waiting_claim_is_looked_for_in_one_review_only(submitter: User) -> None:
    review = make_review(submitter)
    with CaptureQueriesContext(connection) as asked:
        assert queries.next_waiting(review, after=1) == 2
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN QUERY PLAN {asked.captured_queries[0]['sql']}")
        (plan,) = [row[-1] for row in cursor.fetchall()]
    assert "(review_id=?)" in plan


class TestReleaseAndDownloads:
    @pytest.mark.parametrize("documents", [1, 2])
    def test_a_release_comes_with_what_its_page_shows(
        self,
        submitter: User,
        reviewer: User,
        documents: int,
        django_assert_num_queries: DjangoAssertNumQueries,
    ) -> None:
        only_fact = answer(claim("fact", "v0001"))
        review = make_review(submitter, bundle(only_fact) if documents == 1 else parts(only_fact))
        operations.seal_review(actor=reviewer, review_id=review.review_id)
        user = fresh(reviewer)

        with django_assert_num_queries(4):
            release = queries.release_of(user, review.review_id)
            assert release.review.submitter.name == "submitter"
            assert queries.release_key(release).key_id
            assert len(release.review.documents.all()) == documents

    def test_an_open_review_has_no_release(self, submitter: User, reviewer: User) -> None:
        with pytest.raises(Release.DoesNotExist):
            queries.release_of(reviewer, open_review(submitter).review_id)

    def test_a_document_comes_byte_for_byte(self, submitter: User, reviewer: User) -> None:
        review = open_review(submitter)

        for upload in four_claims("Open?"):
            document = queries.document_of(reviewer, review.review_id, upload.role)
            assert bytes(document.content) == upload.content

    def test_the_contract_decision_comes_as_json(self, submitter: User, reviewer: User) -> None:
        review = make_review(submitter, parts(answer(claim("fact", "v0001"), question="Wie groß?")))

        content = queries.contract_decision_of(reviewer, review.review_id)

        assert json.loads(content)["final_answer_claim_ids"] == ["fact"]
        assert "Wie groß?" in content.decode()

    def test_a_public_key_is_found_by_its_id(self, submitter: User, reviewer: User) -> None:
        sealed_review(submitter, reviewer)
        key = SigningKey.objects.get()

        assert queries.public_key(key.key_id) == key.public_pem.encode()
        with pytest.raises(SigningKey.DoesNotExist):
            queries.public_key("unknown")
