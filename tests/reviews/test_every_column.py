"""Whoever changes any one column of any audited table is found out by `verify_audit`."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any, Final

import pytest
from django.apps import apps
from django.db import IntegrityError, connection, models, transaction
from pytest_django import Settings

from ethos_review.audit.models import ChainHead, Checkpoint, Event
from ethos_review.engine.envelope import write_key
from ethos_review.reviews import operations, signing
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
from ethos_review.reviews.verification import find_differences, one_snapshot
from tests.factories import bundle, decide, four_claims, make_review, make_reviewer, make_submitter

pytestmark = pytest.mark.django_db

AUDITED: Final = (
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


def columns() -> list[tuple[type[models.Model], str]]:
    """All but the numbers of rows, by which nothing is named outside the database."""
    return [
        (model, field.name)
        for model in AUDITED
        for field in model._meta.concrete_fields
        if (model, field.name) not in UNBOUND and not (field.primary_key and field.auto_created)
    ]


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
@pytest.mark.parametrize(
    ("model", "name"), columns(), ids=[f"{model.__name__}.{name}" for model, name in columns()]
)
def test_a_change_of_any_column_is_found(
    rows: None, model: type[models.Model], name: str, place: str
) -> None:
    field: Any = model._meta.get_field(name)
    kept = model._base_manager.exclude(**{name: None}).order_by("pk")
    row = getattr(kept, place)()
    for value in _others(field, getattr(row, field.attname)):
        if _write(model, field, value, row.pk):
            assert found() != []
            return
    pytest.skip("this database refuses every such value")


def _others(field: Any, value: Any) -> Iterator[Any]:
    """Other values that the column may take; of a reference, every other row, and none."""
    if field.is_relation:
        others = field.related_model._base_manager.exclude(pk=value).order_by("pk")
        yield from others.values_list("pk", flat=True)
    if field.null:
        yield None
    if not field.is_relation:
        yield _other(field, value)


def _other(field: Any, value: Any) -> Any:
    if isinstance(field, models.DateTimeField):
        return datetime.fromisoformat("2020-01-01T00:00:00+00:00")
    if isinstance(field, models.BooleanField):
        return not value
    if isinstance(field, models.IntegerField):
        return value + 1_000
    if isinstance(field, models.UUIDField):
        return uuid.uuid4()
    if isinstance(field, models.BinaryField):
        return bytes(value)[:-1] + b"?"
    if field.choices:
        return next(choice for choice, _ in field.choices if choice != value)
    return value[:-1] + ("1" if value[-1:] != "1" else "2") if value else "x"


def _write(model: type[models.Model], field: Any, value: Any, pk: Any) -> bool:
    """Past the product, and past what SQLite can be told to let pass; whether the database took it."""
    table, key = model._meta.db_table, model._meta.pk
    assert key is not None
    is_sqlite = connection.vendor == "sqlite"
    try:
        with transaction.atomic(), connection.cursor() as cursor:
            if is_sqlite:
                cursor.execute("PRAGMA ignore_check_constraints = ON")
            cursor.execute(
                f"UPDATE {table} SET {field.column} = %s WHERE {key.column} = %s",  # noqa: S608
                [field.get_db_prep_save(value, connection), key.get_db_prep_value(pk, connection)],
            )
            return bool(cursor.rowcount)
    except IntegrityError:
        return False
    finally:
        if is_sqlite:
            with connection.cursor() as cursor:
                cursor.execute("PRAGMA ignore_check_constraints = OFF")
