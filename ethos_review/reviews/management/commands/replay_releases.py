"""Recompute every release from the kept bytes, or name what comes out differently."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError

from ethos_review.reviews.replays import replay_every_release
from ethos_review.reviews.verification import one_snapshot


class Command(BaseCommand):
    help = (
        "Recompute the release of every sealed review from its kept documents, under its own recorded policy, and "
        "compare byte for byte. Names the review and the document or member that differs, and ends with exit code 1."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        replayed = differing = 0
        with one_snapshot():
            for release, differences in replay_every_release():
                replayed += 1
                differing += bool(differences)
                for difference in differences:
                    place = difference.pointer or "the whole release"
                    message = difference.message or "It comes out differently."
                    self.stdout.write(f"review {release.review.review_id}: {place}: {message}")
        if differing:
            raise CommandError(f"{differing} of {replayed} releases come out differently.")
        self.stdout.write(f"{replayed} releases come out byte for byte as they were sealed.")
