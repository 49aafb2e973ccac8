"""The policy in force and the verifier keys, read once from the files that the settings name."""

from __future__ import annotations

import json
from functools import lru_cache
from pathlib import Path

import rfc8785
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.db.models import QuerySet
from django.utils import timezone

from ethos_review.engine.documents import read_document
from ethos_review.engine.dsse import load_verifier_key
from ethos_review.engine.errors import DocumentError
from ethos_review.engine.policy import DEFAULT_POLICY, Policy, load_policy
from ethos_review.reviews.models import KeptBytesChanged, PolicyRecord


def current_policy() -> Policy:
    """The policy in force. Raises ImproperlyConfigured, naming what is wrong with its file."""
    return _read_policy(settings.POLICY_FILE)


def verifier_keys() -> tuple[bytes, ...]:
    """The PEM public keys whose signed reports are believed. Raises ImproperlyConfigured."""
    return _read_keys(tuple(settings.VERIFIER_KEY_FILES))


def key_that_signed(key_id: str | None) -> str:
    """The PEM of the configured verifier key with this id; empty for an unsigned report."""
    if key_id is None:
        return ""
    return next(pem for pem in verifier_keys() if load_verifier_key(pem).keyid == key_id).decode()


def record_of(policy: Policy) -> PolicyRecord:
    """Kept from the first use on, so that what was decided under it can be replayed."""
    record, _ = PolicyRecord.objects.get_or_create(
        sha256=policy.sha256,
        defaults={
            "name": policy.name,
            "version": policy.version,
            "content": rfc8785.dumps(policy.to_json()).decode(),  # type: ignore[arg-type]
            "first_used_at": timezone.now(),
        },
    )
    return record


def policy_with(sha256: str) -> Policy:
    """The policy in force or one used before, by its digest. Raises PolicyRecord.DoesNotExist."""
    in_force = current_policy()
    return in_force if in_force.sha256 == sha256 else policy_of(PolicyRecord.objects.get(sha256=sha256))


def used_policies() -> QuerySet[PolicyRecord]:
    """Every policy that a review was decided under, the latest first."""
    return PolicyRecord.objects.order_by("-id")


def policy_of(record: PolicyRecord) -> Policy:
    """Raises KeptBytesChanged."""
    try:
        policy = _parse_kept_policy(record.content)
    except (ValueError, KeyError, TypeError, AttributeError):
        policy = None
    if policy is None or policy.sha256 != record.sha256:
        raise changed(f"The kept policy {record.name} {record.version} is not what its digest names.")
    return policy


def changed(what: str) -> KeptBytesChanged:
    return KeptBytesChanged(f"{what} Nothing can be decided on it; have `manage.py verify_audit` run.")


@lru_cache(maxsize=8)
def _read_policy(path: str) -> Policy:
    if not path:
        return DEFAULT_POLICY
    try:
        return load_policy(read_document("policy", path, Path(path).read_bytes()))
    except OSError as error:
        raise ImproperlyConfigured(f"The policy file {path} cannot be read: {error.strerror}.") from None
    except DocumentError as refused:
        problems = "; ".join(f"{p.pointer or 'the document'}: {p.message}" for p in refused.problems)
        raise ImproperlyConfigured(f"The policy file {path} cannot be used: {problems}") from None


@lru_cache(maxsize=8)
def _read_keys(paths: tuple[str, ...]) -> tuple[bytes, ...]:
    keys = []
    for path in paths:
        try:
            keys.append(Path(path).read_bytes())
            load_verifier_key(keys[-1])
        except OSError as error:
            raise ImproperlyConfigured(f"The verifier key {path} cannot be read: {error.strerror}.") from None
        except ValueError as error:
            raise ImproperlyConfigured(f"The verifier key {path} cannot be used: {error}") from None
    return tuple(keys)


@lru_cache(maxsize=64)
def _parse_kept_policy(content: str) -> Policy:
    return Policy.from_json(json.loads(content))
