"""The People page: operators see who has which role, and change it; every change is an event."""

from __future__ import annotations

import pytest
from allauth.mfa.models import Authenticator
from django.test import Client
from django.urls import reverse
from pytest_django import DjangoAssertNumQueries
from pytest_django.asserts import assertContains, assertRedirects

from ethos_review.accounts import operations
from ethos_review.accounts.models import User
from ethos_review.accounts.roles import AUDITOR, OPERATOR, REVIEWER, ROLE_WORDS, SUBMITTER
from ethos_review.audit.models import Event
from tests.accounts.test_second_factor import set_up
from tests.web.html import attributes_of, has, text_of
from tests.web.people import PASSWORD, ROLES, confirm, make_people, make_person

pytestmark = pytest.mark.django_db


@pytest.fixture
def people(client: Client) -> dict[str, User]:
    """The client is the operator's, who confirmed that it is them."""
    found = make_people()
    client.force_login(found[OPERATOR])
    confirm(client)
    return found


def last_event() -> tuple[str, str, str, str]:
    event = Event.objects.latest("sequence")
    return event.actor_name, event.action, event.object_id, event.details


def roles_of(person: User) -> set[str]:
    return set(person.groups.values_list("name", flat=True))


def test_everyone_is_listed_with_roles_and_last_sign_in(
    client: Client, people: dict[str, User], django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    with django_assert_max_num_queries(6):  # session, person, their rights (2), people, groups
        page = client.get(reverse("people"))
    for role, person in people.items():
        assertContains(page, f'href="/people/{person.pk}/"')
        assertContains(page, f'<span class="badge">{role}</span>')
    assertContains(page, "Never", 3)


def test_roles_are_given_and_taken_with_an_event(client: Client, people: dict[str, User]) -> None:
    where = reverse("person", args=[people[SUBMITTER].pk])
    assertRedirects(client.post(where, {"action": "roles", "roles": [REVIEWER, AUDITOR]}), where)
    assert roles_of(people[SUBMITTER]) == {REVIEWER, AUDITOR}
    assert last_event() == (
        "operator",
        "role_changed",
        "submitter",
        '{"after":"Auditor, Reviewer","before":"Submitter"}',
    )


def test_saving_the_same_roles_is_no_event(client: Client, people: dict[str, User]) -> None:
    client.post(reverse("person", args=[people[REVIEWER].pk]), {"action": "roles", "roles": [REVIEWER]})
    assert not Event.objects.exists()


@pytest.mark.parametrize("form", [{"action": "roles", "roles": ["Emperor"]}, {"action": "promote"}, {}])
def test_a_form_of_another_page_changes_nothing(
    client: Client, people: dict[str, User], form: dict[str, str]
) -> None:
    where = reverse("person", args=[people[REVIEWER].pk])
    assertContains(client.post(where, form, follow=True), "Nothing was changed")
    assert roles_of(people[REVIEWER]) == {REVIEWER}
    assert not Event.objects.exists()


def test_a_closed_account_ends_its_sessions_and_lets_nobody_in(
    client: Client, people: dict[str, User]
) -> None:
    theirs = Client()
    theirs.force_login(people[REVIEWER])
    client.post(reverse("person", args=[people[REVIEWER].pk]), {"action": "deactivate"})
    assert last_event() == ("operator", "person_deactivated", "reviewer", "{}")
    assert theirs.get(reverse("preferences")).status_code == 302
    theirs.post(reverse("sign_in"), {"username": "reviewer", "password": PASSWORD})
    assert theirs.get(reverse("preferences")).status_code == 302


def test_an_opened_account_works_again_but_its_old_sessions_do_not(
    client: Client, people: dict[str, User]
) -> None:
    theirs = Client()
    theirs.force_login(people[REVIEWER])
    for action in ("deactivate", "reactivate"):
        client.post(reverse("person", args=[people[REVIEWER].pk]), {"action": action})
    assert last_event() == ("operator", "person_reactivated", "reviewer", "{}")
    assert theirs.get(reverse("preferences")).status_code == 302
    theirs.post(reverse("sign_in"), {"username": "reviewer", "password": PASSWORD})
    assert theirs.get(reverse("preferences")).status_code == 200


@pytest.mark.parametrize("form", [{"action": "deactivate"}, {"action": "roles", "roles": [AUDITOR]}])
def test_the_last_operator_cannot_lock_everyone_out(
    client: Client, people: dict[str, User], form: dict[str, str]
) -> None:
    where = reverse("person", args=[people[OPERATOR].pk])
    assertContains(client.post(where, form, follow=True), "Another operator can.")
    assert client.get(where).status_code == 200
    assert not Event.objects.exists()


def test_operators_remove_their_own_second_factor_under_preferences_where_they_are_asked_who_they_are(
    client: Client, people: dict[str, User]
) -> None:
    set_up(client)
    told = Event.objects.count()
    where = reverse("person", args=[people[OPERATOR].pk])
    assertContains(client.post(where, {"action": "remove-second-factor"}, follow=True), "under Preferences")
    assert Authenticator.objects.filter(user=people[OPERATOR], type="totp").exists()
    assert Event.objects.count() == told


@pytest.mark.parametrize("role", [SUBMITTER, REVIEWER, AUDITOR])
def test_nobody_else_manages_people_by_any_operation(role: str) -> None:
    actor, other = make_person(role), make_person(REVIEWER, "other")
    acts = (
        lambda: operations.change_roles(actor=actor, person_id=actor.pk, roles=[OPERATOR]),
        lambda: operations.deactivate_person(actor=actor, person_id=other.pk),
        lambda: operations.reactivate_person(actor=actor, person_id=other.pk),
        lambda: operations.sign_out_everywhere(actor=actor, person_id=other.pk),
        lambda: operations.remove_second_factor(actor=actor, person_id=other.pk),
    )
    for act in acts:
        with pytest.raises(operations.Refused):
            act()
    assert not Event.objects.exists()


def test_signing_out_everywhere_ends_every_session_of_the_person_and_of_nobody_else(
    client: Client, people: dict[str, User]
) -> None:
    here, there = Client(), Client()
    for session in (here, there):
        session.force_login(people[REVIEWER])
    assertRedirects(here.post(reverse("sign_out_everywhere")), reverse("sign_in"))
    assert last_event() == ("reviewer", "signed_out_everywhere", "reviewer", "{}")
    assert {session.get(reverse("preferences")).status_code for session in (here, there)} == {302}
    assert client.get(reverse("preferences")).status_code == 200


def test_an_operator_signs_another_person_out(client: Client, people: dict[str, User]) -> None:
    theirs = Client()
    theirs.force_login(people[REVIEWER])
    client.post(reverse("person", args=[people[REVIEWER].pk]), {"action": "sign-out"})
    assert last_event()[:3] == ("operator", "signed_out_everywhere", "reviewer")
    assert theirs.get(reverse("preferences")).status_code == 302


def test_closing_an_account_says_beside_the_button_what_it_does(
    client: Client, people: dict[str, User]
) -> None:
    where = reverse("person", args=[people[REVIEWER].pk])
    assertContains(client.get(where), 'aria-describedby="close-hint">Close the account')
    client.post(where, {"action": "deactivate"})
    assertContains(client.get(where), 'aria-describedby="open-hint">Open the account')


def test_each_role_is_explained_and_an_account_without_one_is_told(
    client: Client, people: dict[str, User]
) -> None:
    page = client.get(reverse("new_person"))
    for role in ROLES:
        assertContains(page, ROLE_WORDS[role])
    assertContains(page, "With no role ticked, the person can sign in but sees no reviews")
    assert not has(client.post(reverse("new_person"), {"username": "b", "roles": [AUDITOR]}), "no-role")
    made = client.post(reverse("new_person"), {"username": "c"})
    assertContains(made, reverse("person", args=[User.objects.get(username="c").pk]))
    for response in (made, client.get(reverse("person", args=[User.objects.get(username="c").pk]))):
        assert "This account has no role" in text_of(response, "no-role")


def test_what_is_shown_once_can_be_copied(client: Client, people: dict[str, User]) -> None:
    made = client.post(reverse("new_person"), {"username": "c"})
    assertContains(made, '<button type="button" data-copy="link" hidden>')
    assertContains(made, "js/copy.js")
    assert attributes_of(made, "link-copied")["role"] == "status"


@pytest.mark.parametrize(
    ("form", "faulty", "said"),
    [
        ({"old_password": "wrong"}, "old_password", "incorrectly"),
        ({"new_password1": "short", "new_password2": "short"}, "new_password1", "too short"),
        ({"new_password2": "something else entirely"}, "new_password2", "match"),
    ],
)
def test_after_an_error_the_faulty_field_has_the_focus_and_the_error_under_it(
    client: Client, people: dict[str, User], form: dict[str, str], faulty: str, said: str
) -> None:
    client.force_login(people[AUDITOR])
    right = {
        "old_password": PASSWORD,
        "new_password1": "a heron at the weir",
        "new_password2": "a heron at the weir",
    }
    response = client.post(reverse("change_password"), right | form)
    assert said in text_of(response, f"id_{faulty}_error")
    focused = [name for name in right if "autofocus" in attributes_of(response, f"id_{name}")]
    assert focused == [faulty]
