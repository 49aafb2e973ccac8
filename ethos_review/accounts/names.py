"""Names that cannot be taken for another's: not by letters that look alike, and not by being the same."""

from __future__ import annotations

import unicodedata

from ethos_review.accounts.models import User
from ethos_review.audit.operations import lock_chain
from ethos_review.web.hidden_characters import has_hidden
from ethos_review.web.lookalikes import looks

_WRITTEN_TOGETHER = {"CJK", "HIRAGANA", "KATAKANA", "HANGUL", "BOPOMOFO"}


def is_misleading(name: str) -> bool:
    """Whether a word of it holds what a reader does not see, or takes for something else."""
    return not name.isprintable() or has_hidden(name)


def is_misleading_username(name: str) -> bool:
    """One word, which nothing around it explains: neither of several scripts, nor all of it lookalikes of Latin."""
    scripts = {unicodedata.name(letter, "").split(" ")[0] for letter in name if letter.isalpha()}
    several = len(scripts) > 1 and not scripts <= _WRITTEN_TOGETHER
    return several or is_misleading(name) or has_hidden(f"a {name}")


def has_letter_or_digit(name: str) -> bool:
    return any(character.isalnum() for character in name)


def is_taken(name: str) -> bool:
    """Whether an account is shown under it, or signs in with it, or looks so: however it is written, in any script."""
    wanted = looks(name)
    return any(
        wanted & looks(other)
        for names in User.objects.values_list("username", "display_name")
        for other in names
    )


def hold() -> None:
    """Nobody else gives or takes a name until this transaction ends: every account comes with an event, after this."""
    lock_chain()
