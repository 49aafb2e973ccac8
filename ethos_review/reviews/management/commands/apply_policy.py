"""Derive every open review again under the policy in force."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError

from ethos_review.reviews.models import Review
from ethos_review.reviews.operations import Refused, bring_up_to_date
from ethos_review.reviews.policies import current_policy


class Command(BaseCommand):
    help = (
        "Bring open reviews in line with the policy in force, after it or the program changed. Decisions on what "
        "is shown otherwise now lapse. Exit code 1 when documents are no longer acceptable."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        open_reviews = Review.objects.exclude(status=Review.Status.SEALED)
        changed, refused = 0, 0
        for review_id in list(open_reviews.order_by("id").values_list("review_id", flat=True)):
            try:
                changed += bring_up_to_date(review_id=review_id, among=Review.objects.all())
            except Refused as reason:
                refused += 1
                self.stderr.write(f"review {review_id}: {reason}")
        policy = current_policy()
        self.stdout.write(
            f"Policy {policy.name} {policy.version}: {changed} open reviews were derived again."
        )
        if refused:
            raise CommandError(f"{refused} open reviews cannot be decided under it.")
