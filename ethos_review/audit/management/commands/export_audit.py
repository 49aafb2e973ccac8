"""Export the event chain as JSON Lines."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from ethos_review.audit.operations import record_export
from ethos_review.audit.queries import export_lines


class Command(BaseCommand):
    help = (
        "Write every event to FILE, one per line, oldest first; `ethos-review verify-audit FILE` verifies it "
        "offline. The export is an event itself, and the last line."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path)

    def handle(self, *args: Any, file: Path, **options: Any) -> None:
        try:
            with file.open("xb") as opened:
                length = record_export(actor=None, actor_name="manage.py").sequence
                opened.writelines(export_lines(length))
        except OSError as error:
            raise CommandError(f"{file} cannot be written: {error.strerror}.") from None
        self.stdout.write(f"{length} events are in {file}.")
