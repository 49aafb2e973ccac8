"""What the audit page is asked to list."""

from __future__ import annotations

from django import forms

from ethos_review.audit.models import ACTIONS
from ethos_review.audit.queries import Filters
from ethos_review.web.templatetags.texts import spaced


class ActionField(forms.ChoiceField):
    def to_python(self, value: str | None) -> str:
        """As it is kept, or as it is shown: addresses that were noted before hold “Review sealed”."""
        return str(super().to_python(value)).strip().lower().replace(" ", "_")


class FilterForm(forms.Form):
    action = ActionField(
        label="What",
        required=False,
        choices=[("", "Any"), *((action, spaced(action)) for action in ACTIONS)],
        error_messages={"invalid_choice": "There is no such event. Choose one of the list."},
    )
    actor = forms.CharField(label="Who", required=False, max_length=200)
    object = forms.CharField(label="Object id", required=False, max_length=200)
    since = forms.DateField(label="From", required=False, input_formats=["%Y-%m-%d"])
    until = forms.DateField(label="To", required=False, input_formats=["%Y-%m-%d"])

    def clean(self) -> None:
        sent = self.cleaned_data
        if sent.get("since") and sent.get("until") and sent["since"] > sent["until"]:
            self.add_error("until", "This day is before the one under From. Swap the two dates.")

    def filters(self) -> Filters:
        chosen = self.cleaned_data
        return Filters(
            action=chosen["action"],
            actor=chosen["actor"],
            object=chosen["object"],
            since=chosen["since"],
            until=chosen["until"],
        )
