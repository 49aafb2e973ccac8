"""A form whose answer is shown once does its act once: sent again by a reload, it leads to where one goes on."""

from __future__ import annotations

from functools import wraps
from typing import Any

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.shortcuts import redirect

from ethos_review.web.permissions import View

_KEY = "answered_once"
FIELD = "showing"  # made for one showing of a form


def once(view: View) -> View:
    @wraps(view)
    def checked(request: Any, *args: Any, **kwargs: Any) -> HttpResponseBase:
        sent = request.POST.get(FIELD, "")
        answered = request.session.get(_KEY, {"forms": []})
        if sent and sent in answered["forms"]:
            return redirect(answered["leads_to"])
        # A form that was held up until its person confirmed is gone on with in the request that confirms.
        request.forms_sent = [*getattr(request, "forms_sent", []), sent]
        return view(request, *args, **kwargs)

    return checked


def answer_once(request: HttpRequest, leads_to: str) -> None:
    request.session[_KEY] = {"forms": list(filter(None, request.forms_sent)), "leads_to": leads_to}  # type: ignore[attr-defined]
