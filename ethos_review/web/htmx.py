"""Page or fragment: what kind of answer an htmx request wants, and how to lead the whole page elsewhere."""

from __future__ import annotations

import json

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.http.response import HttpResponseRedirectBase
from django.shortcuts import resolve_url
from django.utils.http import url_has_allowed_host_and_scheme
from django_htmx.http import HttpResponseClientRedirect
from django_htmx.middleware import HtmxDetails

from ethos_review.accounts.models import User


class AnyRequest(HttpRequest):
    """A request with what htmx says about it."""

    htmx: HtmxDetails


class Request(AnyRequest):
    """A request as guarded views see it: someone is signed in."""

    user: User


def wants_fragment(request: AnyRequest) -> bool:
    """`if request.htmx` would also be true for a request that replaces the whole page."""
    return request.htmx.request_type == "partial"


def lead_to(request: AnyRequest, to: str, *args: object, **kwargs: object) -> HttpResponseRedirectBase:
    """Leave the page for another one; htmx would follow a plain redirect inside the page."""
    url = resolve_url(to, *args, **kwargs)
    return HttpResponseClientRedirect(url) if request.htmx else HttpResponseRedirect(url)


def page_of(request: AnyRequest) -> str:
    """The path of the page that a request came from: where to return to."""
    if request.htmx:
        return _path_here(request.htmx.current_url_abs_path or "/")
    if request.method in ("GET", "HEAD"):
        return request.get_full_path()
    referrer = request.headers.get("Referer", "")
    safe = url_has_allowed_host_and_scheme(referrer, {request.get_host()}, require_https=request.is_secure())
    return _path_here(referrer.split("/", 3)[3]) if safe and referrer.count("/") >= 3 else "/"


def _path_here(path: str) -> str:
    """With one slash before it: two would name another host."""
    return "/" + path.lstrip("/\\")


def tell_script(response: HttpResponse, **facts: object) -> HttpResponse:
    """Facts for static/js/review.js, which receives them as the event `review:answered` after the swap."""
    response["HX-Trigger"] = json.dumps({"review:answered": facts})
    return response
