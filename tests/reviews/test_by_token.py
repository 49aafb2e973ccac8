"""Whoever acts by a token submits, and nothing else: operations refuse, whatever the account's roles are."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from pytest_django import Settings

from ethos_review.accounts import operations as accounts
from ethos_review.accounts.api_tokens import accepted
from ethos_review.accounts.models import User
from ethos_review.accounts.rights import still_has
from ethos_review.accounts.roles import OPERATOR, ROLES
from ethos_review.audit.models import Event
from ethos_review.reviews import operations
from ethos_review.reviews.leases import take_lease
from ethos_review.reviews.models import Review, ReviewerDecision, ReviewLease
from ethos_review.reviews.next_review import take_next_review
from ethos_review.reviews.queries import visible_to
from tests.factories import answer, claim, decide, four_claims, make_review, make_user, parts
from tests.reviews.policies import PutInForce

pytestmark = pytest.mark.django_db


@pytest.fixture
def person(settings: Settings, tmp_path: Path) -> User:
    """With every role, under a policy that lets a submitter decide: nothing but the token stands in the way."""
    PutInForce(settings, tmp_path)(separate_duties=False)
    return make_user("everything", *ROLES)


@pytest.fixture
def program(person: User) -> User:
    """The same account, by a token."""
    _, text = accounts.create_token(
        actor=person, account_id=person.pk, name="pipeline", scopes=["read", "submit"], days=1
    )
    return accepted(text).account


def test_what_is_still_a_right_is_one_within_the_scopes(person: User, program: User) -> None:
    assert still_has(person, "reviews.decide_claim")
    assert still_has(program, "reviews.submit_review")
    assert not still_has(program, "reviews.decide_claim")


ACTS: dict[str, Callable[[User, Review], object]] = {
    "approve": lambda who, review: decide(who, review, 1),
    "block": lambda who, review: decide(who, review, 0, "block"),
    "undo": lambda who, review: operations.undo_decision(
        actor=who, review_id=review.review_id, position=2, based_on=1
    ),
    "seal": lambda who, review: operations.seal_review(actor=who, review_id=review.review_id),
}


@pytest.mark.parametrize("act", ACTS.values(), ids=ACTS)
def test_by_a_token_nobody_decides_undoes_or_seals(
    person: User, program: User, act: Callable[[User, Review], object]
) -> None:
    review = make_review(program)
    decide(person, review, 2)
    told = Event.objects.count()
    with pytest.raises(operations.NotAllowed):
        act(program, review)
    assert (ReviewerDecision.objects.count(), Event.objects.count()) == (1, told)


def test_the_same_account_decides_once_its_person_signed_in(person: User, program: User) -> None:
    review = make_review(program)
    assert decide(person, review, 1).reviewer == person


def test_by_a_token_nobody_seals_what_needs_only_a_signature(program: User) -> None:
    review = make_review(program, parts(answer(claim("fact", "v0001"))))
    with pytest.raises(operations.NotAllowed):
        operations.seal_review(actor=program, review_id=review.review_id)


def test_by_a_token_nobody_holds_a_review(program: User) -> None:
    review = make_review(program)
    assert not take_lease(actor=program, review_id=review.review_id)
    assert take_next_review(actor=program) is None
    assert not ReviewLease.objects.exists()


MANAGING: dict[str, Callable[[User, int], object]] = {
    "create": lambda who, other: accounts.create_person(
        actor=who, username="new", display_name="", roles=[OPERATOR]
    ),
    "link": lambda who, other: accounts.make_password_link(actor=who, person_id=other),
    "roles": lambda who, other: accounts.change_roles(actor=who, person_id=other, roles=[OPERATOR]),
    "close": lambda who, other: accounts.deactivate_person(actor=who, person_id=other),
    "open": lambda who, other: accounts.reactivate_person(actor=who, person_id=other),
    "sign out": lambda who, other: accounts.sign_out_everywhere(actor=who, person_id=other),
    "factor": lambda who, other: accounts.remove_second_factor(actor=who, person_id=other),
    "token": lambda who, other: accounts.create_token(
        actor=who, account_id=other, name="another", scopes=["read"], days=1
    ),
    "revoke": lambda who, other: accounts.revoke_token(actor=who, key_id=str(who.token and who.token.key_id)),
}


@pytest.mark.parametrize("act", MANAGING.values(), ids=MANAGING)
def test_by_a_token_nobody_manages_people(program: User, act: Callable[[User, int], object]) -> None:
    other = make_user("other")
    told = Event.objects.count()
    with pytest.raises(accounts.Refused):
        act(program, other.pk)
    assert Event.objects.count() == told


def test_by_a_token_one_sees_the_own_reviews_only(person: User, program: User) -> None:
    own = make_review(program, four_claims("Mine?"))
    make_review(make_user("other", "Submitter"))
    assert list(visible_to(program)) == [own]
    assert visible_to(person).count() == 2


def test_the_event_of_a_submission_names_the_token_that_did_it(person: User, program: User) -> None:
    make_review(person, four_claims("By hand?"))
    make_review(program, four_claims("By token?"))
    events = Event.objects.filter(action="review_submitted").order_by("sequence")
    assert [event.actor for event in events] == [person, person]
    tokens = [json.loads(event.details)["token"] for event in events]
    assert program.token is not None
    assert tokens == [None, program.token.key_id]
