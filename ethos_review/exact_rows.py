"""All rows as JSON Lines, to carry them to another database: `dumpdata --format rows`.

Django's own JSON cuts times to milliseconds, and then no digest of the audit chain matches; its XML refuses texts
with control characters.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.core.serializers import jsonl
from django.core.serializers.json import DjangoJSONEncoder

Deserializer = jsonl.Deserializer


class _Exact(DjangoJSONEncoder):
    def default(self, value: Any) -> Any:
        return value.isoformat() if isinstance(value, datetime) else super().default(value)


class Serializer(jsonl.Serializer):
    def start_serialization(self) -> None:
        self.options["cls"] = _Exact
        super().start_serialization()
