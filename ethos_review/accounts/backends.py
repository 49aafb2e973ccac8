"""What a person may do follows from their roles alone."""

from __future__ import annotations

from django.contrib.auth.backends import ModelBackend
from django.contrib.auth.base_user import AbstractBaseUser
from django.contrib.auth.models import AnonymousUser
from django.db.models import F, Model

from ethos_review.accounts.models import User
from ethos_review.accounts.roles import permissions_of

Account = AbstractBaseUser | AnonymousUser


class RoleBackend(ModelBackend):
    """A permission that the database gives to a person, or to a group, counts for nothing, and nobody asks for it."""

    def get_user(self, user_id: int) -> User | None:
        """With what the roles let: every request needs both, and one query tells them."""
        rows = list(User.objects.filter(pk=user_id).annotate(role=F("groups__name")))
        if not rows or not self.user_can_authenticate(rows[0]):
            return None
        user = rows[0]
        user.role_permissions = permissions_of(row.role for row in rows if row.role)
        return user

    def get_user_permissions(self, user_obj: Account, obj: Model | None = None) -> set[str]:
        return set()

    def get_group_permissions(self, user_obj: Account, obj: Model | None = None) -> set[str]:
        if not isinstance(user_obj, User) or not user_obj.is_active or obj is not None:
            return set()
        return set(user_obj.role_permissions)
