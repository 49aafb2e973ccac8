"""People and policies of most tests here; a module that looks at pages has its own `reviewer`, who is signed in."""

from __future__ import annotations

import pytest
from django.test import Client

from ethos_review.accounts.models import User
from tests.factories import make_reviewer, make_submitter


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
