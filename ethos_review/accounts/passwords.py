"""What Django's rules for passwords leave out."""

from __future__ import annotations

import re
import unicodedata

from django.core.exceptions import ValidationError

from ethos_review.accounts.models import User

_BETWEEN_WORDS = re.compile(r"[\W_]+")


class NotOnlyNames:
    """A name typed twice is far enough from the name for Django's rule, and guessed all the same."""

    def validate(self, password: str, user: User | None = None) -> None:
        if user is None:
            return
        typed = rest = _folded(password)
        for name in _names(user):
            rest = rest.replace(name, "")
        if rest != typed and not _BETWEEN_WORDS.sub("", rest):
            raise ValidationError(
                "The password is made of the user name or the name alone.", code="password_only_names"
            )

    def get_help_text(self) -> str:
        return "The password must not be made of your user name or your name alone."


def _names(user: User) -> list[str]:
    """Whole and word by word, the longest first."""
    whole = [_folded(user.get_username()), _folded(user.display_name)]
    words = [word for name in whole for word in _BETWEEN_WORDS.split(name)]
    return sorted({name for name in whole + words if name}, key=len, reverse=True)


def _folded(text: str) -> str:
    return unicodedata.normalize("NFKC", text).casefold()
