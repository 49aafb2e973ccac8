"""Who may ask for what: every view says it, and what says nothing is refused by a test."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any
from urllib.parse import urlencode

from django.core.exceptions import ObjectDoesNotExist, PermissionDenied
from django.http import Http404, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render, resolve_url
from django.utils.cache import add_never_cache_headers

from ethos_review.web.htmx import AnyRequest, lead_to, page_of

View = Callable[..., HttpResponseBase]

ANYONE = "anyone"
SIGNED_IN = "signed in"
PROGRAM = "a program with a token"  # no session lets anybody in


def permission_required(permission: str) -> Callable[[View], View]:
    """For people with this permission; `SIGNED_IN` for everyone who has signed in.

    Nothing is cached, so that the back button shows nothing after signing out. What does not exist for the
    person is not found.
    """

    def decorate(view: View) -> View:
        @wraps(view)
        def checked(request: AnyRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
            if not request.user.is_authenticated:
                return lead_to_sign_in(request)
            if permission != SIGNED_IN and not request.user.has_perm(permission):
                raise PermissionDenied
            try:
                response = view(request, *args, **kwargs)
            except ObjectDoesNotExist as missing:
                raise Http404 from missing
            add_never_cache_headers(response)
            return response

        checked.permission = permission  # type: ignore[attr-defined]
        return checked

    return decorate


def anonymous(view: View) -> View:
    """For everyone, on purpose."""
    view.permission = ANYONE  # type: ignore[attr-defined]
    return view


def lead_to_sign_in(request: AnyRequest) -> HttpResponse:
    """Sign-in with the way back. What a plain form sent is shown again: no typed word is lost.

    What a form sent through htmx is kept by the script, and the sign-in page says so.
    """
    query = {"next": page_of(request)}
    if request.method == "POST" and request.htmx:
        query["ended"] = "text-kept" if typed_text(request) else "nothing-changed"
    sign_in = f"{resolve_url('sign_in')}?{urlencode(query)}"
    if request.method == "POST" and not request.htmx:
        return render(
            request, "session_ended.html", {"sign_in": sign_in, "typed": typed_text(request)}, status=403
        )
    return lead_to(request, sign_in)


def typed_text(request: AnyRequest) -> str:
    return request.POST.get("rationale", "")
