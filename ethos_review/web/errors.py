"""Errors as pages, and as problems for programs: what happened and what to do; none of them needs the database."""

from __future__ import annotations

import sys
from typing import Final

from django.contrib import messages
from django.core.exceptions import RequestDataTooBig, TooManyFieldsSent, TooManyFilesSent
from django.db import DatabaseError, InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.template import loader

from ethos_review.web.htmx import AnyRequest, lead_to, page_of
from ethos_review.web.permissions import lead_to_sign_in, typed_text
from ethos_review.web.problems import is_of_program, problem

_OF_PROGRAMS: Final = {
    400: "The request cannot be read. Send it as the description of the API says, without U+0000 in its address.",
    404: "There is nothing at this address. See the description of the API.",
    413: "The request holds more than is accepted. Send smaller documents, or ask the operator for the limits.",
    500: "Something went wrong here. Send the same request again later; if it stays, tell the operator.",
    503: "The database does not answer. Send the same request again in a moment; nothing is stored twice.",
}
_SECONDS_TO_WAIT: Final = 5


def csrf_failure(request: AnyRequest, reason: str = "") -> HttpResponse:
    """A form from before the last sign-in. Under htmx the page loads anew; the script keeps the text."""
    if not request.user.is_authenticated and request.htmx:
        return lead_to_sign_in(request)
    if request.htmx:
        messages.warning(
            request, "This page was older than your sign-in, so it was loaded again. Nothing was decided."
        )
        return lead_to(request, page_of(request))
    context = {"back": page_of(request), "typed": typed_text(request)}
    return render(request, "403_csrf.html", context, status=403)


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Says apart whether it was too large to be read, or not as expected."""
    too_large = isinstance(exception, RequestDataTooBig | TooManyFieldsSent | TooManyFilesSent)
    return _error(request, 413 if too_large else 400)


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    return _problem(404) if is_of_program(request) else _refusal(request, 404)


def forbidden(request: HttpRequest, exception: Exception) -> HttpResponse:
    return _refusal(request, 403)


def _refusal(request: HttpRequest, status: int) -> HttpResponse:
    """With the ways on for who is signed in; alone while the database cannot say who that is."""
    try:
        user = getattr(request, "user", None)
        known = user is not None and user.is_authenticated
    except (DatabaseError, InterfaceError):
        known = False
    if not known:
        return _page(status)
    return render(request, f"{status}.html", {"layout": "base.html"}, status=status)


def server_error(request: HttpRequest) -> HttpResponse:
    """Says apart whether the database is gone, which passes by itself, or something is wrong here."""
    unreachable = isinstance(sys.exc_info()[1], OperationalError | InterfaceError)
    return _error(request, 503 if unreachable else 500)


def _error(request: HttpRequest, status: int) -> HttpResponse:
    if is_of_program(request):
        return _problem(status)
    return _page(status)


def _page(status: int) -> HttpResponse:
    return HttpResponse(loader.get_template(f"{status}.html").render(), status=status)


def _problem(status: int) -> HttpResponse:
    headers = {"Retry-After": str(_SECONDS_TO_WAIT)} if status == 503 else {}
    return problem(status, _OF_PROGRAMS[status], headers=headers)
