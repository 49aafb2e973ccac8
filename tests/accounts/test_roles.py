from __future__ import annotations

import pytest
from django.contrib.auth.models import Group, Permission

from ethos_review.accounts.models import User
from ethos_review.accounts.roles import REVIEWER, ROLES

pytestmark = pytest.mark.django_db


def stored_permissions_of(group: Group) -> set[str]:
    return {
        f"{p.content_type.app_label}.{p.codename}" for p in group.permissions.select_related("content_type")
    }


def test_the_migrations_made_exactly_the_roles() -> None:
    assert {group.name: stored_permissions_of(group) for group in Group.objects.all()} == ROLES


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("attempt", ["first", "after a flush"])
def test_roles_outlive_a_test_that_empties_the_database(attempt: str) -> None:
    assert {group.name: stored_permissions_of(group) for group in Group.objects.all()} == ROLES


def test_each_permission_exists_once_with_the_name_that_its_model_gives_it() -> None:
    named = {label for labels in ROLES.values() for label in labels}
    for label in named:
        app_label, codename = label.split(".")
        Permission.objects.get(content_type__app_label=app_label, codename=codename)


def test_nothing_that_is_only_added_has_a_permission_to_change_or_delete() -> None:
    changing = Permission.objects.filter(content_type__app_label__in=["reviews", "audit"]).exclude(
        codename__in=[label.split(".")[1] for labels in ROLES.values() for label in labels]
    )

    assert list(changing) == []


@pytest.mark.parametrize("role", sorted(ROLES))
def test_an_inactive_person_has_no_right(role: str) -> None:
    user = User.objects.create_user("gone", is_active=False)
    user.groups.add(Group.objects.get(name=role))

    assert not any(user.has_perm(label) for label in ROLES[role])


def test_nobody_has_a_right_on_one_object_alone() -> None:
    user = User.objects.create_user("reviewer")
    user.groups.add(Group.objects.get(name=REVIEWER))

    assert user.has_perm("reviews.decide_claim")
    assert not user.has_perm("reviews.decide_claim", user)


def test_a_person_is_named_as_they_like() -> None:
    assert User(username="rosa").name == "rosa"
    assert User(username="rosa", display_name="Rosa Lind").name == "Rosa Lind"
