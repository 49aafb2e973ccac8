"""What the pages that ask who one is say about it."""

from __future__ import annotations

from django import template

from ethos_review.accounts import confirmation

register = template.Library()
register.simple_tag(confirmation.minutes, name="confirmation_minutes")
