"""What waits until a person confirms who they are: read from the form itself that is then gone on with."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Final

from allauth.account.internal.flows.reauthentication import STATE_SESSION_KEY
from allauth.account.utils import get_next_redirect_url
from django.http import HttpRequest, QueryDict
from django.urls import Resolver404, resolve

from ethos_review.accounts.models import User

# Their words stand in templates/account/_asked.html.
FORMS: Final = frozenset(
    {"new_person", "new_token", "roles", "password-link", "reactivate", "remove-second-factor"}
)
PAGES: Final = frozenset(
    {
        "mfa_activate_totp",
        "mfa_deactivate_totp",
        "mfa_add_webauthn",
        "mfa_edit_webauthn",
        "mfa_remove_webauthn",
        "mfa_view_recovery_codes",
        "mfa_generate_recovery_codes",
    }
)


@dataclass(frozen=True, slots=True)
class Asked:
    act: str
    values: dict[str, str] = field(default_factory=dict)  # as they were typed
    names: tuple[str, ...] = ()  # of roles or scopes
    account: str = ""


def asked(request: HttpRequest) -> Asked | None:
    """What the person asked for, or None where it is nothing that is known here."""
    where = get_next_redirect_url(request)
    try:
        match = resolve((where or "").partition("?")[0])
    except Resolver404:
        return None
    name = str(match.url_name)
    if name in PAGES:
        return Asked(name)
    form = _kept_form(request, where)
    act = form.get("action", "") if name == "person" else name
    if act not in FORMS or not form:
        return None
    return Asked(
        act=act,
        values={key: str(form[key]).strip() for key in form},
        names=tuple(form.getlist("scopes" if act == "new_token" else "roles")),
        account=_account(str(match.kwargs.get("person_id") or form.get("account", ""))),
    )


def _kept_form(request: HttpRequest, where: str | None) -> QueryDict:
    """Empty unless allauth would go on with it from there."""
    kept = json.loads(request.session.get(STATE_SESSION_KEY, {}).get("request", "{}"))
    return QueryDict(kept["POST"] if kept.get("path") == where else "")


def _account(pk: str) -> str:
    person = User.objects.filter(pk=pk).first() if pk.isascii() and pk.isdecimal() else None
    return person.get_username() if person else ""
