"""The pages for operators: who has an account, with which roles."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Final
from urllib.parse import urlencode

from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount
from django.conf import settings
from django.contrib import messages
from django.db.models import Exists, OuterRef, QuerySet
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_safe

from ethos_review.accounts import confirmation, operations, password_links
from ethos_review.accounts.forms import NewPersonForm, RolesForm
from ethos_review.accounts.models import User
from ethos_review.accounts.once import answer_once, once
from ethos_review.web.htmx import Request
from ethos_review.web.permissions import permission_required

ACTS: Final[dict[str, tuple[Callable[..., None], str]]] = {
    "deactivate": (operations.deactivate_person, "The account is closed, and its sessions have ended."),
    "reactivate": (operations.reactivate_person, "The account is open again."),
    "sign-out": (operations.sign_out_everywhere, "Every session of the account has ended."),
    "remove-second-factor": (operations.remove_second_factor, "The second factor is removed."),
}
WIDENS_RIGHTS: Final = frozenset({"roles", "password-link", "reactivate", "remove-second-factor"})


@permission_required(operations.MANAGE_PEOPLE)
@require_safe
def people(request: Request) -> HttpResponse:
    return render(request, "accounts/people.html", {"people": _people().order_by("-is_active", "username")})


@permission_required(operations.MANAGE_PEOPLE)
@require_http_methods(["GET", "HEAD", "POST"])
@once
def new_person(request: Request) -> HttpResponse:
    form = NewPersonForm(request.POST if request.method == "POST" else None)
    if form.is_valid():
        confirmation.require(request)
        try:
            person, token = operations.create_person(actor=request.user, **form.cleaned_data)
            shown = _show_link(request, person, token)
            messages.success(request, f"The account {person.get_username()} is created.")  # on the next page
            return shown
        except operations.DisplayNameTaken as refused:
            form.add_error("display_name", str(refused))
        except operations.Refused as refused:
            form.add_error("username", str(refused))
    return render(request, "accounts/new_person.html", {"form": form})


@permission_required(operations.MANAGE_PEOPLE)
@require_http_methods(["GET", "HEAD", "POST"])
@once
def person(request: Request, person_id: int) -> HttpResponse:
    shown = _people().get(pk=person_id)
    if request.method != "POST":
        form = RolesForm(initial={"roles": [group.name for group in shown.groups.all()]})
        context = {
            "person": shown,
            "form": form,
            "uses_openid": SocialAccount.objects.filter(user=shown).exists(),
            "hours": password_links.hours(),
        }
        return render(request, "accounts/person.html", context)
    if request.POST.get("action") in WIDENS_RIGHTS:
        confirmation.require(request)
    try:
        if request.POST.get("action") == "password-link":
            token = operations.make_password_link(actor=request.user, person_id=person_id)
            return _show_link(request, shown, token)
        messages.success(request, _act(request, person_id))
    except operations.Refused as refused:
        messages.error(request, str(refused))
    return redirect("person", person_id)


def _act(request: Request, person_id: int) -> str:
    """What was done, as a sentence."""
    name = request.POST.get("action", "")
    if name in ACTS:
        act, done = ACTS[name]
        act(actor=request.user, person_id=person_id)
        return done
    form = RolesForm(request.POST)
    if name != "roles" or not form.is_valid():
        raise operations.Refused("Nothing was changed: the form was not one of this page.")
    operations.change_roles(actor=request.user, person_id=person_id, roles=form.cleaned_data["roles"])
    return "The roles are saved."


def _show_link(request: Request, person: User, token: str) -> HttpResponse:
    """In the answer to the form, and nowhere else: neither a redirect nor a message keeps it."""
    where = f"{reverse('choose_password', args=[person.pk])}?{urlencode({'token': token})}"
    context = {
        "person": person,
        "link": request.build_absolute_uri(where),
        "until": timezone.now() + timedelta(seconds=settings.PASSWORD_RESET_TIMEOUT),
    }
    answer_once(request, reverse("person", args=[person.pk]))
    return render(request, "accounts/password_link.html", context)


def _people() -> QuerySet[User]:
    return User.objects.prefetch_related("groups").annotate(
        has_second_factor=Exists(Authenticator.objects.filter(user=OuterRef("pk")))
    )
