"""The warning before a sign-in ends, on every page."""

from __future__ import annotations

from django import template
from django.template.context import RequestContext

from ethos_review.accounts.sign_in_end import end_of_sign_in

register = template.Library()


@register.inclusion_tag("accounts/_sign_in_end.html", takes_context=True)
def sign_in_end(context: RequestContext) -> dict[str, object]:
    return {**end_of_sign_in(context["request"].session), "csrf_token": context["csrf_token"]}
