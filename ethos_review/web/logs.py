"""Log lines that hold no text of claims, rationales or secrets."""

from __future__ import annotations

import logging
import traceback
from types import TracebackType


class Formatter(logging.Formatter):
    """Of an exception the place and the kind, never the message: databases and parsers quote values in it."""

    def formatException(
        self, ei: tuple[type[BaseException], BaseException, TracebackType | None] | tuple[None, None, None]
    ) -> str:
        _, error, _ = ei
        chain: list[str] = []
        while error is not None:
            frames = "".join(traceback.format_tb(error.__traceback__))
            chain.append(f"{frames}{type(error).__module__}.{type(error).__qualname__}")
            error = error.__cause__ or error.__context__
        return "\ncaused by:\n".join(chain)
