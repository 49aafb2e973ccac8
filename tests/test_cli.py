"""The `ethos-review` command: check, decide, verify, replay, verify-audit."""

from __future__ import annotations

import gc
import io
import json
import os
import subprocess
import sys
import tracemalloc
from pathlib import Path

import pytest
from securesystemslib.signer import CryptoSigner

from ethos_review import __version__
from ethos_review.cli import main
from ethos_review.engine.audit_chain import GENESIS, Checkpoint
from ethos_review.engine.contracts import check_against_schema
from ethos_review.engine.envelope import public_key_pem, sign_payload
from ethos_review.engine.keys import TrustedKey, key_set_to_json
from ethos_review.engine.statement import canonical_payload
from tests.engine.test_audit_chain import TAKEN_AT, chain
from tests.engine.test_statement import bundle, documents, sealed

EXAMPLE = Path(__file__).parent / "data" / "app-answer-release"
REPORT, CLAIMS = EXAMPLE / "verification-report.json", EXAMPLE / "claims.json"
SIGNER = CryptoSigner.generate_ed25519()
OTHER = CryptoSigner.generate_ed25519()


@pytest.fixture
def run(capfd):
    """Run a command in this process; returns exit status, standard output and standard error."""

    def runner(*arguments):
        try:
            status = main([str(argument) for argument in arguments])
        except SystemExit as stopped:
            status = stopped.code
        return status, *capfd.readouterr()

    return runner


@pytest.fixture
def files(tmp_path):
    """The documents of a sealed review, its envelope and the public keys, as files."""
    for part in [*documents(), *bundle()]:
        (tmp_path / part.name).write_bytes(part.content)
    (tmp_path / "release.json").write_bytes(sign_payload(canonical_payload(sealed()), SIGNER))
    (tmp_path / "bundled-release.json").write_bytes(sign_payload(canonical_payload(sealed(bundle())), SIGNER))
    (tmp_path / "public.pem").write_bytes(public_key_pem(SIGNER.public_key))
    (tmp_path / "other.pem").write_bytes(public_key_pem(OTHER.public_key))
    return tmp_path


def parts(files):
    return (
        *("--report", files / "verification-report.json"),
        *("--claims", files / "claims.json"),
        *("--readings", files / "readings.json"),
    )


def test_the_published_example_gives_the_published_decision_member_by_member(run):
    status, out, err = run("decide", "--report", REPORT, "--claims", CLAIMS)
    assert (status, err) == (0, "")
    decision = json.loads(out)["contract_decision"]
    expected = json.loads((EXAMPLE / "expected-decision.json").read_bytes())
    assert set(decision) == set(expected)
    for member, value in expected.items():
        assert decision[member] == value, member


def test_deciding_prints_decision_verdicts_caps_and_claims_with_reasons(run, files):
    for arguments in (parts(files), ("--bundle", files / "bundle.json")):
        status, out, _ = run("decide", *arguments)
        result = json.loads(out)
        assert status == 0
        assert list(result) == ["contract_decision", "verdicts", "caps", "claims"]
        assert [row["verdict"] for row in result["verdicts"]] == ["agrees", "settled-doubt"]
        assert result["caps"] == [
            {"claim_id": "claim-growth-driver", "code": "unsettled_by_readings", "lowers_to": "needs_review"}
        ]
        assert {claim_id: claim["action"] for claim_id, claim in result["claims"].items()} == {
            "claim-revenue": "show_final",
            "claim-growth-driver": "needs_review",
            "claim-office-background": "block",
            "claim-margin": "block",
        }
        reasons = result["claims"]["claim-growth-driver"]["reasons"]
        assert [reason["code"] for reason in reasons][-2:] == ["unsettled_by_readings", "action:needs_review"]


def test_a_refusal_prints_the_problems_of_all_documents_at_once(run, tmp_path):
    report, claims = tmp_path / "report.json", tmp_path / "claims.json"
    report.write_bytes(b'{"checks": [NaN]}')
    claims.write_bytes(CLAIMS.read_bytes().replace(b"direct_answer", b"direct_anwser"))
    status, out, _ = run("decide", "--report", report, "--claims", claims)
    refusal = json.loads(out)
    assert status == 2
    check_against_schema("invalid_request", refusal, "invalid-request")
    assert {error["document"] for error in refusal["errors"]} == {"verification_report", "claims"}
    assert "/claims/0/question_relevance" in {error["pointer"] for error in refusal["errors"]}


