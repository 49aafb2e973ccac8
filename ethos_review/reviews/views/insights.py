"""Insights: figures about the work, drawn and in tables."""

from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from ethos_review.reviews.insights import PERIODS, USUAL_PERIOD
from ethos_review.reviews.insights import insights as read_insights
from ethos_review.web.htmx import Request
from ethos_review.web.permissions import permission_required


@permission_required("reviews.view_every_review")
@require_safe
def insights(request: Request) -> HttpResponse:
    asked = request.GET.get("days", "")
    period = int(asked) if asked in map(str, PERIODS) else USUAL_PERIOD
    context = {"insights": read_insights(request.user, period=period), "periods": PERIODS}
    return render(request, "reviews/insights.html", context)
