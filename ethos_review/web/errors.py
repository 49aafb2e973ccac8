"""Errors as pages: what happened and what to do; none of them asks the database."""

from __future__ import annotations

import sys

from django.contrib import messages
from django.core.exceptions import RequestDataTooBig, TooManyFieldsSent, TooManyFilesSent
from django.db import InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.template import loader

from ethos_review.web.htmx import AnyRequest, lead_to, page_of
from ethos_review.web.permissions import lead_to_sign_in, typed_text


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
    template, status = ("413.html", 413) if too_large else ("400.html", 400)
    return HttpResponse(loader.get_template(template).render(), status=status)


def server_error(request: HttpRequest) -> HttpResponse:
    """Says apart whether the database is gone, which passes by itself, or something is wrong here."""
    unreachable = isinstance(sys.exc_info()[1], OperationalError | InterfaceError)
    template, status = ("503.html", 503) if unreachable else ("500.html", 500)
    return HttpResponse(loader.get_template(template).render(), status=status)
