"""The pages for operators: which programs have a token, for which account, and what it lets them do."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from ethos_review.accounts import confirmation, operations
from ethos_review.accounts.forms import NewTokenForm
from ethos_review.accounts.models import ApiToken
from ethos_review.accounts.once import answer_once, once
from ethos_review.accounts.scopes import SCOPES
from ethos_review.web.htmx import Request
from ethos_review.web.permissions import permission_required


@permission_required(operations.MANAGE_PEOPLE)
@require_safe
def tokens(request: Request) -> HttpResponse:
    now = timezone.now()
    lines = [
        {"token": token, "state": token.state(now)}
        for token in ApiToken.objects.select_related("account").order_by("-pk")
    ]
    lines.sort(key=lambda line: line["state"] != "in use")
    return render(request, "accounts/tokens.html", {"lines": lines})


@permission_required(operations.MANAGE_PEOPLE)
@require_http_methods(["GET", "HEAD", "POST"])
@once
def new_token(request: Request) -> HttpResponse:
    form = NewTokenForm(request.POST if request.method == "POST" else None)
    if form.is_valid():
        confirmation.require(request)
        asked = dict(form.cleaned_data)
        try:
            token, text = operations.create_token(
                actor=request.user, account_id=asked.pop("account").pk, **asked
            )
            return _show_token(request, token, text)
        except operations.Refused as refused:
            form.add_error("account", str(refused))
    return render(request, "accounts/new_token.html", {"form": form})


@permission_required(operations.MANAGE_PEOPLE)
@require_POST
def revoke_token(request: Request, key_id: str) -> HttpResponse:
    operations.revoke_token(actor=request.user, key_id=key_id)
    messages.success(request, f"The token {key_id} is revoked: it lets nobody in any more.")
    return redirect("tokens")


def _show_token(request: Request, token: ApiToken, text: str) -> HttpResponse:
    """In the answer to the form, and nowhere else: neither a redirect nor a message keeps it."""
    useless = [scope for scope in token.scope_list if not token.account.has_perms(SCOPES[scope])]
    context = {"token": token, "text": text, "useless": useless}
    answer_once(request, reverse("tokens"))
    return render(request, "accounts/token.html", context)
