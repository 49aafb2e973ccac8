"""What the database says of a right at this moment, whatever was known when the request came."""

from __future__ import annotations

from django.db.models import Q
from django.utils import timezone

from ethos_review.accounts.models import ApiToken, User
from ethos_review.accounts.roles import ROLES


def still_has(actor: User, permission: str) -> bool:
    """In a transaction that holds the chain, this is certain: whoever takes a right away waits for the chain.

    Of a program also whether its token is in use. One query.
    """
    roles = [role for role, permissions in ROLES.items() if permission in permissions]
    accounts = User.objects.filter(
        Q(is_superuser=True) | Q(groups__name__in=roles), pk=actor.pk, is_active=True
    )
    if actor.token:
        accounts = accounts.filter(
            api_tokens__in=ApiToken.objects.in_use(timezone.now()).filter(pk=actor.token.pk)
        )
    return accounts.exists()
