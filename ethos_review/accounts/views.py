"""Signing in and out, and preferences."""

from __future__ import annotations

from typing import Any

from axes.helpers import get_cool_off
from django.contrib import messages
from django.contrib.auth.views import LoginView, LogoutView
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from ethos_review.accounts.forms import PreferencesForm
from ethos_review.web.htmx import Request
from ethos_review.web.permissions import SIGNED_IN, anonymous, permission_required

sign_in = anonymous(
    LoginView.as_view(
        template_name="accounts/sign_in.html",
        redirect_authenticated_user=True,
        http_method_names=["get", "head", "post"],
    )
)
sign_out = anonymous(LogoutView.as_view())


@permission_required(SIGNED_IN)
@require_http_methods(["GET", "HEAD", "POST"])
def preferences(request: Request) -> HttpResponse:
    form = PreferencesForm(request.POST if request.method == "POST" else None, instance=request.user)
    if request.method == "POST" and form.is_valid():
        form.save()
        messages.success(request, "Saved.")
        return redirect("preferences")
    return render(request, "accounts/preferences.html", {"form": form})


def locked_out(
    request: HttpRequest, response: HttpResponse | None, credentials: dict[str, Any] | None
) -> HttpResponse:
    """Too many failed attempts (called by django-axes)."""
    cool_off = get_cool_off(request)
    context = {"minutes": round(cool_off.total_seconds() / 60) if cool_off else 0}
    return render(request, "accounts/locked_out.html", context, status=429)
