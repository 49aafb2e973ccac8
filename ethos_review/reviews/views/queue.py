"""The queue: the home page."""

from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from ethos_review.reviews import queries
from ethos_review.web.htmx import Request
from ethos_review.web.permissions import permission_required


@permission_required("reviews.view_review")
@require_safe
def queue(request: Request) -> HttpResponse:
    first = "needs_me" if request.user.has_perm("reviews.decide_claim") else "all"
    tab = request.GET.get("tab", first)
    page = queries.queue_page(request.user, tab=tab, cursor=request.GET.get("cursor", ""))
    current = next(tab.key for tab in page.tabs if tab.current)
    return render(request, "reviews/queue.html", {"page": page, "tab_key": current})
