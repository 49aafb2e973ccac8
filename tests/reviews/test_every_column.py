"""Whoever changes any one column of any audited table is found out by `verify_audit`."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Final

import pytest
from django.apps import apps
from django.db import DataError, IntegrityError, connection, models, transaction
from pytest_django import Settings

from ethos_review.engine.envelope import write_key
from ethos_review.reviews import operations, signing
from ethos_review.reviews.models import Claim, Reading, Review, SearchText
from ethos_review.reviews.stored_forms import AUDITED
from ethos_review.reviews.verification import find_differences, one_snapshot
from tests.factories import bundle, decide, four_claims, make_review, make_reviewer, make_submitter

pytestmark = pytest.mark.django_db

NOT_AUDITED: Final = {
    "reviews.ReviewLease": "who is at work; no decision depends on it, and it passes by itself",
}
# No page shows these, and nothing that is shown follows from them.
UNBOUND: Final = {
    (
        Review,
        "again",
    ): "which showing of the form asked for one more review; it only keeps a form from making two",
}
IS_SQLITE: Final = connection.vendor == "sqlite"
# With no check left these alone take no other value: it would be the one of another row.
REFUSED: Final = {(SearchText, "review"), (Claim, "review"), (Reading, "review")}


def columns() -> list[tuple[type[models.Model], str]]:
    """All but the numbers of rows, by which nothing is named outside the database."""
    return [
        (model, field.name)
        for model in AUDITED
        for field in model._meta.concrete_fields
        if not (field.primary_key and field.auto_created)
    ]


def of_columns(columns: list[tuple[type[models.Model], str]]) -> pytest.MarkDecorator:
    names = [f"{model.__name__}.{name}" for model, name in columns]
    return pytest.mark.parametrize(("model", "name"), columns, ids=names)


@pytest.fixture
def rows(settings: Settings, tmp_path: Path) -> None:
    """Some of every kind: an undone decision, a changed mind, a copy, a superseding review, two policies and keys."""
    submitter, reviewer = make_submitter(), make_reviewer()
    make_reviewer("colleague")
    review, other = make_review(submitter), make_review(submitter, four_claims("Open?"))
    make_review(submitter, four_claims("Open?"), again=uuid.uuid4())
    decide(reviewer, other, 0, "block")
    operations.undo_decision(actor=reviewer, review_id=other.review_id, position=0, based_on=1)
    for position, outcome in ((1, "block"), (1, "approve"), (2, "block")):
        decide(reviewer, review, position, outcome)
    operations.seal_review(actor=reviewer, review_id=review.review_id)
    path = tmp_path / "policy.json"
    path.write_text('{"artifact_type": "ethos_review.policy.v1", "name": "lax", "version": "1"}')
    settings.POLICY_FILE = str(path)
    write_key(tmp_path / "next.pem")
    settings.SIGNING_KEY_FILE = str(tmp_path / "next.pem")
    four = four_claims("Again?")
    newer = make_review(
        submitter,
        bundle(
            _json(four[1]), _json(four[0]), _json(four[2]), supersedes=str(review.review_id), external_id="x"
        ),
    )
    for position in (1, 2):
        decide(reviewer, newer, position, "block")
    operations.seal_review(actor=reviewer, review_id=newer.review_id)
    signing.retire_key(key_id=review.release.signing_key.key_id, actor=None)
    assert found() == []


def _json(given: operations.Upload) -> Any:
    return json.loads(given.content)


def found() -> list[str]:
    with one_snapshot():
        return [str(difference) for difference in find_differences()]


def test_every_table_is_audited_or_has_a_reason() -> None:
    tables = {
        model._meta.label for app in ("audit", "reviews") for model in apps.get_app_config(app).get_models()
    }
    assert tables == {model._meta.label for model in AUDITED} | NOT_AUDITED.keys()


@pytest.mark.parametrize("place", ["first", "last"])
@of_columns([column for column in columns() if column not in UNBOUND])
def test_a_change_of_any_column_is_found(
    rows: None, model: type[models.Model], name: str, place: str
) -> None:
    field: Any = model._meta.get_field(name)
    kept = model._base_manager.exclude(**{name: None}).order_by("pk")
    row = getattr(kept, place)()
    written = 0
    for value in _others(field, getattr(row, field.attname)):
        prepared = field.get_db_prep_save(value, connection)
        with _changed(model, field, "%s", row.pk, [prepared]) as is_written:
            written += is_written
            assert not is_written or found() != [], value
    assert bool(written) is ((model, name) not in REFUSED)


@pytest.mark.skipif(not IS_SQLITE, reason="PostgreSQL stores a value in one form")
@of_columns(columns())
def test_a_value_that_is_stored_in_another_form_is_named_with_its_row(
    rows: None, model: type[models.Model], name: str
) -> None:
    field: Any = model._meta.get_field(name)
    row = model._base_manager.exclude(**{name: None}).order_by("pk").first()
    assert row is not None
    for form in _forms(field):
        with _changed(model, field, form.format(field.column), row.pk) as is_written:
            assert is_written
            told = found()
            assert any(
                line.startswith(f"{model._meta.verbose_name} in row ")
                and line.endswith(f"{field.column} is not stored in the form that this program writes")
                for line in told
            ), told


def _forms(field: Any) -> Iterator[str]:
    """Other ways to write down a value, many of which are read as the same."""
    yield "CAST({} AS TEXT)" if isinstance(field, models.BinaryField) else "CAST({} AS BLOB)"
    if isinstance(field, models.UUIDField):
        yield "'A' || upper(substr({}, 2))"
        yield "substr({0}, 1, 8) || '-' || substr({0}, 9)"
    if isinstance(field, models.DateTimeField):
        yield "replace({}, ' ', 'T')"
        yield "{} || '+00:00'"
        yield "2460000.5"


def _others(field: Any, value: Any) -> Iterator[Any]:
    """Other values that the column may take; of a reference, every other row, and none."""
    if field.is_relation:
        others = field.related_model._base_manager.exclude(pk=value).order_by("pk")
        yield from others.values_list("pk", flat=True)
    if field.null:
        yield None
    if field.choices:
        yield from (choice for choice, _ in field.choices if choice != value)
    if not field.is_relation:
        yield from _of_its_kind(field, value)


def _of_its_kind(field: Any, value: Any) -> tuple[Any, ...]:
    if isinstance(field, models.DateTimeField):
        return (datetime.fromisoformat("2020-01-01T00:00:00+00:00"), value + timedelta(microseconds=1))
    if isinstance(field, models.BooleanField):
        return (not value,)
    if isinstance(field, models.IntegerField):
        return (value + 1_000, value + 1, 0 if value else 2)
    if isinstance(field, models.UUIDField):
        return (uuid.uuid4(),)
    if isinstance(field, models.BinaryField):
        return (bytes(value)[:-1] + b"?", b"")
    changed = value[:-1] + ("1" if value[-1:] != "1" else "2") if value else "x"
    return tuple({changed, "", value.upper(), value.lower(), value.title()} - {value})


@contextmanager
def _changed(
    model: type[models.Model], field: Any, expression: str, pk: Any, values: Sequence[Any] = ()
) -> Iterator[bool]:
    """Past the product, and past every check, until the end; whether the database took it."""
    table, key = model._meta.db_table, model._meta.pk
    assert key is not None
    with _unchecked(model), transaction.atomic(), connection.cursor() as cursor:
        try:
            with transaction.atomic():
                cursor.execute(
                    f"UPDATE {table} SET {field.column} = {expression} WHERE {key.column} = %s",  # noqa: S608
                    [*values, key.get_db_prep_value(pk, connection)],
                )
        except (IntegrityError, DataError):
            yield False
        else:
            yield bool(cursor.rowcount)
        transaction.set_rollback(True)


@contextmanager
def _unchecked(model: type[models.Model]) -> Iterator[None]:
    with connection.cursor() as cursor:
        if IS_SQLITE:
            cursor.execute("PRAGMA ignore_check_constraints = ON")
            yield
            cursor.execute("PRAGMA ignore_check_constraints = OFF")
            return
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")  # a table that something waits for cannot be altered
        for constraint in model._meta.constraints:
            if isinstance(constraint, models.CheckConstraint):
                cursor.execute(
                    f"ALTER TABLE {model._meta.db_table} DROP CONSTRAINT IF EXISTS {constraint.name}"
                )
        yield
