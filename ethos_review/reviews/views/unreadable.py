"""A review whose kept documents cannot be read any more: a page that names the document and the next step."""

from __future__ import annotations

import logging
from collections.abc import Callable

from django.http import HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.utils.cache import add_never_cache_headers

from ethos_review.engine.errors import DocumentError
from ethos_review.reviews.models import KeptBytesChanged, Review
from ethos_review.reviews.queries import visible_to
from ethos_review.web.htmx import AnyRequest, Request, lead_to, tell_script, wants_fragment
from ethos_review.web.permissions import typed_text

logger = logging.getLogger(__name__)


class UnreadableReviews:
    """Middleware: every page, fragment and download of a review is derived from its kept documents."""

    def __init__(self, get_response: Callable[[AnyRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: AnyRequest) -> HttpResponseBase:
        return self.get_response(request)

    def process_exception(self, request: Request, exception: Exception) -> HttpResponse | None:
        """A sealed review leads to its replay, which names everything that differs; typed text is never left."""
        match = request.resolver_match
        review_id = match.kwargs.get("review_id") if match else None
        if review_id is None or not isinstance(exception, KeptBytesChanged | DocumentError):
            return None
        logger.error("The documents of review %s cannot be read: %s", review_id, type(exception).__name__)
        review = visible_to(request.user).get(review_id=review_id)
        if review.status == Review.Status.SEALED and request.method != "POST":
            response: HttpResponse = lead_to(request, "replay", review_id)
        elif wants_fragment(request):
            response = tell_script(HttpResponse(status=409), notice=_said(exception))
        else:
            context = {"review": review, "said": _said(exception), "typed": typed_text(request)}
            response = render(request, "reviews/unreadable.html", context, status=409)
        add_never_cache_headers(response)
        return response


def _said(exception: Exception) -> str:
    if isinstance(exception, DocumentError):
        problem = exception.problems[0]
        document = problem.document.replace("_", " ")
        return f"The {document} of this review is not accepted any more. {problem.message}"
    return str(exception)
