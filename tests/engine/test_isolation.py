"""The engine stands on its own: it runs where Django cannot be imported (spec 5.1)."""

from __future__ import annotations

import subprocess
import sys

PROGRAM = """
import sys

class NoDjango:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {"django", "django_htmx", "csp", "axes", "environ", "psycopg"}:
            raise ImportError(f"{name} is out of reach")

sys.meta_path.insert(0, NoDjango())
import importlib, pkgutil
import ethos_review.cli, ethos_review.engine
for module in pkgutil.iter_modules(ethos_review.engine.__path__, "ethos_review.engine."):
    importlib.import_module(module.name)
from ethos_review.engine import decide
print(sorted(name for name in sys.modules if name.startswith("django")), callable(decide))
"""


def test_the_engine_and_the_command_line_import_where_django_cannot_be_imported():
    ran = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=False)
    assert ran.stderr == ""
    assert ran.stdout == "[] True\n"
