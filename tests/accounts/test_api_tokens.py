"""API tokens: made and revoked by operators on record, kept as a digest, and bound to their scopes."""

from __future__ import annotations

import json
import re
from datetime import timedelta
from typing import Any

import pytest
from django.db import IntegrityError, transaction
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries
from pytest_django.asserts import assertContains, assertNotContains, assertRedirects, assertTemplateUsed

from ethos_review.accounts import api_tokens, operations
from ethos_review.accounts.api_tokens import NotAccepted, accepted
from ethos_review.accounts.models import ApiToken, User
from ethos_review.accounts.roles import AUDITOR, OPERATOR, REVIEWER, ROLES, SUBMITTER
from ethos_review.accounts.scopes import EVERY_CHOICE, SCOPES
from ethos_review.audit.models import Event
from tests.web.html import has, text_of
from tests.web.people import PASSWORD, confirm, make_people

pytestmark = pytest.mark.django_db
LIST, NEW = reverse("tokens"), reverse("new_token")


@pytest.fixture
def people() -> dict[str, User]:
    return make_people()


@pytest.fixture
def operator(client: Client, people: dict[str, User]) -> User:
    """The client is theirs, and they confirmed that it is them."""
    client.force_login(people[OPERATOR])
    confirm(client)
    return people[OPERATOR]


def make(people: dict[str, User], role: str = SUBMITTER, **options: Any) -> tuple[ApiToken, str]:
    asked = {"name": "nightly pipeline", "scopes": ["submit", "read"], "days": 90} | options
    return operations.create_token(actor=people[OPERATOR], account_id=people[role].pk, **asked)


def ask(client: Client, account: User, /, **form: Any) -> HttpResponse:
    sent = {"account": account.pk, "name": "nightly pipeline", "scopes": ["submit"], "days": 90} | form
    return client.post(NEW, sent)


def text_in(response: HttpResponse) -> str:
    found = re.search(r'id="token"[^>]*>(ethosr_[0-9a-f]{16}_[0-9a-f]{64})</code>', response.content.decode())
    assert found, "no token is shown"
    return found[1]


# What a scope lets ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("scopes", EVERY_CHOICE)
@pytest.mark.parametrize("role", [*ROLES, "superuser"])
def test_a_token_lets_no_more_than_its_scopes_and_its_account_do_both(
    people: dict[str, User], scopes: str, role: str
) -> None:
    root = User.objects.create_superuser("root")
    _, text = make({**people, "superuser": root}, role, scopes=scopes.split())
    account = accepted(text).account
    every = set().union(*ROLES.values())
    of_role = every if role == "superuser" else ROLES[role]
    of_scopes = set().union(*(SCOPES[scope] for scope in scopes.split()))
    assert {permission for permission in every if account.has_perm(permission)} == of_role & of_scopes


def test_no_scope_reaches_beyond_the_role_submitter() -> None:
    assert set().union(*SCOPES.values()) == ROLES[SUBMITTER]


def test_a_role_that_is_taken_takes_the_right_from_the_token(people: dict[str, User]) -> None:
    _, text = make(people)
    assert accepted(text).account.has_perm("reviews.submit_review")
    operations.change_roles(actor=people[OPERATOR], person_id=people[SUBMITTER].pk, roles=[])
    assert not accepted(text).account.has_perm("reviews.submit_review")


# Whom it lets in -----------------------------------------------------------------------------------------------------


def test_the_token_stands_nowhere_in_the_database(people: dict[str, User]) -> None:
    token, text = make(people)
    secret = text.rpartition("_")[2]
    assert text == f"ethosr_{token.key_id}_{secret}"
    assert len(bytes.fromhex(secret)) == 32
    kept = [str(value) for value in ApiToken.objects.values_list().get()]
    told = [str(value) for event in Event.objects.values_list() for value in event]
    assert not any(secret in value for value in kept + told)


def test_no_two_tokens_are_alike(people: dict[str, User]) -> None:
    (one, first), (other, second) = make(people), make(people)
    assert one.key_id != other.key_id
    assert first.rpartition("_")[2] != second.rpartition("_")[2]


