"""Verifying a release: the one answer that the command and the Verify page give (spec 2.7, 4.1)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, cast

from ethos_review.engine.documents import Json
from ethos_review.engine.envelope import EnvelopeError, OpenedRelease, open_release
from ethos_review.engine.errors import quoted
from ethos_review.engine.keys import TrustedKey, retired_since

SUMMARY: Final = (
    "review_id",
    "external_id",
    "question",
    "sealed_at",
    "sealed_by",
    "policy",
    "engine",
    "release",
)

# What a condition may ask for, with its place in the predicate. Of a list, one entry has to be equal.
CONDITION_PLACES: Final = {
    "answer_status": ("release", "answer_status"),
    "relevance": ("release", "relevance"),
    "released": ("release", "released_claim_ids"),
    "withheld": ("release", "withheld_claim_ids"),
    "disclosures": ("release", "disclosures"),
    "proof_status": ("contract_decision", "grounding", "proof_status"),
    "contract_version": ("engine", "contract_version"),
    "engine_version": ("engine", "version"),
    "policy": ("policy", "name"),
    "policy_version": ("policy", "version"),
    "review_id": ("review_id",),
    "external_id": ("external_id",),
    "sealed_by": ("sealed_by", "id"),
}


@dataclass(frozen=True, slots=True)
class Condition:
    """`name=value,…` asks for one of the values, `name!=value,…` for none of them."""

    name: str
    values: frozenset[str]
    negated: bool
    text: str  # as given

    def holds(self, predicate: dict[str, Any]) -> bool:
        found: Any = predicate
        for member in CONDITION_PLACES[self.name]:
            found = found[member]
        there = set(found if isinstance(found, list) else [found])
        return bool(there & self.values) != self.negated


def parse_condition(text: str) -> Condition:
    """Raises ValueError, ready to show."""
    left, equals, right = text.partition("=")
    name, negated = left.removesuffix("!"), left.endswith("!")
    if not equals or name not in CONDITION_PLACES:
        raise ValueError(
            f"{quoted(text)} is no condition. Write name=value or name!=value, several values with commas. "
            f"Names: {', '.join(CONDITION_PLACES)}."
        )
    return Condition(name, frozenset(right.split(",")), negated, text)


@dataclass(frozen=True, slots=True)
class GivenDocument:
    name: str
    sha256: str


@dataclass(frozen=True, slots=True)
class Verification:
    """What an envelope proves. Without `release` nothing in it is to be believed."""

    code: str  # empty when it is valid
    message: str
    release: OpenedRelease | None = None
    documents_checked: tuple[str, ...] = ()  # names of subjects that a given document is
    documents_not_checked: tuple[str, ...] = ()  # names of the other subjects
    foreign_documents: tuple[str, ...] = ()  # names of given documents that are no subject
    unmet_conditions: tuple[str, ...] = ()
    key_retired_at: str | None = None  # when no key that signed it is in force any more

    @property
    def remark(self) -> str:
        """What a signature cannot show; empty when there is nothing to say."""
        if self.key_retired_at is None:
            return ""
        return (
            f"Its key was retired at {self.key_retired_at}. Whoever has stolen the key can have signed this later and "
            "written an earlier time into it; only the audit chain of its server shows that it was sealed before."
        )

    @property
    def valid(self) -> bool:
        return not self.code

    def to_json(self) -> dict[str, Json]:
        refusal: dict[str, Json] = {"code": self.code, "message": self.message} if self.code else {}
        if self.release is None:
            return {"valid": self.valid, **refusal}
        predicate = cast("dict[str, Json]", self.release.statement["predicate"])
        return {
            "valid": self.valid,
            **refusal,
            "key_ids": list(self.release.key_ids),
            "key_retired_at": self.key_retired_at,
            **{member: predicate[member] for member in SUMMARY},
            "documents_checked": list(self.documents_checked),
            "documents_not_checked": list(self.documents_not_checked),
            "foreign_documents": list(self.foreign_documents),
            "unmet_conditions": list(self.unmet_conditions),
        }


def verify_release(
    envelope: bytes,
    keys: Sequence[TrustedKey],
    documents: Sequence[GivenDocument] = (),
    conditions: Sequence[Condition] = (),
) -> Verification:
    """Signature, payload type, Statement and predicate type, schema, key state at the seal; then that every given
    document is a subject; then the conditions. The first that fails decides the code.
    """
    try:
        release = open_release(envelope, keys)
    except EnvelopeError as refused:
        return Verification(refused.code, refused.message)
    subjects = cast("list[dict[str, Any]]", release.statement["subject"])
    names = {subject["digest"]["sha256"]: subject["name"] for subject in subjects}
    given = {document.sha256 for document in documents}
    foreign = tuple(document.name for document in documents if document.sha256 not in names)
    predicate = cast("dict[str, Any]", release.statement["predicate"])
    unmet = tuple(condition.text for condition in conditions if not condition.holds(predicate))
    code = message = ""
    if foreign:
        code = "foreign_document"
        message = f"The release was not made from {', '.join(foreign)}."
    elif unmet:
        code, message = "condition_not_met", f"The release does not meet {', '.join(unmet)}."
    return Verification(
        code=code,
        message=message,
        release=release,
        documents_checked=tuple(
            subject["name"] for subject in subjects if subject["digest"]["sha256"] in given
        ),
        documents_not_checked=tuple(
            subject["name"] for subject in subjects if subject["digest"]["sha256"] not in given
        ),
        foreign_documents=foreign,
        unmet_conditions=unmet,
        key_retired_at=retired_since(release.key_ids, keys),
    )
