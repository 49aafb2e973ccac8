"""People with roles, for tests."""

from __future__ import annotations

from django.contrib.auth.models import Group
from django.test import Client
from django.urls import reverse

from ethos_review.accounts.models import User
from ethos_review.accounts.roles import AUDITOR, OPERATOR, REVIEWER, SUBMITTER

PASSWORD = "a long enough passphrase"
ROLES = (SUBMITTER, REVIEWER, AUDITOR, OPERATOR)


def make_person(role: str, name: str = "") -> User:
    person = User.objects.create_user(name or role.lower(), password=PASSWORD)
    person.groups.add(Group.objects.get(name=role))
    return person


def make_people() -> dict[str, User]:
    return {role: make_person(role) for role in ROLES}


def confirm(client: Client) -> None:
    """That it is them, by the password: for some minutes, rights are given and taken without being asked again."""
    answer = client.post(reverse("account_reauthenticate"), {"password": PASSWORD})
    assert answer.status_code == 302
