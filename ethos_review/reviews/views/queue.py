"""The queue: the home page."""

from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from ethos_review.reviews.forms import QueueForm
from ethos_review.reviews.queue import queue_page
from ethos_review.web.htmx import Request
from ethos_review.web.permissions import permission_required


@permission_required("reviews.view_review")
@require_safe
def queue(request: Request) -> HttpResponse:
    first = "needs_me" if request.user.has_perm("reviews.decide_claim") else "all"
    form = QueueForm(request.GET)
    page = queue_page(
        request.user,
        tab=request.GET.get("tab", first),
        sort=request.GET.get("sort", ""),
        cursor=request.GET.get("cursor", ""),
        filters=form.filters(),
    )
    return render(request, "reviews/queue.html", {"page": page, "form": form})
