"""Policies for tests."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from pytest_django import Settings


class PutInForce:
    """Writes a policy file and names it in the settings."""

    def __init__(self, settings: Settings, directory: Path) -> None:
        self.settings = settings
        self.directory = directory
        self.count = 0

    def __call__(self, **members: Any) -> None:
        self.count += 1
        path = self.directory / f"policy-{self.count}.json"
        path.write_text(
            json.dumps(
                {"artifact_type": "ethos_review.policy.v1", "name": "test", "version": str(self.count)}
                | members
            )
        )
        self.settings.POLICY_FILE = str(path)
