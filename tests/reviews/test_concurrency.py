from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from uuid import uuid4

import pytest
from django.db import connection, connections

from ethos_review.accounts.models import User
from ethos_review.audit.models import Event
from ethos_review.reviews import operations
from ethos_review.reviews.models import Claim, Document, Release, Review, ReviewerDecision
from ethos_review.reviews.operations import Refused, Superseded
from ethos_review.reviews.queries import open_card
from ethos_review.reviews.verification import find_differences, one_snapshot
from tests.factories import (
    answer,
    four_claims,
    make_review,
    make_reviewer,
    make_submitter,
    make_user,
    parts,
    report,
    synthesis,
)

pytestmark = pytest.mark.django_db(transaction=True)

ROUNDS = 100


def at_once(*acts: Callable[[], object]) -> list[object]:
    """Each act in a thread with a connection of its own, all at the same moment; their results or exceptions."""
    start = threading.Barrier(len(acts))
    results: list[object] = [None] * len(acts)

    def run(place: int, act: Callable[[], object]) -> None:
        try:
            connection.ensure_connection()
            start.wait()
            results[place] = act()
        except Exception as failure:
            results[place] = failure
        finally:
            connections.close_all()

    threads = [threading.Thread(target=run, args=(place, act)) for place, act in enumerate(acts)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results


def deciding(
    actor: User, review: Review, position: int, outcome: str, shown_sha256: str
) -> Callable[[], object]:
    return lambda: operations.decide_claim(
        actor=actor,
        review_id=review.review_id,
        position=position,
        outcome=outcome,
        rationale=f"{actor.username} read it.",
        shown_sha256=shown_sha256,
        based_on=0,
    )


def claims_to_decide(count: int) -> Review:
    claims = (synthesis(f"c{number}", "v0001") for number in range(count))
    return make_review(make_submitter(), parts(answer(*claims)))


def shown(actor: User, review: Review, position: int) -> str:
    return open_card(actor, review.review_id, position).shown_sha256


def test_of_two_people_who_decide_the_same_claim_at_once_one_is_told_of_the_other() -> None:
    review = claims_to_decide(ROUNDS)
    people = [make_reviewer("one"), make_reviewer("two")]
    won = {"one": 0, "two": 0}

    for position in range(ROUNDS):
        digest = shown(people[0], review, position)
        results = at_once(
            deciding(people[0], review, position, "approve", digest),
            deciding(people[1], review, position, "block", digest),
        )

        [decided] = [result for result in results if isinstance(result, operations.Decided)]
        [told] = [result for result in results if isinstance(result, Superseded)]
        assert told.current == decided.decision
        won[decided.decision.reviewer.username] += 1

    assert sum(won.values()) == ROUNDS == ReviewerDecision.objects.count()
    assert list(find_differences()) == []


def test_the_same_form_sent_twice_at_once_is_one_decision() -> None:
    review, reviewer = claims_to_decide(20), make_reviewer()

    for position in range(20):
        act = deciding(reviewer, review, position, "approve", shown(reviewer, review, position))
        results = at_once(act, act)

        assert sorted(result.repeated for result in results if isinstance(result, operations.Decided)) == [
            False,
            True,
        ]
    assert ReviewerDecision.objects.count() == 20
    assert list(find_differences()) == []


def test_two_people_decide_different_claims_at_once_and_nothing_is_lost() -> None:
    review = claims_to_decide(40)
    people = [make_reviewer("one"), make_reviewer("two")]

    for position in range(0, 40, 2):
        results = at_once(
            *(
                deciding(person, review, place, "approve", shown(person, review, place))
                for person, place in zip(people, (position, position + 1), strict=True)
            )
        )
        assert all(isinstance(result, operations.Decided) for result in results), results

    review.refresh_from_db()
    assert (review.status, review.released_count, review.revision) == ("ready_to_seal", 40, 40)
    assert list(find_differences()) == []


@pytest.mark.parametrize("attempt", range(10))
def test_the_same_upload_sent_twice_at_once_is_one_review(attempt: int) -> None:
    submitter = make_submitter()
    uploads = four_claims(f"Attempt {attempt}?")

    results = at_once(*[lambda: operations.submit_review(actor=submitter, uploads=uploads)] * 4)

    submitted = [result for result in results if isinstance(result, operations.Submitted)]
    assert sorted(result.created for result in submitted) == [False, False, False, True], results
    assert len({result.review.pk for result in submitted}) == 1
    assert (Review.objects.count(), Document.objects.count(), Claim.objects.count()) == (1, 3, 4)
    assert list(find_differences()) == []


def test_uploads_sent_again_on_purpose_at_once_are_as_many_reviews() -> None:
    submitter = make_submitter()
    make_review(submitter)

    results = at_once(
        *[lambda: operations.submit_review(actor=submitter, uploads=four_claims(), again=uuid4())] * 4
    )

    assert all(isinstance(result, operations.Submitted) and result.created for result in results), results
    assert sorted(Review.objects.values_list("copy", flat=True)) == [0, 1, 2, 3, 4]


def test_one_form_that_asks_for_a_second_review_sent_four_times_at_once_makes_one() -> None:
    submitter = make_submitter()
    make_review(submitter)
    shown = uuid4()

    results = at_once(
        *[lambda: operations.submit_review(actor=submitter, uploads=four_claims(), again=shown)] * 4
    )

    assert sorted(result.created for result in results) == [False, False, False, True], results
    assert len({result.review for result in results}) == 1
    assert sorted(Review.objects.values_list("copy", flat=True)) == [0, 1]


def test_the_sample_loaded_twice_at_once_by_one_of_two_submitters_is_there_once_for_each() -> None:
    first, second = make_submitter("first"), make_submitter("second")
    count = operations.load_sample(actor=first)

    loaded = at_once(*[lambda: operations.load_sample(actor=second)] * 2)

    assert sum(loaded) == count
    assert Review.objects.filter(submitter=second).count() == count


def test_a_review_sealed_by_two_people_at_once_has_one_release() -> None:
    people = [make_reviewer("one"), make_reviewer("two")]
    for number in range(10):
        review = make_review(
            make_user(f"submitter {number}", "Submitter"), parts(answer(), report()), again=uuid4()
        )

        results = at_once(
            *(
                lambda person=person: operations.seal_review(actor=person, review_id=review.review_id)  # type: ignore[misc] # noqa: B023
                for person in people
            )
        )

        [release] = [result for result in results if isinstance(result, Release)]
        [told] = [result for result in results if isinstance(result, Refused)]
        assert told.code == "sealed"
        assert release.sealed_by_name in str(told)
    assert list(find_differences()) == []


def test_a_decision_and_a_seal_at_once_never_contradict() -> None:
    reviewer, colleague, submitter = make_reviewer("one"), make_reviewer("two"), make_submitter()
    for number in range(20):
        claims = answer(synthesis("c", "v0001"), question=f"Question {number}?")
        review = make_review(submitter, parts(claims))
        deciding(reviewer, review, 0, "approve", shown(reviewer, review, 0))()

        results = at_once(
            lambda: operations.seal_review(actor=reviewer, review_id=review.review_id, based_on=1),  # noqa: B023
            lambda: operations.undo_decision(
                actor=colleague,
                review_id=review.review_id,  # noqa: B023
                position=0,
                based_on=1,
            ),
        )

        assert sum(isinstance(result, Exception) for result in results) == 1, results
    assert list(find_differences()) == []


def test_people_and_pipelines_at_work_at_once_leave_one_unbroken_chain() -> None:
    reviewers = [make_reviewer(f"reviewer {number}") for number in range(3)]
    submitters = [make_submitter(f"submitter {number}") for number in range(3)]

    def submit(submitter: User) -> None:
        for number in range(4):
            operations.submit_review(actor=submitter, uploads=four_claims(f"{submitter.username} {number}?"))

    def review_all(reviewer: User, chance: random.Random) -> None:
        until = time.monotonic() + 10
        while time.monotonic() < until and Review.objects.filter(status="sealed").count() < 12:
            for review in Review.objects.exclude(status="sealed"):
                position = chance.choice([1, 2])
                try:
                    deciding(reviewer, review, position, "block", shown(reviewer, review, position))()
                    operations.seal_review(actor=reviewer, review_id=review.review_id)
                except (Refused, Superseded, operations.Stale):
                    continue

    results = at_once(
        *(lambda person=person: submit(person) for person in submitters),  # type: ignore[misc]
        *(
            lambda person=person, seed=seed: review_all(person, random.Random(seed))  # type: ignore[misc]
            for seed, person in enumerate(reviewers)
        ),
    )

    assert results == [None] * 6
    assert Release.objects.count() == 12
    assert Event.objects.filter(action="review_sealed").count() == 12
    assert list(find_differences()) == []


def test_whenever_the_process_is_killed_the_database_holds_all_of_an_act_or_nothing(
    signing_key_file: Path,
) -> None:
    make_submitter()
    make_reviewer()
    chance = random.Random(11)
    database = connection.settings_dict
    url = (
        f"sqlite:///{database['NAME']}"
        if connection.vendor == "sqlite"
        else f"postgres://{database['USER']}@{database['HOST']}:{database['PORT']}/{database['NAME']}"
    )
    environment = {
        **os.environ,
        "DATABASE_URL": url,
        "DJANGO_SETTINGS_MODULE": "tests.settings",
        "ETHOS_REVIEW_SIGNING_KEY_FILE": str(signing_key_file),
    }

    for number in range(20):
        worker = subprocess.Popen(
            [sys.executable, "-m", "tests.kill_worker", str(number)],
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        assert worker.stdout is not None
        started = worker.stdout.readline()
        time.sleep(chance.random() * 0.2)
        worker.send_signal(signal.SIGKILL)
        _, errors = worker.communicate()
        assert started == b"working\n", errors.decode()

    with one_snapshot():
        assert list(find_differences()) == []
    assert Review.objects.count() > 0
    for review in Review.objects.all():
        roles = set(review.documents.values_list("role", flat=True))
        assert roles == {"verification_report", "claims", "readings"}
        assert review.claims.count() == 4
        assert hasattr(review, "release") == (review.status == "sealed")
