"""The signing key: loaded once, used here, and never handed out."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, cast

from django.conf import settings
from django.core import checks
from django.utils import timezone
from securesystemslib.signer import Signer, SSlibKey  # type: ignore[attr-defined]

from ethos_review.engine.envelope import KeyFileError, load_signer, public_key_pem, sign_payload
from ethos_review.reviews.models import SigningKey


def why_nothing_can_be_signed() -> str:
    """A sentence with the next step; empty when there is a usable signing key."""
    try:
        _signer()
    except KeyFileError as error:
        return str(error)
    return ""


def sign(payload: bytes) -> bytes:
    """The signed envelope. Raises KeyFileError."""
    return sign_payload(payload, _signer())


def key_record() -> tuple[SigningKey, bool]:
    """The public half of the key in use, and whether this is its first use. Raises KeyFileError."""
    key = cast(SSlibKey, _signer().public_key)
    return SigningKey.objects.get_or_create(
        key_id=key.keyid,
        defaults={"public_pem": public_key_pem(key).decode(), "first_used_at": timezone.now()},
    )


def check_signing_key(app_configs: Sequence[Any] | None, **kwargs: Any) -> list[checks.CheckMessage]:
    """Production does not start without a key; a trial may, and then seals nothing."""
    why = why_nothing_can_be_signed()
    if not why:
        return []
    hint = "Make a key with `manage.py create_signing_key PATH` and set ETHOS_REVIEW_SIGNING_KEY_FILE=PATH."
    if settings.HTTPS and not settings.DEBUG:
        return [checks.Error(why, hint=hint, id="ethos_review.E001")]
    return [checks.Warning(f"Nothing can be sealed: {why}", hint=hint, id="ethos_review.W001")]


def _signer() -> Signer:
    return _load(settings.SIGNING_KEY_FILE, settings.SIGNING_KEY_PASSPHRASE)


@lru_cache(maxsize=2)
def _load(path: str, passphrase: str) -> Signer:
    if not path:
        raise KeyFileError("No signing key is configured, so no review can be sealed.")
    return load_signer(Path(path), passphrase.encode() or None)
