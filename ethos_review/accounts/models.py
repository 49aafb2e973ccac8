"""People: who signs in, and how they like the keyboard."""

from __future__ import annotations

from django.contrib.auth.models import AbstractUser
from django.db import models


class User(AbstractUser):
    display_name = models.CharField(max_length=150, blank=True)
    single_key_shortcuts = models.BooleanField(default=True)  # WCAG 2.1.4: can be switched off per person

    @property
    def name(self) -> str:
        return self.display_name or self.get_username()
