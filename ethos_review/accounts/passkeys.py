"""Passkeys as a second factor, on allauth's: what a browser sends is bounded, and refused whatever is wrong with it."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any

from allauth.core import context
from allauth.mfa.models import Authenticator
from allauth.mfa.webauthn import forms as webauthn_forms
from allauth.mfa.webauthn import views as webauthn_views
from cryptography.exceptions import InvalidSignature
from django import forms
from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import transaction
from django.http import HttpResponse
from fido2.cose import CoseKey
from fido2.webauthn import AuthenticationResponse, RegistrationResponse

from ethos_review.accounts.second_factor import count_failure, refuse_while_locked_out

LONGEST_ANSWER = 50_000  # characters of JSON; a browser sends a few thousand
LONGEST_NAME = 60
NOT_ADDED = "This passkey could not be added. Try again."
ADDED_BEFORE = "This passkey was added before."
NOT_ACCEPTED = "This passkey was not accepted. Try again, or enter a code."


class CredentialField(forms.CharField):
    """The answer of `navigator.credentials`, as JSON; only what the specification names is kept of it."""

    widget = forms.HiddenInput

    def __init__(self, kind: type[RegistrationResponse | AuthenticationResponse], refusal: str) -> None:
        super().__init__(
            max_length=LONGEST_ANSWER, error_messages={"required": refusal, "max_length": refusal}
        )
        self.kind, self.refusal = kind, refusal

    def clean(self, value: object) -> dict[str, Any]:
        text = super().clean(value)
        try:
            answer = self.kind.from_dict(json.loads(text))
            _require_sound(answer)
            members = dict(answer)
            return {name: members[name] for name in ("id", "rawId", "type", "response")}
        except Exception as error:  # the parser has no error of its own: it stumbles in a dozen ways
            raise ValidationError(self.refusal) from error


class AddForm(webauthn_forms.AddWebAuthnForm):  # type: ignore[misc]
    name = forms.CharField(max_length=LONGEST_NAME, required=False)
    credential = CredentialField(RegistrationResponse, NOT_ADDED)

    def clean_credential(self) -> dict[str, Any]:
        credential: dict[str, Any] = self.cleaned_data["credential"]
        _require_made_here(RegistrationResponse.from_dict(credential), NOT_ADDED)
        if Authenticator.objects.filter(data__credential__id=credential["id"]).exists():
            raise ValidationError(ADDED_BEFORE)
        return credential

    def clean(self) -> dict[str, Any]:
        try:
            cleaned: dict[str, Any] = super().clean()
        except ValidationError as error:
            raise ValidationError(NOT_ADDED) from error
        return cleaned


class NameForm(webauthn_forms.EditWebAuthnForm):  # type: ignore[misc]
    name = forms.CharField(max_length=LONGEST_NAME)


class _ThrottledPasskey(webauthn_forms.AuthenticateWebAuthnForm):  # type: ignore[misc]
    credential = CredentialField(AuthenticationResponse, NOT_ACCEPTED)

    def clean_credential(self) -> Authenticator:
        refuse_while_locked_out(self.user)
        try:
            answer = AuthenticationResponse.from_dict(self.cleaned_data["credential"])
            _require_made_here(answer, NOT_ACCEPTED)
            return super().clean_credential()
        except ValidationError as error:
            count_failure(sender=self, request=context.request, user=self.user)
            raise ValidationError(NOT_ACCEPTED) from error


class SignInPasskeyForm(_ThrottledPasskey):
    """The second step of signing in."""


class ConfirmPasskeyForm(_ThrottledPasskey):
    """Before a change of the second factor."""

    reauthenticated = True


class AddView(webauthn_views.AddWebAuthnView):  # type: ignore[misc]
    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        """With the form that was refused; allauth's view makes another."""
        shown: dict[str, Any] = super().get_context_data() | kwargs
        return shown

    def form_valid(self, form: AddForm) -> HttpResponse:
        with transaction.atomic():  # the passkey, its event and the recovery codes
            response: HttpResponse = super().form_valid(form)
        return response


class RemoveView(webauthn_views.RemoveWebAuthnView):  # type: ignore[misc]
    def form_valid(self, form: forms.Form) -> HttpResponse:
        with transaction.atomic():
            response: HttpResponse = super().form_valid(form)
        return response


class ConfirmView(webauthn_views.ReauthenticateWebAuthnView):  # type: ignore[misc]
    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        shown: dict[str, Any] = super().get_context_data() | kwargs
        return shown

    def form_invalid(self, form: ConfirmPasskeyForm) -> HttpResponse:
        """Here, with what is wrong; allauth's view leads away."""
        response: HttpResponse = self.render_to_response(self.get_context_data(form=form))
        return response


def _require_sound(answer: RegistrationResponse | AuthenticationResponse) -> None:
    """What the parser lets pass and verification would stumble over."""
    if not isinstance(answer.response.client_data.origin, str):
        raise TypeError
    if isinstance(answer, RegistrationResponse):
        data = answer.response.attestation_object.auth_data.credential_data
        if data is None or data.credential_id != answer.raw_id:
            raise ValueError
        _require_usable_key(data.public_key)


def _require_made_here(answer: RegistrationResponse | AuthenticationResponse, refusal: str) -> None:
    """For exactly this origin, as forms are; the library lets other ports and every sub-domain pass."""
    request = context.request
    here = f"{request.scheme}://{request.get_host()}"
    if answer.response.client_data.origin not in (here, *settings.CSRF_TRUSTED_ORIGINS):
        raise ValidationError(refusal)


def _require_usable_key(key: CoseKey) -> None:
    """A key that nobody can check would lock its owner out."""
    if key.ALGORITHM not in CoseKey.supported_algorithms():
        raise ValueError
    with suppress(InvalidSignature):
        key.verify(b"", b"")
