"""What a person may do follows from their roles alone."""

from __future__ import annotations

from django.contrib.auth.backends import ModelBackend
from django.contrib.auth.models import Permission
from django.db.models import QuerySet

from ethos_review.accounts.models import User


class RoleBackend(ModelBackend):
    """A permission that was given to a person past every role counts for nothing, and nobody asks for it."""

    def _get_user_permissions(self, user_obj: User) -> QuerySet[Permission]:
        return Permission.objects.none()
