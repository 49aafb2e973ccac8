"""What the database says of a right at this moment, whatever was known when the request came."""

from __future__ import annotations

from django.utils import timezone

from ethos_review.accounts.backends import RoleBackend
from ethos_review.accounts.models import ApiToken, User


def still_has(actor: User, permission: str) -> bool:
    """In a transaction that holds the chain, this is certain: whoever takes a right away waits for the chain.

    Of a program also whether its token is in use. One query each.
    """
    account = RoleBackend().get_user(actor.pk)
    if account is None:
        return False
    account.token = actor.token
    return account.has_perm(permission) and (
        actor.token is None
        or ApiToken.objects.in_use(timezone.now()).filter(pk=actor.token.pk, account=account).exists()
    )
