"""The audit page: every event, newest first."""

from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from ethos_review.audit import queries
from ethos_review.web.htmx import Request
from ethos_review.web.permissions import permission_required


@permission_required("audit.view_event")
@require_safe
def events(request: Request) -> HttpResponse:
    return render(
        request, "audit/list.html", {"page": queries.event_page(cursor=request.GET.get("cursor", ""))}
    )