def test_problems_in_a_bundle_are_placed_in_the_bundle(run, files):
    value = json.loads((files / "bundle.json").read_bytes())
    value["claims"]["claims"][0]["check_ids"] = ["v0009"]
    value["claims"]["claims"][1]["check_id"] = value["claims"]["claims"][1].pop("check_ids")[0]
    (files / "bundle.json").write_text(json.dumps(value))
    status, out, _ = run("decide", "--bundle", files / "bundle.json")
    (error,) = json.loads(out)["errors"]
    assert (status, error["document"]) == (2, "bundle")
    assert (error["pointer"], error["code"]) == ("/claims/claims/0/check_ids/0", "unknown_check_id")


def test_an_unknown_check_in_the_older_form_is_placed_at_its_member(run, tmp_path):
    value = json.loads(CLAIMS.read_bytes())
    value["claims"][0]["check_id"] = "v0009"
    del value["claims"][0]["check_ids"]
    (tmp_path / "claims.json").write_text(json.dumps(value))
    _, out, _ = run("decide", "--report", REPORT, "--claims", tmp_path / "claims.json")
    assert json.loads(out)["errors"][0]["pointer"] == "/claims/0/check_id"


def test_a_policy_file_is_applied(run, tmp_path):
    policy = {
        "artifact_type": "ethos_review.policy.v1",
        "name": "house",
        "version": "1",
        "contract_version": "1.1.0",
    }
    (tmp_path / "policy.json").write_text(json.dumps(policy))
    arguments = ("decide", "--report", REPORT, "--claims", CLAIMS, "--policy", tmp_path / "policy.json")
    _, out, _ = run(*arguments)
    assert json.loads(out)["contract_decision"]["schema_version"] == "1.1.0"
    (tmp_path / "policy.json").write_text(json.dumps({**policy, "auto_seel": "never"}))
    status, out, err = run(*arguments)
    assert (status, out) == (2, "")
    assert "auto_seel" in err


def test_a_policy_that_asks_for_signed_reports_is_obeyed(run, tmp_path):
    policy = {
        "artifact_type": "ethos_review.policy.v1",
        "name": "house",
        "version": "1",
        "require_signed_reports": True,
    }
    (tmp_path / "policy.json").write_text(json.dumps(policy))
    statement = {
        "_type": "https://in-toto.io/Statement/v1",
        "subject": [{"name": "report", "digest": {"sha256": "0" * 64}}],
        "predicateType": "https://docushell.com/ethos/grounding/v1",
        "predicate": json.loads(REPORT.read_bytes()),
    }
    (tmp_path / "signed.json").write_bytes(sign_payload(json.dumps(statement).encode(), SIGNER))
    (tmp_path / "verifier.pem").write_bytes(public_key_pem(SIGNER.public_key))
    arguments = ("--claims", CLAIMS, "--policy", tmp_path / "policy.json")
    assert run("decide", "--report", REPORT, *arguments)[0] == 2
    assert run("decide", "--report", tmp_path / "signed.json", *arguments)[0] == 2
    signed = ("--report", tmp_path / "signed.json", "--verifier-key", tmp_path / "verifier.pem")
    assert run("decide", *signed, *arguments)[0] == 0


@pytest.mark.parametrize(
    "arguments",
    [
        ["decide"],
        ["decide", "--report", REPORT],
        ["decide", "--claims", CLAIMS],
        ["decide", "--bundle", "b.json", "--claims", CLAIMS],
        ["decide", "--jsonl", "--bundle", "b.json"],
        ["decide", "--report", "missing.json", "--claims", CLAIMS],
        ["decide", "--report", REPORT, "--claims", CLAIMS, "--verifier-key", CLAIMS],
        ["check", "missing.json"],
        ["check"],
        ["verify", "missing.json"],
        ["verify", REPORT, REPORT, "--key", CLAIMS, "--document", CLAIMS],
        ["verify", REPORT, "--keys", CLAIMS],
        ["verify", REPORT, "--keys", CLAIMS, "--require", "answer=complete"],
        ["verify-audit", "missing.jsonl"],
        ["verify-audit", REPORT, "--checkpoint", REPORT],
        [],
    ],
)
def test_wrong_usage_and_unreadable_files_end_with_status_2_and_a_sentence(run, arguments):
    status, out, err = run(*arguments)
    assert (status, out) == (2, "")
    assert "ethos-review" in err


