"""The claims document: the question, the answer cut into claims, the values they deliver (spec 2.3)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import NotRequired, TypedDict, cast

from ethos_review.engine.contracts import check_against_schema
from ethos_review.engine.documents import Document, Json, check_entries
from ethos_review.engine.errors import MAX_PROBLEMS, DocumentError, Problem, quoted


class _DeliveredJson(TypedDict):
    """One of `delivers`, once the schema has accepted it."""

    entity: str
    field: str
    value: NotRequired[Json]
    answer_field: NotRequired[str]
    normalization: NotRequired[str]


class _ClaimJson(TypedDict):
    """One claim, once the schema has accepted it."""

    id: str
    text: str
    question_relevance: str
    claim_type: str
    check_ids: NotRequired[list[str]]
    check_id: NotRequired[str]
    citation_grounded: NotRequired[bool]
    claim_support: NotRequired[str]
    delivers: NotRequired[list[_DeliveredJson]]


@dataclass(frozen=True, slots=True)
class DeliveredValue:
    """The typed value a claim asserts about (entity, field); not stated when the answer leaves it out."""

    entity: str
    field: str
    normalization: str  # auto | text | number | boolean | exact | set
    stated: bool
    value: Json  # None when not stated


@dataclass(frozen=True, slots=True)
class Claim:
    id: str
    text: str
    question_relevance: str  # direct_answer | supports_answer | background_only | unrelated
    claim_type: str  # source_fact | synthesis | unsupported
    check_ids: tuple[str, ...]  # empty when the claim cites no check
    citation_grounded: bool | None  # as stated by the application; None when it says nothing
    claim_support: str | None  # supported | unsupported | contradicted | not_evaluated
    delivers: tuple[DeliveredValue, ...]


@dataclass(frozen=True, slots=True)
class AnswerClaims:
    question: str
    verification_report_ref: str | None
    notes: tuple[str, ...] | None
    claims: tuple[Claim, ...]


def read_claims(document: Document) -> AnswerClaims:
    """The claims in `document` (spec 2.3).

    Raises DocumentError (schema, ids used twice). Whether the report has the checks that claims cite is for
    the contract decision to say.
    """
    if isinstance(document.value, dict):
        check_entries(document, document.value.get("claims"), "/claims", "claims")
    check_against_schema(document.role, document.value, "claims")
    value = cast("dict[str, Json]", document.value)
    entries = cast("list[_ClaimJson]", value["claims"])
    problems = list(islice(_repeated_ids(document.role, entries), MAX_PROBLEMS))
    if problems:
        raise DocumentError(problems)
    answer = value.get("answer")
    notes = value.get("notes")
    return AnswerClaims(
        question=cast(str, value["question"]),
        verification_report_ref=cast("str | None", value.get("verification_report_ref")),
        notes=None if notes is None else tuple(cast("list[str]", notes)),
        claims=tuple([_claim(entry, answer) for entry in entries]),
    )


def _repeated_ids(role: str, entries: list[_ClaimJson]) -> Iterator[Problem]:
    if len({entry["id"] for entry in entries}) == len(entries):
        return
    first_use: dict[str, int] = {}
    for position, entry in enumerate(entries):
        claim_id = entry["id"]
        first = first_use.setdefault(claim_id, position)
        if first != position:
            yield Problem(
                role,
                f"/claims/{position}/id",
                "duplicate_claim_id",
                f"Claims {first} and {position} have the same id {quoted(claim_id)}. Give each its own.",
            )


def _claim(entry: _ClaimJson, answer: Json) -> Claim:
    check_id = entry.get("check_id")
    delivers = entry.get("delivers")
    return Claim(
        entry["id"],
        entry["text"],
        entry["question_relevance"],
        entry["claim_type"],
        tuple(entry.get("check_ids", ())) if check_id is None else (check_id,),
        entry.get("citation_grounded"),
        entry.get("claim_support"),
        tuple([_delivered_value(value, answer) for value in delivers]) if delivers else (),
    )


def _delivered_value(entry: _DeliveredJson, answer: Json) -> DeliveredValue:
    if "value" in entry:
        stated, value = True, entry["value"]
    else:
        stated, value = _look_up(answer, entry["answer_field"])
    return DeliveredValue(entry["entity"], entry["field"], entry.get("normalization", "auto"), stated, value)


def _look_up(answer: Json, path: str) -> tuple[bool, Json]:
    """Whether the structured answer states `path`, a dot path through its objects, and the value there."""
    for name in path.split("."):
        if not isinstance(answer, dict) or name not in answer:
            return False, None
        answer = answer[name]
    return True, answer
