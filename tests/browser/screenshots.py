"""`python -m tests.browser.screenshots`: every page, light and dark, wide and narrow, into var/screenshots/."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.browser.pages import SCREENSHOTS

if __name__ == "__main__":
    here = Path(__file__).parent
    failed = pytest.main([str(here / "test_pages.py"), str(here / "test_main_flow.py"), "-q"])
    sys.stdout.write(f"{len(list(SCREENSHOTS.glob('*.png')))} pictures in {SCREENSHOTS}\n")
    sys.exit(failed)
