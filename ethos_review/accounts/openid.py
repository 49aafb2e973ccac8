"""Signing in through one OpenID provider, on allauth's client: only what a signed ID token says is believed."""

from __future__ import annotations

import hashlib
import logging
import time
from typing import Any
from urllib.parse import urlencode

from allauth.account.internal.flows.login import record_authentication
from allauth.account.utils import get_next_redirect_url
from allauth.core.exceptions import ImmediateHttpResponse
from allauth.socialaccount.adapter import DefaultSocialAccountAdapter
from allauth.socialaccount.models import SocialAccount, SocialApp, SocialLogin
from allauth.socialaccount.providers.base.constants import AuthError, AuthProcess
from allauth.socialaccount.providers.oauth2.client import OAuth2Error
from allauth.socialaccount.providers.openid_connect.provider import OpenIDConnectProvider
from allauth.socialaccount.providers.openid_connect.views import OpenIDConnectOAuth2Adapter
from django.conf import settings
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse

from ethos_review.accounts import names
from ethos_review.accounts.models import User

PROVIDER = "openid_connect"
logger = logging.getLogger(__name__)
Claims = dict[str, Any]


def configured() -> dict[str, Any]:
    """The provider of the environment. Raises SocialApp.DoesNotExist, which allauth's views know, without one."""
    if settings.OIDC is None:
        raise SocialApp.DoesNotExist
    return settings.OIDC


class OpenIdClient(OpenIDConnectOAuth2Adapter):  # type: ignore[misc]
    def get_callback_url(self, request: HttpRequest, app: SocialApp) -> str:
        return request.build_absolute_uri(reverse("openid_callback"))

    def complete_login(
        self, request: HttpRequest, app: SocialApp, token: object, response: dict[str, Any]
    ) -> SocialLogin:
        """The signature is checked although the token came straight from the provider."""
        self.did_fetch_access_token = False
        try:
            claims = self._decode_id_token(app, response["id_token"])
            login = self.get_provider().sociallogin_from_response(request, claims)
            login.signed_in_at = claims.get("auth_time")  # at the provider
            return login
        except (KeyError, TypeError, ValueError) as error:
            raise OAuth2Error(f"The ID token cannot be used: {type(error).__name__}") from error

    @property
    def openid_config(self) -> dict[str, Any]:
        """The provider's own description, which must speak for the issuer that the operator named."""
        found: dict[str, Any] = super().openid_config
        if found.get("issuer") != configured()["issuer"]:
            raise OAuth2Error("The provider speaks for another issuer")
        return found


class OpenIdProvider(OpenIDConnectProvider):  # type: ignore[misc]
    oauth2_adapter_class = OpenIdClient

    def redirect_from_request(self, request: HttpRequest) -> HttpResponse:
        """Signing in is all that can be asked for: no other scope, no connecting to an account."""
        to_provider: HttpResponse = self.redirect(
            request, AuthProcess.LOGIN, next_url=get_next_redirect_url(request)
        )
        return to_provider

    def redirect_to_confirm(self, request: HttpRequest) -> HttpResponse:
        """Who is signed in here signs in there again, however lately they did, and comes back to go on."""
        way_back = urlencode({"next": get_next_redirect_url(request) or "/"})
        to_provider: HttpResponse = self.redirect(
            request,
            AuthProcess.REDIRECT,
            next_url=f"{reverse('confirm_by_openid')}?{way_back}",
            auth_params={"prompt": "login", "max_age": "0"},
        )
        return to_provider

    def extract_uid(self, data: Claims) -> str:
        """A person is who one issuer says; addresses and names never decide it."""
        return hashlib.sha256(f"{data['iss']} {data['sub']}".encode()).hexdigest()

    def extract_extra_data(self, data: Claims) -> dict[str, Any]:
        return {"roles": mapped_roles(data)}

    def extract_common_fields(self, data: Claims) -> dict[str, Any]:
        return {"username": data.get("preferred_username"), "name": data.get("name")}

    def extract_email_addresses(self, data: Claims) -> list[object]:
        return []


