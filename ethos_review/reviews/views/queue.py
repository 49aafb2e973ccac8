"""The queue: the home page."""

from __future__ import annotations

from django.http import HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.views.decorators.http import require_safe

from ethos_review.accounts.sessions import signed_in_before
from ethos_review.reviews.forms import QueueForm
from ethos_review.reviews.queue import queue_page
from ethos_review.web.htmx import Request
from ethos_review.web.permissions import permission_required


@permission_required("reviews.view_review")
@require_safe
def queue(request: Request) -> HttpResponse:
    if (
        "" in request.GET.values()
    ):  # a form sends its empty fields too; an address to keep is better without them
        return redirect(f"{request.path}?{_without_empty(request.GET).urlencode()}")
    form = QueueForm(request.GET)
    page = queue_page(
        request.user,
        tab=request.GET.get("tab", ""),
        sort=request.GET.get("sort", ""),
        cursor=request.GET.get("cursor", ""),
        filters=form.filters(),
        since=signed_in_before(request) if request.user.has_perm("reviews.submit_review") else None,
    )
    return render(
        request, "reviews/queue.html", {"page": page, "form": form, "asked": asked_of_queue(request.GET)}
    )


def _without_empty(sent: QueryDict) -> QueryDict:
    kept = sent.copy()
    for name in sent:
        kept.setlist(name, [value for value in sent.getlist(name) if value])
    return kept


def asked_of_queue(sent: QueryDict) -> dict[str, str]:
    """What the queue was asked for: its filters and its order, as they were sent."""
    return {name: str(sent[name]) for name in QueueForm.base_fields if sent.get(name)}
