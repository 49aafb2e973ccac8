"""Texts from documents and plain facts, made fit to show: always escaped, nothing hidden, nothing endless."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from functools import lru_cache
from typing import TypedDict

from django import template
from django.template.loader import render_to_string
from django.utils import timezone
from django.utils.html import escape, format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe
from django.utils.text import Truncator
from django.utils.timesince import timesince

from ethos_review.web.hidden_characters import (
    Segment,
    find_hidden,
    find_hidden_at_beginning,
    find_hidden_in_pieces,
)
from ethos_review.web.shortcuts import SHORTCUTS

register = template.Library()

LONG = 900  # characters that stand without folding
GLIMPSE = 500  # characters of a folded text that stay visible


@register.filter
def shown(text: object) -> SafeString:
    """Escaped, with invisible characters and lookalike letters made visible (spec 4.2)."""
    return _joined(find_hidden(str(text)))


def shown_pieces(pieces: Iterable[str]) -> list[SafeString]:
    """Pieces of one text, each shown as it is in the whole."""
    return [_joined(segments) for segments in find_hidden_in_pieces(pieces)]


def beginning(text: str, length: int) -> SafeString:
    """Shown as it is in the whole text, which goes on."""
    return _joined(find_hidden_at_beginning(text, len(text[:length].rstrip())))


def _joined(segments: Sequence[Segment]) -> SafeString:
    if len(segments) == 1 and segments[0].kind == "plain":
        return escape(segments[0].text)
    return format_html_join("", "{}", ((_as_html(segment),) for segment in segments))


def _as_html(segment: Segment) -> SafeString:
    if segment.kind == "plain":
        return escape(segment.text)
    if segment.kind == "invisible":
        return _chip(segment.name, segment.label)
    chip = '<span class="hidden-char lookalike" title="{}"><bdi>{}</bdi> {}</span>'
    return format_html(chip, segment.name, segment.text, segment.label)


@lru_cache(maxsize=500)
def _chip(name: str, label: str) -> SafeString:
    return format_html('<span class="hidden-char" title="{}">{}</span>', name, label)


@register.filter
def bare(text: str, length: int = 80) -> str:
    """For titles and attributes, which hold no markup: the beginning, with code points for what is invisible."""
    parts = (s.label if s.kind == "invisible" else s.text for s in find_hidden(text))
    return Truncator("".join(parts)).chars(length)


@register.filter
def clipped(text: str, length: int) -> SafeString:
    """Shown, but no more than the beginning of a long text."""
    return shown(text) if len(text) <= length else format_html("{}…", beginning(text, length))


@register.filter
def sentence(text: str) -> SafeString:
    """Shown, with what stands in backticks as code."""
    parts = text.split("`")
    if len(parts) % 2 == 0:
        return shown(text)
    return format_html_join(
        "",
        "{}",
        ((format_html("<code>{}</code>", p) if i % 2 else p,) for i, p in enumerate(shown_pieces(parts))),
    )


@register.filter
def plain(number: int) -> SafeString:
    """A number for ids and addresses: never grouped or localised."""
    return mark_safe(str(int(number)))  # noqa: S308 - digits


class Folded(TypedDict):
    text: str
    glimpse: SafeString  # empty when the text is short enough to stand whole
    length: int


@register.inclusion_tag("web/_document_text.html")
def document_text(text: str) -> Folded:
    """A text from a document; a long one folds."""
    glimpse = beginning(text, GLIMPSE) if len(text) > LONG else SafeString()
    return {"text": text, "glimpse": glimpse, "length": len(text)}


@register.filter
def when(moment: datetime, precision: str = "minutes") -> SafeString:
    """A time as pages write times; to the `minutes` or the `seconds`."""
    written = f'<time datetime="{moment.isoformat()}">{in_utc(moment, precision)}</time>'
    return mark_safe(written)  # noqa: S308 - digits and signs


@register.filter
def ago(moment: datetime) -> SafeString:
    """How long ago, with the time itself for who points at it."""
    return format_html(
        '<time datetime="{}" title="{}">{}</time>',
        moment.isoformat(),
        in_utc(moment, "seconds"),
        age(moment),
    )


def in_utc(moment: datetime, precision: str) -> str:
    return f"{moment.astimezone(UTC).replace(tzinfo=None).isoformat(' ', precision)} UTC"


@register.filter
def age(moment: datetime) -> str:
    """How long ago, in its largest unit."""
    now = timezone.now()
    if (now - moment).total_seconds() < 60:
        return "just now"
    return f"{timesince(moment, now, depth=1)} ago".replace("\xa0", " ")


@register.filter
def spaced(code: str) -> str:
    """A code as words: `review_sealed` is “Review sealed”."""
    return code.replace("_", " ").capitalize()


@register.filter
def short_digest(digest: str) -> str:
    """Enough of a digest to recognise it; the whole stands in the title beside it."""
    return f"{digest[:8]}…{digest[-6:]}" if len(digest) > 20 else digest


@register.simple_tag
@lru_cache
def shortcut_table(*, switched_on: bool) -> SafeString:
    """On every page, and one of two texts: each is drawn once."""
    context = {"shortcuts": SHORTCUTS, "switched_on": switched_on}
    return render_to_string("web/_shortcuts.html", context)
