"""What the pages in docs/ say is what the product does: examples run, tables are compared with the source."""

from __future__ import annotations

import ast
import io
import json
import os
import re
import secrets
import shlex
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias, cast
from uuid import UUID

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import call_command, get_commands
from django.http import HttpResponse
from django.utils.html import strip_tags

from ethos_review import cli
from ethos_review.accounts.models import User
from ethos_review.accounts.operations import create_token
from ethos_review.accounts.roles import ROLES
from ethos_review.accounts.scopes import SCOPE_WORDS
from ethos_review.audit.models import ACTIONS
from ethos_review.engine.assessment import Assessment, decide, read_submission, shown_digest
from ethos_review.engine.caps import LOWERS_TO
from ethos_review.engine.contracts import SCHEMAS
from ethos_review.engine.documents import Document, Json, read_document
from ethos_review.engine.envelope import load_signer, public_key_pem, sign_payload, write_key
from ethos_review.engine.errors import DocumentError
from ethos_review.engine.policy import Policy, load_policy
from ethos_review.engine.release import ReviewerDecision, allowed_outcomes, make_release, rationale_required
from ethos_review.engine.values import MALFORMED, NORMALIZATIONS, classify, relation
from ethos_review.engine.verdict import ACCUSING, SILENT, VERDICTS
from ethos_review.engine.verification import CONDITION_PLACES
from ethos_review.reviews import operations
from ethos_review.reviews.bindings import EVENT_OF_OUTCOME
from ethos_review.reviews.models import Claim
from ethos_review.reviews.queries import GROUPS
from ethos_review.reviews.queue import TABS
from ethos_review.reviews.templatetags.review_words import WORDS, badges
from ethos_review.web.shortcuts import SHORTCUTS
from tests import factories
from tests.api.programs import WHOLE, Program, make_program

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
SOURCE = ROOT / "ethos_review"

Row: TypeAlias = dict[str, str]
Members: TypeAlias = dict[str, Any]


# Reading a page --------------------------------------------------------------------------------------------------


@cache
def page(name: str) -> str:
    return (DOCS / name).read_text(encoding="utf-8")


def rows_under(text: str, *columns: str) -> list[Row]:
    """The rows of every table with exactly these columns."""
    found: list[Row] = []
    header: list[str] | None = None
    for line in text.splitlines():
        cells = (
            [cell.strip() for cell in line.strip().strip("|").split("|")] if line.startswith("|") else None
        )
        if cells is None:
            header = None
        elif header is None:
            header = cells
        elif header == list(columns) and not set(line) <= set("|-: "):
            found.append(dict(zip(header, cells, strict=True)))
    return found


def code_in(cell: str) -> list[str]:
    return re.findall(r"`([^`]+)`", cell)


