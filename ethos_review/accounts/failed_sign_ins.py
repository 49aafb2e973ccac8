"""Failed sign-ins: counted by django-axes, and told in the audit chain, of which an attacker can fill only so much."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from axes.handlers.database import AxesDatabaseHandler
from axes.helpers import get_cool_off
from axes.models import AccessAttempt
from django.conf import settings
from django.db import transaction
from django.http import HttpRequest
from django.utils import timezone
from django.utils.crypto import salted_hmac

from ethos_review.accounts import second_factor
from ethos_review.accounts.models import User
from ethos_review.audit.models import Event
from ethos_review.audit.operations import record_event


class Handler(AxesDatabaseHandler):  # type: ignore[misc]
    def user_login_failed(
        self, sender: object, credentials: dict[str, Any], request: Any = None, **kwargs: Any
    ) -> None:
        """A failure is counted and told in one transaction. While an account is locked out, it is neither."""
        if request is None or request.axes_locked_out:
            super().user_login_failed(sender, credentials, request, **kwargs)
            return
        with transaction.atomic():
            super().user_login_failed(sender, credentials, request, **kwargs)
            typed = credentials.get("username")
            _tell(
                typed if typed and _is_account(request, typed) else "",
                "mfa" if sender == second_factor.__name__ else "password",
                request.axes_locked_out,
            )


def keep_nothing_typed(sender: object, instance: AccessAttempt, **kwargs: Any) -> None:
    """Before the row is written, so that no file of the database ever holds it: django-axes would keep every field."""
    instance.get_data = instance.post_data = ""


def counted_name(request: HttpRequest, credentials: Mapping[str, Any] | None = None) -> str | None:
    """What django-axes keeps of the user name that was typed: a name that no account has may be a password."""
    typed: str | None = (request.POST if credentials is None else credentials).get("username")
    if not typed or _is_account(request, typed):
        return typed
    return salted_hmac(__name__, typed).hexdigest()


def _is_account(request: HttpRequest, name: str) -> bool:
    """Looked up once: django-axes asks for the name several times in one request."""
    known: dict[str, bool] = request.__dict__.setdefault("known_names", {})
    if name not in known:
        known[name] = User.objects.filter(username=name).exists()
    return known[name]


def _tell(name: str, by: str, is_locked_out: bool) -> None:
    """The name of an account, or none: no other word that was typed is told."""
    if not _was_told("sign_in_failed", name, times=settings.AXES_FAILURE_LIMIT):
        record_event(
            actor=None, action="sign_in_failed", object_type="person", object_id=name, details={"by": by}
        )
    if name and is_locked_out and not _was_told("person_locked_out", name, times=1):
        record_event(actor=None, action="person_locked_out", object_type="person", object_id=name)


def _was_told(action: str, name: str, *, times: int) -> bool:
    """Within the time of one lock-out, from whatever addresses; all names without an account count as one."""
    told = Event.objects.filter(action=action, object_type="person", object_id=name)
    earliest = told.values_list("at", flat=True)[times - 1 : times]  # of the newest so many
    return any(at > timezone.now() - get_cool_off() for at in earliest)
