"""The keyboard shortcuts: the one table that the list of shortcuts and the script both read (spec 4.3)."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Shortcut:
    """`keys` are pressed one after the other; `action` is what static/js/review.js does."""

    keys: str
    action: str
    label: str

    @property
    def steps(self) -> list[str]:
        return self.keys.split()


# No printed character decides anything: `a` and `b` only move the focus.
SHORTCUTS = (
    Shortcut("j", "next-claim", "Next claim or review"),
    Shortcut("k", "previous-claim", "Previous claim or review"),
    Shortcut("n", "next-undecided", "Next undecided claim, from the top after the last"),
    Shortcut("Enter", "open", "Open or close the claim in focus"),
    Shortcut("a", "go-to-approve", "Go to Approve; Enter on it decides"),
    Shortcut("b", "go-to-block", "Go to Block, or to its rationale while that is empty"),
    Shortcut("r", "go-to-rationale", "Go to the rationale"),
    Shortcut("u", "go-to-undo", "Go to Undo, or to that of my last decision"),
    Shortcut("Escape", "leave-text", "Leave the rationale for its claim"),
    Shortcut("g q", "queue", "Go to the queue"),
    Shortcut("g n", "next-review", "Open the next review for me"),
    Shortcut("/", "search", "Search the queue"),
    Shortcut("?", "shortcuts", "Show this list"),
)
