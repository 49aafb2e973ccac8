"""The policy in force, and every policy that a review was decided under, to read."""

from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from ethos_review.reviews import policies
from ethos_review.web.htmx import Request
from ethos_review.web.permissions import permission_required


@permission_required("reviews.view_review")
@require_safe
def policy(request: Request, sha256: str = "") -> HttpResponse:
    """Without `sha256`, the one in force."""
    in_force = policies.current_policy()
    shown = policies.policy_with(sha256) if sha256 else in_force
    context = {"policy": shown, "in_force": in_force, "records": policies.used_policies()}
    return render(request, "reviews/policy.html", context)
