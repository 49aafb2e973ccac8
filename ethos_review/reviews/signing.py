"""The signing key: loaded once, used here, and never handed out."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, cast

from django.conf import settings
from django.core import checks
from django.db import transaction
from django.utils import timezone
from securesystemslib.signer import Signer, SSlibKey  # type: ignore[attr-defined]

from ethos_review.accounts.models import User
from ethos_review.audit.models import Checkpoint
from ethos_review.audit.operations import lock_chain, record_event, rfc3339
from ethos_review.audit.queries import each_readable, if_readable
from ethos_review.engine import audit_chain
from ethos_review.engine.envelope import (
    KeyFileError,
    load_public_key,
    load_signer,
    load_signer_by_uri,
    public_key_pem,
    sign_payload,
    signer_of,
)
from ethos_review.engine.keys import TrustedKey
from ethos_review.reviews.models import Release, SigningKey

logger = logging.getLogger(__name__)
_CHANGED: Final = "it was changed in the database. Have `manage.py verify_audit` run."
UNREADABLE_KEY: Final = f"It cannot be read: {_CHANGED}"


def why_nothing_can_be_signed() -> str:
    """A sentence with the next step; empty when there is a usable signing key."""
    try:
        _signer()
    except KeyFileError as error:
        return str(error)
    return ""


def configured_key_id() -> str | None:
    """The id of the key that would sign; None when there is no usable one."""
    return None if why_nothing_can_be_signed() else _public_key().keyid


def why_retired(key: SigningKey) -> str:
    """Why the configured key signs no more, with the next step."""
    return (
        f"The configured key {key.key_id} was retired on {key.retired_at:%Y-%m-%d at %H:%M} UTC. "
        "Configure another one."
    )


def sign(payload: bytes) -> bytes:
    """The signed envelope. Raises KeyFileError."""
    return sign_payload(payload, _signer())


def key_in_use(actor: User | None, actor_name: str) -> SigningKey:
    """The public half of the key that signs now; its first use is an event.

    In a transaction that holds the chain, so that nobody retires it meanwhile. Raises KeyFileError, also for a key
    that was retired, or is kept otherwise than it is.
    """
    public = _public_key()
    try:
        key = kept_key(public.keyid)
    except SigningKey.DoesNotExist:
        return _keep(public, actor, actor_name)
    trusted_key(key)
    if key.retired_at is not None:
        raise KeyFileError(why_retired(key))
    return key


def _keep(public: SSlibKey, actor: User | None, actor_name: str) -> SigningKey:
    key = SigningKey.objects.create(
        key_id=public.keyid, public_pem=public_key_pem(public).decode(), first_used_at=timezone.now()
    )
    record_event(
        actor=actor,
        actor_name=actor_name,
        action="key_used",
        object_type="signing_key",
        object_id=key.key_id,
        details={"first_used_at": rfc3339(key.first_used_at)},
    )
    return key


def retire_key(*, key_id: str, actor: User | None, actor_name: str | None = None) -> SigningKey:
    """From now on, nothing that this key signs counts. Raises SigningKey.DoesNotExist, AppendOnlyError."""
    with transaction.atomic():
        lock_chain()  # a seal under way with this key comes before
        retired_at = timezone.now()
        key = SigningKey.objects.get(key_id=key_id)
        key.retire(retired_at)
        record_event(
            actor=actor,
            actor_name=actor_name,
            action="key_retired",
            object_type="signing_key",
            object_id=key_id,
            details={"retired_at": rfc3339(retired_at)},
        )
    return key


def take_checkpoint(*, actor: User | None, actor_name: str) -> Checkpoint:
    """The chain as it is now, signed; the one that there is when it has not grown since. Raises KeyFileError."""
    with transaction.atomic():
        lock_chain()
        key = key_in_use(actor, actor_name)
        head = lock_chain()
        kept = Checkpoint.objects.filter(length=head.length, sha256=head.sha256).first()
        if kept:
            return kept
        taken_at = timezone.now()
        state = audit_chain.Checkpoint(head.length, head.sha256, rfc3339(taken_at))
        envelope = sign(state.to_payload())
        return Checkpoint.objects.create(
            length=head.length,
            sha256=head.sha256,
            taken_at=taken_at,
            key_id=key.key_id,
            envelope=envelope,
            envelope_sha256=hashlib.sha256(envelope).hexdigest(),
        )


def trusted_keys() -> tuple[TrustedKey, ...]:
    """Every key that ever signed here, the oldest first, and the configured one.

    One that somebody changed in the database is left out, and the log says so. The configured one may be that one,
    and retired, so that it only counts then where it is kept.
    """
    keys: list[TrustedKey] = []
    complete = True
    for row, key in each_readable(SigningKey.objects.all()):
        why = why_not_trusted(key) if key else UNREADABLE_KEY
        if key and not why:
            keys.append(trusted_key(key))
        else:
            complete = False
            logger.error("The signing key in row %s is left out. %s", row, why)
    if complete and not why_nothing_can_be_signed():
        configured = _public_key()
        if configured.keyid not in {trusted.key.keyid for trusted in keys}:
            keys.append(TrustedKey(configured))
    return tuple(keys)


def trusted_key(key: SigningKey) -> TrustedKey:
    """Raises KeyFileError when what is kept is no public key, or not the one that its id names."""
    public = load_public_key(key.public_pem.encode())
    if public.keyid != key.key_id:
        raise KeyFileError(f"The public key that is kept for the id {key.key_id} is another one.")
    return TrustedKey(public, rfc3339(key.retired_at) if key.retired_at else None)


def kept_key(key_id: str) -> SigningKey:
    """Raises SigningKey.DoesNotExist, and KeyFileError for one that cannot be read."""
    return _readable_key(SigningKey.objects.values_list("pk", flat=True).get(key_id=key_id))


def key_of(release: Release) -> SigningKey:
    """Raises KeyFileError when it cannot be read."""
    return _readable_key(release.signing_key_id)


def _readable_key(row: int) -> SigningKey:
    key = if_readable(SigningKey.objects.all(), row)
    if key is None:
        raise KeyFileError(f"The signing key in row {row} cannot be read.")
    return key


def why_not_trusted(key: SigningKey) -> str:
    """What somebody changed of it in the database; empty for a key as it was kept."""
    try:
        trusted_key(key)
    except KeyFileError:
        return f"What is kept under its id is another key, or none: {_CHANGED}"
    return ""


def check_signing_key(app_configs: Sequence[Any] | None, **kwargs: Any) -> list[checks.CheckMessage]:
    """Production does not start without a key; a trial may, and then seals nothing."""
    why = why_nothing_can_be_signed()
    if not why:
        return []
    hint = "Make a key with `manage.py create_signing_key PATH` and set ETHOS_REVIEW_SIGNING_KEY_FILE=PATH."
    if settings.HTTPS and not settings.DEBUG:
        return [checks.Error(why, hint=hint, id="ethos_review.E001")]
    return [checks.Warning(f"Nothing can be sealed: {why}", hint=hint, id="ethos_review.W001")]


def _public_key() -> SSlibKey:
    return cast(SSlibKey, _signer().public_key)


def _signer() -> Signer:
    return _load(
        settings.SIGNING_KEY_FILE,
        settings.SIGNING_KEY,
        settings.SIGNING_KEY_URI,
        settings.SIGNING_PUBLIC_KEY_FILE,
        settings.SIGNING_KEY_PASSPHRASE,
    )


@lru_cache(maxsize=2)
def _load(path: str, pem: str, uri: str, public_path: str, passphrase: str) -> Signer:
    given = sum(map(bool, (path, pem, uri)))
    if not given:
        raise KeyFileError("No signing key is configured, so no review can be sealed.")
    if given > 1:
        raise KeyFileError(
            "More than one signing key is configured. Keep one of ETHOS_REVIEW_SIGNING_KEY_FILE, "
            "ETHOS_REVIEW_SIGNING_KEY and ETHOS_REVIEW_SIGNING_KEY_URI."
        )
    if uri:
        if not public_path:
            raise KeyFileError("Set ETHOS_REVIEW_SIGNING_PUBLIC_KEY_FILE to the public key of the signer.")
        return load_signer_by_uri(uri, Path(public_path), passphrase)
    if pem:
        return signer_of(pem.encode(), passphrase.encode() or None, "ETHOS_REVIEW_SIGNING_KEY")
    return load_signer(Path(path), passphrase.encode() or None)
