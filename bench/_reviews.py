"""What `bench.reviews` runs once per database: everything measured on one prepared product."""

# ruff: noqa: E402 -- Django is set up before anything of it is imported

from __future__ import annotations

import gc
import http.client
import json
import os
import random
import signal
import socket
import statistics
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from functools import partial
from pathlib import Path
from urllib.parse import urlencode

import django

django.setup()

from django.core.management import call_command
from django.db import connection, connections, transaction
from django.test import Client
from django.utils import timezone

from bench.engine import make_documents
from ethos_review.accounts.models import User
from ethos_review.engine.assessment import shown_digest
from ethos_review.reviews import operations
from ethos_review.reviews.assessments import assessment_of
from ethos_review.reviews.models import Claim, Review, ReviewerDecision, SearchText
from ethos_review.reviews.operations import Decided, Superseded, Upload
from ethos_review.reviews.policies import current_policy, record_of
from ethos_review.reviews.templatetags import queue_rows
from ethos_review.reviews.verification import find_differences, one_snapshot
from ethos_review.web.folding import folded
from tests.factories import (
    answer,
    large_bundle,
    make_reviewer,
    make_submitter,
    parts,
    synthesis,
)

CSRF = "x" * 32
WORKERS = 2  # as docs/operator.md serves it, behind a proxy
REVIEWERS = 8
SECONDS = 10
CONTESTED = 1_000  # decisions that two people make at the same moment
KILLS = 200
CLAIMS = "Revenue of the segment rose by four per cent, as the second table of the annual report says. " * 10
QUEUE_PAGES = (
    ("tab=needs_me", "15 ms"),
    ("tab=all", "15 ms"),
    ("tab=needs_me&sort=undecided", "15 ms"),
    ("tab=all&sort=undecided", "15 ms"),
    ("tab=all&status=certified&since=2020-01-01", "none"),
    ("tab=all&verdict=contradicts", "none"),
    ("tab=all&text=quarter", "none"),
    ("tab=all&text=company+777+", "none"),
    ("tab=all&text=nothing+has+this", "none"),
)


def row(what: str, figure: str, bar: str) -> None:
    print(f"  {what:<66} {figure:>24}   bar: {bar}", flush=True)


def milliseconds(act: Callable[[], object], times: int = 25) -> float:
    """The median. What was made before is kept from the collector, as in a worker (`ethos_review/wsgi.py`)."""
    gc.collect()
    gc.freeze()
    taken = []
    for _ in range(times):
        start = time.perf_counter()
        act()
        taken.append(time.perf_counter() - start)
    gc.unfreeze()
    return statistics.median(taken) * 1_000


def tell_speed_of_machine() -> None:
    """How fast the machine is at this moment, beside the one that the absolute bars of spec 6.1 are from."""
    report = json.dumps(make_documents(9_000)["verification_report"])
    row(
        f"a yardstick: json.loads of a report of {len(report) / 1e6:.1f} MB",
        f"{milliseconds(lambda: json.loads(report)):.0f} ms",
        "26 ms where the bars are from",
    )


def main() -> None:
    tell_speed_of_machine()
    call_command("migrate", verbosity=0)
    call_command("collectstatic", interactive=False, verbosity=0)
    submitter = make_submitter()
    reviewers = [make_reviewer(f"reviewer {number}") for number in range(REVIEWERS)]
    measure_pages_of_a_large_review(submitter, reviewers[0])
    with serving() as port:
        measure_uploads(port, submitter)
        measure_reviewers_at_work(port, submitter, reviewers)
    contest(submitter, reviewers[:2])
    kill(reviewers[0])
    with one_snapshot():
        differences = list(find_differences())
    row("differences that verify_audit names after all of this", str(len(differences)), "0")
    measure_queue(submitter, reviewers[0])


def measure_pages_of_a_large_review(submitter: User, reviewer: User) -> None:
    review = operations.submit_review(actor=submitter, uploads=large_bundle(1_000)).review
    client = Client()
    client.force_login(reviewer)
    page = f"/reviews/{review.review_id}/"
    row(
        "review page with 1,000 claims, server time",
        f"{milliseconds(lambda: get(client, page)):.0f} ms",
        "150 ms",
    )
    digests = digests_of(review)
    places = iter(range(0, 1_000, 2))

    def decide() -> None:
        position = next(places)
        operations.decide_claim(
            actor=reviewer,
            review_id=review.review_id,
            position=position,
            outcome="approve",
            rationale="Both passages say so.",
            shown_sha256=digests[position],
            based_on=0,
        )

    row("one decision, with audit event and digest", f"{milliseconds(decide, 200):.1f} ms", "10 ms")


def get(client: Client, path: str) -> None:
    response = client.get(path)
    assert response.status_code == 200, response.status_code


def get_anew(client: Client, path: str) -> None:
    """As the first look of a process, which keeps drawn rows."""
    queue_rows._drawn.cache_clear()
    get(client, path)


