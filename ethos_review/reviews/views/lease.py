"""Being at work on a review: the next one, and holding one, so that colleagues know."""

from __future__ import annotations

from urllib.parse import urlencode
from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST

from ethos_review.reviews import leases
from ethos_review.reviews.forms import QueueForm
from ethos_review.reviews.next_review import Left, take_next_review, what_is_left
from ethos_review.reviews.views.queue import asked_of_queue
from ethos_review.web.htmx import Request, tell_script, wants_fragment
from ethos_review.web.permissions import permission_required


@permission_required("reviews.decide_claim")
@require_POST
def next_review(request: Request) -> HttpResponse:
    """From the queue, within the filter that it shows; that filter stays in the address when nothing is left."""
    filters = QueueForm(request.POST).filters()
    after = _uuid(request.POST.get("after", ""))
    review = take_next_review(actor=request.user, after=after, filters=filters)
    if review:
        return redirect("review", review.review_id)
    messages.info(request, _why_nothing(what_is_left(request.user, filters), filtered=bool(filters)))
    asked = asked_of_queue(request.POST)
    return redirect(f"{reverse('queue')}?{urlencode(asked)}" if asked else "queue")


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


def _why_nothing(left: Left, *, filtered: bool) -> str:
    here = "that the filter shows " if filtered else ""
    if left.held:
        held = "review needs you and is" if left.held == 1 else "reviews need you and are"
        said = [
            f"{left.held} {held} held by colleagues. Open one from the list to take it over, or come back later."
        ]
    else:
        said = [f"Nothing {here}needs you now."]
    if left.hidden:
        said.append(f"The filter hides {left.hidden} that need{'s' if left.hidden == 1 else ''} you.")
    if left.own:
        own = "review that you submitted waits" if left.own == 1 else "reviews that you submitted wait"
        said.append(f"{left.own} {own} for someone else.")
    return " ".join(said)
