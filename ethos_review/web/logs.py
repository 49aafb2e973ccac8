"""Log lines that hold no text of claims, rationales or secrets."""

from __future__ import annotations

import logging
import traceback
from types import TracebackType


class Formatter(logging.Formatter):
    """Of an exception the place and the kind, never the message: databases and parsers quote values in it.

    What Django refuses for the form of a request is one line: anybody can send such requests, and no frame tells more.
    """

    def format(self, record: logging.LogRecord) -> str:
        if record.name.startswith("django.security."):
            record = logging.makeLogRecord({**record.__dict__, "exc_info": None, "exc_text": None})
        return super().format(record)

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
