"""Sign the state of the event chain."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError

from ethos_review.engine.envelope import KeyFileError
from ethos_review.reviews.signing import take_checkpoint


class Command(BaseCommand):
    help = (
        "Sign the length and last digest of the event chain, keep that, and print the envelope on one line. For a "
        "timer: nothing is signed when the chain has not grown. Append the line to a file on another machine."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            checkpoint = take_checkpoint(actor=None, actor_name="manage.py")
        except KeyFileError as missing:
            raise CommandError(f"Nothing can be signed. {missing}") from missing
        self.stdout.write(bytes(checkpoint.envelope).decode())
