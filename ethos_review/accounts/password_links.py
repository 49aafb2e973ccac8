"""The token of a link with which a person chooses a password: made by an operator, good once, and for a time."""

from __future__ import annotations

from django.conf import settings
from django.contrib.auth.tokens import PasswordResetTokenGenerator

from ethos_review.accounts.models import User


class _Tokens(PasswordResetTokenGenerator):
    """Django's are void after the password is another, after a sign-in, and after PASSWORD_RESET_TIMEOUT."""

    key_salt = "ethos_review.accounts.password_links"

    def _make_hash_value(self, user: User, timestamp: int) -> str:
        """These also after a newer link, after signing out everywhere, and once the account was closed."""
        return f"{super()._make_hash_value(user, timestamp)}:{user.password_links}:{user.sign_outs}"


tokens = _Tokens()


def hours() -> int:
    """How long a link works."""
    return round(settings.PASSWORD_RESET_TIMEOUT / 3600)
