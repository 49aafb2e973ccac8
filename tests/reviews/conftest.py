"""People and policies of most tests here; a module that looks at pages has its own `reviewer`, who is signed in."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.test import Client
from pytest_django import Settings

from ethos_review.accounts.models import User
from tests.factories import make_reviewer, make_submitter
from tests.reviews.policies import PutInForce


@pytest.fixture
def submitter() -> User:
    return make_submitter()


@pytest.fixture
def reviewer() -> User:
    return make_reviewer()


@pytest.fixture
def colleague() -> User:
    return make_reviewer("colleague")


@pytest.fixture
def signed_in(client: Client, reviewer: User) -> Client:
    client.force_login(reviewer)
    return client


@pytest.fixture
def put_in_force(settings: Settings, tmp_path: Path) -> PutInForce:
    return PutInForce(settings, tmp_path)
