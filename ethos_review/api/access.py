"""Who asks, and what they may: a program with a token, never a person's session."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any, Final

from django.core.exceptions import ObjectDoesNotExist
from django.http import HttpRequest, HttpResponse
from django.views.decorators.csrf import csrf_exempt

from ethos_review.accounts.api_tokens import NotAccepted, accepted
from ethos_review.accounts.models import ApiToken, User
from ethos_review.accounts.operations import note_use
from ethos_review.accounts.scopes import SCOPES
from ethos_review.api.requests import Unusable
from ethos_review.engine.errors import DocumentError
from ethos_review.reviews.models import KeptBytesChanged
from ethos_review.reviews.operations import NotAllowed
from ethos_review.web.permissions import PROGRAM
from ethos_review.web.problems import problem

logger = logging.getLogger(__name__)
Answer = Callable[..., HttpResponse]

REALM: Final = 'Bearer realm="Ethos Review"'


class ProgramRequest(HttpRequest):
    """A request as the views of the API see it."""

    user: User  # by a token


def act(scope: str, *parameters: str) -> Callable[[Answer], Answer]:
    """What a program needs the scope for, and which parameters its address takes."""

    def declare(answer: Answer) -> Answer:
        answer.scope, answer.parameters = scope, parameters  # type: ignore[attr-defined]
        return answer

    return declare


def address(**acts: Answer) -> Answer:
    """The view of one address, by the act for each method. Cookies are not looked at, so nothing is forged by them."""

    @csrf_exempt
    def answered(request: ProgramRequest, **arguments: Any) -> HttpResponse:
        try:
            token = _token_of(request)
        except NotAccepted as refused:
            return problem(401, str(refused), headers={"WWW-Authenticate": _challenge(request)})
        request.user = token.account
        chosen = acts.get("get" if request.method == "HEAD" else (request.method or "").lower())
        if chosen is None:
            return method_not_allowed(*acts)
        return _refusal(token, request, chosen) or _done(chosen, request, arguments)

    answered.permission, answered.acts = PROGRAM, acts  # type: ignore[attr-defined]
    return answered


def _token_of(request: HttpRequest) -> ApiToken:
    """Raises NotAccepted."""
    scheme, _, text = request.headers.get("Authorization", "").partition(" ")
    if scheme.lower() != "bearer":
        raise NotAccepted(
            "Send a token with the request: `Authorization: Bearer ethosr_…`. An operator makes one on the page "
            "API tokens."
        )
    token = accepted(text.strip(" "))
    note_use(token)
    return token


def _challenge(request: HttpRequest) -> str:
    """RFC 6750, 3.1: without a token no error is named."""
    return f'{REALM}, error="invalid_token"' if "Authorization" in request.headers else REALM


def _refusal(token: ApiToken, request: ProgramRequest, chosen: Any) -> HttpResponse | None:
    scope: str = chosen.scope
    if scope not in token.scope_list:
        return problem(
            403,
            f"This token lacks the scope `{scope}`. Ask an operator for a token that has it.",
            headers={"WWW-Authenticate": f'{REALM}, error="insufficient_scope", scope="{scope}"'},
            missing_scope=scope,
        )
    if not request.user.has_perms(SCOPES[scope]):
        return problem(
            403,
            f"The roles of this token's account do not allow the scope `{scope}`. Ask an operator to give it the role "
            "Submitter.",
        )
    unknown = sorted(request.GET.keys() - set(chosen.parameters))
    if unknown:
        known = ", ".join(f"`{name}`" for name in chosen.parameters) or "none"
        return problem(400, f"The address has a parameter that is not known here; known are: {known}.")
    return None


def _done(chosen: Answer, request: ProgramRequest, arguments: dict[str, Any]) -> HttpResponse:
    try:
        return chosen(request, **arguments)
    except Unusable as refused:
        return problem(refused.status, str(refused), headers=refused.headers)
    except NotAllowed as refused:
        return problem(403, str(refused))
    except ObjectDoesNotExist:
        return problem(404, "There is no such thing among the reviews of this token's account.")
    except (KeptBytesChanged, DocumentError) as changed:
        logger.error("The kept documents of %s cannot be read: %s", request.path, type(changed).__name__)
        return problem(
            409,
            "The documents of this review are not those that were accepted. Tell the operator of this server.",
        )


def method_not_allowed(*methods: str) -> HttpResponse:
    allowed = ", ".join(method.upper() for method in methods)
    if "get" in methods:
        allowed += ", HEAD"
    return problem(405, f"This address answers {allowed} and no other method.", headers={"Allow": allowed})
