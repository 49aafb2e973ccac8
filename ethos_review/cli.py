"""The `ethos-review` command: check, decide, verify, replay, verify-audit. No database, no network, no settings."""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import IO, Any, Final, cast

from ethos_review import __version__
from ethos_review.engine.assessment import Received, assess
from ethos_review.engine.audit_chain import checkpoint_fault, read_chain
from ethos_review.engine.documents import Json, read_document
from ethos_review.engine.envelope import (
    EnvelopeError,
    KeyFileError,
    OpenedRelease,
    load_public_key,
    open_checkpoint,
    open_release,
    unverified_payload,
)
from ethos_review.engine.errors import DocumentError, Problem
from ethos_review.engine.explain import grounding_wording, reviewed_as
from ethos_review.engine.keys import TrustedKey, read_key_set
from ethos_review.engine.outcome import outcome_to_json
from ethos_review.engine.policy import DEFAULT_POLICY, Policy, load_policy
from ethos_review.engine.recognition import describe
from ethos_review.engine.statement import Difference, replay
from ethos_review.engine.verification import (
    CONDITION_PLACES,
    GivenDocument,
    Verification,
    parse_condition,
    verify_release,
)

OK: Final = 0
UNUSABLE: Final = 2
NOT_SIGNED: Final = 3
NOT_A_RELEASE: Final = 4
DIFFERS: Final = 5
NOT_MET: Final = 6

_EXIT_CODES: Final = {
    "malformed_envelope": UNUSABLE,
    "unknown_key": NOT_SIGNED,
    "bad_signature": NOT_SIGNED,
    "retired_key": NOT_SIGNED,
    "wrong_payload_type": NOT_A_RELEASE,
    "wrong_statement_type": NOT_A_RELEASE,
    "wrong_predicate_type": NOT_A_RELEASE,
    "not_a_release": NOT_A_RELEASE,
    "not_a_checkpoint": NOT_A_RELEASE,
    "foreign_document": DIFFERS,
    "condition_not_met": NOT_MET,
}

_CHECK_HELP: Final = """\
Say what each file is, with its SHA-256, or what is wrong with it: JSON Pointer, code, sentence.

exit status: 0 every file can be used; 2 a file cannot."""

_BLANK: Final = b" \t\r\n"  # what JSON knows as white space
_DECIDE_HELP: Final = """\
Decide about an answer and print one JSON object: contract_decision, verdicts, caps, and claims
(id -> action, reasons). A refusal prints the invalid_request object instead.

With --jsonl, standard input holds one bundle per line; one compact result is printed per line, in the same
order, and a refused line gives its invalid_request object. Blank lines are skipped.

exit status: 0 decided (with --jsonl: every line has its result, refused or not); 2 a document is refused."""

_VERIFY_HELP: Final = f"""\
Check signed releases offline: signature, payload type, predicate type, schema, that the key still signed
when the release was sealed, and that each given document is one that the release was made from.

CONDITION is name=value or name!=value, with commas between several values; it may be given several times.
Of a list, one entry has to be equal. Names: {", ".join(list(CONDITION_PLACES)[:5])},
{", ".join(list(CONDITION_PLACES)[5:])}.

With several releases, the first that is not valid decides the exit status.

exit status: 0 valid; 2 the input cannot be used; 3 not signed by a given key, signed after the key was
retired, or changed since; 4 signed, but not a release; 5 a given document is not one of its subjects;
6 a condition is not met."""

_REPLAY_HELP: Final = """\
Recompute a release from the documents it was made from, under its own recorded policy, and compare byte
for byte. Without --key or --keys the signature is not checked.

exit status: 0 equal; 2 the input cannot be used; 3 not signed by a given key, signed after the key was
retired, or changed since; 4 not a release; 5 something differs, named by member."""

_VERIFY_AUDIT_HELP: Final = """\
Recompute an exported event chain offline and hold it against signed checkpoints. A checkpoint file holds one
envelope per line. Without a checkpoint only changes in the middle show: a chain written anew would not.

exit status: 0 unbroken, and what every checkpoint says; 2 the input cannot be used; 3 a checkpoint is not
signed by a given key, signed after the key was retired, or changed since; 4 a checkpoint is something else;
5 an event was changed or is missing, or the chain is not the one that a checkpoint was taken of."""


