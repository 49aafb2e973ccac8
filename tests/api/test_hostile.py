"""Hostile requests: whatever is sent, the answer is one that is described, and what is refused is not stored."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from urllib.parse import quote
from uuid import uuid4

import pytest
from django.http import HttpResponse
from django.urls import reverse
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from ethos_review.reviews.models import Document, Review
from tests.api.programs import Program, checked, make_program
from tests.engine.mutations import encoded, hostile_bytes, spoiled_bytes, spoiled_values
from tests.factories import make_review

pytestmark = pytest.mark.django_db
WHERE = st.sampled_from([reverse("api_reviews"), reverse("api_check")])
UUID_IN_ITS_PLACE = uuid4()
hostile = settings(
    max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
parts = st.sampled_from([*Document.Role.values, "report", "", "again", 'a"b', "a\\", "\u202e", "x" * 300])
media_types = st.sampled_from(
    [
        "application/json",
        "application/json; charset=utf-16",
        "application/json; charset=hex",
        "application/json;;;=",
        "APPLICATION/JSON",
        "multipart/form-data",
        "multipart/form-data; boundary=",
        "multipart/form-data; boundary=x",
        "multipart/form-data; boundary=\xff",
        "multipart/form-data; boundary=x; charset=hex",
        "multipart/form-data; boundary=x; charset=utf-16",
        "multipart/mixed; boundary=x",
        "text/plain",
        "/",
        "",
        "\xff",
    ]
)
HEADERS = [
    *("Authorization", "Accept", "Accept-Encoding", "Cookie", "Content-Encoding", "If-None-Match", "Range"),
    *("Host", "HX-Request", "X-Forwarded-Proto", "X-HTTP-Method-Override", "X-CSRFToken", "Origin"),
]
texts = st.text(st.characters(blacklist_categories=("Cs",)), max_size=40)
latin = st.text(st.characters(max_codepoint=255, blacklist_categories=("Cc",)), max_size=60)


@pytest.fixture
def program() -> Program:
    """A failure of the server is an answer here, and no such answer is described."""
    made = make_program()
    made.client.raise_request_exception = False
    return made


@pytest.fixture
def leave_files_to_python() -> Iterator[None]:
    """Django does not close the files before the part that it cannot read; Python does when it collects them."""
    yield
    gc.collect()


def post(program: Program, where: str, content: bytes, kind: str, **headers: str) -> HttpResponse:
    sent = program.client.generic("POST", where, content, kind, headers=program.headers | headers)
    return checked(sent, "post", where)


def refusals_store_nothing(answer: HttpResponse, before: int) -> bool:
    return answer.status_code == 201 or Review.objects.count() == before


@hostile
@given(where=WHERE, content=spoiled_bytes(("bundle",)) | spoiled_values("bundle").map(encoded) | st.binary())
def test_any_body_is_answered(program: Program, where: str, content: bytes) -> None:
    before = Review.objects.count()
    answer = post(program, where, content, "application/json")
    assert answer.status_code in {200, 201, 415, 422}  # 415: of an empty body the client names no media type
    assert refusals_store_nothing(answer, before)


@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.usefixtures("leave_files_to_python")
@hostile
@given(where=WHERE, kind=media_types | latin, content=spoiled_bytes(("bundle", "claims")))
def test_any_media_type_is_answered(program: Program, where: str, kind: str, content: bytes) -> None:
    before = Review.objects.count()
    assert refusals_store_nothing(post(program, where, content, kind), before)


@st.composite
def forms(draw: st.DrawFn) -> bytes:
    """A multipart body with the boundary x, its parts as no library would write them."""
    body = b""
    for _ in range(draw(st.integers(0, 5))):
        name, file_name = (
            draw(parts),
            draw(st.none() | texts | st.sampled_from(["c.json", "n." + "e" * 300, ".."])),
        )
        disposition = f'form-data; name="{name}"' + ("" if file_name is None else f'; filename="{file_name}"')
        more = draw(
            st.sampled_from(
                [
                    "",
                    "\r\nContent-Type: application/json",
                    "\r\nContent-Type: text/plain; charset=hex",
                    "\r\nContent-Transfer-Encoding: base64",
                    "\r\nContent-Type: " + "x" * 200,
                ]
            )
        )
        content = draw(spoiled_bytes(("claims", "readings")) | st.binary(max_size=20) | hostile_bytes)
        body += (
            b"--x\r\nContent-Disposition: "
            + disposition.encode()
            + more.encode()
            + b"\r\n\r\n"
            + content
            + b"\r\n"
        )
    return body + draw(st.sampled_from([b"--x--\r\n", b"--x", b""]))


@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.usefixtures("leave_files_to_python")
@hostile
@given(where=WHERE, content=forms(), charset=st.sampled_from(["", "; charset=hex", "; charset=utf-16"]))
@example(
    where=reverse("api_check"),
    content=b'--x\r\nContent-Disposition: form-data; name="claims"; filename="n.'
    + b"e" * 300
    + b'"\r\n\r\n{}\r\n--x--\r\n',
    charset="",
)
def test_any_form_is_answered(program: Program, where: str, content: bytes, charset: str) -> None:
    before = Review.objects.count()
    answer = post(program, where, content, f"multipart/form-data; boundary=x{charset}")
    assert refusals_store_nothing(answer, before)


@hostile
@given(
    header=st.sampled_from(HEADERS),
    value=latin,
    method=st.sampled_from(
        ["GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT", "get", "X"]
    ),
    address=st.sampled_from([reverse("api_reviews"), reverse("api_check"), reverse("api_description")]),
)
def test_any_header_and_method_is_answered(
    program: Program, header: str, value: str, method: str, address: str
) -> None:
    sent = program.client.generic(method, address, b"{}", headers=program.headers | {header: value})
    assert sent.status_code in {200, 400, 401, 403, 405, 411, 413, 415, 422}
    assert sent["Content-Type"] in ("application/json", "application/problem+json")


@hostile
@given(
    address=st.sampled_from(["api_review", "api_release", "api_contract_decision"]),
    of=st.just("own") | texts,
    kind=media_types,
    query=st.dictionaries(st.sampled_from(["status", "cursor", "again", "\0"]) | texts, texts, max_size=3),
)
def test_any_address_is_answered(
    program: Program, address: str, of: str, kind: str, query: dict[str, str]
) -> None:
    review = Review.objects.first() or make_review(program.account)
    wanted = str(review.review_id) if of == "own" else quote(of, safe="/")
    path = reverse(address, args=[UUID_IN_ITS_PLACE]).replace(str(UUID_IN_ITS_PLACE), wanted)
    asked = "&".join(f"{quote(name)}={quote(value)}" for name, value in query.items())
    for where in (path, reverse("api_reviews"), f"{path}/documents/{quote(of, safe='')}"):
        sent = program.client.generic("GET", f"{where}?{asked}", CONTENT_TYPE=kind, headers=program.headers)
        assert sent.status_code in {200, 301, 400, 404}
        assert sent.status_code == 301 or sent["Content-Type"].startswith("application/")
