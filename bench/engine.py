"""The engine rows of spec 6.1: beside ethos-pdf, against json.loads of the same bytes, how time and memory grow."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from typing import IO, Any

import ethos_pdf

from ethos_review.engine.assessment import Received, assess, read_received
from ethos_review.engine.decision import decide_contract
from ethos_review.engine.documents import Limits
from ethos_review.engine.policy import Policy
from ethos_review.engine.report import summarise_proof

SIZES = (10, 100, 1_000, 9_999)
BARS = {10: 1, 100: 1, 1_000: 3, 9_999: 100}  # at least so many times as fast as ethos-pdf
PATH_BAR = 4  # at most so many times json.loads
TURN = 0.1  # seconds
GROWTH_BAR = 12  # at most so many times the time for ten times the claims
BUNDLES = (1_000, 10_000)
GROWTH_SIZES = (100, 1_000, 10_000, 100_000)
LARGE_POLICY = Policy(limits=Limits(document_bytes=100_000_000))
CALLER = {"tool_name": "ledger_lookup", "iteration": 3, "measured_at": "2025-10-02T09:30:00Z"}


def make_documents(size: int) -> dict[str, dict[str, Any]]:
    """As many checks, claims and readings; realistic texts, every kind of outcome."""
    checks, claims, readings = [], [], []
    for number in range(1, size + 1):
        text = (
            f"In segment {number}, Q3 2025 revenue was ${number / 10:.1f}M, up {number % 40}% year over year."
        )
        found = number % 10 != 0
        checks.append(
            {
                "id": f"v{number:06d}",
                "claim": {
                    "kind": "quote",
                    "text": text,
                    "citation": {"page": f"p{number % 300:04d}", "element_id": f"e{number:06d}"},
                },
                "status": "grounded" if found else "not_found",
                "match_method": "normalized_text" if found else "none",
                "semantic_unverified": False,
                "warnings": [],
                **(
                    {
                        "evidence": {
                            "text": text,
                            "page": f"p{number % 300:04d}",
                            "bbox": [7200, 10100, 54000, 11500],
                        }
                    }
                    if found
                    else {"reason": "element_not_found"}
                ),
            }
        )
        claims.append(
            {
                "id": f"claim-{number}",
                "text": text,
                "check_ids": [f"v{number:06d}"],
                "question_relevance": ("direct_answer", "supports_answer", "background_only")[number % 3],
                "claim_type": "synthesis" if number % 7 == 0 else "source_fact",
                "claim_support": "supported",
                "delivers": [{"entity": f"segment-{number}", "field": "revenue_musd", "value": number / 10}],
            }
        )
        readings.append(
            {
                "entity": f"segment-{number}",
                "field": "revenue_musd",
                "value": f"{number / 10:.2f}" if number % 20 else number,
                "tool_call_id": f"call-{number}",
                **CALLER,
            }
        )
    return {
        "verification_report": {
            "schema_version": "1.1.0",
            "verification_config_sha256": "0" * 64,
            "grounding": {
                "parser": {"name": "bench", "version": "1"},
                "capabilities": {
                    "spans": True,
                    "char_offsets": True,
                    "tables": True,
                    "fingerprint": True,
                    "coordinate_origin": "top-left",
                    "crop_support": False,
                },
            },
            "capability_limits": [],
            "fingerprint_stale": False,
            "all_evidence_grounded": all(check["status"] == "grounded" for check in checks),
            "checks": checks,
            "unsupported_claim_kinds": [],
            "warnings": [],
        },
        "claims": {"question": "What changed in Q3 2025?", "claims": claims},
        "readings": {"schema_version": "1.0.0", "readings": readings},
    }


def encode(documents: dict[str, dict[str, Any]]) -> dict[str, bytes]:
    return {role: json.dumps(document).encode() for role, document in documents.items()}


def received(contents: dict[str, bytes]) -> list[Received]:
    return [Received(role, f"{role}.json", content) for role, content in contents.items()]


def milliseconds(*functions: Callable[[], object], seconds: float = 1.0) -> list[float]:
    """The best run of each. They take turns of equal length, so that a busy machine slows them alike.

    What a function returns is thrown away after its time was taken.
    """
    best = [float("inf")] * len(functions)
    turns, end = 0, time.perf_counter() + seconds
    while turns < 3 or time.perf_counter() < end:
        turns += 1
        for position, function in enumerate(functions):
            turn_ends = time.perf_counter() + TURN
            while True:
                start = time.perf_counter()
                result = function()
                stop = time.perf_counter()
                del result
                best[position] = min(best[position], (stop - start) * 1000)
                if stop > turn_ends:
                    break
    return best


def beside_ethos_pdf() -> None:
    print("\nProof summary and contract decision, the same inputs, milliseconds")
    print(f"{'claims':>8}{'ethos-pdf':>12}{'this':>10}{'ratio':>10}{'bar':>8}")
    for size in SIZES:
        documents = make_documents(size)
        submission = read_received(received(encode(documents)))
        report, answer = submission.report, submission.answer

        def theirs(documents: dict[str, Any] = documents) -> Any:
            question, claims = documents["claims"]["question"], documents["claims"]["claims"]
            return ethos_pdf.app_answer_release_decision(
                question,
                ethos_pdf.proof_summary(documents["verification_report"]),
                claims,
                verification_report_ref="verification_report.json",
            )

        def ours(report: Any = report, answer: Any = answer) -> Any:
            return decide_contract(report, summarise_proof(report), answer).to_json()

        assert theirs() == ours()
        slow, fast = milliseconds(theirs, ours)
        print(f"{size:>8}{slow:>12.3f}{fast:>10.3f}{slow / fast:>9.1f}x{BARS[size]:>7}x")


def whole_path() -> None:
    size = SIZES[-1]
    contents = encode(make_documents(size))
    parts = received(contents)
    loads, path = milliseconds(
        lambda: [json.loads(content) for content in contents.values()],
        lambda: assess(parts),
        seconds=5,
    )
    megabytes = sum(map(len, contents.values())) / 1e6
    print(
        f"\nBytes in to decision out, {size:,} checks, claims and readings ({megabytes:.1f} MB), milliseconds"
    )
    print(f"{'json.loads':>12}{'this':>10}{'ratio':>10}{'bar':>12}")
    print(f"{loads:>12.1f}{path:>10.1f}{path / loads:>9.2f}x{f'<= {PATH_BAR}x':>12}")


def growth() -> None:
    print(
        "\nGrowth, milliseconds; json.loads of the same bytes beside it shows what the machine's memory costs"
    )
    print(f"{'claims':>8}{'json.loads':>12}{'growth':>8}{'this':>12}{'growth':>8}{'bar':>9}")
    loads_before = path_before = None
    for size in GROWTH_SIZES:
        contents = encode(make_documents(size))
        parts = received(contents)
        loads, path = milliseconds(
            lambda contents=contents: [json.loads(content) for content in contents.values()],
            lambda parts=parts: assess(parts, LARGE_POLICY),
            seconds=3,
        )
        grown = [
            "" if before is None else f"{now / before:.1f}x"
            for now, before in ((loads, loads_before), (path, path_before))
        ]
        print(f"{size:>8}{loads:>12.1f}{grown[0]:>8}{path:>12.1f}{grown[1]:>8}{f'<= {GROWTH_BAR}x':>9}")
        loads_before, path_before = loads, path


def many_bundles() -> None:
    print("\n`decide --jsonl` in one process, bundles of 10 claims each, output in order")
    print(f"{'bundles':>8}{'seconds':>10}{'a second':>10}{'most memory':>14}")
    for count in BUNDLES:
        start = time.perf_counter()
        peak = decide_bundles(count)
        seconds = time.perf_counter() - start
        print(f"{count:>8}{seconds:>10.1f}{count / seconds:>10.0f}{peak / 1024:>11.1f} MB")


def decide_bundles(count: int) -> int:
    """Feed so many bundles to one process; the most memory that it held, in KB."""
    bundle = json.dumps({"artifact_type": "ethos_review.bundle.v1", **make_documents(10)})

    def feed(to: IO[bytes]) -> None:
        with to:
            for number in range(count):
                to.write(bundle.replace("What changed", f"{number}: what changed", 1).encode() + b"\n")

    command = [sys.executable, "-m", "ethos_review.cli", "decide", "--jsonl"]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdin
    assert process.stdout
    threading.Thread(target=feed, args=(process.stdin,)).start()
    for number, line in enumerate(process.stdout):
        assert json.loads(line)["contract_decision"]["question"].startswith(f"{number}: ")
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert (process.returncode, number + 1) == (0, count)
    return used.ru_maxrss


def main() -> None:
    many_bundles()  # first: a process counts as having held what the one that started it held
    beside_ethos_pdf()
    whole_path()
    growth()


if __name__ == "__main__":
    main()
