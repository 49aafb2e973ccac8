"""Accounts: who signs in, how they like the keyboard, and the tokens by which programs act for one."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Final

from django.conf import settings
from django.contrib.auth.models import AbstractUser
from django.db import models
from django.db.models import CheckConstraint, F, Q
from django.db.models.functions import Length
from django.db.models.lookups import Exact
from django.utils.crypto import salted_hmac
from django.utils.functional import cached_property

from ethos_review.accounts.roles import permissions_of
from ethos_review.accounts.scopes import EVERY_CHOICE, SCOPES

KEY_ID_LENGTH: Final = 16  # lower-case hex characters
DIGEST_LENGTH: Final = 64  # lower-case hex characters of a SHA-256


class ApiTokenQuerySet(models.QuerySet["ApiToken"]):
    def in_use(self, now: datetime) -> ApiTokenQuerySet:
        """Neither revoked nor expired, as `ApiToken.state` says of one."""
        return self.filter(revoked_at=None, expires_at__gt=now)


class ApiToken(models.Model):
    """By which a program acts for an account. The token itself is kept nowhere, only the digest of its secret."""

    account = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="api_tokens")
    name = models.CharField(max_length=60)  # what it is for
    key_id = models.CharField(max_length=KEY_ID_LENGTH, unique=True)  # the part that anyone may know
    secret_sha256 = models.CharField(max_length=DIGEST_LENGTH, unique=True)
    scopes = models.CharField(max_length=20)  # in order, with spaces between them
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField()
    expires_at = models.DateTimeField()
    last_used_on = models.DateField(null=True)  # the day alone, so that few requests write
    revoked_at = models.DateTimeField(null=True)

    objects = ApiTokenQuerySet.as_manager()

    class Meta:
        default_permissions = ()
        constraints = (
            CheckConstraint(condition=Exact(Length("key_id"), KEY_ID_LENGTH), name="token_key_id_length"),
            CheckConstraint(
                condition=Exact(Length("secret_sha256"), DIGEST_LENGTH), name="token_digest_length"
            ),
            CheckConstraint(condition=~Q(name=""), name="a_token_has_a_name"),
            CheckConstraint(condition=Q(scopes__in=EVERY_CHOICE), name="token_scopes_are_known"),
            CheckConstraint(
                condition=Q(expires_at__gt=F("created_at")), name="a_token_lives_before_it_expires"
            ),
        )

    def __str__(self) -> str:
        return f"{self.name} {self.key_id}"

    @property
    def scope_list(self) -> list[str]:
        return self.scopes.split()

    @property
    def permissions(self) -> frozenset[str]:
        """What its scopes let; its account's roles have to let it, too."""
        return frozenset[str]().union(*(SCOPES[scope] for scope in self.scope_list))

    def state(self, now: datetime) -> str:
        """`in use`, `expired` or `revoked`."""
        if self.revoked_at is not None:
            return "revoked"
        return "in use" if self.expires_at > now else "expired"


class User(AbstractUser):
    display_name = models.CharField(max_length=150, blank=True)
    single_key_shortcuts = models.BooleanField(default=True)  # WCAG 2.1.4: can be switched off per person
    sign_outs = models.PositiveIntegerField(default=0)  # counting up ends every session of the person
    password_links = models.PositiveIntegerField(default=0)  # counting up voids the link made before
    token: ApiToken | None = None  # by which a program acts for the account; None for who signed in

    class Meta(AbstractUser.Meta):
        permissions = (("manage_people", "Can give roles and close accounts"),)

    @property
    def name(self) -> str:
        return self.display_name or self.get_username()

    @cached_property
    def role_permissions(self) -> frozenset[str]:
        """What the roles let, together; `RoleBackend` reads it with the person."""
        return permissions_of(self.groups.values_list("name", flat=True))

    def has_perm(self, perm: str, obj: Any = None) -> bool:
        """What the roles let; by a token no more than its scopes let. Nobody has a right on one object alone."""
        if not self.is_active or obj is not None:
            return False
        within = self.token is None or perm in self.token.permissions
        return within and (self.is_superuser or perm in self.role_permissions)

    def _get_session_auth_hash(self, secret: str | None = None) -> str:
        """Django ends a session whose hash differs: after a new password, and after signing out everywhere."""
        value = f"{self.sign_outs}:{self.password}"
        return salted_hmac("ethos_review.session", value, secret=secret, algorithm="sha256").hexdigest()
