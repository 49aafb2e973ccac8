"""Sealing: the last look, the signature, the release that comes of it, and its replay."""

from __future__ import annotations

from uuid import UUID

from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_safe

from ethos_review.engine.errors import DocumentError
from ethos_review.reviews import operations, queries
from ethos_review.reviews.models import KeptBytesChanged
from ethos_review.reviews.replays import replay_release
from ethos_review.reviews.templatetags.review_words import ITEMS_AT_ONCE
from ethos_review.reviews.views.obstacles import Obstacle, attempt
from ethos_review.web.htmx import Request, tell_script, wants_fragment
from ethos_review.web.permissions import permission_required


@permission_required("reviews.seal_review")
@require_http_methods(["GET", "HEAD", "POST"])
def seal_review(request: Request, review_id: UUID) -> HttpResponse:
    obstacle = None
    if request.method == "POST":
        seen = request.POST.get("based_on", "")
        based_on = int(seen) if seen.isdecimal() and len(seen) < 10 else -1
        sealed = attempt(
            lambda: operations.seal_review(actor=request.user, review_id=review_id, based_on=based_on)
        )
        if not isinstance(sealed, Obstacle):
            return redirect("release", review_id)
        obstacle = sealed
    page = queries.review_page(request.user, review_id)
    context = {"page": page, "review": page.review, "obstacle": obstacle}
    return render(request, "reviews/seal.html", context, status=obstacle.status if obstacle else 200)


@permission_required("reviews.view_review")
@require_safe
def release(request: Request, review_id: UUID) -> HttpResponse:
    sealed = queries.release_of(request.user, review_id)
    try:
        page = queries.review_page(request.user, review_id)
    except (KeptBytesChanged, DocumentError):
        return redirect("replay", review_id)  # which says what the documents are no longer
    context = {
        "release": sealed,
        "key": queries.release_key(sealed),
        "page": page,
        "review": page.review,
    }
    return render(request, "reviews/release.html", context)


@permission_required("reviews.view_review")
@require_safe
def listing(request: Request, review_id: UUID, part: str) -> HttpResponse:
    """Page by page, all that is `released` or `withheld`: the release page shows the first of each."""
    page = queries.review_page(request.user, review_id)
    items = page.preview_claims if part == "released" else page.withheld
    context = {
        "page": page,
        "review": page.review,
        "part": part,
        "shown": Paginator(items, ITEMS_AT_ONCE).get_page(request.GET.get("page")),
    }
    return render(request, "reviews/listing.html", context)


@permission_required("reviews.view_review")
@require_safe
def replay(request: Request, review_id: UUID) -> HttpResponse:
    """Recompute the release from the kept bytes (spec 3.8). It changes nothing, so it is a GET."""
    sealed = queries.release_of(request.user, review_id)
    context = {
        "release": sealed,
        "review": sealed.review,
        "differences": replay_release(sealed),
        "replayed": True,
    }
    if wants_fragment(request):
        return tell_script(render(request, "reviews/_replay_answer.html", context), focus="replay-result")
    try:
        page = queries.review_page(request.user, review_id)
    except (KeptBytesChanged, DocumentError):
        return render(request, "reviews/replay.html", context)
    key = queries.release_key(sealed)
    return render(request, "reviews/release.html", context | {"page": page, "key": key})
