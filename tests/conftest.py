"""Fixtures for every test."""

from __future__ import annotations

import io
import logging
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from django.apps import apps
from django.conf import settings as django_settings
from django.db.models.signals import post_migrate
from django.utils.module_loading import import_string
from pytest_django import Settings

from ethos_review.engine.envelope import write_key
from tests.reviews.policies import PutInForce

DATABASE_FIXTURES = {
    "db",
    "transactional_db",
    "django_db_reset_sequences",
    "django_db_serialized_rollback",
    "client",
    "live_server",
}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.get_closest_marker("django_db") or DATABASE_FIXTURES & set(getattr(item, "fixturenames", ())):
            item.add_marker(pytest.mark.database)


def _restore_migrated_rows(**kwargs: Any) -> None:
    import_module("ethos_review.accounts.migrations.0002_roles").create_roles(apps, None)
    import_module("ethos_review.accounts.migrations.0003_people").let_operators_manage_people(apps, None)
    import_module("ethos_review.audit.migrations.0002_chain_head").create_chain_head(apps, None)


@pytest.fixture(scope="session", autouse=True)
def rows_of_migrations_survive_a_flush() -> None:
    """Tests with `transaction=True` empty every table afterwards, the rows that migrations made included."""
    post_migrate.connect(_restore_migrated_rows, sender=apps.get_app_config("reviews"), weak=False)


@pytest.fixture(scope="session", autouse=True)
def signing_key_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("keys") / "signing.pem"
    write_key(path)
    django_settings.SIGNING_KEY_FILE = str(path)
    return path


@pytest.fixture
def log() -> Iterator[io.StringIO]:
    """Everything from INFO up, formatted as production does."""
    options = dict(django_settings.LOGGING["formatters"]["plain"])
    formatter = import_string(options.pop("()"))(options["format"])
    handler = logging.StreamHandler(io.StringIO())
    handler.setFormatter(formatter)
    root = logging.getLogger()
    before = root.level
    root.addHandler(handler)
    root.setLevel(logging.INFO)
    yield handler.stream
    root.removeHandler(handler)
    root.setLevel(before)


@pytest.fixture
def put_in_force(settings: Settings, tmp_path: Path) -> PutInForce:
    return PutInForce(settings, tmp_path)