def digests_of(review: Review) -> list[str]:
    assessment = assessment_of(Review.objects.select_related("policy").get(pk=review.pk))
    return [shown_digest(assessed, assessment.policy) for assessed in assessment.claims]


@contextmanager
def serving() -> Iterator[int]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "gunicorn", "ethos_review.wsgi", "--bind", f"127.0.0.1:{port}"]
    start = time.perf_counter()
    server = subprocess.Popen([*command, "--workers", str(WORKERS), "--log-level", "warning"])
    try:
        while True:
            try:
                answered = http.client.HTTPConnection("127.0.0.1", port)
                answered.request("GET", "/sign-in/")
                assert answered.getresponse().status == 200
                break
            except ConnectionError:
                time.sleep(0.01)
        row("start to first page", f"{time.perf_counter() - start:.2f} s", "2 s")
        yield port
        row("resident per worker after the work below", f"{resident_megabytes(server.pid):.0f} MB", "120 MB")
    finally:
        server.terminate()
        server.wait()


def resident_megabytes(parent: int) -> float:
    """Of the largest worker."""
    children = Path(f"/proc/{parent}/task/{parent}/children").read_text().split()
    sizes = [
        int(line.split()[1])
        for child in children
        for line in Path(f"/proc/{child}/status").read_text().splitlines()
        if line.startswith("VmRSS")
    ]
    return max(sizes) / 1024


class Visitor:
    """A person with a browser of their own, signed in."""

    def __init__(self, port: int, user: User) -> None:
        client = Client()
        client.force_login(user)
        session = client.cookies["sessionid"].value
        self.headers = {"Cookie": f"sessionid={session}; csrftoken={CSRF}"}
        self.connection = http.client.HTTPConnection("127.0.0.1", port)

    def post(self, path: str, body: bytes, content_type: str) -> http.client.HTTPResponse:
        self.connection.request("POST", path, body, {**self.headers, "Content-Type": content_type})
        response = self.connection.getresponse()
        response.read()
        return response


def multipart(upload: Upload) -> tuple[bytes, str]:
    boundary = uuid.uuid4().hex
    fields = {"csrfmiddlewaretoken": CSRF, "action": "submit"}
    head = "".join(
        f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'
        for name, value in fields.items()
    )
    head += (
        f'--{boundary}\r\nContent-Disposition: form-data; name="{upload.role}"; filename="{upload.name}"\r\n'
        f"Content-Type: {upload.media_type}\r\n\r\n"
    )
    body = head.encode() + upload.content + f"\r\n--{boundary}--\r\n".encode()
    return body, f"multipart/form-data; boundary={boundary}"


def measure_uploads(port: int, submitter: User) -> None:
    for clients in (1, 2):
        bodies = [multipart(large_bundle(1_000, f"{clients} {number}?")[0]) for number in range(24)]
        acts = [partial(upload, Visitor(port, submitter), bodies[n::clients]) for n in range(clients)]
        before = Claim.objects.count()
        start = time.perf_counter()
        in_threads(acts)
        taken = time.perf_counter() - start
        stored = Claim.objects.count() - before
        assert stored == 24_000
        row(
            f"upload to committed review, {clients} at a time",
            f"{stored / taken:,.0f} claims/s",
            "13,000 claims/s",
        )


def upload(visitor: Visitor, bodies: Sequence[tuple[bytes, str]]) -> None:
    for body, content_type in bodies:
        assert visitor.post("/upload/", body, content_type).status == 302


def in_threads(acts: Sequence[Callable[[], object]]) -> None:
    failures: list[BaseException] = []

    def run(act: Callable[[], object]) -> None:
        try:
            act()
        except BaseException as failure:
            failures.append(failure)
        finally:
            connections.close_all()

    threads = [threading.Thread(target=run, args=[act]) for act in acts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]


def measure_reviewers_at_work(port: int, submitter: User, reviewers: Sequence[User]) -> None:
    """Each on reviews of twenty claims, deciding one after the other over HTTP."""
    claims = [synthesis(f"c{number}", "v0001") for number in range(20)]
    work: list[list[tuple[str, str]]] = []
    for number in range(REVIEWERS):
        mine = []
        for turn in range(SECONDS * 4):
            uploads = parts(answer(*claims, question=f"{number} {turn}?"))
            review = operations.submit_review(actor=submitter, uploads=uploads).review
            mine += [
                (f"/reviews/{review.review_id}/claims/{position}/decide/", digest)
                for position, digest in enumerate(digests_of(review))
            ]
        work.append(mine)
    visitors = [Visitor(port, reviewer) for reviewer in reviewers]
    before = ReviewerDecision.objects.count()
    decided = [0] * REVIEWERS
    until = time.perf_counter() + SECONDS

    def decide_on(number: int) -> None:
        for path, digest in work[number]:
            if time.perf_counter() > until:
                return
            form = {"outcome": "approve", "rationale": "Read.", "shown_sha256": digest, "based_on": 0}
            body = urlencode({"csrfmiddlewaretoken": CSRF, **form}).encode()
            response = visitors[number].post(path, body, "application/x-www-form-urlencoded")
            assert response.status == 302, response.status
            decided[number] += 1

    in_threads([partial(decide_on, number) for number in range(REVIEWERS)])
    assert ReviewerDecision.objects.count() - before == sum(decided)
    row(
        f"{REVIEWERS} reviewers deciding for {SECONDS} s",
        f"{sum(decided) / SECONDS:.0f} decisions/s",
        "200 decisions/s",
    )


