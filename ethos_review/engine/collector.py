"""Pausing Python's cyclic garbage collector while many objects are made that belong to no cycle."""

from __future__ import annotations

import gc
from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


def without_collector(function: Callable[P, T]) -> Callable[P, T]:
    """Run `function` with the collector paused.

    A parsed document is a tree, which reference counting frees by itself. Left on, the collector walks over the
    whole growing tree again and again: more than half of the time at 10,000 claims. Whoever found the collector on
    turns it on again, so it is on in the end also when threads overlap.
    """

    @wraps(function)
    def paused(*args: P.args, **kwargs: P.kwargs) -> T:
        if not gc.isenabled():
            return function(*args, **kwargs)
        gc.disable()
        try:
            return function(*args, **kwargs)
        finally:
            gc.enable()

    return paused
