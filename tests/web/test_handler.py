"""Requests as the server hands them over: no header keeps one from being answered."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import RequestFactory

from ethos_review.web.handler import Handler, Utf8Request


@pytest.mark.django_db
@pytest.mark.parametrize("charset", ["hex", "rot13", "utf-16", "nonsense", "utf-8"])
def test_a_charset_that_makes_no_text_keeps_no_request_from_its_answer(charset: str) -> None:
    environ = RequestFactory()._base_environ(PATH_INFO="/healthz", QUERY_STRING="a=%C3%A9")
    environ["CONTENT_TYPE"] = f"text/plain; charset={charset}"
    assert answer(environ) == "200 OK"
    assert Utf8Request(environ).GET["a"] == "é"


@pytest.mark.django_db
@pytest.mark.parametrize("prefix", ["/x", "/api", "//evil.example"])
def test_what_a_header_says_to_be_in_front_of_an_address_is_part_of_it(prefix: str) -> None:
    environ = RequestFactory()._base_environ(PATH_INFO="/people/", SCRIPT_NAME=prefix)
    assert answer(environ) == "404 Not Found"


def answer(environ: dict[str, Any]) -> str:
    statuses: list[str] = []

    def start_response(status: str, headers: Any) -> None:
        statuses.append(status)

    Handler()(environ, start_response).close()
    return statuses[0]
