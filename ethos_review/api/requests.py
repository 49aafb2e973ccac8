"""What a request carries: one bundle as its body, or the documents as parts of a form; and its parameters."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping
from typing import Final
from uuid import UUID

from django.core.files.uploadedfile import UploadedFile
from django.http import HttpRequest

from ethos_review.engine.errors import DocumentError, Problem, quoted
from ethos_review.reviews.models import Document
from ethos_review.reviews.operations import Upload
from ethos_review.reviews.policies import current_policy

JSON: Final = "application/json"
FORM: Final = "multipart/form-data"
BUNDLE_NAME: Final = "bundle.json"
_LONGEST_NAME_TO_CORRECT: Final = 64  # difflib takes quadratic time
_LIKENESS: Final = 0.45  # “report” is meant for verification_report


class Unusable(Exception):
    """The request cannot be answered with what it asks for; the message says what to do."""

    def __init__(self, status: int, message: str, headers: Mapping[str, str] | None = None) -> None:
        self.status, self.headers = status, headers
        super().__init__(message)


def uploads_in(request: HttpRequest) -> list[Upload]:
    """The documents, as the operations take them: their bytes as they came.

    Raises Unusable, and DocumentError for parts that are no documents.
    """
    if request.content_type not in (JSON, FORM):
        message = f"Send one bundle as {JSON}, or the documents as the parts of {FORM}."
        raise Unusable(415, message, {"Accept": f"{JSON}, {FORM}"})
    length = request.META.get("CONTENT_LENGTH") or ""
    if not (length.isascii() and length.isdecimal()):
        raise Unusable(
            411, "Say in `Content-Length` how many bytes follow; what is sent in chunks is not read."
        )
    most_bytes = current_policy().limits.document_bytes
    if request.content_type == FORM:
        return _parts(request, most_bytes)
    if int(length) > most_bytes:
        message = (
            f"The bundle has {int(length):,} bytes; at most {most_bytes:,} are accepted (setting "
            "`limits.document_bytes`). Split it into smaller reviews, or ask the operator."
        )
        raise Unusable(413, message)
    content = request.read(most_bytes)
    if len(content) < int(length):
        raise Unusable(
            400, f"Only {len(content)} of {length} bytes came; nothing was stored. Send the bundle again."
        )
    return [Upload(Document.Role.BUNDLE, BUNDLE_NAME, JSON, content)]


def _parts(request: HttpRequest, most_bytes: int) -> list[Upload]:
    """Of a file over the limit only enough is read for the refusal to be certain."""
    problems = list(_problems_of_parts(request))
    if problems:
        raise DocumentError(problems)
    return [
        Upload(role, file.name or role, file.content_type or JSON, file.read(most_bytes + 1))
        for role in Document.Role.values
        for file in request.FILES.getlist(role)
        if isinstance(file, UploadedFile)
    ]


def _problems_of_parts(request: HttpRequest) -> Iterator[Problem]:
    for name in dict.fromkeys([*request.FILES, *request.POST]):
        if name not in Document.Role.values:
            beginning = name[:_LONGEST_NAME_TO_CORRECT]
            close = difflib.get_close_matches(beginning, Document.Role.values, 1, _LIKENESS)
            meant = (
                f"Did you mean `{close[0]}`?" if close else f"Known are {', '.join(Document.Role.values)}."
            )
            yield Problem(
                "unknown", "", "unknown_part", f"The part {quoted(name)} is not known here. {meant}"
            )
        elif name in request.POST:
            message = f"Send `{name}` as a file, with a file name, so that its bytes are kept as they are."
            yield Problem(name, "", "not_a_file", message)


def uuid_in(request: HttpRequest, parameter: str) -> UUID | None:
    """Raises Unusable."""
    given = request.GET.get(parameter)
    if given is None:
        return None
    try:
        return UUID(given)
    except ValueError:
        raise Unusable(
            400, f"`{parameter}` is not a UUID. Make a random one for each further review."
        ) from None


def choice_in(request: HttpRequest, parameter: str, choices: list[str]) -> str:
    """Empty when none was made. Raises Unusable."""
    given = request.GET.get(parameter, "")
    if given and given not in choices:
        raise Unusable(400, f"`{parameter}` is one of {', '.join(choices)}.")
    return given
