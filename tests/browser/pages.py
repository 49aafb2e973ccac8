"""Every page, with who looks at it: for the tests and screenshots that go over all of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from ethos_review.accounts.models import User
from ethos_review.accounts.operations import create_token, revoke_token
from tests.web.world import SEALED, World

SCREENSHOTS = Path(__file__).resolve().parents[2] / "var" / "screenshots"


@dataclass(frozen=True, slots=True)
class Sight:
    who: Callable[[World], User | None]
    path: Callable[[World], str]


def operator(world: World) -> User:
    return User.objects.get(username="operator")


def tokens(world: World) -> str:
    """One in use, and one that was revoked."""
    for name in ("nightly pipeline", "answers of the help desk"):
        token, _ = create_token(
            actor=operator(world),
            account_id=world.submitter.pk,
            name=name,
            scopes=["read", "submit"],
            days=90,
        )
    revoke_token(actor=operator(world), key_id=token.key_id)
    return "/people/tokens/"


PAGES = {
    "sign-in": Sight(lambda w: None, lambda w: "/sign-in/?next=/upload/"),
    "queue": Sight(lambda w: w.reviewer, lambda w: "/"),
    "queue-all": Sight(lambda w: w.reviewer, lambda w: "/?tab=all"),
    "queue-empty": Sight(lambda w: w.submitter, lambda w: "/?text=no+such+words"),
    "queue-submitter": Sight(lambda w: w.submitter, lambda w: "/"),
    "upload": Sight(lambda w: w.submitter, lambda w: "/upload/"),
    "review-partial": Sight(lambda w: w.reviewer, lambda w: w.page("02-pump-maintenance")),
    "review-contradicted": Sight(lambda w: w.reviewer, lambda w: f"{w.page('03-fasting-guideline')}?claim=2"),
    "review-stale": Sight(lambda w: w.reviewer, lambda w: f"{w.page('04-lease-break')}?claim=0"),
    "review-unsettled": Sight(lambda w: w.reviewer, lambda w: f"{w.page('06-cladding-sheet')}?claim=2"),
    "review-support": Sight(lambda w: w.reviewer, lambda w: w.page("08-kitchen-inspection")),
    "review-hidden-characters": Sight(lambda w: w.reviewer, lambda w: w.page("10-lift-offer")),
    "review-own": Sight(lambda w: w.submitter, lambda w: f"{w.page('10-lift-offer')}?claim=6"),
    "review-sealed": Sight(lambda w: w.reviewer, lambda w: f"{w.page(SEALED)}?claim=0"),
    "seal": Sight(lambda w: w.reviewer, lambda w: w.page("05-night-bus-timetable", "seal_review")),
    "release": Sight(lambda w: w.reviewer, lambda w: w.page(SEALED, "release")),
    "released": Sight(lambda w: w.reviewer, lambda w: w.page(SEALED, "released")),
    "withheld": Sight(lambda w: w.reviewer, lambda w: w.page(SEALED, "withheld")),
    "replay": Sight(lambda w: w.reviewer, lambda w: w.page(SEALED, "replay")),
    "keys": Sight(operator, lambda w: "/keys/"),
    "help": Sight(lambda w: w.reviewer, lambda w: "/help/"),
    "policy": Sight(lambda w: w.reviewer, lambda w: "/policy/"),
    "verify": Sight(lambda w: w.auditor, lambda w: "/verify/"),
    "audit-filtered": Sight(lambda w: w.auditor, lambda w: "/audit/?action=review_sealed"),
    "insights": Sight(lambda w: w.auditor, lambda w: "/insights/"),
    "audit": Sight(lambda w: w.auditor, lambda w: "/audit/"),
    "preferences": Sight(lambda w: w.reviewer, lambda w: "/preferences/"),
    "people": Sight(operator, lambda w: "/people/"),
    "person": Sight(operator, lambda w: f"/people/{w.reviewer.pk}/"),
    "sign-out": Sight(lambda w: w.reviewer, lambda w: "/sign-out/"),
    "new-person": Sight(operator, lambda w: "/people/new/"),
    "tokens": Sight(operator, tokens),
    "new-token": Sight(operator, lambda w: "/people/tokens/new/"),
    "password": Sight(lambda w: w.reviewer, lambda w: "/preferences/password/"),
    "second-factor": Sight(lambda w: w.reviewer, lambda w: "/preferences/second-factor/"),
    "confirm": Sight(lambda w: w.reviewer, lambda w: "/preferences/confirm/"),
    "forbidden": Sight(lambda w: w.reviewer, lambda w: "/audit/"),
    "not-found": Sight(lambda w: w.reviewer, lambda w: "/nowhere/"),
}
