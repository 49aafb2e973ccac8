from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.db import IntegrityError, connection, models, transaction
from django.db.models import ProtectedError

import ethos_review
from ethos_review.accounts.models import User
from ethos_review.audit.models import AppendOnlyError, AppendOnlyModel, Event
from ethos_review.reviews.models import (
    Claim,
    Document,
    PolicyRecord,
    Reading,
    Release,
    Review,
    ReviewerDecision,
    SigningKey,
)
from ethos_review.reviews.operations import decide_claim, seal_review
from ethos_review.reviews.queries import open_card
from tests.factories import make_review, make_reviewer, make_submitter

pytestmark = pytest.mark.django_db

APPEND_ONLY: tuple[type[AppendOnlyModel], ...] = (
    Document,
    Event,
    PolicyRecord,
    Reading,
    Release,
    ReviewerDecision,
    SigningKey,
)


@pytest.fixture
def review() -> Review:
    """Sealed, so that there is a row of everything."""
    review, reviewer = make_review(make_submitter()), make_reviewer()
    for position in (1, 2):
        decide_claim(
            actor=reviewer,
            review_id=review.review_id,
            position=position,
            outcome="approve",
            rationale="Read it.",
            shown_sha256=open_card(reviewer, review.review_id, position).shown_sha256,
            based_on=0,
        )
    seal_review(actor=reviewer, review_id=review.review_id)
    return Review.objects.get()


def write(sql: str, values: list[Any]) -> None:
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(sql, values)


@pytest.mark.parametrize("model", APPEND_ONLY)
def test_a_row_that_is_only_added_is_never_saved_again(review: Review, model: type[AppendOnlyModel]) -> None:
    row = model.objects.first()
    assert row is not None
    with pytest.raises(AppendOnlyError):
        row.save()


@pytest.mark.parametrize("model", APPEND_ONLY)
def test_a_row_that_is_only_added_is_never_deleted(review: Review, model: type[AppendOnlyModel]) -> None:
    row = model.objects.first()
    assert row is not None
    with pytest.raises(AppendOnlyError):
        row.delete()
    with pytest.raises(AppendOnlyError):
        model.objects.all().delete()


@pytest.mark.parametrize("method", ["update", "bulk_update", "update_or_create", "delete"])
@pytest.mark.parametrize("model", APPEND_ONLY)
def test_no_bulk_road_leads_to_a_row_that_is_only_added(
    review: Review, model: type[AppendOnlyModel], method: str
) -> None:
    with pytest.raises(AppendOnlyError):
        getattr(model.objects.all(), method)()


@pytest.mark.parametrize("model", [Review, Claim, User])
def test_what_others_rest_on_cannot_be_deleted(review: Review, model: type[models.Model]) -> None:
    with pytest.raises(ProtectedError):
        model._default_manager.all().delete()


@pytest.mark.parametrize(
    ("model", "columns"),
    [
        (Review, {"undecided_count": 1}),
        (Review, {"status": "needs_review"}),
        (Review, {"status": "released"}),
        (Review, {"released_count": 4}),
        (Review, {"content_sha256": "0"}),
        (Claim, {"action": "show_final", "contract_action": "block"}),
        (Claim, {"action": "needs_review", "contract_action": "block"}),
        (Claim, {"action": "released"}),
        (Claim, {"contract_action": "released"}),
        (Claim, {"turns": 0}),
        (Claim, {"position": -1}),
        (Document, {"size": 1}),
        (Document, {"sha256": "0"}),
        (Document, {"role": "report"}),
        (ReviewerDecision, {"outcome": "undo"}),
        (ReviewerDecision, {"outcome": "maybe"}),
        (ReviewerDecision, {"outcome": "block", "rationale": ""}),
        (ReviewerDecision, {"sequence": 2}),
        (ReviewerDecision, {"shown_sha256": "0"}),
        (Release, {"answer_status": "approved"}),
        (Release, {"envelope_sha256": "0"}),
        (Event, {"sequence": 0}),
        (PolicyRecord, {"sha256": "0"}),
    ],
)
def test_the_database_refuses_what_cannot_be(
    review: Review, model: type[models.Model], columns: dict[str, Any]
) -> None:
    table, decided = model._meta.db_table, " AND position = 1" if model is Claim else ""
    some_row = f"SELECT MIN({model._meta.pk.column}) FROM {table} WHERE 1 = 1{decided}"  # type: ignore[union-attr] # noqa: S608
    changes = ", ".join(f"{column} = %s" for column in columns)

    with pytest.raises(IntegrityError):
        write(
            f"UPDATE {table} SET {changes} WHERE {model._meta.pk.column} = ({some_row})",  # type: ignore[union-attr] # noqa: S608
            list(columns.values()),
        )


