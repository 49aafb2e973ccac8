"""How the fields of the account pages are shown."""

from __future__ import annotations

from uuid import uuid4

from django import template
from django.forms import BoundField
from django.utils.html import format_html
from django.utils.safestring import SafeString

from ethos_review.accounts.once import FIELD
from ethos_review.accounts.roles import ROLE_WORDS
from ethos_review.accounts.scopes import SCOPE_WORDS

register = template.Library()


@register.filter
def focused(field: BoundField) -> SafeString:
    """The field; the first one with an error has the focus, and on a form without errors the only one."""
    form = field.form
    faulty = next((name for name in form.fields if name in form.errors), None) if form.is_bound else None
    wanted = faulty or (field.name if len(form.visible_fields()) == 1 else None)
    return field.as_widget(attrs={"autofocus": field.name == wanted} if wanted else None)


@register.simple_tag
def showing() -> SafeString:
    """So that this showing of a form does its act once."""
    return format_html('<input type="hidden" name="{}" value="{}">', FIELD, uuid4())


@register.filter
def role_words(role: str) -> str:
    """What a role lets a person do."""
    return ROLE_WORDS[role]


@register.filter
def scope_words(scope: str) -> str:
    """What a scope lets a program do."""
    return SCOPE_WORDS[scope]
