"""Signing in and out, preferences, and the second factor."""

from __future__ import annotations

from typing import Any

from allauth.account.internal.flows.login import perform_password_login
from allauth.account.models import Login
from allauth.account.views import reauthenticate
from allauth.account.views._reauthenticate import BaseReauthenticateView
from allauth.mfa.base import views as mfa
from allauth.mfa.recovery_codes import views as recovery_codes
from allauth.mfa.totp import views as totp
from allauth.mfa.webauthn import views as webauthn
from allauth.socialaccount.providers.oauth2.client import OAuth2Error
from allauth.socialaccount.providers.oauth2.views import OAuth2CallbackView, OAuth2LoginView
from axes.helpers import get_cool_off
from django import forms
from django.conf import settings
from django.contrib import messages
from django.contrib.auth import update_session_auth_hash
from django.contrib.auth.forms import AuthenticationForm
from django.contrib.auth.views import LoginView, LogoutView
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe
from requests import RequestException

from ethos_review.accounts import confirmation, openid, operations, passkeys, password_links
from ethos_review.accounts.forms import ChosenPasswordForm, OwnPasswordForm, PreferencesForm, SignInForm
from ethos_review.accounts.models import User
from ethos_review.accounts.once import once
from ethos_review.accounts.sign_in_end import end_of_sign_in, stay_signed_in
from ethos_review.web.htmx import Request, wants_fragment
from ethos_review.web.permissions import SIGNED_IN, View, anonymous, permission_required


class SignInView(LoginView):
    """Django's form; allauth's stages after it, so that a second factor is asked for when there is one."""

    form_class = SignInForm
    template_name = "accounts/sign_in.html"
    redirect_authenticated_user = True
    http_method_names = ["get", "head", "post"]  # noqa: RUF012 - as Django declares it

    def form_valid(self, form: AuthenticationForm) -> HttpResponse:
        user = form.get_user()
        login = Login(user=user, redirect_url=self.get_success_url())
        response: HttpResponse = perform_password_login(
            self.request, {"username": user.get_username()}, login
        )
        return response

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        return super().get_context_data(**kwargs) | {"openid": settings.OIDC}


sign_in = anonymous(SignInView.as_view())


@anonymous
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def sign_out(request: HttpRequest) -> HttpResponseBase:
    """By a form only, so that no link of another site signs anyone out; who follows a link gets the form."""
    if request.method == "POST":
        return LogoutView.as_view()(request)
    if not request.user.is_authenticated:
        return redirect("sign_in")
    return render(request, "accounts/sign_out.html")


@permission_required(SIGNED_IN)
@require_POST
def sign_out_everywhere(request: Request) -> HttpResponse:
    operations.sign_out_everywhere(actor=request.user, person_id=request.user.pk)
    return redirect("sign_in")


@permission_required(SIGNED_IN)
@require_http_methods(["GET", "HEAD", "POST"])
def preferences(request: Request) -> HttpResponse:
    form = PreferencesForm(request.POST if request.method == "POST" else None, instance=request.user)
    if request.method == "POST" and form.is_valid():
        form.save()
        messages.success(request, "Saved.")
        return redirect("preferences")
    return render(request, "accounts/preferences.html", {"form": form})


@permission_required(SIGNED_IN)
@require_http_methods(["GET", "HEAD", "POST"])
def change_password(request: Request) -> HttpResponse:
    """One's own. This session stays; every other ends."""
    form = OwnPasswordForm(request, request.user, request.POST if request.method == "POST" else None)
    if form.is_valid():
        person = operations.change_password(actor=request.user, password=form.cleaned_data["new_password1"])
        update_session_auth_hash(request, person)
        messages.success(request, "Your password is changed, and every other session of yours has ended.")
        return redirect("preferences")
    return render(request, "accounts/change_password.html", {"form": form})


@anonymous
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def choose_password(request: HttpRequest, person_id: int) -> HttpResponse:
    """By a link from an operator. Its token stands in the query, which no log of ours holds."""
    token = request.GET.get("token", "")
    person = User.objects.filter(pk=person_id, is_active=True).first()
    if person is None or not password_links.tokens.check_token(person, token):
        return _void_link(request)
    form = ChosenPasswordForm(person, request.POST if request.method == "POST" else None)
    if form.is_valid():
        password = form.cleaned_data["new_password1"]
        try:
            operations.choose_password(person_id=person_id, token=token, password=password)
        except operations.Refused:  # the link was used a moment ago
            return _void_link(request)
        return render(request, "accounts/password_chosen.html")
    return render(request, "accounts/choose_password.html", {"person": person, "form": form})


