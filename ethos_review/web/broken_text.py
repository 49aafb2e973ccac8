"""Forms whose fields are no text: refused whole, or what was read half would be stored as if it had been typed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from urllib.parse import unquote_to_bytes

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render

from ethos_review.web.permissions import typed_text
from ethos_review.web.problems import is_of_program

Answer = Callable[[HttpRequest], HttpResponseBase]
UNREAD = "\ufffd"  # what Django reads bytes as that are no UTF-8


def without_broken_text(get_answer: Answer) -> Answer:
    """Middleware. Just before the view, when it is known who may send how much."""

    def checked(request: HttpRequest) -> HttpResponseBase:
        return get_answer(request)

    checked.process_view = _refuse_broken  # type: ignore[attr-defined]
    return checked


def _refuse_broken(request: Any, *view: object) -> HttpResponse | None:
    """A program is told in its own form, once it is known who asks: nothing of what it sends is read before."""
    if request.method != "POST" or is_of_program(request) or not _is_broken(request):
        return None
    return render(request, "broken_text.html", {"typed": typed_text(request)}, status=400)


def _is_broken(request: HttpRequest) -> bool:
    if request.content_type == "multipart/form-data":  # nobody types prose into the forms with files
        return any(UNREAD in text for name, sent in request.POST.lists() for text in (name, *sent))
    if request.content_type != "application/x-www-form-urlencoded":
        return False
    try:
        unquote_to_bytes(request.body).decode()
    except UnicodeDecodeError:
        return True
    return False