def lines(*contents):
    """Standard input with these lines, and the status and output of `decide --jsonl` on it."""
    ran = subprocess.run(
        [sys.executable, "-m", "ethos_review.cli", "decide", "--jsonl"],
        input=b"".join(content + b"\n" for content in contents),
        capture_output=True,
        check=False,
    )
    assert ran.stderr == b""
    return ran.returncode, ran.stdout.splitlines()


def test_each_line_gives_one_result_in_order_and_a_refused_one_its_refusal():
    good = bundle()[0].content
    other = good.replace(b"claim-revenue", b"claim-income")
    status, results = lines(good, b"{", b"3", other, good.replace(b'"claims":', b'"clams":', 1), good)
    assert status == 0
    read = [json.loads(result) for result in results]
    assert ["claims" in result for result in read] == [True, False, False, True, False, True]
    assert "claim-income" in read[3]["claims"]
    assert read[0] == read[5]
    for refused in (read[1], read[2], read[4]):
        check_against_schema("invalid_request", refused, "invalid-request")


def test_blank_lines_are_skipped():
    good = bundle()[0].content
    status, results = lines(b"", good, b" \t\r", b"", good, b"")
    assert status == 0
    assert ["claims" in json.loads(result) for result in results] == [True, True]


def test_a_line_over_the_size_limit_is_refused_and_the_next_one_is_read(run, monkeypatch, tmp_path):
    good = bundle()[0].content
    policy = {
        "artifact_type": "ethos_review.policy.v1",
        "name": "small",
        "version": "1",
        "limits": {"document_bytes": len(good)},
    }
    (tmp_path / "policy.json").write_text(json.dumps(policy))
    huge = b'"' + b"x" * (5 * len(good)) + b'"'
    stdin = io.TextIOWrapper(io.BytesIO(b"\n".join([good, huge, good + b"\r", good + b" ", good])))
    monkeypatch.setattr("sys.stdin", stdin)
    status, out, _ = run("decide", "--jsonl", "--policy", tmp_path / "policy.json")
    results = [json.loads(line) for line in out.splitlines()]
    assert status == 0
    assert ["claims" in result for result in results] == [True, False, True, False, True]
    assert results[1]["errors"][0]["code"] == "document_too_large"


class Bundles:
    """Standard input that makes its lines one at a time, and notes how much memory is held at every hundredth."""

    def __init__(self, count):
        self.count, self.made, self.held = count, 0, []
        self.buffer = self

    def readline(self, _):
        if self.made % 100 == 0:
            gc.collect()
            self.held.append(tracemalloc.get_traced_memory()[0])
        if self.made == self.count:
            return b""
        self.made += 1
        return bundle()[0].content.replace(b"What changed", b"Number %d" % self.made) + b"\n"


def test_many_bundles_are_decided_in_order_without_holding_on_to_any(run, monkeypatch):
    bundles = Bundles(300)
    monkeypatch.setattr("sys.stdin", bundles)
    tracemalloc.start()
    try:
        status, out, _ = run("decide", "--jsonl")
    finally:
        tracemalloc.stop()
    questions = [json.loads(line)["contract_decision"]["question"] for line in out.splitlines()]
    assert status == 0
    assert [question.split()[1] for question in questions] == [str(number + 1) for number in range(300)]
    _, warm, *later = bundles.held
    assert max(later) - warm < 100_000, "bytes; the lines read meanwhile are several times that"


