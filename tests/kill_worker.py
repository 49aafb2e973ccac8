"""What the killed process does: submit, decide, undo and seal, one review after the other."""

from __future__ import annotations

import itertools
import sys

import django


def work(number: str) -> None:
    from ethos_review.accounts.models import User
    from ethos_review.reviews import operations
    from tests.factories import decide, four_claims

    submitter, reviewer = User.objects.get(username="submitter"), User.objects.get(username="reviewer")
    sys.stdout.write("working\n")
    sys.stdout.flush()
    for turn in itertools.count():
        uploads = four_claims(f"Process {number}, turn {turn}?")
        review = operations.submit_review(actor=submitter, uploads=uploads).review
        for position, outcome in ((1, "approve"), (1, "block"), (2, "block")):
            decide(reviewer, review, position, outcome)
        operations.seal_review(actor=reviewer, review_id=review.review_id)


if __name__ == "__main__":
    django.setup()
    work(sys.argv[1])
