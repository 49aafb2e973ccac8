"""Prove that nothing was changed, or name what was."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError

from ethos_review.audit.models import ChainHead
from ethos_review.reviews.models import Review
from ethos_review.reviews.verification import find_differences, one_snapshot


class Command(BaseCommand):
    help = (
        "Recompute the event chain, every document's digest, and every decision's and release's binding. Names "
        "what differs and ends with exit code 1."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        with one_snapshot():
            found = 0
            for difference in find_differences():
                found += 1
                self.stdout.write(str(difference))
            if found:
                raise CommandError(f"{found} differences.")
            head = ChainHead.objects.get()
            self.stdout.write(
                f"{head.length} events and {Review.objects.count()} reviews are what the chain says. "
                f"Its last digest is {head.sha256}."
            )
