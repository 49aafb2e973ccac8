"""Caps: rules that can lower a claim's release action, never raise it (spec 3.5)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from ethos_review.engine.decision import ContractClaim
from ethos_review.engine.verdict import ACCUSING, SILENT, JudgedValue

ACTIONS: Final = ("show_final", "needs_review", "block")  # from most to least permissive

LOWERS_TO: Final = {
    "contradicted_by_reading": "block",
    "unsettled_by_readings": "needs_review",
    "no_check_behind_grounding": "needs_review",
}
READING_CAPS: Final = ("contradicted_by_reading", "unsettled_by_readings")


def find_caps(claim: ContractClaim, judged: Sequence[JudgedValue]) -> tuple[str, ...]:
    """Every cap that applies, in the order of spec 3.5, also when the action was already as low."""
    verdicts = {value.verdict for value in judged} - SILENT
    caps = []
    if verdicts & ACCUSING:
        caps.append("contradicted_by_reading")
    if verdicts - ACCUSING:
        caps.append("unsettled_by_readings")
    if not claim.check_ids:
        caps.append("no_check_behind_grounding")
    return tuple(caps)


def lowest_action(contract_action: str, caps: Iterable[str]) -> str:
    """The lowest of the contract's action and of what each cap lowers to (spec 3.5)."""
    return max([contract_action, *(LOWERS_TO[cap] for cap in caps)], key=ACTIONS.index)
