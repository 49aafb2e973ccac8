"""Say from when a signing key no longer signs: now."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from ethos_review.audit.models import AppendOnlyError
from ethos_review.reviews.models import SigningKey
from ethos_review.reviews.signing import retire_key


class Command(BaseCommand):
    help = (
        "Retire the signing key with this id. What it signed until now stays valid, what it signs from now on does "
        "not count. This cannot be taken back. Configure another key before."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("key_id")

    def handle(self, *args: Any, key_id: str, **options: Any) -> None:
        try:
            key = retire_key(key_id=key_id, actor=None, actor_name="manage.py")
        except SigningKey.DoesNotExist:
            raise CommandError(
                f"No key {key_id} has signed anything here. `/.well-known/ethos-review-keys.json` lists the ids."
            ) from None
        except AppendOnlyError as already:
            raise CommandError(str(already)) from None
        self.stdout.write(f"Retired key {key.key_id}: nothing that it signs from now on counts.")
