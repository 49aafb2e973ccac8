"""Errors for programs: `application/problem+json` (RFC 9457), each with a sentence that says what to do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Final

from django.http import HttpRequest, JsonResponse

from ethos_review.engine.errors import ProblemJson

ADDRESSES: Final = "/api/"
MEDIA_TYPE: Final = "application/problem+json"


def is_of_program(request: HttpRequest) -> bool:
    return request.path.startswith(ADDRESSES)


def problem(
    status: int,
    detail: str,
    *,
    headers: Mapping[str, str] | None = None,
    **members: str | Sequence[ProblemJson],
) -> JsonResponse:
    """`detail` is a sentence with the next step; further `members` are what a program can act on."""
    title = HTTPStatus(status).phrase
    body = {"type": "about:blank", "title": title, "status": status, "detail": detail, **members}
    return JsonResponse(
        body,
        status=status,
        content_type=MEDIA_TYPE,
        headers=headers,
        json_dumps_params={"ensure_ascii": False},
    )
