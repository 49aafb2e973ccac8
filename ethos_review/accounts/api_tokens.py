"""The text of an API token, and which tokens let a program act."""

from __future__ import annotations

import hashlib
import re
import secrets
from hmac import compare_digest
from typing import Final

from django.utils import timezone

from ethos_review.accounts.models import KEY_ID_LENGTH, ApiToken

PREFIX: Final = "ethosr"
SECRET_BYTES: Final = 32
USUAL_DAYS: Final = 90
MOST_DAYS: Final = 365
LONGEST_NAME: Final = ApiToken._meta.get_field("name").max_length or 0  # characters
MOST_IN_USE: Final = 20  # of one account
_TEXT: Final = re.compile(
    rf"{PREFIX}_(?P<key_id>[0-9a-f]{{{KEY_ID_LENGTH}}})_(?P<secret>[0-9a-f]{{{2 * SECRET_BYTES}}})"
)


class NotAccepted(Exception):
    """The token lets nobody in; the message says why and what to do."""


def new_key_id() -> str:
    return secrets.token_hex(KEY_ID_LENGTH // 2)


def new_secret() -> str:
    return secrets.token_hex(SECRET_BYTES)


def text_of(key_id: str, secret: str) -> str:
    return f"{PREFIX}_{key_id}_{secret}"


def digest(secret: str) -> str:
    """Not slow on purpose, as for a password: nobody guesses 256 random bits."""
    return hashlib.sha256(secret.encode()).hexdigest()


def accepted(text: str) -> ApiToken:
    """The token, its account bound to its scopes. Raises NotAccepted."""
    found = _TEXT.fullmatch(text)
    token = _token_with(found["key_id"], found["secret"]) if found else None
    if token is None:
        raise NotAccepted(
            "This token is not known here. Send the whole token, as it was shown when it was made."
        )
    state = token.state(timezone.now())
    if state == "revoked":
        raise NotAccepted("This token was revoked. Ask an operator for a new one.")
    if state == "expired":
        raise NotAccepted(
            f"This token expired on {token.expires_at:%Y-%m-%d}. Ask an operator for a new one."
        )
    if not token.account.is_active:
        raise NotAccepted("The account of this token is closed. An operator can open it again.")
    token.account.token = token
    return token


def _token_with(key_id: str, secret: str) -> ApiToken | None:
    """What of the secret is right, the time that the answer takes does not tell."""
    token = ApiToken.objects.select_related("account").filter(key_id=key_id).first()
    return token if token and compare_digest(token.secret_sha256, digest(secret)) else None
