"""What a person may do follows from their roles alone."""

from __future__ import annotations

from django.contrib.auth.backends import ModelBackend
from django.contrib.auth.base_user import AbstractBaseUser
from django.contrib.auth.models import AnonymousUser
from django.db.models import Model


class RoleBackend(ModelBackend):
    """A permission that was given to a person past every role counts for nothing, and nobody asks for it."""

    def get_user_permissions(
        self, user_obj: AbstractBaseUser | AnonymousUser, obj: Model | None = None
    ) -> set[str]:
        return set()