@pytest.mark.parametrize(
    "spoil",
    [
        lambda text: text[:-1] + ("0" if text[-1] != "0" else "1"),
        lambda text: text[:-1],
        lambda text: f"{text}0",
        lambda text: f"{text}\n",
        lambda text: text.upper(),
        lambda text: text.replace("ethosr", "other"),
        lambda text: text[:7] + "0" * 16 + text[23:],
        lambda text: text.rpartition("_")[0],
        lambda text: "",
    ],
)
def test_any_other_text_lets_nobody_in(people: dict[str, User], spoil: Any) -> None:
    _, text = make(people)
    with pytest.raises(NotAccepted, match="not known here"):
        accepted(spoil(text))


def test_the_digest_that_is_kept_lets_nobody_in(people: dict[str, User]) -> None:
    token, _ = make(people)
    with pytest.raises(NotAccepted):
        accepted(api_tokens.text_of(token.key_id, token.secret_sha256))


def test_it_lets_in_until_it_expires(people: dict[str, User], monkeypatch: pytest.MonkeyPatch) -> None:
    token, text = make(people, days=1)
    assert accepted(text).account == people[SUBMITTER]
    monkeypatch.setattr(api_tokens.timezone, "now", lambda: token.expires_at)
    with pytest.raises(NotAccepted, match="expired on"):
        accepted(text)


def test_a_closed_account_has_no_token_that_works_until_it_is_opened(people: dict[str, User]) -> None:
    _, text = make(people)
    operations.deactivate_person(actor=people[OPERATOR], person_id=people[SUBMITTER].pk)
    with pytest.raises(NotAccepted, match="closed"):
        accepted(text)
    operations.reactivate_person(actor=people[OPERATOR], person_id=people[SUBMITTER].pk)
    assert accepted(text).account == people[SUBMITTER]


def test_a_revoked_token_lets_nobody_in_and_says_so_on_record_once(people: dict[str, User]) -> None:
    token, text = make(people)
    for _ in range(2):
        operations.revoke_token(actor=people[OPERATOR], key_id=token.key_id)
    with pytest.raises(NotAccepted, match="revoked"):
        accepted(text)
    assert Event.objects.filter(action="token_revoked").count() == 1


def test_the_day_of_its_last_use_is_written_once_a_day(
    people: dict[str, User], django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    token, _ = make(people)
    with django_assert_num_queries(1):
        operations.note_use(token)
    token.refresh_from_db()
    assert token.last_used_on == timezone.now().date()
    with django_assert_num_queries(0):
        operations.note_use(token)


# Making one ----------------------------------------------------------------------------------------------------------


def test_making_and_revoking_are_events_with_all_but_the_secret(people: dict[str, User]) -> None:
    token, _ = make(people)
    operations.revoke_token(actor=people[OPERATOR], key_id=token.key_id)
    events = list(Event.objects.order_by("sequence"))
    assert [(event.action, event.actor, event.object_type, event.object_id) for event in events] == [
        ("token_created", people[OPERATOR], "token", token.key_id),
        ("token_revoked", people[OPERATOR], "token", token.key_id),
    ]
    for event in events:
        assert json.loads(event.details) == {
            "account": "submitter",
            "scopes": "read submit",
            "expires_at": token.expires_at.isoformat(timespec="microseconds").replace("+00:00", "Z"),
        }


@pytest.mark.parametrize("role", [SUBMITTER, REVIEWER, AUDITOR])
def test_only_an_operator_makes_and_revokes_tokens(people: dict[str, User], role: str) -> None:
    token, _ = make(people)
    with pytest.raises(operations.Refused):
        make({**people, OPERATOR: people[role]})
    with pytest.raises(operations.Refused):
        operations.revoke_token(actor=people[role], key_id=token.key_id)
    assert ApiToken.objects.filter(revoked_at=None).count() == 1


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"scopes": []}, "Without a scope"),
        ({"scopes": ["decide"]}, "Without a scope"),
        ({"days": 0}, "1 to 365 days"),
        ({"days": 366}, "1 to 365 days"),
        ({"name": ""}, "at most 60 characters"),
        ({"name": "x" * 61}, "at most 60 characters"),
    ],
)
def test_a_token_is_bounded(people: dict[str, User], asked: dict[str, Any], said: str) -> None:
    with pytest.raises(operations.Refused, match=said):
        make(people, **asked)
    assert not Event.objects.exists()


