"""Figures as shapes: shares of a width, and columns over days; drawn as SVG by templates."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import TypedDict

from django import template
from django.utils.timesince import timesince

from ethos_review.reviews.insights import AgeBand, Cause, Day, Group, Insights

register = template.Library()

COLUMN = 10  # width of a day in a chart that is 100 high
GAP = 2
SOME_MOMENT = datetime(2000, 1, 1)  # noqa: DTZ001 - only a duration is told


@register.simple_tag
def share(part: int, whole: int) -> str:
    """Percent of the width."""
    return f"{100 * part / whole:.2f}" if whole else "0"


@register.filter
def percent(part: int, whole: int) -> str:
    return f"{100 * part / whole:.0f} %" if whole else "–"


@register.filter
def most_reviews(lines: Sequence[AgeBand | Group]) -> int:
    return max((line.reviews for line in lines), default=0)


@register.filter
def most_claims(causes: Sequence[Cause]) -> int:
    return max((cause.claims for cause in causes), default=0)


@register.filter
def took(duration: timedelta) -> str:
    """In its two largest units."""
    if duration < timedelta(minutes=1):
        return "less than a minute"
    return timesince(SOME_MOMENT, SOME_MOMENT + duration, depth=2).replace("\xa0", " ")


class Column(TypedDict):
    tone: str
    x: int
    y: str
    height: str


class Columns(TypedDict):
    width: int
    most: int  # claims decided on one day
    columns: list[Column]


@register.simple_tag
def day_columns(days: Sequence[Day]) -> Columns:
    """Approved below, blocked on top of it."""
    most = max((day.approved + day.blocked for day in days), default=0)
    columns: list[Column] = []
    for place, day in enumerate(days):
        base = 100.0
        for tone, count in (("ok", day.approved), ("bad", day.blocked)):
            if count:
                height = 100 * count / most
                base -= height
                columns.append(
                    {"tone": tone, "x": place * COLUMN, "y": f"{base:.2f}", "height": f"{height:.2f}"}
                )
    return {"width": max(len(days) * COLUMN - GAP, 1), "most": most, "columns": columns}


@register.filter
def busy_days(insights: Insights) -> list[Day]:
    """The days on which something was decided, the latest first."""
    return [day for day in reversed(insights.days) if day.approved or day.blocked]
