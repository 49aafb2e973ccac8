"""The policy as data: every setting that shapes an outcome, with a digest."""

from __future__ import annotations

import hashlib
from dataclasses import asdict, dataclass, field
from decimal import Decimal
from functools import lru_cache
from typing import Final, cast

import rfc8785

from ethos_review.engine.contracts import check_against_schema
from ethos_review.engine.documents import Document, Json, Limits


@dataclass(frozen=True, slots=True)
class Policy:
    name: str = "conservative"
    version: str = "1"
    separate_duties: bool = True
    reviewed_synthesis: bool = True
    auto_seal: str = "never"  # never | nothing_to_review
    contract_version: str = "auto"  # auto | 1.0.0 | 1.1.0
    require_signed_reports: bool = False
    limits: Limits = field(default_factory=Limits)

    @classmethod
    def from_json(cls, value: Json) -> Policy:
        """The policy of a document that its schema accepts; what is not set keeps its default."""
        settings = {
            name: setting
            for name, setting in cast("dict[str, Json]", value).items()
            if name != "artifact_type"
        }
        limits = cast("dict[str, int | Decimal]", settings.pop("limits", {}))
        return cls(**settings, limits=Limits(**{name: int(limit) for name, limit in limits.items()}))  # type: ignore[arg-type]

    def to_json(self) -> dict[str, Json]:
        """Every setting, also those at their default."""
        return cast("dict[str, Json]", asdict(self))

    @property
    def sha256(self) -> str:
        """SHA-256 (hex) over the canonical JSON of all settings."""
        return _sha256(self)


@lru_cache(maxsize=64)
def _sha256(policy: Policy) -> str:
    return hashlib.sha256(rfc8785.dumps(cast("dict[str, str]", policy.to_json()))).hexdigest()


DEFAULT_POLICY: Final = Policy()


def load_policy(document: Document) -> Policy:
    """The policy in a document with role `policy`. Raises DocumentError when its schema refuses it."""
    check_against_schema(document.role, document.value, "policy")
    return Policy.from_json(document.value)