def test_a_reader_that_goes_away_ends_the_command_quietly(files):
    with subprocess.Popen(
        [sys.executable, "-m", "ethos_review.cli", "decide", "--jsonl"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdin
        assert process.stdout
        assert process.stderr
        line = bundle()[0].content + b"\n"
        process.stdin.write(line)
        process.stdin.flush()
        process.stdout.readline()
        process.stdout.close()
        try:
            process.stdin.write(line * 3)
            process.stdin.close()
        except BrokenPipeError:
            pass
        assert process.wait(timeout=30) == 1
        assert process.stderr.read() == b""


def test_checking_says_what_each_file_is_with_its_digest(run, files):
    status, out, _ = run(
        "check", files / "verification-report.json", files / "claims.json", files / "bundle.json"
    )
    assert status == 0
    assert "verification report 1.0.0" in out
    assert "4 checks" in out
    assert "4 claims" in out
    assert "bundle" in out
    assert out.count("SHA-256 ") == 3


def test_checking_prints_problems_with_pointer_code_and_sentence(run, files):
    content = (files / "claims.json").read_bytes().replace(b'"claim_type"', b'"claim_typ"', 1)
    (files / "claims.json").write_bytes(content)
    (files / "empty.json").write_bytes(b"")
    status, out, _ = run("check", files / "claims.json", files / "empty.json", files / "readings.json")
    assert status == 2
    assert "/claims/0/claim_typ: " in out
    assert "claim_type" in out
    assert "(the whole document): " in out
    assert "readings.json: " in out


def test_a_file_cannot_steer_the_terminal(run, tmp_path):
    path = tmp_path / "claims.json"
    path.write_text(json.dumps({"question": "What?", "claims": [], "\u202e\x1b[2J": 1}))
    status, out, _ = run("check", path)
    assert status == 2
    assert "\x1b" not in out
    assert "\u202e" not in out


def test_a_valid_release_is_shown_with_what_it_releases(run, files):
    status, out, err = run(
        "verify", files / "release.json", "--key", files / "public.pem", "--document", files / "claims.json"
    )
    assert (status, err) == (0, "")
    assert f"Valid: signed by key {SIGNER.public_key.keyid}" in out
    assert "Sealed 2026-01-31T09:30:00Z by Rosa Lind (7)" in out
    assert "Ethos verified citation grounding." in out
    assert "Answer relevance: direct." in out
    assert "  claim-revenue: Q3 2025 revenue was $12.4M" in out
    assert "  claim-growth-driver (reviewed synthesis): " in out
    assert "Withheld claims: claim-office-background, claim-margin" in out
    assert "Documents checked: 1; not checked: verification-report.json, readings.json" in out
    assert "verified the answer" not in out


def test_a_valid_release_as_json_says_the_same(run, files):
    _, out, _ = run("verify", files / "release.json", "--key", files / "public.pem", "--json")
    result = json.loads(out)
    assert result["valid"] is True
    assert result["key_ids"] == [SIGNER.public_key.keyid]
    assert result["release"]["released_claim_ids"] == ["claim-revenue", "claim-growth-driver"]
    assert result["sealed_by"] == {"id": "7", "name": "Rosa Lind"}


def statement_with(**members):
    return sign_payload(json.dumps({**sealed(), **members}).encode(), SIGNER)


@pytest.mark.parametrize(
    ("envelope", "key", "status", "code"),
    [
        (b"{}", "public.pem", 2, "malformed_envelope"),
        (sign_payload(b"{}", OTHER), "public.pem", 3, "unknown_key"),
        (
            sign_payload(b"{}", SIGNER).replace(b'"payload":"e30="', b'"payload":"e31="'),
            "public.pem",
            2,
            None,
        ),
        (sign_payload(b"{}", SIGNER).replace(b"e30=", b"W10="), "public.pem", 3, "bad_signature"),
        (statement_with(_type="https://in-toto.io/Statement/v0.1"), "public.pem", 4, "wrong_statement_type"),
        (statement_with(predicateType="urn:other"), "public.pem", 4, "wrong_predicate_type"),
        (statement_with(predicate={}), "public.pem", 4, "not_a_release"),
    ],
)
def test_each_reason_to_refuse_a_release_has_its_exit_status(run, files, envelope, key, status, code):
    (files / "release.json").write_bytes(envelope)
    got, out, _ = run("verify", files / "release.json", "--key", files / key, "--json")
    result = json.loads(out)
    assert (got, result["valid"]) == (status, False)
    assert code is None or result["code"] == code
    got, out, _ = run("verify", files / "release.json", "--key", files / key)
    assert got == status
    assert out.startswith("Not valid: ")


def test_a_document_that_the_release_was_not_made_from_is_found(run, files):
    (files / "claims.json").write_bytes((files / "claims.json").read_bytes() + b"\n")
    arguments = ("verify", files / "release.json", "--key", files / "public.pem", "--document")
    status, out, _ = run(*arguments, files / "claims.json")
    assert status == 5
    said = f"Not valid: {files / 'claims.json'} is none of the documents that this release was made from.\n"
    assert out.startswith(f"{said}Signed by key ")
    status, out, _ = run(*arguments, files / "claims.json", "--json")
    assert (status, json.loads(out)["valid"]) == (5, False)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"hello", "Not valid: This is no signed envelope. Line 1, column 1"),
        (b"", "Not valid: This is no signed envelope. The document is empty."),
        (
            b'{"payload": 5, "payloadType": "x", "signatures": []}',
            "Not valid: This is no signed envelope. /payload: ",
        ),
    ],
)
def test_a_refusal_has_one_subject(run, files, content, said):
    (files / "release.json").write_bytes(content)
    status, out, _ = run("verify", files / "release.json", "--key", files / "public.pem")
    assert status == 2
    assert out.startswith(said)


