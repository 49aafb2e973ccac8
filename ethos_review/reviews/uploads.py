"""How much of a request is read at all: decided from its headers, before a byte of it is parsed."""

from __future__ import annotations

from typing import Any, Final

from django.conf import settings
from django.core.exceptions import RequestDataTooBig
from django.core.files.uploadedfile import TemporaryUploadedFile
from django.core.files.uploadhandler import FileUploadHandler, TemporaryFileUploadHandler

from ethos_review.reviews.policies import current_policy

MOST_DOCUMENTS: Final = 4  # one more than an upload needs, so that a file too many is told with its name
ON_DISK: Final = "upload"
ENVELOPE: Final = 1024 * 1024  # bytes for the other fields, and for what separates the parts


class BoundedUploadHandler(TemporaryFileUploadHandler):
    """Files only from people who may submit, and in all no more than the policy's documents (spec 6.3)."""

    def handle_raw_input(
        self, input_data: Any, META: Any, content_length: int, *args: Any, **kwargs: Any
    ) -> None:
        if content_length > self._most_bytes():
            raise RequestDataTooBig("The request holds more bytes than its sender may send.")

    def new_file(self, *args: Any, **kwargs: Any) -> None:
        """Django ends the name on disk as the sender's, which no file system takes when it is long."""
        FileUploadHandler.new_file(self, *args, **kwargs)
        self.file = TemporaryUploadedFile(
            ON_DISK, self.content_type, 0, self.charset, self.content_type_extra
        )
        self.file.name = self.file_name

    def _most_bytes(self) -> int:
        user = getattr(self.request, "user", None)
        if user is None or not user.has_perm("reviews.submit_review"):
            return settings.DATA_UPLOAD_MAX_MEMORY_SIZE
        return MOST_DOCUMENTS * current_policy().limits.document_bytes + ENVELOPE
