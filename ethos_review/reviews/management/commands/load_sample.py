"""Submit the sample reviews."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from ethos_review.accounts.models import User
from ethos_review.reviews.operations import NotAllowed, load_sample


class Command(BaseCommand):
    help = "Submit every sample review that USERNAME has not submitted yet."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("username")

    def handle(self, *args: Any, username: str, **options: Any) -> None:
        try:
            loaded = load_sample(actor=User.objects.get(username=username))
        except User.DoesNotExist as missing:
            raise CommandError(f"There is no account {username}.") from missing
        except NotAllowed as refused:
            raise CommandError(
                f"{username} may not submit reviews: give the account the role Submitter."
            ) from refused
        self.stdout.write(f"{loaded} sample reviews were submitted.")
