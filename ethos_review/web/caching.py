"""Nothing is kept by a browser or between: what a signed-in person saw, the back button shows nobody after them."""

from __future__ import annotations

from collections.abc import Callable

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils.cache import add_never_cache_headers

Answer = Callable[[HttpRequest], HttpResponseBase]


def kept_by_nobody(get_answer: Answer) -> Answer:
    """Middleware. Refusals, errors and redirects included; an answer that says itself how it is kept stays so."""

    def checked(request: HttpRequest) -> HttpResponseBase:
        response = get_answer(request)
        if "Cache-Control" not in response:
            add_never_cache_headers(response)
        return response

    return checked
