"""The audit page: every event, newest first; the export of all of them; the newest checkpoint."""

from __future__ import annotations

from django.http import HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.utils.http import content_disposition_header
from django.views.decorators.http import require_safe

from ethos_review.audit import queries
from ethos_review.audit.forms import FilterForm
from ethos_review.audit.operations import record_export
from ethos_review.web.htmx import Request
from ethos_review.web.permissions import permission_required


@permission_required("audit.view_event")
@require_safe
def events(request: Request) -> HttpResponse:
    form = FilterForm(request.GET)
    filters = form.filters() if form.is_valid() else queries.Filters()
    asked = request.GET.copy()
    asked.pop("cursor", None)
    context = {
        "page": queries.event_page(cursor=request.GET.get("cursor", ""), filters=filters),
        "form": form,
        "chosen_action": filters.action,
        "filtered": filters != queries.Filters(),
        "asked": asked.urlencode(),
    }
    return render(request, "audit/list.html", context, status=200 if form.is_valid() else 400)


@permission_required("audit.view_event")
@require_safe
def export(request: Request) -> HttpResponseBase:
    length = record_export(actor=request.user).sequence if request.method == "GET" else 0
    response = StreamingHttpResponse(queries.export_lines(length), content_type="application/jsonl")
    response["Content-Disposition"] = content_disposition_header(True, "events.jsonl")
    return response


@permission_required("audit.view_event")
@require_safe
def checkpoint(request: Request) -> HttpResponse:
    response = HttpResponse(bytes(queries.newest_checkpoint().envelope), content_type="application/json")
    response["Content-Disposition"] = content_disposition_header(True, "checkpoint.dsse.json")
    return response
