"""Whether this process and its database answer; no data."""

from __future__ import annotations

from django.db import connection
from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from ethos_review.web.permissions import anonymous


@anonymous
@require_safe
def healthz(request: HttpRequest) -> HttpResponse:
    connection.ensure_connection()
    return HttpResponse("ok\n", content_type="text/plain")
