"""Being at work on a review: the next one, and holding one, so that colleagues know."""

from __future__ import annotations

from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST

from ethos_review.reviews import leases
from ethos_review.web.htmx import Request, tell_script, wants_fragment
from ethos_review.web.permissions import permission_required


@permission_required("reviews.decide_claim")
@require_POST
def next_review(request: Request) -> HttpResponse:
    after = request.POST.get("after", "")
    found = leases.next_review(actor=request.user, after=_uuid(after))
    if found.review is None:
        messages.info(request, _why_nothing(found.held_by_others))
        return redirect("queue")
    return redirect("review", found.review.review_id)


@permission_required("reviews.decide_claim")
@require_POST
def lease(request: Request, review_id: UUID) -> HttpResponse:
    act = request.POST.get("act", "")
    if act == "release":
        leases.release_lease(actor=request.user, review_id=review_id)
    else:
        leases.take_lease(actor=request.user, review_id=review_id, over=act == "take_over")
    if not wants_fragment(request):
        return redirect("review", review_id)
    found = leases.presence_of(request.user, review_id)
    context = {"presence": found, "review": found.review}
    return tell_script(render(request, "reviews/_presence.html", context), focus="presence")


def _uuid(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None


def _why_nothing(held_by_others: int) -> str:
    if not held_by_others:
        return "Nothing needs you now."
    held = (
        "The one review that needs you is"
        if held_by_others == 1
        else f"All {held_by_others} that need you are"
    )
    return f"{held} held by colleagues. Open one from the list to take it over, or come back later."
