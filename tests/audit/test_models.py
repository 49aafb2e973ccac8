from __future__ import annotations

from typing import Any

import pytest
from django.db import IntegrityError

from ethos_review.audit.models import AppendOnlyError, ChainHead, Event
from ethos_review.audit.operations import record_event

pytestmark = pytest.mark.django_db


@pytest.fixture
def event() -> Event:
    return record_event(actor=None, action="signed_in", object_type="account", object_id="1")


def test_an_event_is_never_saved_again(event: Event) -> None:
    event.action = "signed_out"
    with pytest.raises(AppendOnlyError):
        event.save()


def test_an_event_is_never_deleted(event: Event) -> None:
    with pytest.raises(AppendOnlyError):
        event.delete()


@pytest.mark.parametrize(
    ("method", "arguments"),
    [
        ("update", {"action": "signed_out"}),
        ("bulk_update", {"objs": [], "fields": ["action"]}),
        ("update_or_create", {"sequence": 1}),
        ("delete", {}),
    ],
)
def test_no_bulk_road_changes_an_event(event: Event, method: str, arguments: dict[str, Any]) -> None:
    with pytest.raises(AppendOnlyError):
        getattr(Event.objects.all(), method)(**arguments)


def test_there_is_one_chain_head() -> None:
    with pytest.raises(IntegrityError):
        ChainHead.objects.create(id=2, sha256="0" * 64)