def test_a_fact_that_a_reviewer_released_is_not_called_synthesis(run, files):
    statement = json.loads(canonical_payload(sealed()))
    for claim in statement["predicate"]["contract_decision"]["claims"]:
        if claim["id"] == "claim-growth-driver":
            claim |= {
                "claim_type": "source_fact",
                "release_action": "show_final",
                "release_reason": "certified",
            }
    (files / "release.json").write_bytes(sign_payload(canonical_payload(statement), SIGNER))
    _, out, _ = run("verify", files / "release.json", "--key", files / "public.pem")
    assert "  claim-growth-driver (released after review): " in out


def test_a_release_given_to_check_is_named_and_leads_to_verify(run, files):
    status, out, _ = run("check", files / "release.json")
    assert status == 0
    assert "release.json: signed release. " in out
    assert "`ethos-review verify`" in out


def test_any_of_several_keys_may_have_signed(run, files):
    keys = ("--key", files / "other.pem", "--key", files / "public.pem")
    assert run("verify", files / "release.json", *keys)[0] == 0
    assert run("verify", files / "release.json", "--key", files / "other.pem")[0] == 3


def test_what_is_no_public_key_is_said_so(run, files):
    status, out, err = run("verify", files / "release.json", "--key", files / "claims.json")
    assert (status, out) == (2, "")
    assert "PEM public key" in err


def test_a_release_replays_from_its_documents(run, files):
    key = ("--key", files / "public.pem")
    status, out, err = run("replay", files / "release.json", *parts(files), *key)
    assert (status, err) == (0, "")
    assert "byte for byte" in out
    status, out, _ = run(
        "replay", files / "bundled-release.json", "--bundle", files / "bundle.json", *key, "--json"
    )
    assert (status, json.loads(out)) == (0, {"equal": True, "differences": []})


def test_a_replay_without_a_key_says_that_the_signature_was_not_checked(run, files):
    status, _, err = run("replay", files / "release.json", *parts(files))
    assert status == 0
    assert "signature was not checked" in err


def test_a_replay_names_the_changed_document_and_every_member_that_differs(run, files):
    content = (files / "claims.json").read_bytes().replace(b"was $12.4M", b"was $12.5M")
    (files / "claims.json").write_bytes(content)
    key = ("--key", files / "public.pem")
    status, out, _ = run("replay", files / "release.json", *parts(files), *key)
    assert status == 5
    assert "The claims “claims.json” is not the one uploaded." in out
    assert "/predicate/contract_decision/claims/0/text" in out
    status, out, _ = run("replay", files / "release.json", *parts(files), *key, "--json")
    pointers = [difference["pointer"] for difference in json.loads(out)["differences"]]
    assert (status, pointers[0]) == (5, "/subject/1/digest/sha256")


def test_a_replay_of_a_decision_changed_in_the_envelope_fails_at_the_signature(run, files):
    forged = json.loads(canonical_payload(sealed()))
    forged["predicate"]["reviewer_decisions"][0]["rationale"] = "Looks fine."
    envelope = json.loads((files / "release.json").read_bytes())
    envelope["payload"] = json.loads(sign_payload(canonical_payload(forged), OTHER))["payload"]
    (files / "release.json").write_text(json.dumps(envelope))
    arguments = ("replay", files / "release.json", *parts(files), "--key", files / "public.pem")
    assert run(*arguments)[0] == 3


