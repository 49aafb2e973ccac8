"""What the audit page is asked to list."""

from __future__ import annotations

from django import forms

from ethos_review.audit.queries import Filters


class FilterForm(forms.Form):
    action = forms.CharField(required=False, max_length=40)
    actor = forms.CharField(required=False, max_length=200)
    object = forms.CharField(required=False, max_length=200)
    since = forms.DateField(required=False, input_formats=["%Y-%m-%d"])
    until = forms.DateField(required=False, input_formats=["%Y-%m-%d"])

    def filters(self) -> Filters:
        chosen = self.cleaned_data
        return Filters(
            # As it is shown, such as “Review sealed”, or as it is kept.
            action=chosen["action"].lower().replace(" ", "_"),
            actor=chosen["actor"],
            object=chosen["object"],
            since=chosen["since"],
            until=chosen["until"],
        )
