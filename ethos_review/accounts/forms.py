"""What people set for themselves, and operators for others."""

from __future__ import annotations

from django import forms

from ethos_review.accounts.models import User
from ethos_review.accounts.roles import ROLES


class PreferencesForm(forms.ModelForm):  # type: ignore[type-arg]
    class Meta:
        model = User
        fields = ("single_key_shortcuts",)


class RolesForm(forms.Form):
    roles = forms.MultipleChoiceField(
        choices=[(role, role) for role in ROLES], required=False, widget=forms.CheckboxSelectMultiple
    )
