"""What the help page explains: the documents with an example of each, the words of the pages, the badges."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Final

from ethos_review.engine.contracts import SCHEMAS
from ethos_review.engine.documents import Json


@dataclass(frozen=True, slots=True)
class Term:
    key: str  # its anchor on the page
    name: str
    meaning: str


@dataclass(frozen=True, slots=True)
class Example:
    role: str
    name: str
    meaning: str
    value: Json


TERMS: Final = (
    Term(
        "check",
        "Check",
        "One entry of the verification report: whether one cited quote, value, table cell or place stands in the "
        "source. Its number (v0001) is the report's.",
    ),
    Term(
        "reusable",
        "Reusable",
        "A check that can be relied on: it is grounded, its meaning is not left unverified, and the source has not "
        "changed since. A claim that cites checks is grounded when every one of them is reusable.",
    ),
    Term(
        "proof",
        "Proof",
        "How much of the report holds. Verified: every supported check is grounded. Partially verified: some are "
        "reusable. Unverified: none is. It is about citations only, never about the answer as a whole.",
    ),
    Term(
        "limitation",
        "Limitation",
        "What the proof does not cover: the parser or the source lacked something (capability limited), the source "
        "has changed (stale fingerprint), a kind of citation is not checked (unsupported claim kind), a citation was "
        "not found (non-grounded checks), or a text was found but what it means was left open (meaning not verified). "
        "It stops nothing by itself.",
    ),
    Term(
        "warning",
        "Warning",
        "What the parser noticed in the source that may make a check, or the whole report, less sure: hidden text, "
        "for example, or a reading order that it had to guess. It stops nothing by itself.",
    ),
    Term(
        "place",
        "Page, element, span, table, box",
        "Where a citation points, in the names that the parser gave: p0002 is a page, e0003 a paragraph or heading on "
        "it. A box is a rectangle on the page, as left, top, right and bottom edge in points (72 to an inch). Rows and "
        "columns of tables count from 1 here, from 0 in the report.",
    ),
    Term(
        "match",
        "Grounded by …, within …",
        "How the passage was found: as exact text, as text that differs only in spaces or form (normalized), as the "
        "whole of the source text or within it, in a table cell, in a box, or as a place alone; and how closely: in "
        "exactly that span, in its element, or somewhere on its page.",
    ),
    Term(
        "contract",
        "Contract",
        "The rules that make one decision of each claim from its grounding, its relevance and its type: final, needs "
        "review, or blocked. The answer has a contract status for all claims together. Readings can only hold more "
        "back. A reviewer releases or blocks what needs review and can hold back what is final; what is blocked "
        "nobody releases.",
    ),
    Term(
        "delivered",
        "Delivered value",
        "A value that a claim states in a form that can be compared: which field of which entity has which value.",
    ),
    Term(
        "reading",
        "Reading",
        "One value that a tool returned while the answer was made: which tool, in which call, when it was measured, "
        "and the value as received. Readings can hold a claim back; that they agree supports nothing.",
    ),
    Term(
        "iteration",
        "Iteration",
        "The round of the run in which the tool was called, numbered as the run numbers it, most often from 0.",
    ),
    Term(
        "compared",
        "Compared by the kind of value, as text, …",
        "How a delivered value is held against a reading: the application says it. By the kind of value, two numbers "
        "compare as numbers and two texts without regard to case and spaces; a number and a word cannot be compared.",
    ),
    Term(
        "policy",
        "Policy",
        "The settings of this site that a review is decided under, such as that nobody decides what they submitted.",
    ),
    Term(
        "seal",
        "Seal, release, replay",
        "Sealing computes what is released, signs it and freezes the review. The release is that signed outcome. A "
        "replay computes it again from the kept documents and compares every byte.",
    ),
)

BADGES: Final = (
    ("Grounded", "Every check that the claim cites found its passage and can be relied on."),
    ("Not grounded", "A check did not; the badge says why for the first one."),
    ("Grounding stated, no check", "Only the application says that it is grounded."),
    ("Directly answers", "The application says that the claim answers the question."),
    ("Supports the answer", "It helps the answer along."),
    ("Background only", "It does not answer the question."),
    ("Unrelated", "It has nothing to do with the question."),
    ("Source fact", "A source states it."),
    ("Synthesis", "The application combined or concluded it. Ask whether it follows."),
    ("Unsupported", "The application itself found no support."),
    ("Support: supported", "The application found that the evidence supports the claim."),
    ("Support: unsupported", "It found that the evidence does not."),
    ("Support: contradicted", "It found that the evidence says the opposite."),
    ("Support: not evaluated", "Nobody looked whether it does. That is your question."),
    ("Readings agree", "What tools read is the same. That is no support."),
    ("No readings", "No tool read this fact."),
    ("Value not stated", "The structured answer does not state the field."),
    ("Value declined", "The answer leaves open what was read."),
    ("Contradicted by a reading", "Tools read something else; the claim is blocked."),
    ("Contradicted by one reading", "A tool read something else, another did not; the claim is blocked."),
    ("Readings not comparable", "What was read cannot be compared safely: look at both."),
    (
        "Readings unsettled",
        "A tool read that the value is unknown, or nothing definite, though the claim states one.",
    ),
    ("Doubt on both sides", "Neither the answer nor the tools know the value."),
    ("Readings disagree", "Tools read different things, and the answer leaves it open."),
    (
        "Hidden characters",
        "A text holds characters that are invisible, turn the direction, or look like others. "
        "They are shown in place, by their code point or with their script.",
    ),
)

_EXAMPLE: Final = SCHEMAS / "examples" / "bundle" / "valid" / "one-claim-and-its-reading.json"
_BUNDLE: Final = json.loads(_EXAMPLE.read_text("utf-8"))
EXAMPLES: Final = (
    Example(
        "verification_report",
        "Verification report",
        "Made by Ethos, the citation verifier. For each check it says whether what was cited stands in the source and "
        "matches. It comes bare, in an in-toto Statement, or signed in a DSSE envelope around one.",
        _BUNDLE["verification_report"],
    ),
    Example(
        "claims",
        "Claims",
        "Made by the application that drafted the answer. The question, and the answer cut into claims: each with the "
        "checks it cites, how it relates to the question, and whether a source states it or the application "
        "concluded it.",
        _BUNDLE["claims"],
    ),
    Example(
        "readings",
        "Readings",
        "Made by the run of the agent, when its tools read values: one row for each. They are compared with the values "
        "that claims deliver, and can only hold claims back.",
        _BUNDLE["readings"],
    ),
    Example(
        "bundle",
        "Bundle",
        "Report, claims and readings in one file, with an id of your own (external_id) when you like.",
        _BUNDLE,
    ),
)
