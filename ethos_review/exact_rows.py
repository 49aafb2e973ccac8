"""All rows as JSON Lines, to carry them to another database: `dumpdata --format rows`.

Django's own JSON cuts times to milliseconds, and then no digest of the audit chain matches; its XML refuses texts
with control characters.
"""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any
from uuid import UUID

from django.core.serializers import jsonl

Deserializer = jsonl.Deserializer


class _Exact(json.JSONEncoder):
    def default(self, value: Any) -> Any:
        if isinstance(value, datetime):
            return value.isoformat()
        if isinstance(value, UUID):
            return str(value)
        return super().default(value)


class Serializer(jsonl.Serializer):
    def start_serialization(self) -> None:
        self.options["cls"] = _Exact
        super().start_serialization()