def test_a_closed_account_gets_no_token(people: dict[str, User]) -> None:
    operations.deactivate_person(actor=people[OPERATOR], person_id=people[SUBMITTER].pk)
    with pytest.raises(operations.Refused, match="closed"):
        make(people)


def test_an_account_has_a_bounded_number_of_tokens_in_use(
    people: dict[str, User], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(api_tokens, "MOST_IN_USE", 2)
    (first, _), (second, _) = make(people), make(people)
    with pytest.raises(operations.Refused, match="2 tokens in use"):
        make(people)
    make(people, REVIEWER)
    operations.revoke_token(actor=people[OPERATOR], key_id=first.key_id)
    make(people)
    ApiToken.objects.filter(pk=second.pk).update(
        created_at=timezone.now() - timedelta(days=2), expires_at=timezone.now() - timedelta(days=1)
    )
    make(people)


@pytest.mark.parametrize(
    "spoilt",
    [
        {"scopes": "decide"},
        {"scopes": "submit read"},
        {"scopes": ""},
        {"name": ""},
        {"key_id": "0"},
        {"secret_sha256": "0" * 63},
        {"expires_at": timezone.now() - timedelta(days=400)},
    ],
    ids=lambda spoilt: next(iter(spoilt.items())),
)
def test_the_database_refuses_what_is_no_token(people: dict[str, User], spoilt: dict[str, Any]) -> None:
    token, _ = make(people)
    with pytest.raises(IntegrityError), transaction.atomic():
        ApiToken.objects.filter(pk=token.pk).update(**spoilt)


@pytest.mark.parametrize("column", ["key_id", "secret_sha256"])
def test_the_database_refuses_a_second_token_that_is_alike(people: dict[str, User], column: str) -> None:
    (one, _), (other, _) = make(people), make(people)
    with pytest.raises(IntegrityError), transaction.atomic():
        ApiToken.objects.filter(pk=other.pk).update(**{column: getattr(one, column)})


# The pages -----------------------------------------------------------------------------------------------------------


def test_a_token_is_shown_once_in_the_answer_to_the_form(
    client: Client, operator: User, people: dict[str, User]
) -> None:
    response = ask(client, people[SUBMITTER])
    assertTemplateUsed(response, "accounts/token.html")
    text = text_in(response)
    assert "no-store" in response["Cache-Control"]
    assert accepted(text).account == people[SUBMITTER]
    token = ApiToken.objects.get()
    assertNotContains(client.get(LIST), text.rpartition("_")[2])
    assert (token.created_by, token.scopes) == (operator, "submit")
    assert token.expires_at - token.created_at == timedelta(days=90)


def test_a_stolen_session_makes_no_token(client: Client, people: dict[str, User]) -> None:
    client.force_login(people[OPERATOR])
    assertRedirects(
        ask(client, people[SUBMITTER]), f"{reverse('account_reauthenticate')}?next={NEW}", 302, 200
    )
    assert not ApiToken.objects.exists()


def test_after_confirming_the_token_is_made_as_it_was_asked_for(
    client: Client, people: dict[str, User]
) -> None:
    client.force_login(people[OPERATOR])
    where = ask(client, people[SUBMITTER]).url
    answer = client.post(where, {"password": PASSWORD}, follow=True)
    assert accepted(text_in(answer)).account == people[SUBMITTER]


@pytest.mark.usefixtures("operator")
def test_a_token_that_its_account_may_not_use_is_told(client: Client, people: dict[str, User]) -> None:
    useful = ask(client, people[SUBMITTER], scopes=["submit", "read"])
    assert not has(useful, "useless-submit")
    useless = ask(client, people[AUDITOR], scopes=["submit", "read"])
    assert "do not allow the scope submit" in text_of(useless, "useless-submit")
    assert not has(useless, "useless-read")


@pytest.mark.usefixtures("operator")
@pytest.mark.parametrize(
    ("form", "said"),
    [
        ({"name": ""}, "This field is required."),
        ({"name": "pay\u202epal"}, "cannot be seen"),
        ({"name": "x" * 61}, "at most 60 characters"),
        ({"scopes": []}, "Without a scope"),
        ({"scopes": ["decide"]}, "Select a valid choice"),
        ({"days": 366}, "less than or equal to 365"),
        ({"days": "0"}, "greater than or equal to 1"),
        ({"account": 0}, "Select a valid choice"),
    ],
)
def test_a_form_that_does_not_do_is_shown_again_with_why(
    client: Client, people: dict[str, User], form: dict[str, Any], said: str
) -> None:
    response = ask(client, people[SUBMITTER], **form)
    assertTemplateUsed(response, "accounts/new_token.html")
    assertContains(response, said)
    assert not ApiToken.objects.exists()


@pytest.mark.usefixtures("operator")
def test_what_an_operation_refuses_stands_under_the_account(
    client: Client, people: dict[str, User], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(api_tokens, "MOST_IN_USE", 0)
    assert "Revoke one first" in text_of(ask(client, people[SUBMITTER]), "id_account_error")


@pytest.mark.usefixtures("operator")
def test_a_closed_account_is_not_offered(client: Client, people: dict[str, User]) -> None:
    assertContains(client.get(NEW), "reviewer (Reviewer)")
    operations.deactivate_person(actor=people[OPERATOR], person_id=people[REVIEWER].pk)
    assertNotContains(client.get(NEW), "reviewer (Reviewer)")


@pytest.mark.usefixtures("operator")
def test_each_token_is_listed_with_its_state_those_in_use_first(
    client: Client, people: dict[str, User]
) -> None:
    used, expired, revoked = (make(people, name=name)[0] for name in ("used", "expired", "revoked"))
    past = timezone.now() - timedelta(days=100)
    ApiToken.objects.filter(pk=expired.pk).update(created_at=past, expires_at=past + timedelta(days=9))
    operations.revoke_token(actor=people[OPERATOR], key_id=revoked.key_id)
    operations.note_use(used)
    page = client.get(LIST)
    assert [line["token"] for line in page.context["lines"]] == [used, revoked, expired]
    assert "In use, expires on" in text_of(page, f"token-{used.key_id}")
    assert f"{timezone.now():%Y-%m-%d}" in text_of(page, f"token-{used.key_id}")
    assert "Expired on" in text_of(page, f"token-{expired.key_id}")
    assert "Revoked on" in text_of(page, f"token-{revoked.key_id}")
    assertContains(page, "Never", 2)
    assertContains(page, "Revoke</button>", 1)


@pytest.mark.usefixtures("operator")
def test_a_token_of_a_closed_account_is_marked(client: Client, people: dict[str, User]) -> None:
    token, _ = make(people)
    operations.deactivate_person(actor=people[OPERATOR], person_id=people[SUBMITTER].pk)
    assert "Account closed" in text_of(client.get(LIST), f"token-{token.key_id}")


@pytest.mark.usefixtures("operator")
def test_a_button_revokes_a_token(client: Client, people: dict[str, User]) -> None:
    token, text = make(people)
    assertRedirects(client.post(reverse("revoke_token", args=[token.key_id])), LIST)
    with pytest.raises(NotAccepted):
        accepted(text)


@pytest.mark.usefixtures("operator")
@pytest.mark.parametrize("number", [1, 3])
def test_the_list_asks_as_often_for_one_token_as_for_three(
    client: Client, people: dict[str, User], number: int, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    for role in (SUBMITTER, REVIEWER, AUDITOR)[:number]:
        make(people, role)
    client.get(LIST)
    with django_assert_num_queries(3):  # session, person with their roles, tokens with their accounts
        client.get(LIST)


@pytest.mark.usefixtures("operator")
def test_people_lead_to_the_tokens(client: Client) -> None:
    assertContains(client.get(reverse("people")), f'href="{LIST}"')
    assertContains(client.get(LIST), "No program has a token yet.")


def test_a_token_signs_nobody_in_on_the_pages(client: Client, people: dict[str, User]) -> None:
    _, text = make(people, OPERATOR)
    response = client.get(LIST, headers={"Authorization": f"Bearer {text}"})
    assert response["Location"].startswith("/sign-in/")


def test_an_account_without_a_role_can_have_one_that_does_nothing(people: dict[str, User]) -> None:
    nobody = User.objects.create_user("nobody")
    _, text = make({**people, "nobody": nobody}, "nobody")
    assert not accepted(text).account.has_perm("reviews.view_review")