def _void_link(request: HttpRequest) -> HttpResponse:
    return render(request, "accounts/password_link_void.html", {"hours": password_links.hours()}, status=404)


@permission_required(SIGNED_IN)
@require_http_methods(["GET", "HEAD", "POST"])
def sign_in_end(request: Request) -> HttpResponse:
    """Whether this sign-in is about to end; a POST extends it."""
    if request.method == "POST":
        stay_signed_in(request.session)
    if not wants_fragment(request):
        return redirect("queue")
    return render(request, "accounts/_sign_in_end.html", dict(end_of_sign_in(request.session)))


def locked_out(
    request: HttpRequest, response: HttpResponse | None, credentials: dict[str, Any] | None
) -> HttpResponse:
    """Too many failed attempts (called by django-axes)."""
    cool_off = get_cool_off(request)
    context = {
        "failure_limit": settings.AXES_FAILURE_LIMIT,
        "minutes": round(cool_off.total_seconds() / 60) if cool_off else 0,
    }
    return render(request, "accounts/locked_out.html", context, status=429)


@anonymous
@require_safe
def openid_sign_in(request: HttpRequest) -> HttpResponse:
    """A link and no form: the content security policy lets forms lead to this host only."""
    if request.user.is_authenticated:
        return redirect(settings.LOGIN_REDIRECT_URL)
    return _through_openid(request, OAuth2LoginView)


@anonymous
@require_safe
def openid_callback(request: HttpRequest) -> HttpResponse:
    return _through_openid(request, OAuth2CallbackView)


def _through_openid(request: HttpRequest, step: Any) -> HttpResponse:
    if settings.OIDC is None:
        raise Http404
    try:
        response: HttpResponse = step.adapter_view(openid.OpenIdClient(request, openid.PROVIDER))(request)
    except (OAuth2Error, RequestException, KeyError, ValueError) as error:
        return openid.sign_in_failed(request, error)
    return response


class ConfirmByOpenIdView(BaseReauthenticateView):  # type: ignore[misc]
    """The page with the link to the provider; who comes back from there goes on with what they asked for."""

    reauthentication_method = "openid"
    form_class = forms.Form
    template_name = "accounts/confirm_by_openid.html"

    def get(self, request: Request, *args: Any, **kwargs: Any) -> HttpResponse:
        if confirmation.is_recent(request):
            return self.form_valid(forms.Form())  # type: ignore[no-any-return]
        return super().get(request, *args, **kwargs)  # type: ignore[no-any-return]

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        context: dict[str, Any] = super().get_context_data(**kwargs)
        to_provider = self.passthrough_next_url(reverse("confirm_at_openid_provider"))
        return context | {"provider": openid.configured()["name"], "to_provider": to_provider}


class _ConfirmAtProvider(OAuth2LoginView):  # type: ignore[misc]
    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        to_provider: HttpResponse = self.get_provider().redirect_to_confirm(request)
        return to_provider


@permission_required(SIGNED_IN)
@require_safe
def confirm_at_openid_provider(request: Request) -> HttpResponse:
    if not openid.signs_in(request.user):
        raise Http404
    return _through_openid(request, _ConfirmAtProvider)


def _own(view: View) -> View:
    """One of allauth's pages about one's own account."""
    return permission_required(SIGNED_IN)(require_http_methods(["GET", "HEAD", "POST"])(once(view)))


enter_code = anonymous(require_http_methods(["GET", "HEAD", "POST"])(mfa.authenticate))
second_factor = _own(mfa.index)
confirm_by_code = _own(mfa.reauthenticate)
confirm_by_password = _own(reauthenticate)
confirm_by_openid = permission_required(SIGNED_IN)(require_safe(once(ConfirmByOpenIdView.as_view())))
activate_totp = _own(totp.activate_totp)
deactivate_totp = _own(totp.deactivate_totp)
confirm_by_passkey = _own(passkeys.ConfirmView.as_view())
add_passkey = _own(passkeys.AddView.as_view())
name_passkey = _own(webauthn.edit_webauthn)
remove_passkey = _own(passkeys.RemoveView.as_view())
recovery_codes_shown = _own(recovery_codes.view_recovery_codes)
recovery_codes_made = _own(recovery_codes.generate_recovery_codes)
