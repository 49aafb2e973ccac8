"""What a person may do follows from their roles alone."""

from __future__ import annotations

from django.contrib.auth.backends import ModelBackend
from django.contrib.auth.base_user import AbstractBaseUser
from django.contrib.auth.models import AnonymousUser, Group
from django.db.models import Model

from ethos_review.accounts.roles import ROLES

Account = AbstractBaseUser | AnonymousUser


class RoleBackend(ModelBackend):
    """A permission that the database gives to a person, or to a group, counts for nothing, and nobody asks for it."""

    def get_user_permissions(self, user_obj: Account, obj: Model | None = None) -> set[str]:
        return set()

    def get_group_permissions(self, user_obj: Account, obj: Model | None = None) -> set[str]:
        if not user_obj.is_active or user_obj.is_anonymous or obj is not None:
            return set()
        roles = Group.objects.filter(user=user_obj.pk).values_list("name", flat=True)
        return set().union(*(ROLES.get(role, ()) for role in roles))
