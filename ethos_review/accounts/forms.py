"""What people set for themselves."""

from __future__ import annotations

from django.forms import ModelForm

from ethos_review.accounts.models import User


class PreferencesForm(ModelForm):  # type: ignore[type-arg]
    class Meta:
        model = User
        fields = ("single_key_shortcuts",)
