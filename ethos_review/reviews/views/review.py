"""The review page with its actions: open a claim, decide on it, undo that."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from ethos_review.reviews import leases, operations, queries
from ethos_review.reviews.forms import DecisionForm, UndoForm
from ethos_review.reviews.leases import Presence
from ethos_review.reviews.queries import Card, ReviewPage
from ethos_review.reviews.views.obstacles import INCOMPLETE_FORM, Obstacle, attempt
from ethos_review.web.htmx import Request, tell_script, wants_fragment
from ethos_review.web.permissions import permission_required, typed_text


@permission_required("reviews.view_review")
@require_safe
def review(request: Request, review_id: UUID) -> HttpResponse:
    asked = request.GET.get("claim", "")
    opened = int(asked) if asked.isascii() and asked.isdecimal() and len(asked) < 9 else None
    page = queries.review_page(request.user, review_id, opened=opened)
    presence = leases.arrive(request.user, leases.presence(request.user, page.review))
    return render(request, "reviews/review.html", _context(page, presence))


@permission_required("reviews.view_review")
@require_safe
def claim_card(request: Request, review_id: UUID, position: int) -> HttpResponse:
    if not wants_fragment(request):
        return redirect(_page_of_claim(review_id, position))
    opened = queries.open_card(request.user, review_id, position)
    context = {"card": opened.card, "opened": opened, "review_url": reverse("review", args=[review_id])}
    return render(request, "reviews/_card.html", context)


@permission_required("reviews.decide_claim")
@require_POST
def decide_claim(request: Request, review_id: UUID, position: int) -> HttpResponse:
    form = DecisionForm(request.POST)
    if not form.is_valid():
        return _stopped(request, review_id, position, INCOMPLETE_FORM)
    asked = {"actor": request.user, "review_id": review_id, "position": position, **form.cleaned_data}
    obstacle = attempt(lambda: operations.decide_claim(**asked))
    if obstacle:
        return _stopped(request, review_id, position, obstacle)
    return _done(request, queries.review_page(request.user, review_id, after=position), position)


@permission_required("reviews.decide_claim")
@require_POST
def undo_decision(request: Request, review_id: UUID, position: int) -> HttpResponse:
    form = UndoForm(request.POST)
    if not form.is_valid():
        return _stopped(request, review_id, position, INCOMPLETE_FORM)
    asked = {"actor": request.user, "review_id": review_id, "position": position, **form.cleaned_data}
    obstacle = attempt(lambda: operations.undo_decision(**asked))
    if obstacle:
        return _stopped(request, review_id, position, obstacle)
    return _done(request, queries.review_page(request.user, review_id, opened=position), position)


def _done(request: Request, page: ReviewPage, position: int) -> HttpResponse:
    """The claim as it is now; the work goes on at the one that stands open."""
    review_id, card = page.review.review_id, _card_at(page, position)
    place = page.opened.card.row.position if page.opened else position
    announcement = _announce(card, page)
    if not wants_fragment(request):
        messages.success(request, announcement)
        return redirect(_page_of_claim(review_id, place))
    context = _context(page, leases.presence(request.user, page.review)) | {
        "card": card,
        "announcement": announcement,
    }
    focus = f"claim-{place}" if page.opened else "seal" if page.can_seal else "progress"
    response = render(request, "reviews/_decided.html", context)
    return tell_script(response, focus=focus, settled=f"{review_id}/{position}" if card.decision else "")


def _stopped(request: Request, review_id: UUID, position: int, obstacle: Obstacle) -> HttpResponse:
    """Nothing changed: the claim as it is now, why, and what was typed."""
    page = queries.review_page(request.user, review_id, opened=position)
    context = _context(page, leases.presence(request.user, page.review)) | {
        "obstacle": obstacle,
        "typed": typed_text(request),
    }
    if not wants_fragment(request):
        return render(request, "reviews/review.html", context, status=obstacle.status)
    context |= {"card": _card_at(page, position), "announcement": obstacle.message}
    response = render(request, "reviews/_decided.html", context, status=obstacle.status)
    return tell_script(
        response, focus=f"claim-{position}-{'rationale' if obstacle.concerns_rationale else 'obstacle'}"
    )


def _context(page: ReviewPage, presence: Presence) -> dict[str, Any]:
    return {
        "page": page,
        "review": page.review,
        "presence": presence,
        "review_url": reverse("review", args=[page.review.review_id]),
    }


def _card_at(page: ReviewPage, position: int) -> Card:
    return next(card for _, _, cards in page.groups for card in cards if card.row.position == position)


def _announce(card: Card, page: ReviewPage) -> str:
    left = page.review.undecided_count
    done = {"approve": "Approved", "block": "Blocked"}.get(
        card.decision.outcome if card.decision else "", "Undone"
    )
    rest = (
        "Nothing is undecided any more."
        if not left
        else f"{left} claim{'s' if left > 1 else ''} still undecided."
    )
    return f"{done}: {card.row.text[:80]}{'…' if len(card.row.text) > 80 else ''} {rest}"


def _page_of_claim(review_id: UUID, position: int) -> str:
    return f"{reverse('review', args=[review_id])}?claim={position}#claim-{position}"
