"""When a sign-in ends, so that people are warned before it does and can stay (spec 4.3)."""

from __future__ import annotations

from datetime import timedelta
from typing import Final, TypedDict

from django.conf import settings
from django.contrib.sessions.backends.base import SessionBase
from django.utils import timezone

WARNED_BEFORE: Final = 5 * 60  # seconds


class EndOfSignIn(TypedDict):
    minutes: int  # until then, rounded up; 0 while there is nothing to warn of
    ask_again: int  # in how many seconds the page asks again


def end_of_sign_in(session: SessionBase) -> EndOfSignIn:
    left = max(0, session.get_expiry_age())
    if left > WARNED_BEFORE:
        return {"minutes": 0, "ask_again": left - WARNED_BEFORE}
    return {"minutes": -(-left // 60), "ask_again": left + 1}


def stay_signed_in(session: SessionBase) -> None:
    """A person asked for it: from now on as long as after signing in."""
    session.set_expiry(timezone.now() + timedelta(seconds=settings.SESSION_COOKIE_AGE))
