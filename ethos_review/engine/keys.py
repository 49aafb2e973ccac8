"""Whose signatures count: public keys, and the time from which each of them no longer signs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, cast

from securesystemslib.signer import SSlibKey  # type: ignore[attr-defined]

from ethos_review.engine.contracts import check_against_schema
from ethos_review.engine.documents import Json, read_document
from ethos_review.engine.dsse import load_verifier_key, public_key_pem
from ethos_review.engine.errors import DocumentError, Problem, join_pointer

KEY_SET_TYPE: Final = "ethos_review.key_set.v1"


@dataclass(frozen=True, slots=True)
class TrustedKey:
    """A public key, with the RFC 3339 time in UTC from which its signatures no longer count."""

    key: SSlibKey
    retired_at: str | None = None

    def signs_at(self, at: datetime) -> bool:
        return self.retired_at is None or at < datetime.fromisoformat(self.retired_at)


def key_ids_in_force(key_ids: Iterable[str], keys: Sequence[TrustedKey], at: datetime) -> tuple[str, ...]:
    """Those of `key_ids` whose key still signed at that time. Listed twice, a key ends when the first one does."""
    retired = {trusted.key.keyid for trusted in keys if not trusted.signs_at(at)}
    return tuple(key_id for key_id in key_ids if key_id not in retired)


def retired_since(key_ids: Iterable[str], keys: Sequence[TrustedKey]) -> str | None:
    """The time from which none of these keys signs any more; None while one of them does."""
    ends: list[str] = []
    for key_id in key_ids:
        times = [key.retired_at for key in keys if key.key.keyid == key_id and key.retired_at is not None]
        if not times:
            return None
        ends.append(min(times, key=datetime.fromisoformat))
    return max(ends, key=datetime.fromisoformat, default=None)


def read_key_set(name: str, content: bytes) -> tuple[TrustedKey, ...]:
    """The keys of a key set document, as served at `/.well-known/ethos-review-keys.json`.

    Raises DocumentError; also for a key that is not the one which its id names.
    """
    value = read_document("key_set", name, content).value
    check_against_schema("key_set", value, "key-set")
    problems: list[Problem] = []
    keys: list[TrustedKey] = []
    for position, entry in enumerate(cast("dict[str, Any]", value)["keys"]):
        place = join_pointer("/keys", position)
        try:
            key = load_verifier_key(entry["public_key"].encode())
        except ValueError as error:
            problems.append(Problem("key_set", f"{place}/public_key", "not_a_public_key", str(error)))
            continue
        if key.keyid != entry["key_id"]:
            message = f"The id of this public key is {key.keyid}. Get the key set from its server again."
            problems.append(Problem("key_set", f"{place}/key_id", "wrong_key_id", message))
        if entry["retired_at"] is not None and read_time(entry["retired_at"]) is None:
            message = "No calendar or clock shows this time. Get the key set from its server again."
            problems.append(Problem("key_set", f"{place}/retired_at", "not_a_time", message))
        keys.append(TrustedKey(key, entry["retired_at"]))
    if problems:
        raise DocumentError(problems)
    return tuple(keys)


def key_set_to_json(keys: Iterable[TrustedKey]) -> dict[str, Json]:
    """The key set document that `read_key_set` reads."""
    return {
        "artifact_type": KEY_SET_TYPE,
        "keys": [
            {
                "key_id": trusted.key.keyid,
                "public_key": public_key_pem(trusted.key).decode(),
                "retired_at": trusted.retired_at,
            }
            for trusted in keys
        ],
    }


def read_time(text: str) -> datetime | None:
    """A time that a schema has found well formed; None for one that no clock shows, such as 30 February."""
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return None