def test_a_blocked_claim_takes_no_decision(review: Review) -> None:
    decision = ReviewerDecision.objects.get(claim__position=1)
    write("UPDATE reviews_claim SET decision_id = NULL WHERE decision_id = %s", [decision.pk])

    with pytest.raises(IntegrityError):
        write("UPDATE reviews_claim SET decision_id = %s, turns = 1 WHERE action = 'block'", [decision.pk])


def test_a_decision_is_current_for_one_claim_only(review: Review) -> None:
    decision = ReviewerDecision.objects.get(claim__position=1)

    with pytest.raises(IntegrityError):
        write("UPDATE reviews_claim SET decision_id = %s WHERE position = 2", [decision.pk])


@pytest.mark.parametrize("same", ["claim_id_sha256", "position"])
def test_claims_of_a_review_are_told_apart(review: Review, same: str) -> None:
    source = f"(SELECT {same} FROM reviews_claim WHERE claim_id = 'fact')"  # noqa: S608

    with pytest.raises(IntegrityError):
        write(f"UPDATE reviews_claim SET {same} = {source} WHERE claim_id = 'missing'", [])  # noqa: S608


def test_a_review_has_one_release(review: Review) -> None:
    release = Release.objects.get()
    release.pk, release._state.adding = None, True  # type: ignore[assignment]

    with pytest.raises(IntegrityError), transaction.atomic():
        release.save()


def test_a_turn_of_a_claim_is_taken_once(review: Review) -> None:
    decision = ReviewerDecision.objects.get(claim__position=1)
    decision.pk, decision._state.adding = None, True  # type: ignore[assignment]

    with pytest.raises(IntegrityError), transaction.atomic():
        decision.save()


def test_there_is_one_review_per_set_of_bytes_and_copy(review: Review) -> None:
    review.pk, review.review_id = None, "00000000-0000-4000-8000-000000000000"  # type: ignore[assignment]

    with pytest.raises(IntegrityError), transaction.atomic():
        review.save(force_insert=True)


def test_sqlite_waits_keeps_readers_going_and_knows_foreign_keys() -> None:
    if connection.vendor != "sqlite":
        pytest.skip("settings of SQLite")
    with connection.cursor() as cursor:
        held = {
            name: cursor.execute(f"PRAGMA {name}").fetchone()[0]
            for name in ("journal_mode", "synchronous", "foreign_keys", "busy_timeout")
        }

    assert held == {"journal_mode": "wal", "synchronous": 2, "foreign_keys": 1, "busy_timeout": 20_000}
    assert connection.transaction_mode == "IMMEDIATE"  # type: ignore[attr-defined]


WRITES_ROWS = {  # the only modules that may write around the models' own save()
    "reviews/operations.py",
    "audit/operations.py",
    "accounts/operations.py",  # second factors, which only their own events record
    "accounts/second_factor.py",
    "reviews/leases.py",  # leases only: nothing that is audited
}
READS_WITH_SQL = {"reviews/queue.py", "reviews/verification.py", "reviews/stored_forms.py"}
BULK_ROADS = {
    "update",
    "delete",
    "bulk_update",
    "update_or_create",
    "bulk_create",
    "raw",
    "extra",
    "_raw_delete",
}
SQL_ROADS = {"cursor", "execute", "executemany", "executescript"}


def roads_in(module: Path) -> Iterator[tuple[str, int]]:
    """Calls that could change rows in bulk or by SQL. `update` of a dict or a digest takes a positional argument."""
    for node in ast.walk(ast.parse(module.read_text())):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            name = node.func.attr
            of_a_dict = name == "update" and (node.args or ast.unparse(node.func.value) == "os.environ")
            if name in SQL_ROADS or (name in BULK_ROADS and not of_a_dict):
                yield name, node.lineno


def test_nothing_writes_around_the_operations() -> None:
    package = Path(ethos_review.__file__).parent
    found = {
        f"{module.relative_to(package)}:{line} {road}"
        for module in package.rglob("*.py")
        if "migrations" not in module.parts and str(module.relative_to(package)) not in WRITES_ROWS
        for road, line in roads_in(module)
        if not (str(module.relative_to(package)) in READS_WITH_SQL and road in SQL_ROADS)
        if "engine" not in module.parts
    }

    assert found == set()


def test_the_search_for_roads_finds_them(tmp_path: Path) -> None:
    module = tmp_path / "module.py"
    module.write_text(
        "Review.objects.update(status='sealed')\n"
        "Event.objects.all().delete()\n"
        "connection.cursor().execute('DELETE FROM audit_event')\n"
        "digest.update(b'')\n"
    )

    assert sorted(roads_in(module)) == [("cursor", 3), ("delete", 2), ("execute", 3), ("update", 1)]
