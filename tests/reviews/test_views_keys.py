"""The page of the keys: what signs here, what signed, and whose reports are believed."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.conf import LazySettings
from django.db import connection
from django.test import Client
from django.urls import reverse
from pytest_django import DjangoAssertNumQueries

from ethos_review.accounts.roles import AUDITOR
from ethos_review.engine.envelope import write_key
from ethos_review.reviews import operations, signing
from ethos_review.reviews.models import Release, Review, SigningKey
from tests.engine.wrapping import pem, wrapped
from tests.factories import answer, check, claim, make_review, make_reviewer, make_submitter, parts, report
from tests.web.html import has, text_of
from tests.web.people import make_person

pytestmark = pytest.mark.django_db


@pytest.fixture
def auditor(client: Client) -> Client:
    client.force_login(make_person(AUDITOR))
    return client


def seal_one(question: str) -> Release:
    submitter = make_submitter(f"submitter of {question}")
    review = make_review(submitter, parts(answer(claim("fact", "v0001"), question=question)))
    return operations.seal_review(actor=make_reviewer(f"reviewer of {question}"), review_id=review.review_id)


def page_of(auditor: Client) -> str:
    return text_of(auditor.get(reverse("keys")), "signing-keys")


def test_a_configured_key_that_signed_nothing_yet_is_named(auditor: Client) -> None:
    key_id = signing.configured_key_id()
    assert f"{key_id} Signs now not yet 0 0" in page_of(auditor)


def test_a_key_in_use_says_how_much_it_signed(auditor: Client) -> None:
    key_id = seal_one("One?").signing_key.key_id
    seal_one("Two?")
    found = page_of(auditor)
    assert f"{key_id} Signs now" in found
    assert found.endswith("UTC 2 2")


def test_after_a_rotation_both_keys_stand_there_with_their_states(
    auditor: Client, settings: LazySettings, tmp_path: Path
) -> None:
    before = seal_one("One?").signing_key.key_id
    write_key(tmp_path / "next.pem")
    settings.SIGNING_KEY_FILE = str(tmp_path / "next.pem")
    assert f"{before} Configured no longer" in page_of(auditor)

    after = seal_one("Two?").signing_key.key_id
    signing.retire_key(key_id=before, actor=None)
    found = page_of(auditor)
    assert found.index(f"{after} Signs now") < found.index(f"{before} Retired on")


def test_a_retired_key_that_is_still_configured_signs_nothing(auditor: Client) -> None:
    key_id = seal_one("One?").signing_key.key_id
    signing.retire_key(key_id=key_id, actor=None)
    assert f"The configured key {key_id} was retired" in text_of(auditor.get(reverse("keys")), "refusal")


def test_without_a_key_the_page_says_that_nothing_can_be_signed(
    auditor: Client, settings: LazySettings
) -> None:
    settings.SIGNING_KEY_FILE = ""
    response = auditor.get(reverse("keys"))
    assert "No signing key is configured" in text_of(response, "refusal")
    assert not has(response, "signing-keys")


def test_verifier_keys_say_how_many_reports_they_signed_also_when_configured_no_longer(
    auditor: Client, settings: LazySettings, tmp_path: Path
) -> None:
    assert not has(auditor.get(reverse("keys")), "verifier-keys")
    (tmp_path / "verifier.pem").write_bytes(pem())
    settings.VERIFIER_KEY_FILES = [str(tmp_path / "verifier.pem")]
    assert text_of(auditor.get(reverse("keys")), "verifier-keys").endswith("Believed 0")

    signed = wrapped(report(check("v0001")), "dsse")
    make_review(make_submitter(), parts(answer(claim("fact", "v0001")), signed))
    assert text_of(auditor.get(reverse("keys")), "verifier-keys").endswith("Believed 1")

    settings.VERIFIER_KEY_FILES = []
    assert text_of(auditor.get(reverse("keys")), "verifier-keys").endswith("configured no longer 1")


def test_a_kept_verifier_key_that_was_changed_does_not_stop_the_page(auditor: Client) -> None:
    review = make_review(make_submitter())
    Review.objects.filter(pk=review.pk).update(verifier_key="junk")
    assert "no public key: it was changed" in text_of(auditor.get(reverse("keys")), "verifier-keys")


def test_the_page_shows_no_private_key(auditor: Client, settings: LazySettings) -> None:
    seal_one("One?")
    content = auditor.get(reverse("keys")).content.decode()
    assert "PRIVATE" not in content
    assert str(settings.SIGNING_KEY_FILE) not in content


@pytest.mark.parametrize("keys", [1, 3])
def test_the_number_of_queries_does_not_grow_with_the_keys(
    auditor: Client,
    settings: LazySettings,
    tmp_path: Path,
    django_assert_num_queries: DjangoAssertNumQueries,
    keys: int,
) -> None:
    for number in range(keys):
        write_key(tmp_path / f"{number}.pem")
        settings.SIGNING_KEY_FILE = str(tmp_path / f"{number}.pem")
        seal_one(f"{number}?")
    assert SigningKey.objects.count() == keys
    with django_assert_num_queries(7):
        auditor.get(reverse("keys"))


# A row that somebody changed ----------------------------------------------------------------------------------------

AS_BLOB = "the same, as a BLOB"
CHANGES: list[tuple[str, str | bytes]] = [
    ("public_pem", "junk"),
    ("public_pem", ""),
    ("public_pem", pem().decode()),  # a sound key, but another one
    ("key_id", "0" * 64),
]
if connection.vendor == "sqlite":  # PostgreSQL stores no such thing
    CHANGES += [(column, b"\xff") for column in ("public_pem", "key_id", "retired_at", "first_used_at")]
    CHANGES += [("public_pem", AS_BLOB), ("key_id", AS_BLOB)]
    CHANGES += [("first_used_at", "junk")]


def change(key: SigningKey, column: str, value: str | bytes) -> None:
    new = f"CAST({column} AS BLOB)" if value == AS_BLOB else "CAST(%s AS TEXT)"
    with connection.cursor() as cursor:
        cursor.execute(
            f"UPDATE reviews_signingkey SET {column} = {new} WHERE id = %s",  # noqa: S608
            [key.pk] if value == AS_BLOB else [value, key.pk],
        )


def served(client: Client) -> list[str]:
    response = client.get(reverse("key_set"))
    assert response.status_code == 200
    return [entry["key_id"] for entry in response.json()["keys"]]


@pytest.mark.parametrize(("column", "value"), CHANGES[:-1] if len(CHANGES) > 4 else CHANGES)
def test_a_key_that_was_changed_in_the_database_is_not_handed_out_and_the_others_are(
    auditor: Client,
    settings: LazySettings,
    tmp_path: Path,
    column: str,
    value: str | bytes,
    caplog: pytest.LogCaptureFixture,
) -> None:
    changed = seal_one("One?").signing_key
    write_key(tmp_path / "next.pem")
    settings.SIGNING_KEY_FILE = str(tmp_path / "next.pem")
    kept = seal_one("Two?").signing_key
    change(changed, column, value)
    assert served(Client()) == [kept.key_id]
    assert f"The signing key in row {changed.pk} is left out." in caplog.text
    assert "Changed in the database" in page_of(auditor)


@pytest.mark.parametrize(("column", "value"), CHANGES)
def test_no_change_of_a_key_stops_the_page_of_the_keys_or_the_verification(
    auditor: Client, column: str, value: str | bytes
) -> None:
    release = seal_one("One?")
    change(release.signing_key, column, value)
    assert auditor.get(reverse("keys")).status_code == 200
    verified = auditor.post(reverse("verify"), {"text": bytes(release.envelope).decode()})
    assert verified.status_code == 200


def test_a_retired_key_does_not_come_back_as_the_configured_one(auditor: Client) -> None:
    key = seal_one("One?").signing_key
    signing.retire_key(key_id=key.key_id, actor=None)
    change(key, "public_pem", "junk")
    assert served(auditor) == []


@pytest.mark.parametrize(("column", "value"), CHANGES[:-1] if len(CHANGES) > 4 else CHANGES)
def test_the_page_of_a_release_says_that_its_key_was_changed_and_offers_it_to_nobody(
    auditor: Client, column: str, value: str | bytes
) -> None:
    release = seal_one("One?")
    where = [release.review.review_id]
    change(release.signing_key, column, value)
    for name in ("release", "replay"):
        page = auditor.get(reverse(name, args=where))
        assert "was changed in the database" in text_of(page, "key-changed")
        assert "public.pem" not in page.content.decode().replace("--key public.pem", "")
        assert reverse("download_public_key", args=[release.signing_key.key_id]) not in page.content.decode()
    assert "comes out byte for byte" not in auditor.get(reverse("replay", args=where)).content.decode()
    for key_id in (release.signing_key.key_id, "0" * 64):
        assert auditor.get(reverse("download_public_key", args=[key_id])).status_code == 404


def test_nothing_is_signed_with_a_key_that_is_kept_otherwise_than_it_is() -> None:
    key = seal_one("One?").signing_key
    change(key, "public_pem", pem().decode())
    with pytest.raises(operations.Refused, match="is another one"):
        seal_one("Two?")


@pytest.mark.skipif(connection.vendor != "sqlite", reason="PostgreSQL stores no such thing")
@pytest.mark.parametrize(("column", "value"), [("public_pem", AS_BLOB), ("first_used_at", b"\xff")])
def test_nothing_is_signed_with_a_key_whose_row_cannot_be_read(column: str, value: str | bytes) -> None:
    change(seal_one("One?").signing_key, column, value)
    with pytest.raises(operations.Refused, match=r"The signing key in row \d+ cannot be read\."):
        seal_one("Two?")


def test_retiring_is_left_to_the_host(auditor: Client) -> None:
    seal_one("One?")
    assert "retired by a command on the host" in auditor.get(reverse("keys")).content.decode()
