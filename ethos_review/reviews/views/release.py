"""Sealing: the last look, the signature, and the release that comes of it."""

from __future__ import annotations

from uuid import UUID

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_safe

from ethos_review.reviews import operations, queries
from ethos_review.reviews.views.obstacles import attempt
from ethos_review.web.htmx import Request
from ethos_review.web.permissions import permission_required


@permission_required("reviews.seal_review")
@require_http_methods(["GET", "HEAD", "POST"])
def seal_review(request: Request, review_id: UUID) -> HttpResponse:
    obstacle = None
    if request.method == "POST":
        seen = request.POST.get("based_on", "")
        based_on = int(seen) if seen.isdecimal() and len(seen) < 10 else -1
        obstacle = attempt(
            lambda: operations.seal_review(actor=request.user, review_id=review_id, based_on=based_on)
        )
        if obstacle is None:
            return redirect("release", review_id)
    page = queries.review_page(request.user, review_id)
    context = {"page": page, "review": page.review, "obstacle": obstacle}
    return render(request, "reviews/seal.html", context, status=obstacle.status if obstacle else 200)


@permission_required("reviews.view_review")
@require_safe
def release(request: Request, review_id: UUID) -> HttpResponse:
    sealed = queries.release_of(request.user, review_id)
    page = queries.review_page(request.user, review_id)
    return render(request, "reviews/release.html", {"release": sealed, "page": page, "review": page.review})