def fenced(text: str, kind: str) -> list[str]:
    """The contents of the fenced blocks whose opening line says exactly `kind`."""
    return re.findall(rf"^```{re.escape(kind)}\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)


def parsed(text: str) -> Any:
    """JSON as the engine reads it: with the digits it came with."""
    return read_document("example", "example.json", text.encode()).value


def engine_table(*columns: str) -> list[Row]:
    rows = rows_under(page("engine.md"), *columns)
    assert rows, f"docs/engine.md has no table with the columns {columns}"
    return rows


# The examples of docs/engine.md --------------------------------------------------------------------------------------

CONTRACT_1_0_0 = (
    "example",
    "grounded by",
    "question_relevance",
    "claim_type",
    "release_action",
    "release_reason",
)
CONTRACT_1_1_0 = (*CONTRACT_1_0_0[:4], "claim_support", *CONTRACT_1_0_0[4:])
CAPS = ("example", "grounded by", "claim_type", "answer", "readings", "contract", "caps", "action")
PROOF = ("checks", "report says", "proof_status", "reusable", "proof_limitations")
VERDICT_RULES = ("rule", "when", "verdict", "effect")
VERDICT_EXAMPLES = ("rule", "answer", "readings", "normalization", "verdict")
RELEASES = (
    "claims",
    "decisions",
    "policy or report",
    "answer_status",
    "released",
    "relevance",
    "disclosures",
)


@dataclass(frozen=True, slots=True)
class Example:
    """A claim of the page, by name, with the readings of what it delivers."""

    claim: Members
    readings: tuple[Members, ...] = ()


@cache
def examples() -> Mapping[str, Example]:
    rows = engine_table(*CONTRACT_1_0_0) + engine_table(*CONTRACT_1_1_0) + engine_table(*CAPS)
    named = {code_in(row["example"])[0]: example_of(row) for row in rows}
    assert len(named) == len(rows), "two examples have the same name"
    return named


def example_of(row: Row) -> Example:
    name, grounds = code_in(row["example"])[0], code_in(row["grounded by"])
    labels = {
        label: code_in(row[label])[0]
        for label in ("question_relevance", "claim_type", "claim_support")
        if label in row
    }
    claim = factories.claim(name, **labels)
    if not row["grounded by"].startswith("stated"):
        claim = factories.claim(name, *grounds, **labels)
    else:
        claim["citation_grounded"] = parsed(grounds[0])
    if "answer" not in row or row["answer"] == "not stated":
        return Example(claim)
    claim["delivers"] = [delivered(row["answer"], "auto", entity=name)]
    return Example(claim, read_rows(row["readings"], entity=name))


def delivered(answer: str, normalization: str, entity: str = "acme") -> Members:
    value: Members = {"entity": entity, "field": "revenue", "normalization": normalization}
    if answer == "not stated":
        return value | {"answer_field": "revenue"}
    return value | {"value": parsed(code_in(answer)[0])}


def read_rows(readings: str, entity: str = "acme") -> tuple[Members, ...]:
    return tuple(factories.reading(parsed(text), entity=entity) for text in code_in(readings))


def check_members(check_id: str) -> Members:
    rows = {code_in(row["check"])[0]: row["members"] for row in engine_table("check", "members")}
    return parsed(code_in(rows[check_id])[0]) if check_id in rows else {}


def report_on(claims: Sequence[Members], **members: Any) -> Members:
    """A consistent report that holds the checks which the claims cite and the page describes."""
    described = {code_in(row["check"])[0] for row in engine_table("check", "members")}
    cited = dict.fromkeys(check_id for claim in claims for check_id in claim.get("check_ids", ()))
    checks = [
        factories.check(check_id, **check_members(check_id)) for check_id in cited if check_id in described
    ]
    report = factories.report(*checks, **members)
    report["all_evidence_grounded"] = (
        bool(checks)
        and all(check["status"] == "grounded" and not check["semantic_unverified"] for check in checks)
        and not report["unsupported_claim_kinds"]
        and not report["fingerprint_stale"]
    )
    return report


def assess(
    claims: Sequence[Members], readings: Sequence[Members] = (), policy: Policy | None = None, **report: Any
) -> Assessment:
    policy = policy or Policy()
    documents = {
        "report": report_on(claims, **report),
        "claims": factories.answer(*claims),
        "readings": {"schema_version": "1.0.0", "readings": list(readings)},
    }
    submission = read_submission(
        **{  # type: ignore[arg-type]
            part: Document(
                "verification_report" if part == "report" else part, f"{part}.json", b"", "0" * 64, value
            )
            for part, value in documents.items()
        },
        policy=policy,
    )
    return decide(submission, policy)


def assess_examples(names: Sequence[str], policy: Policy | None = None, **report: Any) -> Assessment:
    chosen = [examples()[name] for name in names]
    readings = [reading for example in chosen for reading in example.readings]
    return assess([example.claim for example in chosen], readings, policy, **report)


def policy_with(members: Members) -> Policy:
    value: Json = {"artifact_type": "ethos_review.policy.v1", "name": "example", "version": "1", **members}
    return load_policy(Document("policy", "policy.json", b"", "0" * 64, value))


def by_name(row: Row) -> str:
    return " ".join(filter(None, row.values()))[:90]


@pytest.mark.parametrize("row", engine_table(*PROOF), ids=by_name)
def test_the_page_tells_what_a_report_proves(row: Row) -> None:
    checks = [
        factories.check(f"v{number:04}", **(parsed(text) if text.startswith("{") else {"status": text}))
        for number, text in enumerate(code_in(row["checks"]), start=1)
    ]
    says = parsed(code_in(row["report says"])[0]) if row["report says"] else {}
    report = factories.report(*checks, **({"all_evidence_grounded": False} | says))
    submission = read_submission(
        report=Document("verification_report", "report.json", b"", "0" * 64, report),
        claims=Document("claims", "claims.json", b"", "0" * 64, factories.answer()),
    )
    proof = decide(submission).proof
    assert proof.proof_status == code_in(row["proof_status"])[0]
    assert list(proof.reusable_grounded_check_ids) == code_in(row["reusable"])
    assert list(proof.proof_limitations) == code_in(row["proof_limitations"])


@pytest.mark.parametrize("row", engine_table(*CONTRACT_1_0_0) + engine_table(*CONTRACT_1_1_0), ids=by_name)
def test_the_page_tells_what_the_contract_makes_of_a_claim(row: Row) -> None:
    decision = assess_examples(code_in(row["example"])).contract_decision
    (claim,) = decision.claims
    assert decision.schema_version == ("1.1.0" if "claim_support" in row else "1.0.0")
    assert (claim.release_action, claim.release_reason) == (
        code_in(row["release_action"])[0],
        code_in(row["release_reason"])[0],
    )


@pytest.mark.parametrize("row", engine_table("policy", "claim", "contract version", "outcome"), ids=by_name)
def test_the_page_tells_which_contract_applies(row: Row) -> None:
    policy = policy_with(parsed(code_in(row["policy"])[0]))
    outcome = code_in(row["outcome"])[0]
    if row["contract version"] == "refused":
        with pytest.raises(DocumentError) as refused:
            assess_examples(code_in(row["claim"]), policy)
        assert [problem.code for problem in refused.value.problems] == [outcome]
    else:
        decision = assess_examples(code_in(row["claim"]), policy).contract_decision
        assert decision.schema_version == code_in(row["contract version"])[0]
        assert decision.claims[0].release_reason == outcome


@pytest.mark.parametrize("row", engine_table("members", "code", "at"), ids=by_name)
def test_the_page_tells_which_labels_are_refused(row: Row) -> None:
    claim = examples()["fact"].claim | parsed(code_in(row["members"])[0])
    with pytest.raises(DocumentError) as refused:
        assess([claim])
    assert [(problem.code, problem.pointer) for problem in refused.value.problems] == [
        (code_in(row["code"])[0], code_in(row["at"])[0])
    ]


@pytest.mark.parametrize("row", engine_table("claims", "app_status"), ids=by_name)
def test_the_page_tells_the_status_of_the_whole_answer(row: Row) -> None:
    assessment = assess_examples(code_in(row["claims"]))
    assert assessment.contract_decision.app_status == code_in(row["app_status"])[0]


@pytest.mark.parametrize(
    "row", engine_table("normalization", "one value", "other value", "relation"), ids=by_name
)
def test_the_page_tells_how_two_values_compare(row: Row) -> None:
    one, other = (parsed(code_in(row[side])[0]) for side in ("one value", "other value"))
    assert relation(one, other, code_in(row["normalization"])[0]) == code_in(row["relation"])[0]


@pytest.mark.parametrize("row", engine_table("value", "as a reading", "as the answer"), ids=by_name)
def test_the_page_tells_the_kinds_of_values(row: Row) -> None:
    as_reading = judge("`1`", row["value"], "auto").judged[0].readings[0].kind
    # What an answer counts as shows against a reading that is unknown.
    unknown = '`{"kind": "unknown", "reason": "not measured"}`'
    as_answer = {
        "settled-unknown": "value",
        "doubt-on-both-sides": "doubt",
        "incomparable": "malformed",
    }[judge(row["value"], unknown, "auto").judged[0].verdict]
    assert [as_reading] == code_in(row["as a reading"])
    assert [as_answer] == code_in(row["as the answer"])


def judge(answer: str, readings: str, normalization: str) -> Any:
    claim = factories.claim("judged", "v0001", delivers=[delivered(answer, normalization)])
    return assess([claim], read_rows(readings)).claim("judged")


@pytest.mark.parametrize("row", engine_table(*VERDICT_EXAMPLES), ids=by_name)
def test_the_page_tells_the_verdict_on_a_delivered_value(row: Row) -> None:
    (judged,) = judge(row["answer"], row["readings"], code_in(row["normalization"])[0]).judged
    assert [judged.verdict] == code_in(row["verdict"])


@pytest.mark.parametrize("row", engine_table(*VERDICT_RULES), ids=by_name)
def test_every_verdict_rule_has_an_example_and_states_its_effect(row: Row) -> None:
    (verdict,) = code_in(row["verdict"])
    effect = "silent" if verdict in SILENT else "accuses" if verdict in ACCUSING else "withholds"
    assert row["effect"] == effect
    shown = {(example["rule"], code_in(example["verdict"])[0]) for example in engine_table(*VERDICT_EXAMPLES)}
    assert (row["rule"], verdict) in shown


@pytest.mark.parametrize("row", engine_table(*CAPS), ids=by_name)
def test_the_page_tells_which_caps_lower_a_claim(row: Row) -> None:
    (claim,) = assess_examples(code_in(row["example"])).claims
    assert [claim.contract.release_action] == code_in(row["contract"])
    assert list(claim.caps) == code_in(row["caps"])
    assert [claim.action] == code_in(row["action"])


@pytest.mark.parametrize("row", engine_table("claim", "outcome", "rationale", "result"), ids=by_name)
def test_the_page_tells_what_a_reviewer_may_decide(row: Row) -> None:
    (claim,) = assess_examples(code_in(row["claim"])).claims
    (outcome,) = code_in(row["outcome"])
    result = "recorded"
    if outcome not in allowed_outcomes(claim):
        result = "`outcome_not_allowed`"
    elif row["rationale"] == "no" and rationale_required(claim, outcome):
        result = "`rationale_required`"
    assert row["result"] == result


@pytest.mark.parametrize("row", engine_table(*RELEASES), ids=by_name)
def test_the_page_tells_what_is_released(row: Row) -> None:
    kind, _, members = row["policy or report"].partition(" ")
    given = parsed(code_in(members)[0]) if members else {}
    assessment = assess_examples(
        code_in(row["claims"]),
        policy_with(given) if kind == "policy" else None,
        **(given if kind == "report" else {}),
    )
    decisions = dict(decision_on(assessment, *text.rsplit(" ", 1)) for text in code_in(row["decisions"]))
    release = make_release(assessment, decisions)
    assert [release.answer_status] == code_in(row["answer_status"])
    assert list(release.released_claim_ids) == code_in(row["released"])
    assert [release.relevance] == code_in(row["relevance"])
    assert list(release.disclosures) == code_in(row["disclosures"])


def decision_on(assessment: Assessment, claim_id: str, outcome: str) -> tuple[str, ReviewerDecision]:
    claim = assessment.claim(claim_id)
    assert outcome in allowed_outcomes(claim)
    shown = shown_digest(claim, assessment.policy)
    return claim_id, ReviewerDecision(
        claim_id, outcome, "12", "Reviewer", "Seen.", "2026-03-02T09:14:03Z", shown, 0
    )


def schema(name: str) -> Members:
    return dict(json.loads((SCHEMAS / f"{name}.schema.json").read_text(encoding="utf-8")))


def enumerated(name: str, *path: str) -> set[str]:
    node = schema(name)
    for token in path:
        node = node[token]
    return set(node["enum"])


def outcomes(column: str, *columns: str) -> set[str]:
    return {code for row in engine_table(*columns) for code in code_in(row[column])}


def test_every_outcome_of_the_engine_has_an_example() -> None:
    decision, release = "contract-decision", "release-statement"
    claim_reason = ("$defs", "claim_1_1_0", "properties", "release_reason")
    assert outcomes("release_reason", *CONTRACT_1_1_0) == enumerated(decision, *claim_reason)
    assert outcomes("app_status", "claims", "app_status") == enumerated(decision, "properties", "app_status")
    assert outcomes("proof_limitations", *PROOF) == enumerated(decision, "$defs", "proof_limitation")
    assert outcomes("verdict", *VERDICT_EXAMPLES) == set(VERDICTS)
    assert outcomes("caps", *CAPS) == set(LOWERS_TO)
    assert outcomes("disclosures", *RELEASES) == enumerated(release, "$defs", "disclosure")
    assert outcomes("disclosure", "disclosure", "when") == enumerated(release, "$defs", "disclosure")
    columns = ("normalization", "one value", "other value", "relation")
    assert outcomes("normalization", *columns) == set(NORMALIZATIONS)


def test_the_cap_table_names_what_each_cap_lowers_to() -> None:
    rows = engine_table("cap", "applies when", "lowers to")
    assert {code_in(row["cap"])[0]: code_in(row["lowers to"])[0] for row in rows} == LOWERS_TO


def test_the_programs_on_the_page_print_what_it_shows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (bundle,) = fenced(page("engine.md"), "json bundle")
    (tmp_path / "bundle.json").write_text(bundle, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    programs, shown = fenced(page("engine.md"), "python"), fenced(page("engine.md"), "text")
    assert len(programs) == len(shown)
    names: dict[str, Any] = {}
    for program, output in zip(programs, shown, strict=True):
        exec(compile(program, "docs/engine.md", "exec"), names)  # noqa: S102
        assert capsys.readouterr().out == output


# The members in docs/formats.md, held against schemas/ ---------------------------------------------------------------

MEMBERS = ("member", "type", "required", "meaning")
CONDITIONS = frozenset({"if", "then", "else", "allOf", "anyOf", "not"})


@dataclass(frozen=True, slots=True)
class Part:
    """An object of a schema: `claims.schema.json#/$defs/claim`, with the label that the page gives it."""

    file: str
    pointer: str
    label: str


@dataclass(frozen=True, slots=True)
class Member:
    path: str
    type: str
    required: bool


def documented_parts() -> Iterator[tuple[tuple[Part, ...], list[Row]]]:
    """Each table of members on the page, with the schema parts that the line before it names."""
    for section in re.split(r"^Schema: ", page("formats.md"), flags=re.MULTILINE)[1:]:
        named, _, rest = section.partition("\n")
        found = re.findall(r"`([\w-]+)\.schema\.json(?:#([^`]*))?`(?: \(([^)]+)\))?", named)
        table = rest.strip().partition("\n\n")[0]
        yield tuple(Part(*groups) for groups in found), rows_under(table, *MEMBERS)


@cache
def schema_file(name: str) -> Any:
    return schema(name)


def node_at(file: str, pointer: str) -> Any:
    node = schema_file(file)
    for token in pointer.split("/")[1:]:
        node = node[token]
    return node


def followed(file: str, node: Any) -> Any:
    """The schema behind references within the file, with what it takes over by `allOf`."""
    while isinstance(node, dict) and node.get("$ref", "").startswith("#"):
        node = node_at(file, node["$ref"][1:])
    taken_over = [followed(file, part) for part in node.get("allOf", ()) if "$ref" in part]
    properties = {name: part for taken in taken_over for name, part in taken.get("properties", {}).items()}
    return node | ({"type": "object", "properties": properties} if properties else {})


def type_text(file: str, node: Any) -> str:
    target = followed(file, node)
    if "const" in target:
        return f"`{target['const']}`"
    if "enum" in target:
        return ", ".join(f"`{'null' if value is None else value}`" for value in target["enum"])
    if "title" in target:
        return str(target["title"])
    kinds = target.get("type", [])
    if kinds == "array":
        items = target.get("items", {})
        inner = type_text(file, items).removeprefix("a ")
        return (
            f"array of {items['$ref'].rpartition('/')[2] if inner == 'any' else inner}" if items else "array"
        )
    if "$ref" in target:
        return "object"  # of another schema
    return " or ".join([kinds] if isinstance(kinds, str) else kinds) or "any"


def members_of(part: Part) -> Iterator[Member]:
    root = schema_file(part.file)

    def walk(node: Any, prefix: str) -> Iterator[Member]:
        properties, required = node.get("properties", {}), node.get("required", ())
        for name in dict.fromkeys((*properties, *required)):
            given = properties.get(name, {})
            member = root["properties"][name] if given is True else given
            path = f"{prefix}{name}"
            yield Member(path, type_text(part.file, member), name in required)
            target = followed(part.file, member)
            yield from walk(target, f"{path}.")
            yield from walk(followed(part.file, target.get("items", {})), f"{path}[].")

    yield from walk(followed(part.file, node_at(part.file, part.pointer)), "")


def expected_rows(parts: Sequence[Part]) -> dict[str, tuple[str, str]]:
    """Member to type and required, as the page has to say it; what differs between the parts is said for each."""
    by_part = {part.label: {member.path: member for member in members_of(part)} for part in parts}
    paths = dict.fromkeys(path for members in by_part.values() for path in members)

    def said(path: str, of: str) -> str:
        texts = {
            label: "absent"
            if path not in members
            else {True: "yes", False: "no"}[members[path].required]
            if of == "required"
            else members[path].type
            for label, members in by_part.items()
        }
        if of == "type":
            texts = {label: text for label, text in texts.items() if text != "absent"}
        if len(set(texts.values())) == 1:
            return next(iter(texts.values()))
        return "; ".join(f"{label}: {text}" for label, text in texts.items())

    return {path: (said(path, "type"), said(path, "required")) for path in paths}


@pytest.mark.parametrize(
    ("parts", "rows"),
    list(documented_parts()),
    ids=lambda value: value[0].file if isinstance(value, tuple) else "",
)
def test_the_page_lists_exactly_the_members_of_the_schema(parts: tuple[Part, ...], rows: list[Row]) -> None:
    documented = {code_in(row["member"])[0]: (row["type"], row["required"]) for row in rows}
    assert documented == expected_rows(parts)
    assert len(documented) == len(rows)
    assert all(row["meaning"] for row in rows)


def objects_in(node: Any, pointer: str = "") -> Iterator[str]:
    """Pointers of the objects that a schema describes, conditions left out."""
    if isinstance(node, dict):
        if isinstance(node.get("properties"), dict):
            yield pointer
        for name, inner in node.items():
            if name not in CONDITIONS:
                yield from objects_in(inner, f"{pointer}/{name}")


@pytest.mark.parametrize(
    "file", sorted(path.name.partition(".")[0] for path in SCHEMAS.glob("*.schema.json"))
)
def test_every_object_of_every_schema_is_documented(file: str) -> None:
    documented = [part for parts, _ in documented_parts() for part in parts if part.file == file]
    covered = {member.path.rpartition(".")[2] for part in documented for member in members_of(part)}
    for pointer in objects_in(schema_file(file)):
        names = set(node_at(file, pointer)["properties"])
        assert names <= covered, f"{file}{pointer} has members that docs/formats.md does not describe"


# The codes and values on the pages, held against the source -------------------------------------------------------


def modules() -> Iterator[tuple[str, ast.Module]]:
    for path in sorted(SOURCE.rglob("*.py")):
        if "migrations" not in path.parts:
            yield str(path.relative_to(ROOT)), ast.parse(path.read_text(encoding="utf-8"))


def calls_in(scope: ast.AST, names: Mapping[str, int]) -> Iterator[ast.Call]:
    for node in ast.walk(scope):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in names:
            yield node


def refusing(module: ast.Module) -> dict[str, int]:
    """What makes a Problem out of a code: name to the code's place among the arguments."""
    places = {"Problem": 2, "_Fault": 0}
    functions = [node for node in ast.walk(module) if isinstance(node, ast.FunctionDef)]
    known = 0
    while known != len(places):
        known = len(places)
        for function in functions:
            parameters = [argument.arg for argument in function.args.args]
            if "code" in parameters and any(calls_in(function, places)):
                places[function.name] = parameters.index("code")
    return places


def problem_codes(module: ast.Module) -> Iterator[str]:
    """Every code that a module makes a Problem with. Fails on one that cannot be read from the source."""
    places = refusing(module)
    for function in [node for node in ast.walk(module) if isinstance(node, ast.FunctionDef)]:
        for call in calls_in(function, places):
            given = [keyword.value for keyword in call.keywords if keyword.arg == "code"]
            code = given[0] if given else call.args[places[cast(ast.Name, call.func).id]]
            if not (is_passed_on(code) or is_parameter(code, function)):
                found = list(values_of(code, function, module))
                assert found, f"line {code.lineno}: the page cannot be held against {ast.unparse(code)}"
                yield from found


def is_passed_on(code: ast.expr) -> bool:
    return isinstance(code, ast.Attribute) and code.attr == "code"


def is_parameter(code: ast.expr, function: ast.FunctionDef) -> bool:
    return isinstance(code, ast.Name) and code.id in [argument.arg for argument in function.args.args]


def values_of(value: ast.expr, function: ast.FunctionDef, module: ast.Module) -> Iterator[str]:
    """The texts that an expression in `function` can be: written out, assigned, looked up, or returned."""
    if isinstance(value, ast.Constant) and isinstance(value.value, str):
        yield value.value
    elif isinstance(value, ast.Subscript) and isinstance(value.value, ast.Name):
        yield from values_in_table(value.value.id, module)
    elif isinstance(value, ast.Name):
        for assigned in assigned_to(value.id, function):
            yield from values_of(assigned, function, module)
    elif isinstance(value, ast.Call) and isinstance(value.func, ast.Name):
        yield from values_returned_by(value.func.id, function, module)


def assigned_to(name: str, function: ast.FunctionDef) -> Iterator[ast.expr]:
    """What a variable is set to, alone or in a tuple, by assignment or row by row in a loop."""
    for node in ast.walk(function):
        if isinstance(node, ast.Assign):
            target, rows = node.targets[0], [node.value]
        elif isinstance(node, ast.For):
            target, rows = node.target, getattr(node.iter, "elts", [])
        else:
            continue
        names = [getattr(part, "id", "") for part in getattr(target, "elts", [target])]
        if name in names:
            yield from (getattr(row, "elts", [row])[names.index(name)] for row in rows)


def values_returned_by(name: str, caller: ast.FunctionDef, module: ast.Module) -> Iterator[str]:
    """`name` is a function of the module, or a variable that is one of several."""
    meant = {name} | {
        part.id
        for chosen in assigned_to(name, caller)
        for part in ast.walk(chosen)
        if isinstance(part, ast.Name)
    }
    for called in module.body:
        if isinstance(called, ast.FunctionDef) and called.name in meant:
            for node in ast.walk(called):
                if isinstance(node, ast.Return) and isinstance(node.value, ast.Constant):
                    yield str(node.value.value)


def values_in_table(name: str, module: ast.Module) -> Iterator[str]:
    for node in module.body:
        target = node.target if isinstance(node, ast.AnnAssign) else None
        if isinstance(target, ast.Name) and target.id == name:
            assert isinstance(node, ast.AnnAssign)
            assert isinstance(node.value, ast.Dict)
            yield from (ast.literal_eval(value) for value in node.value.values)


def test_every_error_code_of_the_source_is_documented() -> None:
    in_source = {code for _, module in modules() for code in problem_codes(module)}
    rows = rows_under(page("formats.md"), "code", "meaning", "what to do")
    documented = [code for row in rows for code in code_in(row["code"])]
    assert len(in_source) > 40
    assert sorted(documented) == sorted(in_source)


def test_the_invalid_request_on_the_page_is_what_the_engine_says() -> None:
    with pytest.raises(DocumentError) as refused:
        assess([factories.claim("claim-revenue", "v0009")])
    (shown,) = fenced(page("formats.md"), "json invalid-request")
    assert refused.value.to_json() == parsed(shown)


def test_the_limits_on_the_page_are_the_defaults() -> None:
    rows = rows_under(page("formats.md"), "setting", "default", "counts")
    documented = {code_in(row["setting"])[0]: int(row["default"].replace(",", "")) for row in rows}
    assert documented == Policy().to_json()["limits"]


def test_the_page_tells_what_makes_a_claim_object_malformed() -> None:
    rows = rows_under(page("formats.md"), "kind", "members")
    assert len(rows) == 3
    for row in rows:
        members = dict.fromkeys(code_in(row["members"]), "text") | {"kind": code_in(row["kind"])[0]}
        assert classify(members)[0] != MALFORMED  # type: ignore[arg-type]
        assert classify(members | {"more": "text"})[0] == MALFORMED  # type: ignore[arg-type]


def test_the_reviewer_reads_what_every_badge_means() -> None:
    on_cards = ("relevance", "claim_type", "claim_support", "verdict")
    grounding = {"Grounded", "Not grounded", "Grounding stated, no check"}
    labels = (
        {label for axis in on_cards for label in WORDS[axis].values()} | grounding | {"Hidden characters"}
    )
    assert {row["badge"] for row in rows_under(page("reviewer.md"), "badge", "meaning")} == labels


def test_the_grounding_badges_on_the_page_are_those_on_cards() -> None:
    for example, label in (
        ("fact", "Grounded"),
        ("not-found", "Not grounded"),
        ("stated", "Grounding stated, no check"),
    ):
        shown = strip_tags(badges(assess_examples([example]).claim(example)))
        assert re.match(rf"{label} ?(·|Directly)", shown)


def test_the_reviewer_reads_the_table_of_shortcuts() -> None:
    rows = rows_under(page("reviewer.md"), "keys", "what they do")
    assert [(code_in(row["keys"])[0], row["what they do"]) for row in rows] == [
        (shortcut.keys, shortcut.label) for shortcut in SHORTCUTS
    ]


def test_the_reviewer_reads_the_names_of_the_tabs_and_groups() -> None:
    for _, label in (*TABS, *GROUPS):
        assert f"*{label}*" in page("reviewer.md").replace("\n", " ")


def test_the_operator_reads_about_every_setting_of_the_environment() -> None:
    in_source = {
        name
        for _, module in modules()
        for node in ast.walk(module)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
        for name in re.findall(r"\A(?:ETHOS_REVIEW_[A-Z_]+|DATABASE_URL)\Z", node.value)
    }
    rows = rows_under(page("operator.md"), "variable", "default", "meaning")
    assert sorted(code_in(row["variable"])[0] for row in rows) == sorted(in_source)


def test_the_operator_reads_about_every_command() -> None:
    ours = {path.stem for path in SOURCE.glob("*/management/commands/*.py")} - {"__init__"}
    rows = rows_under(page("operator.md"), "command", "what it does")
    assert {code_in(row["command"])[0].split()[1] for row in rows} == ours
    for name in DOCS.glob("*.md"):
        mentioned = set(re.findall(r"manage\.py (\w+)", page(name.name)))
        assert mentioned <= set(get_commands()), f"{name.name} names a command that does not exist"


def test_the_operator_reads_about_every_event() -> None:
    recorded = {
        keyword.value.value
        for _, module in modules()
        for call in calls_in(module, {"record_event": 0})
        for keyword in call.keywords
        if keyword.arg == "action" and isinstance(keyword.value, ast.Constant)
    }
    rows = rows_under(page("operator.md"), "event", "when")
    recorded |= set(EVENT_OF_OUTCOME.values())
    assert {code_in(row["event"])[0] for row in rows} == recorded == set(ACTIONS)


def test_the_operator_reads_the_permissions_of_every_role() -> None:
    rows = rows_under(page("operator.md"), "role", "permissions")
    assert {row["role"]: frozenset(code_in(row["permissions"])) for row in rows} == ROLES


def test_the_operator_reads_what_every_scope_lets() -> None:
    rows = rows_under(page("operator.md"), "scope", "what a program may do")
    assert {code_in(row["scope"])[0]: row["what a program may do"] for row in rows} == SCOPE_WORDS


def test_the_policy_that_the_operator_reads_is_the_default() -> None:
    (shown,) = fenced(page("operator.md"), "json policy")
    assert load_policy(read_document("policy", "policy.json", shown.encode())) == Policy()


@pytest.mark.django_db
def test_the_account_that_the_operator_makes_has_its_role() -> None:
    (program,) = fenced(page("operator.md"), "python")
    exec(compile(program, "docs/operator.md", "exec"), {})  # noqa: S102
    person = User.objects.get(username="m.okafor")
    assert person.has_perm("accounts.manage_people")
    assert not person.has_perm("reviews.decide_claim")


@pytest.mark.django_db
def test_rows_carried_to_another_database_as_the_operator_reads_keep_everything(tmp_path: Path) -> None:
    submitter, reviewer = factories.make_submitter(), factories.make_reviewer()
    fact = factories.claim("fact", "v0001", text="A text with \x01 and \u2028 in it.")
    review = factories.make_review(submitter, factories.parts(factories.answer(fact)))
    operations.seal_review(actor=reviewer, review_id=review.review_id)
    operator = factories.make_user("operator", "Operator")
    create_token(actor=operator, account_id=submitter.pk, name="nightly", scopes=["read"], days=1)
    factories.make_review(submitter)
    told = page("operator.md")
    (command,) = re.findall(r"manage\.py (dumpdata .*?--output) reviews\.rows", told, re.DOTALL)
    call_command(*command.replace("\\\n", "").split(), str(tmp_path / "reviews.rows"), verbosity=0)

    for asked in ("migrate", "loaddata reviews.rows", "verify_audit", "replay_releases"):
        assert f"manage.py {asked}\n" in told
        done = subprocess.run(
            [sys.executable, str(ROOT / "manage.py"), *asked.split()],
            capture_output=True,
            text=True,
            check=False,
            cwd=tmp_path,
            env={
                "PATH": os.environ["PATH"],
                "DATABASE_URL": f"sqlite:///{tmp_path / 'other.sqlite3'}",
                "ETHOS_REVIEW_SECRET_KEY": secrets.token_urlsafe(64),
                "ETHOS_REVIEW_PLAIN_HTTP": "1",
            },
        )
        assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout == "1 releases come out byte for byte as they were sealed.\n"


# The sessions of docs/integrator.md ----------------------------------------------------------------------------------


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Path:
    """A directory with the files that the page names, the release of docs/engine.md among them."""
    monkeypatch.chdir(tmp_path)
    (bundle,) = fenced(page("engine.md"), "json bundle")
    members = json.loads(bundle)
    (faulty,) = fenced(page("integrator.md"), "json faulty-claims.json")
    (policy,) = fenced(page("operator.md"), "json policy")
    files = {
        "bundle.json": bundle,
        "changed-bundle.json": bundle.replace('"value": 2016', '"value": 2019'),
        "verification-report.json": json.dumps(members["verification_report"]),
        "claims.json": json.dumps(members["claims"]),
        "readings.json": json.dumps(members["readings"]),
        "bundles.jsonl": f"{json.dumps(members)}\n{{}}\n",
        "faulty-claims.json": faulty,
        "policy.json": policy,
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    names: dict[str, Any] = {}
    for program in fenced(page("engine.md"), "python"):
        exec(compile(program, "docs/engine.md", "exec"), names)  # noqa: S102
    for name in ("public", "other"):
        key = write_key(tmp_path / f"{name}-private.pem")
        (tmp_path / f"{name}.pem").write_bytes(public_key_pem(key))
    envelope = sign_payload(names["payload"], load_signer(tmp_path / "public-private.pem"))
    (tmp_path / "release.dsse.json").write_bytes(envelope)
    capsys.readouterr()
    return tmp_path


def run(line: str, monkeypatch: pytest.MonkeyPatch) -> int:
    """One line of a shell session; `<` redirects, `>` is left to what captures the output."""
    words = shlex.split(line.partition(" > ")[0])
    assert words[0] == "ethos-review"
    if "<" in words:
        text = Path(words[words.index("<") + 1]).read_text(encoding="utf-8")
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
        words = words[: words.index("<")]
    return cli.main(words[1:])


@pytest.mark.usefixtures("bench")
@pytest.mark.parametrize("session", fenced(page("integrator.md"), "console"), ids=lambda text: text[2:40])
def test_the_sessions_on_the_page_go_as_shown(
    session: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    status = -1
    for part in session.split("$ ")[1:]:
        line, _, shown = part.partition("\n")
        if line == "echo $?":
            assert shown == f"{status}\n"
            continue
        status = run(line, monkeypatch)
        printed = re.sub(r" +$", "", re.sub("[0-9a-f]{64}", "…", capsys.readouterr().out), flags=re.MULTILINE)
        if shown.endswith("...\n"):
            assert printed.startswith(shown.removesuffix("...\n"))
        else:
            assert printed == shown


@pytest.mark.usefixtures("bench")
def test_the_shell_lines_on_the_page_work(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (lines,) = fenced(page("integrator.md"), "sh")
    for line in lines.splitlines():
        assert run(line, monkeypatch) == cli.OK
        assert capsys.readouterr().out


@pytest.mark.django_db
@pytest.mark.usefixtures("bench")
def test_the_requests_on_the_page_are_answered() -> None:
    program = make_program()
    review = ""
    lines = [line for block in fenced(page("integrator.md"), "sh api") for line in block.splitlines()]
    for line in lines:
        answered = send(program, line.replace("$REVIEW", review))
        assert answered.status_code in (200, 201), line
        if "Location" in answered and not review:
            review = answered.json()["review_id"]
            operations.seal_review(actor=sealer(review), review_id=UUID(review))
    assert len(lines) == 8
    assert Path("kept-bundle.json").read_bytes() == Path("bundle.json").read_bytes()
    assert json.loads(Path("release.dsse.json").read_bytes())["payloadType"]


def sealer(review: str) -> User:
    """Whoever decided all that waited for a person."""
    reviewer = factories.make_reviewer()
    for claim in Claim.objects.filter(review__review_id=review, action="needs_review"):
        factories.decide_as_shown(reviewer, UUID(review), claim.position, "approve", "Read it.")
    return reviewer


def send(program: Program, line: str) -> HttpResponse:
    """A line of curl, as far as the page uses it."""
    words = shlex.split(line)
    assert words[:4] == ["curl", "--fail-with-body", "--header", "@token.txt"]
    options = list(zip(words[4:-1:2], words[5:-1:2], strict=True))
    path = words[-1].removeprefix("https://review.example.org")
    data = [value.removeprefix("@") for name, value in options if name == "--data-binary"]
    form = dict(value.split("=@") for name, value in options if name == "--form")
    if data:
        assert ("--header", "Content-Type: application/json") in options
        return program.post(path, Path(data[0]).read_bytes())
    if form:
        files = {name: SimpleUploadedFile(file, Path(file).read_bytes()) for name, file in form.items()}
        return program.post(path, files)
    answered = program.get(path)
    for file in [value for name, value in options if name == "--output"]:
        Path(file).write_bytes(answered.content)
    return answered


def test_the_page_names_every_status_of_the_api() -> None:
    named = {row["status"] for row in rows_under(page("integrator.md"), "status", "when")}
    described = {
        status
        for item in WHOLE["paths"].values()
        for method in item.keys() & {"get", "post"}
        for status in item[method]["responses"]
    }
    assert named == {status for status in described if status >= "400"} | {"405"}


@pytest.mark.usefixtures("bench")
def test_the_program_on_the_page_verifies_a_release(capsys: pytest.CaptureFixture[str]) -> None:
    (program,), (shown,) = fenced(page("integrator.md"), "python"), fenced(page("integrator.md"), "text")
    exec(compile(program, "docs/integrator.md", "exec"), {})  # noqa: S102
    assert capsys.readouterr().out == shown


@pytest.mark.usefixtures("bench")
def test_the_page_names_the_members_that_the_commands_print(capsys: pytest.CaptureFixture[str]) -> None:
    documented = [
        code
        for row in rows_under(page("integrator.md"), "member", "content")
        for code in code_in(row["member"])
    ]
    printed: list[str] = []
    for command in ("decide --bundle bundle.json", "verify release.dsse.json --key public.pem --json"):
        assert cli.main(command.split()) == cli.OK
        printed += json.loads(capsys.readouterr().out)
    assert documented == printed


def test_the_page_names_every_exit_status(capsys: pytest.CaptureFixture[str]) -> None:
    for row in rows_under(page("integrator.md"), "command", "0", "2", "3", "4", "5", "6"):
        with pytest.raises(SystemExit):
            cli.main([code_in(row["command"])[0], "--help"])
        _, _, said = capsys.readouterr().out.partition("exit status:")
        statuses = set(re.findall(r"(?:\A|;)\s*(\d) ", said))
        assert statuses == {status for status in "023456" if row[status]}


def test_the_page_names_every_reason_to_refuse_an_envelope() -> None:
    rows = rows_under(page("integrator.md"), "code", "exit status", "meaning")
    assert {code_in(row["code"])[0]: int(row["exit status"]) for row in rows} == cli._EXIT_CODES


def test_the_page_names_every_condition() -> None:
    rows = rows_under(page("integrator.md"), "condition", "about")
    assert {name for row in rows for name in code_in(row["condition"])} == set(CONDITION_PLACES)


def headings(text: str) -> set[str]:
    """The anchors of a page's headings."""
    found = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in found}


@pytest.mark.parametrize("name", sorted(path.name for path in DOCS.glob("*.md")))
def test_every_link_of_a_page_leads_somewhere(name: str) -> None:
    for target in re.findall(r"\]\(([^)]+)\)", page(name)):
        file, _, anchor = target.partition("#")
        linked = (DOCS / file).resolve() if file else DOCS / name
        assert linked.exists(), target
        assert not anchor or anchor in headings(linked.read_text(encoding="utf-8")), target
