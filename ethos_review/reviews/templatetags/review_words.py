"""The words for what the engine decided: one sentence or label per code, in one place."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from functools import lru_cache
from typing import NamedTuple, Protocol, TypedDict, TypeVar
from uuid import UUID

from django import template
from django.core.paginator import Page, Paginator
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe

from ethos_review.engine.assessment import ClaimAssessment
from ethos_review.engine.documents import Json
from ethos_review.engine.explain import REASONS, Rule, grounding_wording, reviewed_as
from ethos_review.engine.report import Check, Citation, Report
from ethos_review.engine.values import ABSENCE, MALFORMED, SAME, UNKNOWN, VALUE, classify
from ethos_review.engine.values import json_text as engine_json_text
from ethos_review.engine.verdict import ComparedReading, JudgedValue
from ethos_review.reviews.rights import still_undecided
from ethos_review.web.differences import Piece, mark_differences
from ethos_review.web.hidden_characters import has_hidden
from ethos_review.web.templatetags.texts import bare, in_utc, shown_pieces

register = template.Library()
register.filter(still_undecided)
register.filter(reviewed_as)
T = TypeVar("T")

# Tones: ok, warn and bad mean released, waiting and withheld; plain decides nothing by itself.
WORDS = {
    "app_status": {
        "certified": "Certified",
        "partial_certified": "Partial – certified claims only",
        "supported_synthesis_needs_review": "Supported synthesis needs review",
        "claim_support_needs_review": "Claim support needs review",
        "claim_support_rejected": "Claim support rejected",
        "grounded_but_irrelevant": "Grounded, but off-topic",
        "cannot_answer_from_sources": "Cannot answer from the sources",
    },
    "proof_status": {
        "verified": "verified",
        "partially_verified": "partially verified",
        "unverified": "unverified",
    },
    "limitation": {
        "capability_limited": "capability limited",
        "stale_fingerprint": "stale fingerprint",
        "unsupported_claim_kind": "unsupported claim kind",
        "non_grounded_checks": "non-grounded checks",
        "semantic_unverified": "meaning not verified",
    },
    "capability": {
        "missing_spans": "no spans of text",
        "missing_char_offsets": "no places of characters",
        "missing_tables": "no tables",
        "missing_fingerprint": "no fingerprint of the source",
        "unknown_coordinate_origin": "boxes measured from an unknown corner",
        "missing_crop_support": "no pictures of evidence",
        "missing_structure": "no structure of the source",
    },
    "warning": {
        "low_confidence_reading_order": "reading order uncertain",
        "low_confidence_table_structure": "rows and columns of a table uncertain",
        "hidden_text_detected": "hidden text in the source",
        "off_page_text_detected": "text outside the page",
        "low_contrast_text_detected": "text hardly visible on the page",
        "annotations_present": "annotations in the source",
        "external_links_present": "links to elsewhere in the source",
        "image_only_page": "a page that is only a picture",
        "unsupported_annotation": "an annotation that was not read",
        "partial_parse": "source read in part only",
        "capability_limited": "limited by what the parser can tell",
    },
    "declared": {
        "known": "declares that there is no value:",
        "unknown": "declares the value unknown:",
        "not-applicable": "declares the value not applicable:",
        "malformed": "declares, in a form that is not complete:",
    },
    "relevance": {
        "direct_answer": "Directly answers",
        "supports_answer": "Supports the answer",
        "background_only": "Background only",
        "unrelated": "Unrelated",
    },
    "claim_type": {"source_fact": "Source fact", "synthesis": "Synthesis", "unsupported": "Unsupported"},
    "claim_support": {
        "supported": "Support: supported",
        "unsupported": "Support: unsupported",
        "contradicted": "Support: contradicted",
        "not_evaluated": "Support: not evaluated",
    },
    "verdict": {
        "omitted": "Value not stated",
        "uncollected": "No readings",
        "agrees": "Readings agree",
        "declined": "Value declined",
        "contradicts": "Contradicted by a reading",
        "contradicts-a-reading": "Contradicted by one reading",
        "incomparable": "Readings not comparable",
        "settled-unknown": "Readings unsettled",
        "settled-doubt": "Readings unsettled",
        "doubt-on-both-sides": "Doubt on both sides",
        "disputed": "Readings disagree",
    },
    "action": {"show_final": "Final", "needs_review": "Needs review", "block": "Blocked"},
    "action_before": {"show_final": "Was final", "needs_review": "Needed review"},  # of a decided claim
    "outcome": {"approve": "Approved", "block": "Blocked", "undo": "Undone"},
    "group": {"needs_review": "Needs review", "final": "Final", "blocked": "Blocked"},
    "cause": {
        "supported_synthesis_needs_review": "Synthesis",
        "claim_support_not_evaluated": "Support not evaluated",
        "grounded_but_irrelevant": "Grounded, but off-topic",
        "unsupported_claim": "Not supported by its evidence",
        "contradicted_claim": "Contradicted by its evidence",
        "cannot_answer_from_sources": "Not grounded",
        "no_check_behind_grounding": "Grounding stated, no check",
        "reviewer": "A reviewer's decision",
        "contradicts": "Contradicted by readings",
        "contradicts-a-reading": "Contradicted by one reading",
        "incomparable": "Readings not comparable",
        "settled-unknown": "Readings unsettled: unknown",
        "settled-doubt": "Readings unsettled: in doubt",
        "doubt-on-both-sides": "Doubt on both sides",
        "disputed": "Readings disagree",
    },
    "cause_state": {
        "blocked": "blocked by the engine",
        "withheld": "withheld",
        "undecided": "waits for a decision",
    },
    "answer_status": {"complete": "Complete answer", "partial": "Partial answer", "none": "Nothing released"},
    "review_status": {"needs_review": "Needs review", "ready_to_seal": "Ready to seal", "sealed": "Sealed"},
    "normalization": {
        "auto": "by the kind of value",
        "text": "as text",
        "number": "as numbers",
        "boolean": "as yes or no",
        "exact": "exactly",
        "set": "as sets",
    },
    "relation": {"same": "same", "different": "different", "incomparable": "not comparable"},
    "reading_kind": {
        "value": "",
        "absence": "declared absent",
        "unknown": "declared unknown",
        "doubt": "in doubt",
        "malformed": "malformed",
    },
    "match_method": {
        "table_cell_lookup": "lookup in its table",
        "exact_text_contains": "exact text within the source text",
        "normalized_text_contains": "normalized text within the source text",
        "bbox_containment": "box containment",
        "presence_only": "presence alone",
    },
    "tier": {
        "exact_span": "exact span",
        "table_cell": "table cell",
        "element_scoped": "within the element",
        "page_scoped": "within the page",
        "capability_limited": "limited by capabilities",
    },
    "reason": REASONS,
    "wrapper": {"statement": "an in-toto Statement", "dsse": "a DSSE envelope"},
    "disclosure": {
        "partial_answer": "This answer is partial: other claims were withheld.",
        "reviewed_synthesis": "Marked passages were released by a reviewer.",
        "withheld_by_readings": "What tools read during the run kept at least one claim from being shown at once.",
        "withheld_by_reviewer": "Claims were withheld by a reviewer.",
        "no_support_in_sources": "The sources do not support an answer.",
        "proof:capability_limited": "The sources could not be checked in every respect.",
        "proof:stale_fingerprint": "The sources have changed since they were cited.",
        "proof:unsupported_claim_kind": "Some citations are of a kind that cannot be checked.",
        "proof:non_grounded_checks": "Not every citation was found in the sources.",
        "proof:semantic_unverified": "Some citations were found, but their meaning was not verified.",
    },
}
TONES = {
    "app_status": {"certified": "ok", "partial_certified": "warn"}
    | dict.fromkeys(("supported_synthesis_needs_review", "claim_support_needs_review"), "warn")
    | dict.fromkeys(
        ("claim_support_rejected", "grounded_but_irrelevant", "cannot_answer_from_sources"), "bad"
    ),
    "relevance": dict.fromkeys(("background_only", "unrelated"), "bad"),
    "claim_type": {"synthesis": "warn", "unsupported": "bad"},
    "claim_support": {"unsupported": "bad", "contradicted": "bad", "not_evaluated": "warn"},
    "verdict": dict.fromkeys(("contradicts", "contradicts-a-reading"), "bad")
    | dict.fromkeys(
        ("incomparable", "settled-unknown", "settled-doubt", "doubt-on-both-sides", "disputed"), "warn"
    ),
    "answer_status": {"complete": "ok", "partial": "warn", "none": "bad"},
    "review_status": {"needs_review": "warn"},
}
# What a page shows of a claim; the documents hold all.
MOST_READINGS = 200  # of one fact
MOST_VALUES = 50  # delivered by one claim
MOST_RULES = 100
ITEMS_AT_ONCE = 50  # of a list that only tells, on each of its pages
MOST_NAMES = 2  # of values with one verdict, in its badge
STILL_PARTIAL = "This answer is partial: other claims were withheld or are still under review."
ICONS = {"ok": "check", "warn": "clock", "bad": "cross"}


@register.filter
def words(code: str, axis: str) -> str:
    """What a code is called; a code without a name is shown as it is, with spaces."""
    return WORDS.get(axis, {}).get(code, code.replace("_", " ").replace("-", " "))


@register.filter
def tone(code: str, axis: str) -> str:
    return TONES.get(axis, {}).get(code, "plain")


@register.simple_tag
@lru_cache(maxsize=500)
def badge(label: str, tone: str = "plain", icon: str = "") -> SafeString:
    """A word with a tone; the icon repeats the tone for eyes that do not tell colours apart."""
    icon = icon or ICONS.get(tone, "")
    picture = format_html('<svg aria-hidden="true"><use href="#icon-{}"/></svg>', icon) if icon else ""
    return format_html('<span class="badge {}">{}{}</span> ', tone, picture, label)


@register.filter
def badges(claim: ClaimAssessment) -> SafeString:
    """The three axes, each its own badge, then what readings say and what texts hide (spec 4.1, 4.2)."""
    contract = claim.contract
    found = [_grounding(claim), _named("relevance", contract.question_relevance)]
    if contract.claim_type:
        found.append(_named("claim_type", contract.claim_type))
    if contract.claim_support:
        found.append(_named("claim_support", contract.claim_support))
    found += _verdicts(claim.judged)
    if any(has_hidden(text) for text in _texts(claim)):
        found.append(badge("Hidden characters", "warn", "eye"))
    return mark_safe("".join(found))  # noqa: S308 - each part is escaped


def _named(axis: str, code: str) -> SafeString:
    return badge(words(code, axis), tone(code, axis))


def _grounding(claim: ClaimAssessment) -> SafeString:
    count = len(claim.checks)
    if claim.contract.citation_grounded:
        if not count:
            return badge("Grounding stated, no check", "warn")
        return badge(f"Grounded · {count} check{'s' if count > 1 else ''}", "ok")
    reasons = [
        words(check.reason or check.status, "reason") for check in claim.checks if check.status != "grounded"
    ]
    return badge(" · ".join(["Not grounded", *reasons[:1]]), "bad")


def _verdicts(judged: Sequence[JudgedValue]) -> list[SafeString]:
    """One badge per verdict; where a claim delivers several values, it says for which of them."""
    one_entity = len({value.delivered.entity for value in judged}) == 1
    named: dict[str, list[str]] = {}
    for value in judged:
        delivered = value.delivered
        name = delivered.field if one_entity else f"{delivered.entity} · {delivered.field}"
        named.setdefault(value.verdict, []).append(name)
    if len(judged) == 1:
        return [_named("verdict", verdict) for verdict in named]
    return [
        badge(f"{words(verdict, 'verdict')}: {_listed(names)}", tone(verdict, "verdict"))
        for verdict, names in named.items()
    ]


def _listed(names: Sequence[str]) -> str:
    if len(names) > MOST_NAMES:
        return f"{len(names)} values"
    return ", ".join(bare(name, 40) for name in names)


def _texts(claim: ClaimAssessment) -> list[str]:
    texts = [claim.claim.text]
    for check in claim.checks:
        texts += [check.text or "", (check.evidence and check.evidence.text) or ""]
    for judged in telling_values(claim.judged):
        texts += [engine_json_text(compared.reading.value) for compared in telling_readings(judged)]
    return texts


register.filter("grounding_wording", grounding_wording)


@register.simple_tag
def term(key: str, *label: str) -> SafeString:
    """Words that lead to what they mean, on the help page."""
    return format_html('<a class="term" href="{}#{}">{}</a>', reverse("help"), key, " ".join(label) or key)


@register.filter
def moment(text: str) -> str:
    """A time in RFC 3339 as pages write times."""
    try:
        return in_utc(datetime.fromisoformat(text), "seconds")
    except ValueError:
        return text


@register.filter
def disclosure(code: str, undecided: int) -> str:
    """What a reader is told; where no claim is undecided, nothing is said to be under review."""
    return STILL_PARTIAL if code == "partial_answer" and undecided else words(code, "disclosure")


@register.filter
def first_page(items: Sequence[object]) -> Page[object]:
    return Paginator(items, ITEMS_AT_ONCE).page(1)


class BarPart(TypedDict):
    tone: str
    label: str
    count: int
    start: str  # percent of the width
    width: str


class Counted(Protocol):
    @property
    def released_count(self) -> int: ...
    @property
    def undecided_count(self) -> int: ...
    @property
    def withheld_count(self) -> int: ...


@register.simple_tag
def stacked_bar(counted: Counted) -> list[BarPart]:
    """How many claims are released, undecided and withheld, each with its share of the width."""
    counts = (
        ("ok", "released", counted.released_count),
        ("warn", "undecided", counted.undecided_count),
        ("bad", "withheld", counted.withheld_count),
    )
    whole = sum(count for _, _, count in counts)
    parts: list[BarPart] = []
    before = 0
    for part_tone, label, count in counts:
        if count:
            parts.append(
                {
                    "tone": part_tone,
                    "label": label,
                    "count": count,
                    "start": f"{100 * before / whole:.2f}",
                    "width": f"{100 * count / whole:.2f}",
                }
            )
        before += count
    return parts


@register.inclusion_tag("reviews/_bar.html")
def counts_bar(counted: Counted) -> dict[str, list[BarPart]]:
    """The bar with its words."""
    return {"bar": stacked_bar(counted)}


@register.filter
def undecided_words(count: int) -> str:
    return f"{count} claim{' needs' if count == 1 else 's need'} a decision"


@register.filter
def slice_id(review_id: UUID) -> str:
    """Enough of an id for people to tell reviews apart."""
    return str(review_id)[:8]


@register.filter
def json_text(value: Json) -> str:
    """A parsed value with the digits it came with."""
    return engine_json_text(value)


@register.filter
def says(value: Json) -> str:
    """What an answer does with a delivered value: it states one, or declares something about it."""
    kind, inner = classify(value)
    if kind == MALFORMED:
        return words("malformed", "declared")
    if kind == UNKNOWN and isinstance(inner, dict):
        return words(str(inner["kind"]), "declared")
    return words("known", "declared") if kind == ABSENCE else "states"


@register.filter
def telling_values(judged: Sequence[JudgedValue]) -> Sequence[JudgedValue]:
    """At most MOST_VALUES in their order: those that withhold are never pushed out by those that do not."""
    return _telling(judged, MOST_VALUES, [value.withholds for value in judged])


@register.filter
def telling_readings(judged: JudgedValue) -> Sequence[ComparedReading]:
    """At most MOST_READINGS in file order: those that do not agree are never pushed out by those that do."""
    readings = judged.readings
    agree = [compared.kind == VALUE and compared.relation in (SAME, None) for compared in readings]
    return _telling(readings, MOST_READINGS, [not agrees for agrees in agree])


def _telling(everything: Sequence[T], most: int, tells: list[bool]) -> Sequence[T]:
    if len(everything) <= most:
        return everything
    chosen = sorted(range(len(everything)), key=lambda position: not tells[position])[:most]
    return [everything[position] for position in sorted(chosen)]


@register.filter
def outer_rules(rules: Sequence[Rule]) -> Sequence[Rule]:
    """At most MOST_RULES: what the contract said comes first, what it came to last; verdicts stand between."""
    if len(rules) <= MOST_RULES:
        return rules
    half = MOST_RULES // 2
    return [*rules[:half], *rules[-half:]]


@register.filter
def comparison(compared: ComparedReading) -> str:
    """How a reading compared, and what kind it is when it is no plain value."""
    parts = (words(compared.kind, "reading_kind"), words(compared.relation or "", "relation"))
    return ", ".join(part for part in parts if part) or "not compared"


@register.filter
def place(citation: Citation) -> str:
    """Where a citation points, in words; rows and columns count from 1, in the report from 0."""
    parts = (
        f"page {citation.page}" if citation.page else "",
        f"element {citation.element_id}" if citation.element_id else "",
        f"span {citation.span_id}" if citation.span_id else "",
        f"table {citation.table_id}" if citation.table_id else "",
        cell(citation),
    )
    return ", ".join(part for part in parts if part)


@register.filter
def cell(citation: Citation) -> str:
    return f"row {citation.cell[0] + 1}, column {citation.cell[1] + 1}" if citation.cell else ""


@register.filter
def box(bbox: tuple[int, int, int, int]) -> str:
    """A box in points; reports hold hundredths of a point."""
    return " ".join(f"{edge / 100:g}" for edge in bbox)


class ShownPiece(NamedTuple):
    html: SafeString
    kind: str


class ComparedTexts(TypedDict):
    cited: list[ShownPiece]
    source: list[ShownPiece]
    before: SafeString  # context that the source text itself does not hold already
    after: SafeString


@register.simple_tag
def compare_texts(check: Check) -> ComparedTexts:
    """The cited text beside the source's; without one of them nothing is marked."""
    cited, source = check.text or "", (check.evidence and check.evidence.text) or ""
    left, right = mark_differences(cited, source) if cited and source else (_whole(cited), _whole(source))
    before, after = (_context(check, side, source) for side in ("before", "after"))
    shown_before, *shown_source, shown_after = shown_pieces([before, *(piece.text for piece in right), after])
    return {
        "cited": _shown(left, shown_pieces(piece.text for piece in left)),
        "source": _shown(right, shown_source),
        "before": shown_before,
        "after": shown_after,
    }


