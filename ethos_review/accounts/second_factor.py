"""The second factor, on allauth's: secrets encrypted, failures throttled like wrong passwords, changes audited."""

from __future__ import annotations

import base64
import hashlib
import time
from datetime import UTC, datetime
from typing import Any

from allauth.core import context
from allauth.mfa.adapter import DefaultMFAAdapter, get_adapter
from allauth.mfa.app_settings import TOTP_PERIOD
from allauth.mfa.base.forms import AuthenticateForm, BaseAuthenticateForm, ReauthenticateForm
from allauth.mfa.models import Authenticator
from axes.handlers.proxy import AxesProxyHandler
from cryptography.fernet import Fernet
from django.conf import settings
from django.contrib.auth.signals import user_login_failed
from django.db.models import Q

from ethos_review.accounts.models import User
from ethos_review.audit.operations import record_event


class MfaAdapter(DefaultMFAAdapter):  # type: ignore[misc]
    """Someone who reads the database cannot compute codes: its secrets need the secret key of the environment."""

    def encrypt(self, text: str) -> str:
        return _cipher().encrypt(text.encode()).decode()

    def decrypt(self, encrypted_text: str) -> str:
        return _cipher().decrypt(encrypted_text.encode()).decode()

    def get_public_key_credential_rp_entity(self) -> dict[str, str]:
        """Passkeys are bound to the host that the browser asked for (one of ALLOWED_HOSTS)."""
        here: dict[str, str] = super().get_public_key_credential_rp_entity()
        return here | {"name": settings.MFA_TOTP_ISSUER}

    def generate_authenticator_name(self, user: User, type: str) -> str:
        others = Authenticator.objects.filter(user=user, type=type).count()
        return f"Passkey {others + 1}" if others else "Passkey"


def _cipher() -> Fernet:
    digest = hashlib.sha256(b"ethos_review.second_factor:" + settings.SECRET_KEY.encode()).digest()
    return Fernet(base64.urlsafe_b64encode(digest))


class _ThrottledCode(BaseAuthenticateForm):  # type: ignore[misc]
    def clean_code(self) -> str:
        refuse_while_locked_out(self.user)
        code: str = super().clean_code()
        if self.authenticator.type == Authenticator.Type.TOTP and not _use_once(self.authenticator):
            raise get_adapter().validation_error("incorrect_code")
        return code


class SignInCodeForm(_ThrottledCode, AuthenticateForm):  # type: ignore[misc]
    """The second step of signing in."""


class ConfirmCodeForm(_ThrottledCode, ReauthenticateForm):  # type: ignore[misc]
    """Before a change of the second factor."""


def _use_once(authenticator: Authenticator) -> bool:
    """Every process knows that a code was used, not only the one that saw it."""
    now = time.time()
    period = datetime.fromtimestamp(now - now % TOTP_PERIOD, UTC)
    unused = Authenticator.objects.filter(pk=authenticator.pk).filter(
        Q(last_used_at=None) | Q(last_used_at__lt=period)
    )
    return bool(unused.update(last_used_at=datetime.fromtimestamp(now, UTC)))


def refuse_while_locked_out(user: User) -> None:
    """Raises ValidationError; the middleware answers with the lockout page."""
    if not AxesProxyHandler.is_allowed(context.request, _credentials(user)):
        context.request.axes_locked_out = True
        raise get_adapter().validation_error("incorrect_code")


def _credentials(user: User) -> dict[str, str]:
    return {"username": user.get_username()}


def count_failure(sender: object, request: Any, user: User, **kwargs: Any) -> None:
    """A wrong code or passkey counts towards the same lockout as a wrong password (spec 6.3: sign-in throttled)."""
    user_login_failed.send(sender=__name__, credentials=_credentials(user), request=request)


def record_added(sender: object, instance: Authenticator, created: bool, raw: bool, **kwargs: Any) -> None:
    """In the transaction of the row itself; recovery codes come and go with it."""
    if created and not raw and instance.type != Authenticator.Type.RECOVERY_CODES:
        record_event(
            actor=_actor(instance),
            action="second_factor_added",
            object_type="person",
            object_id=instance.user.get_username(),
            details={"type": instance.type},
        )


def record_removed(sender: object, instance: Authenticator, **kwargs: Any) -> None:
    if instance.type != Authenticator.Type.RECOVERY_CODES:
        record_event(
            actor=_actor(instance),
            action="second_factor_removed",
            object_type="person",
            object_id=instance.user.get_username(),
            details={"type": instance.type},
        )


def _actor(authenticator: Authenticator) -> User:
    actor: User = context.request.user if context.request else authenticator.user
    return actor
