"""What forms send, read and cleaned; whether an act is allowed is the operations' business."""

from __future__ import annotations

from django import forms
from django.core.files.uploadedfile import UploadedFile

from ethos_review.reviews.models import Document
from ethos_review.reviews.operations import Upload
from ethos_review.reviews.queue import SORTS, Filters
from ethos_review.reviews.templatetags.review_words import WORDS

ANY = ("", "Any")
VERDICT_NAMES = WORDS["verdict"] | {  # a badge need not tell these apart, a choice must
    "settled-unknown": "Readings unsettled: unknown",
    "settled-doubt": "Readings unsettled: in doubt",
}


class QueueForm(forms.Form):
    """The filters of the queue. A field that cannot be read says so and filters nothing."""

    text = forms.CharField(required=False, max_length=200)
    sort = forms.ChoiceField(required=False, choices=SORTS)
    status = forms.ChoiceField(required=False, choices=[ANY, *WORDS["app_status"].items()])
    verdict = forms.ChoiceField(required=False, choices=[ANY, *VERDICT_NAMES.items()])
    parser = forms.CharField(required=False, max_length=100)
    submitter = forms.CharField(required=False, max_length=150)
    since = forms.DateField(required=False)
    until = forms.DateField(required=False)

    def clean(self) -> None:
        sent = self.cleaned_data
        self.dates = {
            name: sent.get(name) for name in ("since", "until")
        }  # to show; also those that are refused
        if sent.get("since") and sent.get("until") and sent["since"] > sent["until"]:
            self.add_error("until", "This day is before the one under From. Swap the two dates.")
            sent["since"] = None

    def filters(self) -> Filters:
        self.full_clean()
        asked = self.cleaned_data
        return Filters(
            text=asked.get("text", ""),
            app_status=asked.get("status", ""),
            verdict=asked.get("verdict", ""),
            parser=asked.get("parser", ""),
            submitter=asked.get("submitter", ""),
            since=asked.get("since"),
            until=asked.get("until"),
        )


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
    again = forms.UUIDField(required=False)  # made for one showing of the form

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
