"""A form whose bytes are no UTF-8 is refused whole: nothing is stored of it, and what was typed is shown."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse
from pytest_django.asserts import assertContains, assertNotContains

from ethos_review.accounts.models import User
from ethos_review.accounts.roles import OPERATOR, REVIEWER, SUBMITTER
from ethos_review.audit.models import Event
from ethos_review.reviews.models import Review, ReviewerDecision
from ethos_review.reviews.queries import open_card
from tests.factories import make_review, make_submitter
from tests.web.people import confirm, make_person

pytestmark = pytest.mark.django_db
FORM, PARTS = "application/x-www-form-urlencoded", "multipart/form-data; boundary=cut"
BROKEN = [b"Caf\xe9 read.", b"\xff", b"half \xed\xa0\x80 pair", b"cut \xe2\x82", b"overlong \xc0\xaf"]


def as_form(fields: dict[str, bytes]) -> bytes:
    return b"&".join(
        name.encode() + b"=" + b"".join(b"%%%02X" % byte for byte in value) for name, value in fields.items()
    )


def as_raw_form(fields: dict[str, bytes]) -> bytes:
    return b"&".join(name.encode() + b"=" + value.replace(b" ", b"+") for name, value in fields.items())


def as_parts(fields: dict[str, bytes]) -> bytes:
    part = b'--cut\r\nContent-Disposition: form-data; name="%s"\r\n\r\n%s\r\n'
    return b"".join(part % (name.encode(), value) for name, value in fields.items()) + b"--cut--\r\n"


@pytest.fixture
def review() -> Review:
    return make_review(make_submitter())


def decision(reviewer: User, review: Review, rationale: bytes) -> dict[str, bytes]:
    opened = open_card(reviewer, review.review_id, 1)
    return {
        "shown_sha256": opened.shown_sha256.encode(),
        "based_on": b"0",
        "outcome": b"block",
        "rationale": rationale,
    }


@pytest.mark.parametrize("rationale", BROKEN)
@pytest.mark.parametrize(
    ("write", "media_type"),
    [(as_form, FORM), (as_raw_form, FORM), (as_parts, PARTS)],
    ids=["%", "raw", "parts"],
)
def test_a_rationale_that_is_no_text_decides_nothing_and_is_shown(
    client: Client,
    review: Review,
    rationale: bytes,
    write,  # type: ignore[no-untyped-def]
    media_type: str,
) -> None:
    reviewer = make_person(REVIEWER)
    client.force_login(reviewer)
    told = Event.objects.count()
    where = reverse("decide_claim", args=[review.review_id, 1])
    response = client.post(where, write(decision(reviewer, review, rationale)), content_type=media_type)
    assertContains(response, "nothing was changed", status_code=400)
    shown = rationale.decode("latin-1") if write is as_raw_form else rationale.decode(errors="replace")
    assertContains(response, shown, status_code=400)
    assert (ReviewerDecision.objects.count(), Event.objects.count()) == (0, told)


@pytest.mark.parametrize("rationale", ["Café read.", "The source says \ufffd itself.", "日本 100% + 1"])
def test_a_rationale_that_is_text_is_stored_as_it_was_typed(
    client: Client, review: Review, rationale: str
) -> None:
    reviewer = make_person(REVIEWER)
    client.force_login(reviewer)
    fields = decision(reviewer, review, rationale.encode())
    client.post(reverse("decide_claim", args=[review.review_id, 1]), as_form(fields), content_type=FORM)
    assert ReviewerDecision.objects.get().rationale == rationale


FORMS = {
    "sign_in": ("", {"username": b"caf\xe9", "password": b"a long enough passphrase"}),
    "new_person": (OPERATOR, {"username": b"cafe", "display_name": b"Caf\xe9"}),
    "change_password": (REVIEWER, {"old_password": b"caf\xe9 and more of it"}),
    "preferences": (REVIEWER, {"anything": b"\xff"}),
    "mfa_activate_totp": (REVIEWER, {"code": b"\xff"}),
    "upload": (SUBMITTER, {"action": b"submit", "again": b"\xff"}),
    "verify": (SUBMITTER, {"text": b"\xff"}),
    "next_review": (REVIEWER, {"text": b"\xff"}),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("write", "media_type"), [(as_form, FORM), (as_parts, PARTS)], ids=["form", "parts"])
def test_every_form_is_refused_alike(
    client: Client,
    form: str,
    write,  # type: ignore[no-untyped-def]
    media_type: str,
) -> None:
    role, fields = FORMS[form]
    if role:
        client.force_login(make_person(role))
        confirm(client)
    people = User.objects.count()
    response = client.post(reverse(form), write(fields), content_type=media_type)
    assertContains(response, "This form is no readable text", status_code=400)
    assertNotContains(response, "passphrase", status_code=400)
    assert (User.objects.count(), Event.objects.count()) == (people, 0)


def test_what_is_no_form_is_left_to_who_reads_it(client: Client) -> None:
    response = client.post(reverse("sign_in"), b'"\xff"', content_type="application/json")
    assertContains(response, "Sign in")