def contest(submitter: User, people: Sequence[User]) -> None:
    claims = answer(*(synthesis(f"c{number}", "v0001") for number in range(CONTESTED)), question="Contested?")
    review = operations.submit_review(actor=submitter, uploads=parts(claims)).review
    digests = digests_of(review)
    start = threading.Barrier(len(people))
    results: dict[tuple[int, int], object] = {}

    def decide_all(person: int) -> None:
        for position in range(CONTESTED):
            start.wait()
            try:
                results[position, person] = operations.decide_claim(
                    actor=people[person],
                    review_id=review.review_id,
                    position=position,
                    outcome=("approve", "block")[person],
                    rationale="Mine.",
                    shown_sha256=digests[position],
                    based_on=0,
                )
            except Superseded as told:
                results[position, person] = told

    in_threads([partial(decide_all, person) for person in range(len(people))])
    right = sum(
        sorted(type(results[position, person]).__name__ for person in range(2))
        == [Decided.__name__, Superseded.__name__]
        for position in range(CONTESTED)
    )
    assert ReviewerDecision.objects.filter(claim__review=review).count() == CONTESTED
    row(
        "two people, opposite decisions, same claim, same moment",
        f"{right:,} of {CONTESTED:,}",
        "one each time",
    )


def kill(reviewer: User) -> None:
    User.objects.filter(pk=reviewer.pk).update(username="reviewer")
    chance = random.Random(1)
    environment = {**os.environ, "PYTHONPATH": os.getcwd()}
    for number in range(KILLS):
        worker = subprocess.Popen(
            [sys.executable, "-m", "tests.kill_worker", f"bench {number}"],
            env=environment,
            stdout=subprocess.PIPE,
        )
        assert worker.stdout is not None
        assert worker.stdout.readline() == b"working\n"
        time.sleep(chance.random() * 0.1)
        worker.send_signal(signal.SIGKILL)
        worker.wait()
        worker.stdout.close()
    whole = all(
        review.claims.count() == review.claim_count
        and hasattr(review, "release") == (review.status == Review.Status.SEALED)
        for review in Review.objects.all()
    )
    row(f"killed {KILLS} times at random: every review is whole", "yes" if whole else "NO", "yes")


def measure_queue(submitter: User, reviewer: User) -> None:
    """Reviews as rows with their searched texts: the queue looks at nothing else."""
    tell_speed_of_machine()
    client = Client()
    client.force_login(reviewer)
    for total in (1_000, 100_000):
        with transaction.atomic():
            made = Review.objects.bulk_create(
                rows(submitter, total - Review.objects.count()), batch_size=1_000
            )
            SearchText.objects.bulk_create(
                (SearchText(review=review, text=folded(f"{review.question} {CLAIMS}")) for review in made),
                batch_size=1_000,
            )
        assert Review.objects.count() == total
        with connection.cursor() as cursor:
            cursor.execute("VACUUM ANALYZE" if connection.vendor == "postgresql" else "ANALYZE")
        taken = milliseconds(partial(get_anew, client, f"/?{QUEUE_PAGES[0][0]}"))
        row(f"queue page whose rows nobody saw before, at {total:,} reviews", f"{taken:.1f} ms", "none")
        for asked, bar in QUEUE_PAGES:
            taken = milliseconds(partial(get, client, f"/?{asked}"))
            row(f"queue page, {asked}, at {total:,} reviews, server time", f"{taken:.1f} ms", bar)
        row(
            f"insights of a year at {total:,} reviews, server time",
            f"{milliseconds(partial(get, client, '/insights/?days=365'), 5):.0f} ms",
            "none",
        )


def rows(submitter: User, count: int) -> Iterator[Review]:
    policy, now, chance = record_of(current_policy()), timezone.now(), random.Random(2)
    for number in range(count):
        undecided = 3 if chance.random() < 0.05 else 0
        yield Review(
            submitter=submitter,
            submitted_at=now - timedelta(seconds=chance.random() * 10_000_000),
            content_sha256=uuid.uuid4().hex * 2,
            policy=policy,
            engine_version="0",
            question=f"What changed in the accounts of company {number} between the first and the last quarter?",
            contract_version="1.0.0",
            app_status="partial_certified" if number % 10 else "certified",
            proof_status="verified",
            parser="docling 2.1.0",
            verdicts=",agrees," if number % 100 else ",agrees,,contradicts,",
            status=Review.Status.NEEDS_REVIEW if undecided else Review.Status.SEALED,
            claim_count=10,
            undecided_count=undecided,
            released_count=10 - undecided,
            withheld_count=0,
        )


if __name__ == "__main__":
    main()
