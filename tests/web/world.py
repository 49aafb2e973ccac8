"""A small world to look at: people with roles and the sample reviews, one of them sealed."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from django.urls import reverse

from ethos_review.accounts.models import User
from ethos_review.accounts.roles import AUDITOR, REVIEWER, SUBMITTER
from ethos_review.reviews import operations
from tests.web.people import make_people, make_person

SEALED = "01-quarterly-report"


@dataclass(frozen=True, slots=True)
class World:
    submitter: User
    reviewer: User
    colleague: User
    auditor: User
    reviews: dict[str, UUID]  # by the folder's name in the sample

    def page(self, folder: str, name: str = "review") -> str:
        return reverse(name, args=[self.reviews[folder]])


def make_world(*folders: str) -> World:
    """With every sample review, or with those in `folders`."""
    people = make_people()
    chosen = [path for path in sorted(operations.SAMPLE.iterdir()) if path.is_dir()]
    reviews = {
        path.name: operations.submit_review(
            actor=people[SUBMITTER], uploads=operations.sample_uploads(path)
        ).review.review_id
        for path in chosen
        if not folders or path.name in folders
    }
    colleague = make_person(REVIEWER, "reviewer2")
    world = World(people[SUBMITTER], people[REVIEWER], colleague, people[AUDITOR], reviews)
    if SEALED in reviews:
        operations.seal_review(actor=colleague, review_id=reviews[SEALED])
    return world
