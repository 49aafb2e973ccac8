"""A right that was taken away after the request came, and before its act is recorded, lets nothing be stored."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import pytest

from ethos_review.accounts import operations as accounts
from ethos_review.accounts.api_tokens import accepted
from ethos_review.accounts.models import User
from ethos_review.accounts.roles import OPERATOR, REVIEWER, SUBMITTER
from ethos_review.audit.models import Event
from ethos_review.reviews import operations
from ethos_review.reviews.models import Release, Review, ReviewerDecision
from ethos_review.reviews.operations import NotAllowed
from tests.factories import answer, claim, decide, four_claims, make_review, make_user, parts

pytestmark = pytest.mark.django_db

JOINED = 1
Taken: TypeAlias = Callable[[User], object]
TAKEN: dict[str, Taken] = {
    "role": lambda person: person.groups.clear(),
    "account": lambda person: User.objects.filter(pk=person.pk).update(is_active=False),
}


@pytest.fixture
def review() -> Review:
    return make_review(make_user("submitter", SUBMITTER))


@pytest.fixture(params=TAKEN.values(), ids=TAKEN)
def taken(request: pytest.FixtureRequest) -> Taken:
    taken: Taken = request.param
    return taken


def seen_with_rights(person: User, taken: Taken) -> User:
    """The person as the request came, with their permissions looked up; then the right is taken."""
    assert person.get_all_permissions()
    taken(person)
    return person


def test_nothing_is_submitted(taken: Taken) -> None:
    actor = seen_with_rights(make_user("late", SUBMITTER), taken)
    with pytest.raises(NotAllowed):
        operations.submit_review(actor=actor, uploads=four_claims())
    assert not Review.objects.exists()
    assert not Event.objects.exists()


def test_nothing_is_decided(review: Review, taken: Taken) -> None:
    actor = seen_with_rights(make_user("late", REVIEWER), taken)
    with pytest.raises(NotAllowed):
        decide(actor, review, JOINED)
    assert not ReviewerDecision.objects.exists()
    assert Review.objects.get().undecided_count == 2


def test_nothing_is_undone(review: Review, taken: Taken) -> None:
    actor = make_user("late", REVIEWER)
    decide(actor, review, JOINED)
    with pytest.raises(NotAllowed):
        operations.undo_decision(
            actor=seen_with_rights(actor, taken), review_id=review.review_id, position=JOINED, based_on=1
        )
    assert ReviewerDecision.objects.count() == 1


def test_nothing_is_sealed(taken: Taken) -> None:
    certified = make_review(make_user("submitter", SUBMITTER), parts(answer(claim("fact", "v0001"))))
    actor = seen_with_rights(make_user("late", REVIEWER), taken)
    with pytest.raises(NotAllowed):
        operations.seal_review(actor=actor, review_id=certified.review_id)
    assert not Release.objects.exists()
    assert Review.objects.get().status == Review.Status.READY_TO_SEAL


def test_a_token_that_was_revoked_meanwhile_submits_nothing() -> None:
    operator, program = make_user("operator", OPERATOR), make_user("program", SUBMITTER)
    token, text = accounts.create_token(
        actor=operator, account_id=program.pk, name="Pipeline", scopes=["submit"], days=1
    )
    actor = seen_with_rights(
        accepted(text).account, lambda _: accounts.revoke_token(actor=operator, key_id=token.key_id)
    )
    with pytest.raises(NotAllowed):
        operations.submit_review(actor=actor, uploads=four_claims())
    assert not Review.objects.exists()
