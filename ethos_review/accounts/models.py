"""People: who signs in, and how they like the keyboard."""

from __future__ import annotations

from django.contrib.auth.models import AbstractUser
from django.db import models
from django.utils.crypto import salted_hmac


class User(AbstractUser):
    display_name = models.CharField(max_length=150, blank=True)
    single_key_shortcuts = models.BooleanField(default=True)  # WCAG 2.1.4: can be switched off per person
    sign_outs = models.PositiveIntegerField(default=0)  # counting up ends every session of the person
    password_links = models.PositiveIntegerField(default=0)  # counting up voids the link made before

    class Meta(AbstractUser.Meta):
        permissions = (("manage_people", "Can give roles and close accounts"),)

    @property
    def name(self) -> str:
        return self.display_name or self.get_username()

    def _get_session_auth_hash(self, secret: str | None = None) -> str:
        """Django ends a session whose hash differs: after a new password, and after signing out everywhere."""
        value = f"{self.sign_outs}:{self.password}"
        return salted_hmac("ethos_review.session", value, secret=secret, algorithm="sha256").hexdigest()