class _Stop(Exception):
    """The command ends here, with a sentence on standard error."""

    def __init__(self, message: str) -> None:
        self.message = message
        super().__init__(message)


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status; argparse itself exits with 2 on wrong usage."""
    arguments = _parser().parse_args(argv)
    try:
        status: int = arguments.run(arguments)
        sys.stdout.flush()
    except _Stop as stop:
        print(f"ethos-review: {_printable(stop.message)}", file=sys.stderr)
        return UNUSABLE
    except BrokenPipeError:
        # The reader has gone. Python would complain once more when it flushes at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    return status


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="ethos-review", description="Decide, verify and replay releases of language-model answers."
    )
    parser.add_argument("--version", action="version", version=f"ethos-review {__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    def command(name: str, text: str) -> argparse.ArgumentParser:
        return commands.add_parser(
            name,
            help=" ".join(text.split()).partition(". ")[0] + ".",
            description=text,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )

    check = command("check", _CHECK_HELP)
    check.add_argument("files", nargs="+", type=Path, metavar="FILE")
    check.add_argument("--policy", type=Path, metavar="FILE", help="policy whose limits apply")
    _add_verifier_keys(check)
    check.set_defaults(run=_check)

    decide_command = command("decide", _DECIDE_HELP)
    _add_documents(decide_command)
    decide_command.add_argument(
        "--jsonl", action="store_true", help="bundles on standard input, one per line"
    )
    decide_command.add_argument(
        "--policy", type=Path, metavar="FILE", help="policy (default: conservative 1)"
    )
    decide_command.set_defaults(run=_decide, usage=decide_command.error)

    verify = command("verify", _VERIFY_HELP)
    verify.add_argument("envelopes", nargs="+", type=Path, metavar="ENVELOPE")
    _add_keys(verify)
    verify.add_argument(
        "--document",
        type=Path,
        action="append",
        default=[],
        metavar="FILE",
        help="a document it was made from; with one envelope only",
    )
    verify.add_argument(
        "--require",
        action="append",
        default=[],
        metavar="CONDITION",
        help="what the release has to say, such as answer_status=complete",
    )
    verify.add_argument("--json", action="store_true", help="print one JSON object per line and envelope")
    verify.set_defaults(run=_verify, usage=verify.error)

    replay_command = command("replay", _REPLAY_HELP)
    replay_command.add_argument("envelope", type=Path, metavar="ENVELOPE")
    _add_documents(replay_command)
    _add_keys(replay_command)
    replay_command.add_argument("--json", action="store_true", help="print the result as JSON")
    replay_command.set_defaults(run=_replay, usage=replay_command.error)

    verify_audit = command("verify-audit", _VERIFY_AUDIT_HELP)
    verify_audit.add_argument("events", type=Path, metavar="EVENTS")
    verify_audit.add_argument(
        "--checkpoint",
        type=Path,
        action="append",
        default=[],
        metavar="FILE",
        help="signed checkpoints of the chain, one per line",
    )
    _add_keys(verify_audit)
    verify_audit.add_argument("--json", action="store_true", help="print the result as JSON")
    verify_audit.set_defaults(run=_verify_audit, usage=verify_audit.error)
    return parser


def _add_documents(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--report", type=Path, metavar="FILE", help="verification report")
    parser.add_argument("--claims", type=Path, metavar="FILE")
    parser.add_argument("--readings", type=Path, metavar="FILE")
    parser.add_argument("--bundle", type=Path, metavar="FILE", help="one file with all of them")
    _add_verifier_keys(parser)


def _add_verifier_keys(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--verifier-key",
        type=Path,
        action="append",
        default=[],
        metavar="PEM",
        help="public key of a verifier that signs reports",
    )


def _add_keys(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--key",
        type=Path,
        action="append",
        default=[],
        metavar="PEM",
        help="public key of whoever signs; may be given several times",
    )
    parser.add_argument(
        "--keys",
        type=Path,
        action="append",
        default=[],
        metavar="KEYSET",
        help="key set file, which also says from when a key no longer signs",
    )


def _check(arguments: argparse.Namespace) -> int:
    policy = _policy(arguments.policy)
    verifier_keys = _verifier_keys(arguments.verifier_key)
    status = OK
    for path in arguments.files:
        content = _content(path)
        try:
            described = describe(_name(path.name), content, policy, verifier_keys)
        except DocumentError as error:
            status = UNUSABLE
            print(f"{_printable(path)}: cannot be used")
            _print_problems(error.problems)
        else:
            print(f"{_printable(path)}: {_printable(described.sentence)}\n  SHA-256 {described.sha256}")
    return status


def _print_problems(problems: Iterable[Problem]) -> None:
    for problem in problems:
        place = problem.pointer or "(the whole document)"
        print(f"  {_printable(place)}: {_printable(problem.message)} [{problem.code}]")


def _decide(arguments: argparse.Namespace) -> int:
    policy = _policy(arguments.policy)
    verifier_keys = _verifier_keys(arguments.verifier_key)
    if arguments.jsonl:
        if arguments.report or arguments.claims or arguments.readings or arguments.bundle:
            arguments.usage("--jsonl reads bundles from standard input; give no document beside it")
        return _decide_lines(sys.stdin.buffer, policy, verifier_keys)
    result, status = _decided(_chosen_documents(arguments), policy, verifier_keys)
    _write_json(result, indent=2)
    return status


def _decide_lines(lines: IO[bytes], policy: Policy, verifier_keys: tuple[bytes, ...]) -> int:
    for line in _bounded_lines(lines, policy.limits.document_bytes):
        if not line.strip(_BLANK):
            continue
        result, _ = _decided([Received("bundle", "bundle.json", line)], policy, verifier_keys)
        _write_json(result)
    return OK


def _bounded_lines(lines: IO[bytes], limit: int) -> Iterator[bytes]:
    """Each line without its end; of a line over the limit just enough to be refused for its size."""
    while line := lines.readline(limit + 2):
        yield line.rstrip(b"\r\n")
        while line and not line.endswith(b"\n"):
            line = lines.readline(limit)


def _decided(
    documents: Sequence[Received], policy: Policy, verifier_keys: tuple[bytes, ...]
) -> tuple[dict[str, Json], int]:
    try:
        return outcome_to_json(assess(documents, policy, verifier_keys)), OK
    except DocumentError as error:
        return cast("dict[str, Json]", error.to_json()), UNUSABLE


def _verify(arguments: argparse.Namespace) -> int:
    if not (arguments.key or arguments.keys):
        arguments.usage("give --key or --keys: whose signature is to count?")
    if arguments.document and len(arguments.envelopes) > 1:
        arguments.usage("--document goes with one envelope")
    try:
        conditions = [parse_condition(text) for text in arguments.require]
    except ValueError as error:
        arguments.usage(str(error))
    keys = _keys(arguments)
    documents = [
        GivenDocument(_name(path), hashlib.sha256(_content(path)).hexdigest()) for path in arguments.document
    ]
    statuses = []
    for path in arguments.envelopes:
        verification = verify_release(_content(path), keys, documents, conditions)
        statuses.append(_EXIT_CODES[verification.code] if verification.code else OK)
        if arguments.json:
            _write_json({"envelope": _name(path), **verification.to_json()})
        else:
            if len(arguments.envelopes) > 1:
                print(f"{_printable(path)}:")
            _print_verification(verification)
    return next((status for status in statuses if status != OK), OK)


def _print_verification(verification: Verification) -> None:
    if verification.release is None:
        _print_refusal(verification.code, verification.message)
        return
    for name in verification.foreign_documents:
        print(f"Not valid: {_printable(name)} is none of the documents that this release was made from.")
    for text in verification.unmet_conditions:
        print(f"Requirement not met: {_printable(text)}")
    _print_release(verification.release, verification)
    if verification.remark:
        print(f"Note: {_printable(verification.remark)}")


def _refused(error: EnvelopeError, *, as_json: bool) -> int:
    if as_json:
        _write_json({"valid": False, "code": error.code, "message": error.message}, indent=2)
    else:
        _print_refusal(error.code, error.message)
    return _EXIT_CODES[error.code]


def _print_refusal(code: str, message: str) -> None:
    print(f"Not valid: {_printable(message)} [{code}]")


def _print_release(opened: OpenedRelease, verification: Verification) -> None:
    predicate = cast("dict[str, Any]", opened.statement["predicate"])
    release, sealed_by = predicate["release"], predicate["sealed_by"]
    claims = {claim["id"]: claim for claim in predicate["contract_decision"]["claims"]}
    marks = {
        claim_id: f" ({reviewed_as(claims[claim_id].get('claim_type', '')).lower()})"
        for claim_id in release["reviewed_synthesis_claim_ids"]
    }
    policy, unseen = predicate["policy"], verification.documents_not_checked
    proof_status = predicate["contract_decision"]["grounding"]["proof_status"]
    lines = [
        f"{'Valid: signed' if verification.valid else 'Signed'} by key {', '.join(opened.key_ids)}",
        f"Sealed {predicate['sealed_at']} by {sealed_by['name']} ({sealed_by['id']})",
        f"Review {predicate['review_id']}, policy {policy['name']} {policy['version']}",
        f"Question: {predicate['question']}",
        f"{grounding_wording(proof_status)} Proof status: {proof_status.replace('_', ' ')}.",
        f"Answer relevance: {release['relevance']}. Answer status: {release['answer_status']}.",
        f"Released claims: {len(release['released_claim_ids'])}",
        *(
            f"  {claim_id}{marks.get(claim_id, '')}: {claims[claim_id]['text']}"
            for claim_id in release["released_claim_ids"]
        ),
        f"Withheld claims: {', '.join(release['withheld_claim_ids']) or 'none'}",
        f"Disclosures: {', '.join(release['disclosures']) or 'none'}",
        f"Documents checked: {len(verification.documents_checked)}"
        + (f"; not checked: {', '.join(unseen)}" if unseen else ""),
    ]
    for line in lines:
        print(_printable(line))


def _replay(arguments: argparse.Namespace) -> int:
    documents = _chosen_documents(arguments)
    verifier_keys = _verifier_keys(arguments.verifier_key)
    envelope = _content(arguments.envelope)
    try:
        if arguments.key or arguments.keys:
            payload = open_release(envelope, _keys(arguments)).payload
        else:
            payload = unverified_payload(envelope)
            print("ethos-review: the signature was not checked (no --key or --keys)", file=sys.stderr)
        differences = replay(payload, documents, verifier_keys)
    except EnvelopeError as error:
        return _refused(error, as_json=arguments.json)
    except DocumentError as error:
        problem = error.problems[0]
        return _refused(EnvelopeError("not_a_release", problem.message), as_json=arguments.json)
    if arguments.json:
        rows: list[Json] = [difference.to_json() for difference in differences]
        _write_json({"equal": not differences, "differences": rows}, indent=2)
    else:
        print("Differs:" if differences else "Equal: the release comes out byte for byte as it was sealed.")
        for difference in differences:
            _print_difference(difference)
    return DIFFERS if differences else OK


def _print_difference(difference: Difference) -> None:
    print(f"  {_printable(difference.pointer or '(the whole release)')}: {_printable(difference.message)}")
    for label, text in (("recorded", difference.recorded), ("computed", difference.computed)):
        if text is not None:
            print(f"    {label} {_printable(text)[:500]}")


def _verify_audit(arguments: argparse.Namespace) -> int:
    if arguments.checkpoint and not (arguments.key or arguments.keys):
        arguments.usage("--checkpoint needs --key or --keys: whose signature is to count?")
    keys = _keys(arguments)
    try:
        checkpoints = [
            open_checkpoint(line, keys)
            for path in arguments.checkpoint
            for line in _content(path).splitlines()
            if line.strip()
        ]
    except EnvelopeError as error:
        return _refused(error, as_json=arguments.json)
    if arguments.checkpoint and not checkpoints:
        raise _Stop("no checkpoint is in the files given")
    wanted = {opened.checkpoint.length for opened in checkpoints}
    try:
        with arguments.events.open("rb") as lines:
            chain = read_chain(_bounded_lines(lines, DEFAULT_POLICY.limits.document_bytes), wanted)
    except OSError as error:
        raise _Stop(f"{arguments.events} cannot be read: {error.strerror}") from None
    if not chain.length and not chain.faults:
        raise _Stop(f"{arguments.events} holds no event, so there is nothing to prove")
    faults = [*chain.faults, *(filter(None, (checkpoint_fault(c.checkpoint, chain) for c in checkpoints)))]
    if arguments.json:
        _write_json(
            {
                "unbroken": not faults,
                "length": chain.length,
                "sha256": chain.sha256,
                "checkpoints": [
                    {
                        "length": opened.checkpoint.length,
                        "sha256": opened.checkpoint.sha256,
                        "taken_at": opened.checkpoint.taken_at,
                        "key_ids": list(opened.key_ids),
                    }
                    for opened in checkpoints
                ],
                "faults": list(faults),
            },
            indent=2,
        )
    else:
        print("Broken:" if faults else f"Unbroken: {chain.length} events; the last digest is {chain.sha256}.")
        for fault in faults:
            print(f"  {_printable(fault)}")
        for opened in checkpoints:
            print(
                f"Checkpoint of {opened.checkpoint.taken_at} over {opened.checkpoint.length} events, "
                f"signed by key {', '.join(opened.key_ids)}"
            )
        if not checkpoints:
            print("No checkpoint was given: whether the whole chain was written anew does not show.")
    return DIFFERS if faults else OK


def _chosen_documents(arguments: argparse.Namespace) -> list[Received]:
    """In the order of a release's subjects."""
    parts = {
        "verification_report": arguments.report,
        "claims": arguments.claims,
        "readings": arguments.readings,
    }
    given = {role: path for role, path in parts.items() if path is not None}
    if arguments.bundle is not None:
        if given:
            arguments.usage("--bundle holds everything; give no part beside it")
        given = {"bundle": arguments.bundle}
    elif arguments.report is None or arguments.claims is None:
        arguments.usage("give --report and --claims, or --bundle")
    return [Received(role, _name(path.name), _content(path)) for role, path in given.items()]


