"""What the pages that ask who one is say about it."""

from __future__ import annotations

from django import template
from django.template.context import RequestContext

from ethos_review.accounts import confirmation
from ethos_review.accounts.asked import Asked, asked

register = template.Library()
register.simple_tag(confirmation.minutes, name="confirmation_minutes")


@register.simple_tag(takes_context=True)
def what_was_asked(context: RequestContext) -> Asked | None:
    return asked(context["request"])
