"""The model of a trial, built by running its source as the script it is."""

from __future__ import annotations

import contextlib
import linecache
import sys
import types
from collections.abc import Iterator
from typing import Any

from clonediff.harness.inside.failures import GRAPH_FILE


@contextlib.contextmanager
def script(source: str | None) -> Iterator[Any]:
    """A module named `__main__` for the source to run in, where Keras finds functions and classes; None for none."""
    if source is None:
        yield None
        return
    module = types.ModuleType("__main__")
    before = sys.modules["__main__"]
    sys.modules["__main__"] = module
    linecache.cache[GRAPH_FILE] = (len(source), None, source.splitlines(True), GRAPH_FILE)
    try:
        yield module
    finally:
        sys.modules["__main__"] = before
        # Lambdas refer to the module and it to the model: without this, all of it waits for the collector.
        module.__dict__.clear()