@pytest.mark.parametrize("payload", [b"{}", b"\xff", b"[]"])
def test_a_replay_of_what_is_no_release_is_refused(run, files, payload):
    (files / "release.json").write_bytes(sign_payload(payload, SIGNER))
    assert run("replay", files / "release.json", *parts(files))[0] == 4
    (files / "release.json").write_bytes(b"{}")
    assert run("replay", files / "release.json", *parts(files))[0] == 2


def test_several_envelopes_are_answered_one_by_one_and_the_first_refusal_gives_the_status(run, files):
    (files / "foreign.json").write_bytes(sign_payload(b"{}", OTHER))
    (files / "note.json").write_bytes(sign_payload(b"{}", SIGNER))
    names = ["release.json", "note.json", "foreign.json", "bundled-release.json"]
    arguments = ("verify", *(files / name for name in names), "--key", files / "public.pem")
    status, out, _ = run(*arguments, "--json")
    answers = [json.loads(line) for line in out.splitlines()]
    assert [Path(answer["envelope"]).name for answer in answers] == names
    assert [answer.get("code", "") for answer in answers] == ["", "wrong_statement_type", "unknown_key", ""]
    assert status == 4
    status, out, _ = run(*arguments)
    assert status == 4
    assert out.count("Valid: ") == 2
    assert f"{files / 'note.json'}:\nNot valid: " in out


def key_set(path, *keys):
    path.write_text(json.dumps(key_set_to_json(keys)))
    return path


@pytest.mark.parametrize(
    ("retired_at", "status", "said"),
    [
        (None, 0, "Valid: "),
        ("2026-01-31T09:30:00.000001Z", 0, "Valid: "),
        ("2026-01-31T09:30:00Z", 3, "which no longer signed then. "),
    ],
)
def test_a_key_set_says_until_when_a_key_signed(run, files, retired_at, status, said):
    keys = key_set(
        files / "keys.json", TrustedKey(OTHER.public_key), TrustedKey(SIGNER.public_key, retired_at)
    )
    got, out, _ = run("verify", files / "release.json", "--keys", keys)
    assert got == status
    assert said in out
    assert ("Note: Its key was retired at 2026-01-31T09:30:00.000001Z." in out) == (
        status == 0 and retired_at is not None
    )
    assert run("replay", files / "release.json", *parts(files), "--keys", keys)[0] == status


def test_conditions_are_held_against_the_release(run, files):
    arguments = ("verify", files / "release.json", "--key", files / "public.pem", "--require")
    assert run(*arguments, "answer_status=partial", "--require", "released=claim-revenue")[0] == 0
    status, out, _ = run(*arguments, "answer_status=complete")
    assert status == 6
    assert out.startswith("Requirement not met: answer_status=complete\nSigned by key ")
    assert "Valid" not in out
    status, out, _ = run(*arguments, "disclosures!=partial_answer", "--json")
    answer = json.loads(out)
    assert (status, answer["valid"], answer["code"]) == (6, False, "condition_not_met")
    assert answer["unmet_conditions"] == ["disclosures!=partial_answer"]


def exported(path, length=6):
    path.write_bytes(b"".join(line + b"\n" for line in chain(length)))
    return path


def checkpoints(path, *lengths, signer=SIGNER):
    digests = [GENESIS, *(json.loads(line)["sha256"] for line in chain(9))]
    taken = (Checkpoint(length, digests[length], TAKEN_AT).to_payload() for length in lengths)
    path.write_bytes(b"".join(sign_payload(payload, signer) + b"\n" for payload in taken))
    return path


def test_an_exported_chain_is_held_against_its_checkpoints(run, files):
    events, key = exported(files / "events.jsonl"), ("--key", files / "public.pem")
    signed = checkpoints(files / "checkpoints.jsonl", 0, 3, 6)
    status, out, err = run("verify-audit", events, "--checkpoint", signed, *key)
    assert (status, err) == (0, "")
    assert out.startswith("Unbroken: 6 events; the last digest is ")
    assert out.count("Checkpoint of ") == 3
    status, out, _ = run("verify-audit", events, "--checkpoint", signed, *key, "--json")
    answer = json.loads(out)
    assert (status, answer["unbroken"], answer["length"], answer["faults"]) == (0, True, 6, [])
    assert [row["length"] for row in answer["checkpoints"]] == [0, 3, 6]


