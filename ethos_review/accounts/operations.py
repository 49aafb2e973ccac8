"""What operators do to accounts, and people to their own: one function, one transaction, and its events each."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime, timedelta
from typing import Any

from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount
from axes.handlers.proxy import AxesProxyHandler
from django.contrib.auth.hashers import make_password
from django.contrib.auth.models import Group
from django.db import IntegrityError, transaction
from django.db.models import QuerySet
from django.utils import timezone

from ethos_review.accounts import api_tokens, names
from ethos_review.accounts.models import ApiToken, User
from ethos_review.accounts.password_links import tokens
from ethos_review.accounts.roles import OPERATOR, ROLES
from ethos_review.accounts.scopes import SCOPES
from ethos_review.audit.operations import record_event, rfc3339

MANAGE_PEOPLE = "accounts.manage_people"
USERNAME_TAKEN = "There is an account with this name."


class Refused(Exception):
    """The act is not allowed, or not on this person; the message is for people."""


class DisplayNameTaken(Refused):
    def __init__(self) -> None:
        super().__init__(
            "Another account has this name, or one that looks like it. Decisions tell people apart by it."
        )


@transaction.atomic
def create_person(
    *, actor: User, username: str, display_name: str, roles: Collection[str]
) -> tuple[User, str]:
    """An account, and the token with which its person chooses the first password. Raises Refused."""
    _require_right(actor)
    names.hold()
    if names.is_taken(username):
        raise Refused(USERNAME_TAKEN)
    if display_name and names.is_taken(display_name):
        raise DisplayNameTaken
    person = User(username=username, display_name=display_name)
    person.set_unusable_password()
    try:
        with transaction.atomic():
            person.save()
    except IntegrityError as error:  # another operator was first
        raise Refused(USERNAME_TAKEN) from error
    given = sorted(ROLES.keys() & set(roles))
    person.groups.add(*Group.objects.filter(name__in=given))
    record_event(
        actor=actor,
        action="person_created",
        object_type="person",
        object_id=person.get_username(),
        details={"roles": ", ".join(given)},
    )
    return person, _make_password_link(person, actor)


@transaction.atomic
def make_password_link(*, actor: User, person_id: int) -> str:
    """The token with which a person chooses a new password. Raises Refused, User.DoesNotExist."""
    person = _locked(actor, person_id)
    if person == actor:
        raise Refused("You change your own password under Preferences.")
    if not person.is_active:
        raise Refused("This account is closed. Open it first.")
    if SocialAccount.objects.filter(user=person).exists():
        raise Refused("This person signs in through OpenID Connect, and has no password here.")
    return _make_password_link(person, actor)


def choose_password(*, person_id: int, token: str, password: str) -> None:
    """By the token of a link. Every session of the person ends, and so does a lock-out. Raises Refused."""
    encoded = make_password(password)  # slow on purpose, so before anything is locked
    with transaction.atomic():
        person = _people_to_change().filter(pk=person_id, is_active=True).first()
        if person is None or not tokens.check_token(person, token):
            raise Refused("This link is void.")
        AxesProxyHandler.reset_attempts(username=person.get_username())
        _store_password(person, encoded, by="link")


def change_password(*, actor: User, password: str) -> User:
    """One's own; whoever calls has asked for the old one. Every session ends. The person as stored."""
    encoded = make_password(password)
    with transaction.atomic():
        person = _people_to_change().get(pk=actor.pk)
        if not person.has_usable_password():
            raise Refused("You sign in without a password here.")
        _store_password(person, encoded, by="password")
    return person


@transaction.atomic
def change_roles(*, actor: User, person_id: int, roles: Collection[str]) -> None:
    """Give exactly these roles. Raises Refused, User.DoesNotExist."""
    person = _locked(actor, person_id)
    if person == actor and OPERATOR not in roles:
        raise Refused("You cannot take the role Operator from yourself. Another operator can.")
    _store_roles(person, roles, actor=actor)


@transaction.atomic
def adopt_roles(person: User, roles: Collection[str], *, provider: str) -> None:
    """The roles that the OpenID provider's claim maps to, at every sign-in: none mapped, none kept."""
    _store_roles(_people_to_change().get(pk=person.pk), roles, actor=None, actor_name=provider)


@transaction.atomic
def deactivate_person(*, actor: User, person_id: int) -> None:
    """Close an account and end its sessions. Raises Refused, User.DoesNotExist."""
    person = _locked(actor, person_id)
    if person == actor:
        raise Refused("You cannot close your own account. Another operator can.")
    if person.is_active:
        person.is_active = False
        _end_sessions(person, "is_active")
        record_event(
            actor=actor, action="person_deactivated", object_type="person", object_id=person.get_username()
        )


@transaction.atomic
def reactivate_person(*, actor: User, person_id: int) -> None:
    """Open a closed account again. Raises Refused, User.DoesNotExist."""
    person = _locked(actor, person_id)
    if not person.is_active:
        person.is_active = True
        person.save(update_fields=["is_active"])
        record_event(
            actor=actor, action="person_reactivated", object_type="person", object_id=person.get_username()
        )


@transaction.atomic
def sign_out_everywhere(*, actor: User, person_id: int) -> None:
    """End every session of oneself or, for operators, of anyone. Raises Refused, User.DoesNotExist."""
    person = _locked(actor, person_id) if person_id != actor.pk else User.objects.get(pk=person_id)
    _end_sessions(person)
    record_event(
        actor=actor, action="signed_out_everywhere", object_type="person", object_id=person.get_username()
    )


