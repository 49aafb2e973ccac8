"""The audit page: every event, newest first, page by page."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.test import Client
from django.urls import reverse
from pytest_django.asserts import assertContains, assertNotContains, assertNumQueries, assertTemplateUsed

from ethos_review import cli
from ethos_review.accounts.roles import AUDITOR
from ethos_review.audit import queries
from ethos_review.audit.models import Event
from ethos_review.audit.operations import event_digest, record_event
from ethos_review.engine.audit_chain import read_chain
from tests.web.people import make_person

pytestmark = pytest.mark.django_db


@pytest.fixture
def auditor(client: Client) -> Client:
    client.force_login(make_person(AUDITOR))
    return client


def record(count: int) -> None:
    for number in range(count):
        record_event(
            actor=None,
            actor_name="<Policy>",
            action="review_sealed",
            object_type="key",
            object_id=f"o{number}",
        )


def test_events_are_listed_newest_first_with_their_place_in_the_chain(auditor: Client) -> None:
    record(2)
    response = auditor.get(reverse("audit"))
    assertTemplateUsed(response, "audit/list.html")
    assertContains(response, "Review sealed")
    assertContains(response, "&lt;Policy&gt;")
    assert [event.object_id for event in response.context["page"].events][:2] == ["o1", "o0"]
    assertContains(response, response.context["page"].sha256)


def test_an_event_of_a_claim_leads_to_the_claim(auditor: Client) -> None:
    review_id = "5f0c9a52-6d0b-4f6e-9d7c-0c8f2f6f7a11"
    record_event(
        actor=None,
        actor_name="R. Osei",
        action="claim_blocked",
        object_type="claim",
        object_id=f"{review_id}/3",
    )
    response = auditor.get(reverse("audit"))
    assertContains(response, f'href="{reverse("review", args=[review_id])}?claim=3#claim-3"')
    assertContains(response, "Claim 4 of <a")
    assertContains(response, ">5f0c9a52</a>")


def test_a_failed_sign_in_by_nobody_on_no_account_is_said_in_words(auditor: Client) -> None:
    Client().post(reverse("sign_in"), {"username": "nobody here", "password": "x"})
    content = auditor.get(reverse("audit")).content.decode()
    for said in ("nobody signed in", "of no account", "By: <bdi>password</bdi>"):
        assert said in content


def test_older_events_are_a_page_further(auditor: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(queries, "PAGE_SIZE", 2)
    record(3)
    first = auditor.get(reverse("audit"))
    cursor = first.context["page"].next_cursor
    assertContains(first, f'href="?cursor={cursor}"')
    assertContains(auditor.get(reverse("audit"), {"cursor": cursor}), "o0")


def test_the_number_of_queries_does_not_grow_with_the_events(auditor: Client) -> None:
    for count in (1, 2):
        record(count)
        with assertNumQueries(6):
            auditor.get(reverse("audit"))


# Filters, export, checkpoint ---------------------------------------------------------------------------------------


def test_filters_live_in_the_address_and_stay_there_on_older_pages(
    auditor: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(queries, "PAGE_SIZE", 1)
    record(3)
    asked = {"action": "review_sealed", "object": "o"}
    first = auditor.get(reverse("audit"), asked)
    assertContains(first, "o2")
    assertContains(first, '<option value="review_sealed" selected>Review sealed</option>')
    assertContains(first, f"action=review_sealed&amp;object=o&amp;cursor={first.context['page'].next_cursor}")
    assertContains(
        auditor.get(reverse("audit"), {"action": "signed_out_everywhere"}), "No event is like that."
    )


@pytest.mark.parametrize(
    "asked",
    [
        {"since": "yesterday"},
        {"until": "2026-02-30"},
        {"action": "claim"},
        {"since": "2026-03-02", "until": "2026-03-01"},
    ],
)
def test_a_filter_that_cannot_be_one_is_told(auditor: Client, asked: dict[str, str]) -> None:
    response = auditor.get(reverse("audit"), asked)
    assert response.status_code == 400
    assertContains(response, 'aria-invalid="true"', status_code=400)


def test_a_broken_chain_is_said_on_the_page(auditor: Client) -> None:
    record(2)
    with connection.cursor() as cursor:
        cursor.execute("UPDATE audit_event SET actor_name = 'Nobody' WHERE sequence = 1")
    assertContains(auditor.get(reverse("audit")), "The chain is broken")


def test_an_event_that_does_not_follow_the_one_before_it_is_said_on_the_page(auditor: Client) -> None:
    record(2)
    other = "0" * 64
    event = Event.objects.latest("sequence")
    event.previous_sha256 = other
    sha256 = event_digest(event, {})
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE audit_event SET previous_sha256 = %s, sha256 = %s WHERE sequence = %s",
            [other, sha256, event.sequence],
        )
        cursor.execute("UPDATE audit_chainhead SET sha256 = %s", [sha256])
    response = auditor.get(reverse("audit"))
    assertContains(response, "The chain is broken: events on this page do not name the event before them")
    assertContains(response, "Does not follow")


def test_the_page_says_what_of_the_chain_was_checked_and_what_checks_the_rest(auditor: Client) -> None:
    record(2)
    response = auditor.get(reverse("audit"))
    assertContains(response, "The events of this page and the head fit together")
    assertContains(response, '<code class="whole">manage.py verify_audit</code> checks the whole chain')
    assertContains(response, '<code class="whole">ethos-review verify-audit</code>')
    assertContains(auditor.get(reverse("audit"), {"object": "o"}), "filter leaves out were not looked at")
    with connection.cursor() as cursor:
        cursor.execute("UPDATE audit_event SET actor_name = 'Nobody' WHERE sequence = 1")
    assertNotContains(auditor.get(reverse("audit")), "fit together")


def test_an_address_noted_with_the_words_of_the_table_still_filters(auditor: Client) -> None:
    record(1)
    response = auditor.get(reverse("audit"), {"action": "Review sealed"})
    assertContains(response, '<option value="review_sealed" selected>')
    assert [event.action for event in response.context["page"].events] == ["review_sealed"]


def test_details_that_somebody_changed_do_not_stop_the_page(auditor: Client) -> None:
    record(1)
    with connection.cursor() as cursor:
        cursor.execute("UPDATE audit_event SET details = 'no JSON' WHERE sequence = 1")
    response = auditor.get(reverse("audit"))
    assertContains(response, "The chain is broken")
    assertContains(response, "no JSON")


def test_an_export_ends_with_the_event_that_tells_of_it_and_streams(auditor: Client) -> None:
    record(2)
    response = auditor.get(reverse("export_audit"))
    assert response.streaming
    assert response["Content-Disposition"] == 'attachment; filename="events.jsonl"'
    record(1)
    lines = list(response.streaming_content)
    assert read_chain(line.rstrip(b"\n") for line in lines).faults == ()
    last = json.loads(lines[-1])
    assert (last["action"], last["actor_name"]) == ("audit_exported", "auditor")
    assert Event.objects.count() == len(lines) + 1


def test_asking_only_for_the_head_exports_nothing(auditor: Client) -> None:
    auditor.head(reverse("export_audit"))
    assert not Event.objects.filter(action="audit_exported").exists()


def test_without_a_checkpoint_there_is_none_to_download(auditor: Client) -> None:
    assertContains(auditor.get(reverse("audit")), "There is no signed checkpoint yet")
    assert auditor.get(reverse("download_checkpoint")).status_code == 404


def test_the_export_and_the_checkpoint_verify_offline_with_the_key_set(
    auditor: Client, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    record(2)
    call_command("checkpoint_audit", stdout=StringIO())
    for name, address in (
        ("events.jsonl", "export_audit"),
        ("checkpoint.json", "download_checkpoint"),
        ("keys.json", "key_set"),
    ):
        (tmp_path / name).write_bytes(b"".join(auditor.get(reverse(address))))
    assertContains(auditor.get(reverse("audit")), "Newest signed checkpoint")
    files = [str(tmp_path / name) for name in ("events.jsonl", "checkpoint.json", "keys.json")]
    status = cli.main(["verify-audit", files[0], "--checkpoint", files[1], "--keys", files[2]])
    assert status == 0, capfd.readouterr()


def test_the_command_exports_the_same_chain(auditor: Client, tmp_path: Path) -> None:
    record(2)
    call_command("export_audit", str(tmp_path / "events.jsonl"), stdout=StringIO())
    lines = (tmp_path / "events.jsonl").read_bytes().splitlines()
    assert read_chain(lines).faults == ()
    assert json.loads(lines[-1])["action"] == "audit_exported"
    with pytest.raises(CommandError, match="cannot be written"):
        call_command("export_audit", str(tmp_path / "events.jsonl"), stdout=StringIO())
