"""Run every benchmark: `python -m bench`, or some by name: `python -m bench engine`."""

from __future__ import annotations

import importlib
import pkgutil
import sys

import bench

available = [
    module.name for module in pkgutil.iter_modules(bench.__path__) if not module.name.startswith("_")
]
for name in sys.argv[1:] or available:
    if name not in available:
        raise SystemExit(f"no benchmark {name}; there are {', '.join(available)}")
    importlib.import_module(f"bench.{name}").main()
