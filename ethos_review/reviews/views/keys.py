"""The keys that sign here, and those of the verifiers that are believed, to read."""

from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from ethos_review.reviews import queries
from ethos_review.web.htmx import Request
from ethos_review.web.permissions import permission_required


@permission_required("audit.view_event")
@require_safe
def keys(request: Request) -> HttpResponse:
    return render(request, "reviews/keys.html", {"page": queries.keys_page()})
