"""The description of the API (OpenAPI 3.1), with every schema of a document that it refers to."""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path
from typing import Any, Final

from ethos_review.engine.contracts import SCHEMAS

_OTHER: Final = re.compile(r"urn:ethos-review:schema:([a-z-]+):v1#?")
_PLACE: Final = "#/components/schemas/"


@cache
def description() -> bytes:
    """`schemas/openapi.json` with the schemas inside it, so that no tool has to know where they are kept."""
    whole = _read(SCHEMAS / "openapi.json")
    schemas = whole["components"]["schemas"]
    wanted = _others_in(whole)
    while wanted:
        name = wanted.pop()
        schema = _read(SCHEMAS / f"{name}.schema.json")
        schemas[name] = _placed(
            {key: part for key, part in schema.items() if key not in ("$id", "$schema")}, name
        )
        wanted |= _others_in(schema) - schemas.keys()
    return json.dumps(_placed(whole), ensure_ascii=False).encode()


def _read(path: Path) -> dict[str, Any]:
    return dict(json.loads(path.read_text(encoding="utf-8")))


def _others_in(document: object) -> set[str]:
    return set(_OTHER.findall(json.dumps(document)))


def _placed(node: Any, schema: str = "") -> Any:
    """With references as they are inside the whole. `schema` is the one that `node` is a part of."""
    if isinstance(node, list):
        return [_placed(entry, schema) for entry in node]
    if not isinstance(node, dict):
        return node
    return {
        name: _reference(entry, schema)
        if name == "$ref" and isinstance(entry, str)
        else _placed(entry, schema)
        for name, entry in node.items()
    }


def _reference(target: str, schema: str) -> str:
    if schema and target.startswith("#/") and not target.startswith(_PLACE):
        return f"{_PLACE}{schema}{target[1:]}"
    return _OTHER.sub(lambda found: f"{_PLACE}{found[1]}", target)
