"""SECURITY.md claims nothing without a test."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[1]
PAGE = (PROJECT / "SECURITY.md").read_text(encoding="utf-8")
NAMED = re.compile(r"`(tests/[\w/]+\.py)::(test_\w+)`")
LINES = [
    (section.splitlines()[0], line)
    for section in PAGE.split("\n## ")[1:]
    for line in re.findall(r"^- (.+(?:\n  .+)*)", section, re.MULTILINE)
]


@cache
def functions_in(file: str) -> set[str]:
    tree = ast.parse((PROJECT / file).read_text(encoding="utf-8"))
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}


def test_the_page_has_lines_to_hold_against_the_tests() -> None:
    assert len(LINES) > 30


@pytest.mark.parametrize(("section", "line"), LINES, ids=lambda text: text[:50])
def test_every_line_names_a_test(section: str, line: str) -> None:
    assert NAMED.search(line), section


@pytest.mark.parametrize(("file", "name"), sorted(set(NAMED.findall(PAGE))))
def test_every_test_that_is_named_exists(file: str, name: str) -> None:
    assert name in functions_in(file)
