"""What allauth asks the product while a person signs in."""

from __future__ import annotations

from typing import Any

from allauth.account.adapter import DefaultAccountAdapter
from allauth.account.internal.flows.login import get_authentication_records
from django.conf import settings
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme

from ethos_review.accounts import confirmation, names, openid, operations
from ethos_review.accounts.models import User
from ethos_review.accounts.sessions import remember_sign_in_before
from ethos_review.audit.operations import record_event


class AccountAdapter(DefaultAccountAdapter):  # type: ignore[misc]
    def is_open_for_signup(self, request: HttpRequest) -> bool:
        return False

    def clean_username(self, username: str, shallow: bool = False) -> str:
        """What a provider calls a person; for one that is refused, allauth makes another."""
        cleaned: str = super().clean_username(username, shallow)
        if (
            names.is_misleading_username(cleaned)
            or not names.has_letter_or_digit(cleaned)
            or names.is_taken(cleaned)
        ):
            raise self.validation_error("username_taken")
        return cleaned

    def get_login_stages(self) -> list[str]:
        return ["allauth.mfa.stages.AuthenticateStage"]

    def pre_login(self, request: HttpRequest, user: User, **facts: Any) -> HttpResponse | None:
        """Every road comes by here after the first factor. Through OpenID the claim gives and takes roles."""
        refused: HttpResponse | None = super().pre_login(request, user, **facts)
        through_openid = (facts["signal_kwargs"] or {}).get("sociallogin")
        if refused is None and through_openid:
            roles = through_openid.account.extra_data["roles"]
            operations.adopt_roles(user, roles, provider=openid.configured()["name"])
        return refused

    def login(self, request: HttpRequest, user: User) -> None:
        """Every road ends here, after the last factor."""
        user.backend = settings.AUTHENTICATION_BACKENDS[-1]
        before = user.last_login
        with transaction.atomic():
            super().login(request, user)
            remember_sign_in_before(request.session, before)
            methods = [record["method"] for record in get_authentication_records(request, user)]
            record_event(
                actor=user,
                action="signed_in",
                object_type="person",
                object_id=user.get_username(),
                details={"by": ", ".join(dict.fromkeys(methods))},
            )

    def is_reauthentication_required(self, *, app: str, **facts: Any) -> bool:
        """allauth's own answer knows no confirmation at the OpenID provider."""
        return not confirmation.is_recent(self.request)

    def get_reauthentication_methods(self, user: User) -> list[dict[str, Any]]:
        methods: list[dict[str, Any]] = super().get_reauthentication_methods(user)
        if user.is_authenticated and openid.signs_in(user):
            url, description = reverse("confirm_by_openid"), openid.configured()["name"]
            methods.append({"id": "openid", "url": url, "description": description})
        return methods

    def is_safe_url(self, url: str) -> bool:
        """Back to this host only."""
        return url_has_allowed_host_and_scheme(
            url, {self.request.get_host()}, require_https=self.request.is_secure()
        )

    def respond_user_inactive(self, request: HttpRequest, user: User) -> HttpResponse:
        return render(request, "accounts/closed.html", status=403)
