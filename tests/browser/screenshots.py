"""`python -m tests.browser.screenshots`: every page, light and dark, wide and narrow, into var/screenshots/."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

if __name__ == "__main__":
    here = Path(__file__).resolve().parent
    pictures = here.parents[1] / "var" / "screenshots"  # as tests/browser/pages.py says, which needs Django
    failed = pytest.main([str(here / "test_pages.py"), str(here / "test_main_flow.py"), "-q"])
    sys.stdout.write(f"{len(list(pictures.glob('*.png')))} pictures in {pictures}\n")
    sys.exit(failed)
