"""What people set for themselves, and operators for others."""

from __future__ import annotations

from django import forms
from django.contrib.auth.forms import AuthenticationForm

from ethos_review.accounts.models import User
from ethos_review.accounts.roles import ROLES


class SignInForm(AuthenticationForm):
    """Django's form does not hold a name to the length that an account's can have; PostgreSQL does."""

    def clean_username(self) -> str:
        username: str = self.cleaned_data["username"]
        if len(username) > (User._meta.get_field("username").max_length or 0):
            raise self.get_invalid_login_error()
        return username


class PreferencesForm(forms.ModelForm):  # type: ignore[type-arg]
    class Meta:
        model = User
        fields = ("single_key_shortcuts",)


class RolesForm(forms.Form):
    roles = forms.MultipleChoiceField(
        choices=[(role, role) for role in ROLES], required=False, widget=forms.CheckboxSelectMultiple
    )
