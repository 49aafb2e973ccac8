"""The queue: the home page."""

from __future__ import annotations

from django.http import HttpResponse, QueryDict
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
    return render(
        request, "reviews/queue.html", {"page": page, "form": form, "asked": asked_of_queue(request.GET)}
    )


def asked_of_queue(sent: QueryDict) -> dict[str, str]:
    """What the queue was asked for: its filters and its order, as they were sent."""
    return {name: str(sent[name]) for name in QueueForm.base_fields if sent.get(name)}
