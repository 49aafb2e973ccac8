"""Make the private key that signs releases."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from ethos_review.engine.envelope import KeyFileError, write_key


class Command(BaseCommand):
    help = (
        "Make an Ed25519 key and write it to PATH with mode 0600, under the passphrase in "
        "ETHOS_REVIEW_SIGNING_KEY_PASSPHRASE if there is one."
    )
    requires_system_checks = ()  # a missing key is what this command is for

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("path", type=Path)

    def handle(self, *args: Any, path: Path, **options: Any) -> None:
        try:
            key = write_key(path, settings.SIGNING_KEY_PASSPHRASE.encode() or None)
        except KeyFileError as error:
            raise CommandError(str(error)) from error
        self.stdout.write(f"Made key {key.keyid} in {path}.")
        self.stdout.write(f"Next: set ETHOS_REVIEW_SIGNING_KEY_FILE={path} and keep a copy in a safe place.")
