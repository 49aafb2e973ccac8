"""Sessions that end with the browser, and at the latest some hours after signing in or after asking to stay."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any, Final

from django.conf import settings
from django.contrib.sessions.backends.base import SessionBase
from django.contrib.sessions.backends.db import SessionStore as DatabaseSessionStore
from django.http import HttpRequest
from django.utils import timezone

SIGNED_IN_BEFORE: Final = "signed_in_before"


class SessionStore(DatabaseSessionStore):
    """Django asks for one or the other: a fixed end, or the end of the browser. This is both."""

    def get_expire_at_browser_close(self) -> bool:
        return True


def fix_end(sender: object, request: HttpRequest, **kwargs: Any) -> None:
    """At sign-in: a moment, which using the product does not move (spec 6.3); asking to stay does (spec 4.3)."""
    request.session.set_expiry(timezone.now() + timedelta(seconds=settings.SESSION_COOKIE_AGE))


def remember_sign_in_before(session: SessionBase, moment: datetime | None) -> None:
    """The sign-in before this one: what happened since then is news to the person."""
    if moment is not None:
        session[SIGNED_IN_BEFORE] = moment.isoformat()


def signed_in_before(request: HttpRequest) -> datetime | None:
    """None on the first sign-in of an account."""
    moment = request.session.get(SIGNED_IN_BEFORE)
    return datetime.fromisoformat(moment) if moment else None
