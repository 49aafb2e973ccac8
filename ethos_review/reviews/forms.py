"""What forms send, read and cleaned; whether an act is allowed is the operations' business."""

from __future__ import annotations

from django import forms
from django.core.files.uploadedfile import UploadedFile

from ethos_review.reviews.models import Document
from ethos_review.reviews.operations import Upload


class DecisionForm(forms.Form):
    """Approve or block, with what the form was made from."""

    outcome = forms.ChoiceField(choices=[("approve", "Approve"), ("block", "Block")])
    rationale = forms.CharField(required=False)
    shown_sha256 = forms.RegexField(r"\A[0-9a-f]{64}\Z")
    based_on = forms.IntegerField(min_value=0)


class UndoForm(forms.Form):
    based_on = forms.IntegerField(min_value=1)


class UploadForm(forms.Form):
    """One bundle, or a report and claims with optional readings. What fits together the engine says."""

    verification_report = forms.FileField(required=False, allow_empty_file=True, max_length=255)
    claims = forms.FileField(required=False, allow_empty_file=True, max_length=255)
    readings = forms.FileField(required=False, allow_empty_file=True, max_length=255)
    bundle = forms.FileField(required=False, allow_empty_file=True, max_length=255)
    again = forms.BooleanField(required=False)

    def uploads(self, most_bytes: int) -> list[Upload]:
        """The chosen files. Of a file over the limit only enough is read for the refusal to be certain."""
        return [
            Upload(
                role=role,
                name=file.name or role,
                media_type=file.content_type or "application/json",
                content=file.read(most_bytes + 1),
            )
            for role in Document.Role.values
            if isinstance(file := self.cleaned_data.get(role), UploadedFile)
        ]
