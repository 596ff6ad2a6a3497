"""A temporary `__main__` module in which the source of a model runs."""

from __future__ import annotations

import contextlib
import linecache
import sys
import types
from collections.abc import Iterator
from typing import Any

from clonediff.harness.inside.failures import GRAPH_FILE


@contextlib.contextmanager
def script_module(source: str | None) -> Iterator[Any]:
    """Replace `__main__` in a scope, so that Keras finds the source's classes."""
    if source is None:
        yield None
        return
    module = types.ModuleType("__main__")
    main_module = sys.modules["__main__"]
    sys.modules["__main__"] = module
    linecache.cache[GRAPH_FILE] = (len(source), None, source.splitlines(True), GRAPH_FILE)
    try:
        yield module
    finally:
        sys.modules["__main__"] = main_module
        # Break the cycle of lambdas, module and model, to free them immediately.
        module.__dict__.clear()