def mapped_roles(claims: Claims) -> list[str]:
    """The roles that the claim names, through the operator's table; what it does not list gives none."""
    named = claims.get(configured()["roles_claim"])
    names = [named] if isinstance(named, str) else named if isinstance(named, list) else []
    table: dict[str, str] = configured()["roles"]
    return sorted({table[name] for name in names if isinstance(name, str) and name in table})


class SocialAdapter(DefaultSocialAccountAdapter):  # type: ignore[misc]
    """The one provider of the environment; the database names none."""

    def get_app(self, request: HttpRequest, provider: str, client_id: str | None = None) -> SocialApp:
        openid = configured()
        return SocialApp(
            provider=PROVIDER,
            provider_id=PROVIDER,
            name=openid["name"],
            client_id=openid["client_id"],
            secret=openid["client_secret"],
            settings={
                "server_url": openid["issuer"].rstrip("/"),
                "scope": openid["scopes"],
                "oauth_pkce_enabled": True,
            },
        )

    def is_open_for_signup(self, request: HttpRequest, sociallogin: SocialLogin) -> bool:
        """Whoever the provider vouches for has an account; it has the roles that the claim maps to, or none."""
        return True

    def pre_social_login(self, request: HttpRequest, sociallogin: SocialLogin) -> None:
        """Confirming, and not signing in: by the person who is signed in here, just now. Raises OAuth2Error."""
        if sociallogin.state.get("process") != AuthProcess.REDIRECT:
            return
        if not request.user.is_authenticated or sociallogin.user != request.user:
            raise OAuth2Error("Another person confirmed")
        if not _is_now(sociallogin.signed_in_at):
            raise OAuth2Error("The provider does not say that the person signed in again")
        record_authentication(request, request.user, "openid", reauthenticated=True)

    def populate_user(self, request: HttpRequest, sociallogin: SocialLogin, data: Claims) -> User:
        user: User = sociallogin.user
        user.username = _text(data.get("username"))
        name = _text(data.get("name"))
        user.display_name = "" if names.is_misleading(name) or names.is_taken(name) else name
        return user

    def save_user(self, request: HttpRequest, sociallogin: SocialLogin, form: object = None) -> User:
        """Names that were free when they were looked up may be given by now, and are looked up again."""
        user: User = sociallogin.user
        with transaction.atomic():
            names.hold()
            if names.is_taken(user.display_name):
                user.display_name = ""
            if names.is_taken(user.username):
                user.username = ""  # then allauth makes one
            saved: User = super().save_user(request, sociallogin, form)
        return saved

    def on_authentication_error(
        self,
        request: HttpRequest,
        provider: OpenIdProvider,
        error: str | None = None,
        exception: Exception | None = None,
        extra_context: dict[str, Any] | None = None,
    ) -> None:
        raise ImmediateHttpResponse(
            sign_in_failed(
                request,
                exception,
                cancelled=error == AuthError.CANCELLED,
                state=(extra_context or {}).get("state"),
            )
        )


def sign_in_failed(
    request: HttpRequest,
    exception: Exception | None = None,
    *,
    cancelled: bool = False,
    state: dict[str, Any] | None = None,
) -> HttpResponse:
    """What the provider said goes to nobody: it may hold tokens. The log has the kind of failure."""
    if exception is not None:
        logger.warning("Signing in through OpenID failed: %s", type(exception).__name__)
    confirming = state is not None and state.get("process") == AuthProcess.REDIRECT
    context = {
        "cancelled": cancelled,
        "provider": configured()["name"],
        "confirm_again": state["next"] if state and confirming else "",
    }
    return render(request, "accounts/openid_failed.html", context, status=403)


def signs_in(user: User) -> bool:
    """Whether this person comes through the provider."""
    return settings.OIDC is not None and SocialAccount.objects.filter(user=user, provider=PROVIDER).exists()


def _is_now(moment: object) -> bool:
    """A provider tells `auth_time` whenever `max_age` is asked for; clocks may differ by some minutes."""
    known = isinstance(moment, int | float) and not isinstance(moment, bool)
    return known and abs(time.time() - moment) < settings.ACCOUNT_REAUTHENTICATION_TIMEOUT  # type: ignore[operator]


def _text(claim: object) -> str:
    return "".join(letter for letter in claim if letter.isprintable())[:150] if isinstance(claim, str) else ""
