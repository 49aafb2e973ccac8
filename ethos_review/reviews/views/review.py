"""The review page with its actions: open a claim, decide on it, undo that, see what colleagues decide."""

from __future__ import annotations

from dataclasses import replace
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from ethos_review.reviews import leases, operations, queries
from ethos_review.reviews.changes import Seen, at_work, changes_since, state_of
from ethos_review.reviews.forms import DecisionForm, UndoForm
from ethos_review.reviews.leases import Presence
from ethos_review.reviews.models import Claim, ReviewerDecision
from ethos_review.reviews.queries import Card, ReviewPage
from ethos_review.reviews.rights import still_undecided
from ethos_review.reviews.templatetags.review_words import ITEMS_AT_ONCE
from ethos_review.reviews.views.obstacles import INCOMPLETE_FORM, Obstacle, attempt
from ethos_review.reviews.views.parts import part_of
from ethos_review.web.htmx import Request, tell_script, wants_fragment
from ethos_review.web.permissions import permission_required, typed_text


@permission_required("reviews.view_review")
@require_safe
def review(request: Request, review_id: UUID) -> HttpResponse:
    page = queries.review_page(request.user, review_id, opened=_position(request.GET.get("claim", "")))
    presence = leases.arrive(request.user, leases.presence(request.user, page.review))
    return render(request, "reviews/review.html", _context(page, presence) | {"review_url": ""})


@permission_required("reviews.view_review")
@require_safe
def more_claims(request: Request, review_id: UUID) -> HttpResponse:
    """The cards around one claim, to be put beside those that a page of a long review already shows."""
    place = _position(request.GET.get("around", "")) or 0
    if not wants_fragment(request):
        return redirect(_page_of_claim(review_id, place))
    page = queries.review_page(request.user, review_id, opened=place)
    if page.opened is None:
        raise Claim.DoesNotExist
    cards = next(cards for key, _, cards in page.groups if key == page.opened.card.group)
    context = {
        "part": part_of(cards, place),
        "side": request.GET.get("side", "later"),
        "review_url": reverse("review", args=[review_id]),
    }
    return tell_script(render(request, "reviews/_more_claims.html", context), first=f"claim-{place}")


@permission_required("reviews.view_review")
@require_safe
def answer(request: Request, review_id: UUID) -> HttpResponse:
    """All that a reader of the answer would see now, page by page."""
    page = queries.review_page(request.user, review_id)
    context = {
        "page": page,
        "review": page.review,
        "review_url": reverse("review", args=[review_id]),
        "shown": Paginator(page.preview_claims, ITEMS_AT_ONCE).get_page(request.GET.get("page")),
    }
    return render(request, "reviews/answer.html", context)


@permission_required("reviews.view_review")
@require_safe
def changes(request: Request, review_id: UUID) -> HttpResponse:
    """Asked every two seconds by an open page: what colleagues changed since, or nothing."""
    if not wants_fragment(request):
        return redirect("review", review_id)
    seen = Seen.parse(request.GET.get("seen", ""))
    if seen is None:
        return HttpResponse(status=400)
    now = state_of(request.user, review_id)
    if now == (seen.revision, seen.at_work):
        return HttpResponse(status=204)
    if now.revision == seen.revision:
        presence = leases.presence_of(request.user, review_id)
        context = {
            "review": presence.review,
            "presence": presence,
            "review_url": reverse("review", args=[review_id]),
            "seen": replace(seen, at_work=at_work(presence)),
        }
        return render(request, "reviews/_presence_changed.html", context)
    open_claims = {_position(place) for place in request.GET.get("open", "").split()}
    found = changes_since(request.user, review_id, seen, open_claims)
    context = _context(found.page, leases.presence(request.user, found.page.review)) | {
        "changes": found,
        "by_others": found.by_others(request.user),
    }
    response = render(request, "reviews/_changes.html", context)
    return tell_script(response, sealed=True) if found.sealed else response


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
    decided = attempt(lambda: operations.decide_claim(**asked))
    if isinstance(decided, Obstacle):
        return _stopped(request, review_id, position, decided)
    if not wants_fragment(request):
        place = queries.next_waiting(decided.decision.claim.review, position)
        return _go_on(request, decided.decision, position if place is None else place)
    page = queries.review_page(request.user, review_id, after=position)
    return _done(request, page, decided.decision)


@permission_required("reviews.decide_claim")
@require_POST
def undo_decision(request: Request, review_id: UUID, position: int) -> HttpResponse:
    form = UndoForm(request.POST)
    if not form.is_valid():
        return _stopped(request, review_id, position, INCOMPLETE_FORM)
    asked = {"actor": request.user, "review_id": review_id, "position": position, **form.cleaned_data}
    undone = attempt(lambda: operations.undo_decision(**asked))
    if isinstance(undone, Obstacle):
        return _stopped(request, review_id, position, undone)
    if not wants_fragment(request):
        return _go_on(request, undone.decision, position)
    page = queries.review_page(request.user, review_id, opened=position)
    return _done(request, page, undone.decision)


def _go_on(request: Request, decision: ReviewerDecision, place: int) -> HttpResponse:
    """Without the script: the page anew, open at the claim where the work goes on."""
    messages.success(request, _announce(decision))
    return redirect(_page_of_claim(decision.claim.review.review_id, place))


def _done(request: Request, page: ReviewPage, decision: ReviewerDecision) -> HttpResponse:
    """The claim as it is now; the work goes on at the one that stands open."""
    review_id, position = page.review.review_id, decision.claim.position
    card = _card_at(page, position)
    place = page.opened.card.row.position if page.opened else position
    before = Seen.parse(request.POST.get("seen", ""))
    context = _context(page, leases.presence(request.user, page.review)) | {
        "card": card,
        "announcement": _announce(decision),
    }
    if before and before.revision + 1 == page.review.revision:
        # Nobody else changed anything: the page is as far as this answer, so that it asks for nothing twice.
        context["how_far"] = replace(context["seen"], at_work=before.at_work)
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
    opened = page.opened.card.row.position if page.opened else None
    return {
        "page": page,
        "review": page.review,
        "presence": presence,
        "seen": Seen.on(page, presence),
        "groups": [(key, label, cards, part_of(cards, opened)) for key, label, cards in page.groups if cards],
        "review_url": reverse("review", args=[page.review.review_id]),
    }


def _card_at(page: ReviewPage, position: int) -> Card:
    return next(card for _, _, cards in page.groups for card in cards if card.row.position == position)


def _announce(decision: ReviewerDecision) -> str:
    text, left = decision.claim.text, decision.claim.review.undecided_count
    done = {"approve": "Approved", "block": "Blocked", "undo": "Undone"}[decision.outcome]
    return f"{done}: {text[:80]}{'…' if len(text) > 80 else ''} {still_undecided(left)}"


def _page_of_claim(review_id: UUID, position: int) -> str:
    return f"{reverse('review', args=[review_id])}?claim={position}#claim-{position}"


def _position(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 9 else None