def _shown(pieces: Sequence[Piece], texts: Sequence[SafeString]) -> list[ShownPiece]:
    return [ShownPiece(html, piece.kind) for piece, html in zip(pieces, texts, strict=True)]


def _whole(text: str) -> tuple[Piece, ...]:
    return (Piece(text, "same"),)


def _context(check: Check, side: str, source: str) -> str:
    text = (check.context_echo or {}).get(side)
    return text if isinstance(text, str) and text.strip() not in source else ""


@register.filter
def heading_path(check: Check) -> str:
    path = (check.provenance or {}).get("heading_path")
    return " › ".join(str(heading) for heading in path) if isinstance(path, list) else str(path or "")


@register.filter
def parser(report: Report) -> str:
    """The parser with its version, and its adapter when there was one."""
    facts = report.value["grounding"]["parser"]  # type: ignore[index, call-overload]
    named = (facts.get("name"), facts.get("version"), facts.get("adapter"), facts.get("adapter_version"))  # type: ignore[union-attr]
    return " ".join(str(part) for part in named if part)


@register.filter
def verifier(report: Report) -> str:
    facts = report.value.get("attestation")
    named = facts.get("verifier") if isinstance(facts, dict) else None
    return f"{named.get('name')} {named.get('version')}" if isinstance(named, dict) else ""
