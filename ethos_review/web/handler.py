"""How a request is read, whatever its headers name: its address from the root, and its texts as UTF-8."""

from __future__ import annotations

from typing import Any

from django.core.handlers.wsgi import WSGIHandler, WSGIRequest
from django.http.response import HttpResponseBase
from django.utils.http import parse_header_parameters


class Utf8Request(WSGIRequest):
    """Django takes the charset of the header, and fails before any answer on one that makes no text of bytes."""

    def _set_content_type_params(self, meta: dict[str, Any]) -> None:
        self.content_type, self.content_params = parse_header_parameters(meta.get("CONTENT_TYPE", ""))


class Handler(WSGIHandler):
    request_class = Utf8Request

    def __call__(self, environ: dict[str, Any], start_response: Any) -> HttpResponseBase:
        """Addresses begin at the root: what a header says to be in front of them is part of them, and not found."""
        environ["PATH_INFO"] = environ.get("SCRIPT_NAME", "") + environ.get("PATH_INFO", "")
        environ["SCRIPT_NAME"] = ""
        return super().__call__(environ, start_response)