@transaction.atomic
def remove_second_factor(*, actor: User, person_id: int) -> None:
    """For a person who lost it: only the password is asked for, until they set up a new one.

    The event is written when the row goes (second_factor.py). Raises Refused, User.DoesNotExist.
    """
    person = _locked(actor, person_id)
    if person == actor:
        raise Refused("You remove your own second factor under Preferences, where you are asked who you are.")
    Authenticator.objects.filter(user=person).delete()


@transaction.atomic
def create_token(
    *, actor: User, account_id: int, name: str, scopes: Collection[str], days: int
) -> tuple[ApiToken, str]:
    """A token for a program, and its text, which nothing keeps. Raises Refused, User.DoesNotExist."""
    account = _locked(actor, account_id)
    given = " ".join(sorted(SCOPES.keys() & set(scopes)))
    now = timezone.now()
    _check_token(account, name, given, days, now)
    key_id, secret = api_tokens.new_key_id(), api_tokens.new_secret()
    token = ApiToken.objects.create(
        account=account,
        name=name,
        key_id=key_id,
        secret_sha256=api_tokens.digest(secret),
        scopes=given,
        created_by=actor,
        created_at=now,
        expires_at=now + timedelta(days=days),
    )
    record_event(actor=actor, action="token_created", **_about(token))
    return token, api_tokens.text_of(key_id, secret)


def _check_token(account: User, name: str, scopes: str, days: int, now: datetime) -> None:
    """Raises Refused. The account is locked, so that its tokens are counted as they are."""
    if not account.is_active:
        raise Refused("This account is closed. Open it first.")
    if not 0 < len(name) <= api_tokens.LONGEST_NAME:
        raise Refused(f"A token has a name of at most {api_tokens.LONGEST_NAME} characters.")
    if not scopes:
        raise Refused("Without a scope a token lets nobody do anything. Choose one.")
    if not 1 <= days <= api_tokens.MOST_DAYS:
        raise Refused(f"A token lasts from 1 to {api_tokens.MOST_DAYS} days.")
    if ApiToken.objects.in_use(now).filter(account=account).count() >= api_tokens.MOST_IN_USE:
        raise Refused(f"This account has {api_tokens.MOST_IN_USE} tokens in use. Revoke one first.")


@transaction.atomic
def revoke_token(*, actor: User, key_id: str) -> None:
    """From now on it lets nobody in; this is not taken back. Raises Refused, ApiToken.DoesNotExist."""
    _require_right(actor)
    to_change = ApiToken.objects.select_for_update(of=("self",), no_key=True)
    token = to_change.select_related("account").get(key_id=key_id)
    if token.revoked_at is None:
        token.revoked_at = timezone.now()
        token.save(update_fields=["revoked_at"])
        record_event(actor=actor, action="token_revoked", **_about(token))


def note_use(token: ApiToken) -> None:
    """The day, in UTC: a program that asks all the time writes once a day."""
    today = timezone.now().date()
    if token.last_used_on != today:
        ApiToken.objects.filter(pk=token.pk).update(last_used_on=today)


def _require_right(actor: User) -> None:
    if not actor.has_perm(MANAGE_PEOPLE):
        raise Refused("Your role does not let you manage people.")


def _people_to_change() -> QuerySet[User]:
    """Locked one after the other, their keys left free.

    Whoever decides or seals holds the chain and refers to their own row; who changes that row waits for the chain.
    """
    return User.objects.select_for_update(no_key=True)


def _locked(actor: User, person_id: int) -> User:
    _require_right(actor)
    return _people_to_change().get(pk=person_id)


def _make_password_link(person: User, actor: User) -> str:
    """Whoever holds the token chooses the password, once. The token before it is void."""
    person.password_links += 1
    person.save(update_fields=["password_links"])
    record_event(
        actor=actor, action="password_link_made", object_type="person", object_id=person.get_username()
    )
    return tokens.make_token(person)


def _end_sessions(person: User, *changed: str) -> None:
    person.sign_outs += 1
    person.save(update_fields=["sign_outs", *changed])


def _store_password(person: User, encoded: str, *, by: str) -> None:
    """Sessions end because their hash is over the password (models.py)."""
    person.password = encoded
    person.save(update_fields=["password"])
    record_event(
        actor=person,
        action="password_changed",
        object_type="person",
        object_id=person.get_username(),
        details={"by": by},
    )


def _store_roles(
    person: User, roles: Collection[str], *, actor: User | None, actor_name: str | None = None
) -> None:
    wanted = ROLES.keys() & set(roles)
    before = set(person.groups.filter(name__in=ROLES).values_list("name", flat=True))
    if wanted == before:
        return
    person.groups.remove(*Group.objects.filter(name__in=before - wanted))
    person.groups.add(*Group.objects.filter(name__in=wanted - before))
    record_event(
        actor=actor,
        actor_name=actor_name,
        action="role_changed",
        object_type="person",
        object_id=person.get_username(),
        details={"before": ", ".join(sorted(before)), "after": ", ".join(sorted(wanted))},
    )


def _about(token: ApiToken) -> dict[str, Any]:
    """What an event says of it."""
    details = {
        "account": token.account.get_username(),
        "scopes": token.scopes,
        "expires_at": rfc3339(token.expires_at),
    }
    return {"object_type": "token", "object_id": token.key_id, "details": details}
