"""Operators change people who are at work at the same moment: nobody fails for it, and the chain stays whole."""

from __future__ import annotations

from collections.abc import Callable
from uuid import uuid4

import pytest
from allauth.socialaccount.models import SocialAccount, SocialLogin
from django.test import RequestFactory
from pytest_django import Settings

from ethos_review.accounts import api_tokens, operations
from ethos_review.accounts.models import ApiToken, User
from ethos_review.accounts.openid import PROVIDER, SocialAdapter
from ethos_review.accounts.roles import AUDITOR, OPERATOR, REVIEWER, SUBMITTER
from ethos_review.accounts.sessions import SessionStore
from ethos_review.reviews.models import Review
from ethos_review.reviews.operations import seal_review, submit_review
from ethos_review.reviews.verification import find_differences
from tests.factories import answer, four_claims, make_review, make_submitter, parts, report
from tests.reviews.test_concurrency import at_once, claims_to_decide, deciding, shown
from tests.web.people import make_person

pytestmark = pytest.mark.django_db(transaction=True)

ROUNDS = 40


def change_roles(operator: User, person: User, number: int) -> None:
    """One that the act does not need is given and taken in turn, so that every round writes."""
    roles = [SUBMITTER, REVIEWER, *([AUDITOR] if number % 2 else [])]
    operations.change_roles(actor=operator, person_id=person.pk, roles=roles)


def make_link(operator: User, person: User, number: int) -> None:
    operations.make_password_link(actor=operator, person_id=person.pk)


def sign_out(operator: User, person: User, number: int) -> None:
    operations.sign_out_everywhere(actor=operator, person_id=person.pk)


def change_password(operator: User, person: User, number: int) -> None:
    operations.change_password(actor=person, password=f"passphrase number {number}")


def make_token(operator: User, person: User, number: int) -> None:
    """One is revoked for each that is made, so that no bound is met."""
    token, _ = operations.create_token(
        actor=operator, account_id=person.pk, name=f"number {number}", scopes=["read"], days=1
    )
    operations.revoke_token(actor=operator, key_id=token.key_id)


ACTS = [change_roles, make_link, sign_out, change_password, make_token]
Act = Callable[[User, User, int], None]


def failures(results: list[object]) -> list[object]:
    return [result for result in results if isinstance(result, Exception)]


@pytest.mark.parametrize("act", ACTS)
def test_a_person_is_changed_while_they_decide(act: Act) -> None:
    review, person, operator = claims_to_decide(ROUNDS), make_person(REVIEWER), make_person(OPERATOR)

    for position in range(ROUNDS):
        decide = deciding(person, review, position, "approve", shown(person, review, position))
        results = at_once(decide, lambda: act(operator, person, position))  # noqa: B023
        assert failures(results) == []

    assert list(find_differences()) == []


@pytest.mark.parametrize("act", ACTS)
def test_a_person_is_changed_while_they_seal(act: Act) -> None:
    submitter, person, operator = make_submitter(), make_person(REVIEWER), make_person(OPERATOR)
    act(operator, person, 0)

    for number in range(10):
        review = make_review(submitter, parts(answer(), report()), again=uuid4())
        results = at_once(
            lambda: seal_review(actor=person, review_id=review.review_id),  # noqa: B023
            lambda: act(operator, person, number),  # noqa: B023
        )
        assert failures(results) == []

    assert Review.objects.filter(status="sealed").count() == 10
    assert list(find_differences()) == []


@pytest.mark.parametrize("act", ACTS)
def test_a_person_is_changed_while_they_submit(act: Act) -> None:
    person, operator = make_person(SUBMITTER), make_person(OPERATOR)

    for number in range(10):
        uploads = four_claims(f"Question {number}?")
        results = at_once(
            lambda: submit_review(actor=person, uploads=uploads),  # noqa: B023
            lambda: act(operator, person, number),  # noqa: B023
        )
        assert failures(results) == []

    assert Review.objects.count() == 10
    assert list(find_differences()) == []


def creating(operator: User, username: str, display_name: str) -> Callable[[], object]:
    return lambda: operations.create_person(
        actor=operator, username=username, display_name=display_name, roles=[REVIEWER]
    )


@pytest.mark.parametrize(
    "names",
    [
        [("first", "Rosa Lind"), ("second", "rosa  LIND")],
        [("first", "Pope Cox"), ("second", "Роре Сох")],  # all Cyrillic
        [("rosa", ""), ("second", "Rosa")],  # the name with which the other signs in
        [("rosa", ""), ("Rosa", "")],
    ],
)
def test_of_two_operators_who_give_one_name_at_the_same_moment_one_is_told(
    names: list[tuple[str, str]],
) -> None:
    operators = [make_person(OPERATOR, f"operator-{number}") for number in range(2)]

    for number in range(10):
        acts = [
            creating(operator, f"{username}{number}", f"{shown}{number}" if shown else "")
            for operator, (username, shown) in zip(operators, names, strict=True)
        ]
        results = at_once(*acts)
        assert [type(result) for result in failures(results)] in (
            [operations.Refused],
            [operations.DisplayNameTaken],
        ), results

    assert User.objects.count() == 2 + 10
    assert list(find_differences()) == []


def test_an_operator_and_the_provider_give_one_name_to_one_person(settings: Settings) -> None:
    settings.OIDC = {"issuer": "https://id.example.org", "client_id": "x", "client_secret": "x", "name": "ID"}
    operator = make_person(OPERATOR)

    def through_openid(number: int) -> User:
        person = User(username=f"through-{number}", display_name=f"Rosa Lind {number}")
        account = SocialAccount(provider=PROVIDER, uid=str(number), extra_data={})
        login = SocialLogin(user=person, account=account)
        request = RequestFactory().get("/")
        request.session = SessionStore()
        saved: User = SocialAdapter().save_user(request, login)
        return saved

    for number in range(10):
        results = at_once(
            creating(operator, f"created-{number}", f"Rosa Lind {number}"),
            lambda: through_openid(number),  # noqa: B023
        )
        assert all(isinstance(failed, operations.DisplayNameTaken) for failed in failures(results)), results
        assert User.objects.filter(display_name=f"Rosa Lind {number}").count() == 1


def test_operators_at_once_give_an_account_no_more_tokens_than_it_may_have(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(api_tokens, "MOST_IN_USE", 1)
    person, one, other = make_submitter(), make_person(OPERATOR, "one"), make_person(OPERATOR, "other")

    def give(operator: User) -> Callable[[], object]:
        return lambda: operations.create_token(
            actor=operator, account_id=person.pk, name="nightly", scopes=["read"], days=1
        )

    results = at_once(give(one), give(other))

    assert [type(failure) for failure in failures(results)] == [operations.Refused]
    assert ApiToken.objects.count() == 1