def _policy(path: Path | None) -> Policy:
    if path is None:
        return DEFAULT_POLICY
    try:
        return load_policy(read_document("policy", path.name, _content(path)))
    except DocumentError as error:
        raise _Stop(f"{path} is not a policy: {_said(error)}") from None


def _verifier_keys(paths: Sequence[Path]) -> tuple[bytes, ...]:
    return tuple(_load(path)[0] for path in paths)


def _load(path: Path) -> tuple[bytes, TrustedKey]:
    pem = _content(path)
    try:
        return pem, TrustedKey(load_public_key(pem))
    except KeyFileError as error:
        raise _Stop(f"{path}: {error}") from None


def _keys(arguments: argparse.Namespace) -> list[TrustedKey]:
    keys = [_load(path)[1] for path in arguments.key]
    for path in arguments.keys:
        try:
            keys += read_key_set(path.name, _content(path))
        except DocumentError as error:
            raise _Stop(f"{path} is not a key set: {_said(error)}") from None
    return keys


def _said(error: DocumentError) -> str:
    return "; ".join(f"{problem.pointer}: {problem.message}" for problem in error.problems)


def _name(path: str | Path) -> str:
    """A file may have a name that no JSON could carry: what in it is not UTF-8 becomes U+FFFD."""
    return os.fsencode(path).decode("utf-8", "replace")


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise _Stop(f"{path} cannot be read: {error.strerror}") from None


def _write_json(value: dict[str, Json], indent: int | None = None) -> None:
    separators = (",", ":") if indent is None else None
    text = json.dumps(value, ensure_ascii=False, indent=indent, separators=separators)
    sys.stdout.buffer.write(text.encode() + b"\n")
    sys.stdout.buffer.flush()


def _printable(text: object) -> str:
    """Texts come from documents: what could steer a terminal is spelled out."""
    return "".join(
        character if character.isprintable() else character.encode("unicode_escape").decode()
        for character in str(text)
    )


if __name__ == "__main__":
    sys.exit(main())
