"""Whether each value is stored in the form that this program writes: SQLite takes any value into any column.

A text as a BLOB, or an id in capitals, is read as if nothing had happened, or not at all, and is found by no query.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from django.db import connection, models

from ethos_review.audit.models import ChainHead, Checkpoint, Event
from ethos_review.reviews.models import (
    Claim,
    Document,
    PolicyRecord,
    Reading,
    Release,
    Review,
    ReviewerDecision,
    SearchText,
    SigningKey,
)

AUDITED: Final[tuple[type[models.Model], ...]] = (
    Event,
    ChainHead,
    Checkpoint,
    PolicyRecord,
    SigningKey,
    Review,
    SearchText,
    Document,
    Claim,
    Reading,
    ReviewerDecision,
    Release,
)
_SECOND: Final = "[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9] [0-9][0-9]:[0-9][0-9]:[0-9][0-9]"
_MICROSECOND: Final = f"{_SECOND}.[0-9][0-9][0-9][0-9][0-9][0-9]"


def stored_otherwise() -> Iterator[tuple[str, str]]:
    """Each row in which something is, with its columns; none where the database itself keeps to its types."""
    if connection.vendor == "sqlite":
        for model in AUDITED:
            yield from _stored_otherwise(model)


def _stored_otherwise(model: type[models.Model]) -> Iterator[tuple[str, str]]:
    fields = model._meta.concrete_fields
    tests = [_is_otherwise(field) for field in fields]
    named = f"SELECT rowid, {', '.join(tests)} FROM {model._meta.db_table}"  # noqa: S608 - no value is in it
    with connection.cursor() as cursor:
        cursor.execute(f"{named} WHERE {' OR '.join(tests)} ORDER BY rowid")
        for row, *are_otherwise in cursor.fetchall():
            columns = (str(field.column) for field, wrong in zip(fields, are_otherwise, strict=True) if wrong)
            yield f"{model._meta.verbose_name} in row {row}", ", ".join(columns)


def _is_otherwise(field: Any) -> str:
    """The condition in SQL; a value that is not there has no form."""
    column, kind = f'"{field.column}"', _kind(field)
    test = f"typeof({column}) <> '{_STORED_AS[kind]}'"
    if kind is models.UUIDField:
        test += f" OR length({column}) <> 32 OR {column} GLOB '*[^0-9a-f]*'"
    elif kind is models.DateTimeField:
        test += f" OR NOT ({column} GLOB '{_SECOND}' OR {column} GLOB '{_MICROSECOND}')"
        test += f" OR {column} GLOB '*.000000'"
    return f"({column} IS NOT NULL AND ({test}))"


def _kind(field: Any) -> type[models.Field[Any, Any]]:
    while field.is_relation:
        field = field.target_field
    return next(kind for kind in _STORED_AS if isinstance(field, kind))


_STORED_AS: Final[dict[type[models.Field[Any, Any]], str]] = {
    models.IntegerField: "integer",
    models.BooleanField: "integer",
    models.CharField: "text",
    models.TextField: "text",
    models.UUIDField: "text",
    models.DateTimeField: "text",
    models.BinaryField: "blob",
}