def test_a_chain_without_a_checkpoint_says_what_is_not_proven(run, files):
    status, out, _ = run("verify-audit", exported(files / "events.jsonl"))
    assert status == 0
    assert "No checkpoint was given" in out


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda content: content.replace(b'"actor_name":"Zo', b'"actor_name":"Mo', 1), "line 1, event 1: "),
        (lambda content: content.split(b"\n", 1)[1], "event 1 was expected here"),
        (lambda content: content[: content.index(b"\n") + 1], "was taken of 3 events, and the file holds 1"),
        (lambda content: content[:-9], "line 6: "),
    ],
)
def test_a_changed_export_ends_with_status_5_and_the_place(run, files, change, said):
    events = exported(files / "events.jsonl")
    signed = checkpoints(files / "checkpoints.jsonl", 3)
    events.write_bytes(change(events.read_bytes()))
    status, out, _ = run("verify-audit", events, "--checkpoint", signed, "--key", files / "public.pem")
    assert status == 5
    assert out.startswith("Broken:")
    assert said in out


def test_a_checkpoint_that_nobody_trusted_signed_ends_with_its_own_status(run, files):
    events, key = exported(files / "events.jsonl"), ("--key", files / "public.pem")
    strange = checkpoints(files / "strange.jsonl", 3, signer=OTHER)
    assert run("verify-audit", events, "--checkpoint", strange, *key)[0] == 3
    retired = key_set(files / "keys.json", TrustedKey(SIGNER.public_key, TAKEN_AT))
    signed = checkpoints(files / "checkpoints.jsonl", 3)
    assert run("verify-audit", events, "--checkpoint", signed, "--keys", retired)[0] == 3
    assert run("verify-audit", events, "--checkpoint", files / "release.json", *key)[0] == 4


@pytest.mark.parametrize("empty", ["events.jsonl", "checkpoints.jsonl"])
def test_nothing_to_check_does_not_count_as_checked(run, files, empty):
    exported(files / "events.jsonl")
    checkpoints(files / "checkpoints.jsonl", 3)
    (files / empty).write_bytes(b"")
    arguments = ("--checkpoint", files / "checkpoints.jsonl", "--key", files / "public.pem")
    assert run("verify-audit", files / "events.jsonl", *arguments)[0] == 2


def test_help_names_every_exit_status(run):
    for command, statuses in (
        ("check", "02"),
        ("decide", "02"),
        ("verify", "023456"),
        ("replay", "02345"),
        ("verify-audit", "02345"),
    ):
        status, out, _ = run(command, "--help")
        assert status == 0
        named = out.partition("exit status:")[2]
        assert all(f"{number} " in named for number in statuses)


def test_the_version_is_printed(run):
    assert run("--version")[:2] == (0, f"ethos-review {__version__}\n")


def test_a_file_name_that_is_not_utf8_stops_no_command(run, tmp_path):
    strange = Path(os.fsdecode(os.fsencode(tmp_path) + b"/report-\xff.json"))
    claims = json.loads(CLAIMS.read_bytes())
    claims.pop("verification_report_ref", None)
    (tmp_path / "claims.json").write_text(json.dumps(claims))
    strange.write_bytes(REPORT.read_bytes())
    status, out, _ = run("decide", "--report", strange, "--claims", tmp_path / "claims.json")
    grounding = json.loads(out)["contract_decision"]["grounding"]
    assert (status, grounding["verification_report_ref"]) == (0, "report-\ufffd.json")
    assert run("check", strange)[0] == 0


def test_what_stops_a_command_cannot_steer_the_terminal(run, tmp_path):
    policy = tmp_path / "policy.json"
    policy.write_text(
        '{"artifact_type": "ethos_review.policy.v1", "name": "n", "version": "1", "\\u001b[2J": 1}'
    )
    status, _, error = run("decide", "--report", REPORT, "--claims", CLAIMS, "--policy", policy)
    assert status == 2
    assert "\x1b" not in error
    assert "\\x1b[2J" in error
