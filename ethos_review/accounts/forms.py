"""What people set for themselves, and operators for others."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib.auth import authenticate
from django.contrib.auth.forms import AuthenticationForm, PasswordChangeForm, SetPasswordForm, UsernameField
from django.core.exceptions import ValidationError
from django.http import HttpRequest

from ethos_review.accounts import api_tokens, names, operations
from ethos_review.accounts.models import User
from ethos_review.accounts.roles import ROLES
from ethos_review.accounts.scopes import SCOPES


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


class _PasswordUnderItsField:
    """Django tells a password that does not do under the field in which it is repeated."""

    def validate_password_for_user(self, user: User, password_field_name: str = "") -> None:
        super().validate_password_for_user(user, "new_password1")  # type: ignore[misc]


class ChosenPasswordForm(_PasswordUnderItsField, SetPasswordForm):  # type: ignore[type-arg]
    """By a link."""


class OwnPasswordForm(_PasswordUnderItsField, PasswordChangeForm):
    """Wrong old passwords count towards the lockout, as they do at sign-in."""

    def __init__(self, request: HttpRequest, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.request = request

    def clean_old_password(self) -> str:
        old: str = self.cleaned_data["old_password"]
        if authenticate(self.request, username=self.user.get_username(), password=old) is None:
            raise ValidationError(self.error_messages["password_incorrect"], code="password_incorrect")
        return old


class RolesForm(forms.Form):
    roles = forms.MultipleChoiceField(
        choices=[(role, role) for role in ROLES], required=False, widget=forms.CheckboxSelectMultiple
    )


class NewPersonForm(RolesForm):
    """A name that is taken is told at once; that nobody takes it meanwhile is up to the operation."""

    username = UsernameField(
        max_length=User._meta.get_field("username").max_length,
        validators=User._meta.get_field("username").validators,
        help_text="What the person types to sign in: letters, digits and @ . + - _",
    )
    display_name = forms.CharField(
        label="Name",
        max_length=User._meta.get_field("display_name").max_length,
        required=False,
        help_text="How others see the person. It stands in the audit chain, and may be left empty.",
    )

    def clean_username(self) -> str:
        name: str = self.cleaned_data["username"]
        if names.is_misleading_username(name):
            raise ValidationError(
                "The name holds characters that cannot be seen, or letters that look like others."
            )
        if not names.has_letter_or_digit(name):
            raise ValidationError("The name needs a letter or a digit.")
        if names.is_taken(name):
            raise ValidationError(operations.USERNAME_TAKEN)
        return name

    def clean_display_name(self) -> str:
        name: str = self.cleaned_data["display_name"]
        if names.is_misleading(name):
            raise ValidationError(
                "The name holds characters that cannot be seen, or letters that look like others."
            )
        if name and not names.has_letter_or_digit(name):
            raise ValidationError("The name needs a letter or a digit.")
        if name and names.is_taken(name):
            raise ValidationError(str(operations.DisplayNameTaken()))
        return name


class AccountField(forms.ModelChoiceField):  # type: ignore[type-arg]
    def label_from_instance(self, account: User) -> str:
        roles = ", ".join(group.name for group in account.groups.all())
        return f"{account.get_username()} ({roles or 'no role'})"


class NewTokenForm(forms.Form):
    account = AccountField(
        queryset=User.objects.filter(is_active=True).prefetch_related("groups").order_by("username"),
        empty_label="Choose an account",
        help_text="What the program does is done in its name. Give each program an account of its own.",
    )
    name = forms.CharField(
        max_length=api_tokens.LONGEST_NAME, help_text="Which program has it, such as “nightly pipeline”."
    )
    scopes = forms.MultipleChoiceField(
        choices=[(scope, scope) for scope in SCOPES],
        widget=forms.CheckboxSelectMultiple,
        error_messages={"required": "Without a scope a token lets nobody do anything. Choose one."},
    )
    days = forms.IntegerField(
        label="Lifetime in days",
        min_value=1,
        max_value=api_tokens.MOST_DAYS,
        initial=api_tokens.USUAL_DAYS,
        widget=forms.TextInput(attrs={"inputmode": "numeric"}),
        help_text=f"At most {api_tokens.MOST_DAYS}. Afterwards it lets nobody in, and the program needs a new one.",
    )

    def clean_name(self) -> str:
        name: str = self.cleaned_data["name"]
        if names.is_misleading(name):
            raise ValidationError(
                "The name holds characters that cannot be seen, or letters that look like others."
            )
        return name
