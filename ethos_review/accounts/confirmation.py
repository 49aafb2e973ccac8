"""Whoever widens rights first confirms who they are: who stole a session has neither password nor second factor."""

from __future__ import annotations

import time

from allauth.account.internal.flows.login import get_authentication_records
from allauth.core.exceptions import ReauthenticationRequired
from django.conf import settings
from django.http import HttpRequest


def require(request: HttpRequest) -> None:
    """Raises ReauthenticationRequired, unless the person confirmed lately in this session.

    allauth's middleware then keeps the form, leads to the page that asks, and goes on with the form from there.
    """
    if not is_recent(request):
        raise ReauthenticationRequired


def is_recent(request: HttpRequest) -> bool:
    """Whether the person confirmed in this session, some minutes ago at most; signing in is not confirming."""
    earliest = time.time() - settings.ACCOUNT_REAUTHENTICATION_TIMEOUT
    records = get_authentication_records(request, request.user)
    return any(record.get("reauthenticated") and record["at"] > earliest for record in records)


def minutes() -> int:
    """How long it holds."""
    return int(settings.ACCOUNT_REAUTHENTICATION_TIMEOUT // 60)
