"""Requests with U+0000 in their address or cookies: refused here, since PostgreSQL cannot look them up."""

from __future__ import annotations

from collections.abc import Callable

from django.core.exceptions import BadRequest
from django.http import HttpRequest
from django.http.response import HttpResponseBase

Answer = Callable[[HttpRequest], HttpResponseBase]


def without_nul(get_answer: Answer) -> Answer:
    """Middleware. What a body holds, forms and the reading of documents refuse themselves."""

    def checked(request: HttpRequest) -> HttpResponseBase:
        in_address = "\0" in request.path or "%00" in request.META.get("QUERY_STRING", "")
        if in_address or any("\0" in value for value in request.COOKIES.values()):
            raise BadRequest("the address or a cookie holds U+0000")
        return get_answer(request)

    return checked
