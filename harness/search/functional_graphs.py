"""A Hypothesis strategy for graphs, which a child process builds.

If a graph crashes Keras, the child ends, and not the process of the test.
"""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from hypothesis import reject
from hypothesis import strategies as st

from clonediff.harness.subjects.process import SubjectProcess
from clonediff.harness.subjects.subject import Subject
from clonediff.strategies.choices import BITS
from clonediff.strategies.program import Generation, Graph

NUMBERS_PER_PART = 24
"""How many numbers to draw for the model, or for a call. When they run out, choices are the simplest."""
MAX_PARTS = 8


def functional_graphs(
    *,
    generation: Generation = "keras",
    kinds: Collection[str] | None = None,
    layers: Collection[str | type] = (),
    values: Mapping[str, Iterable[Any]] | None = None,
) -> st.SearchStrategy[Graph]:
    """Draw Functional and Sequential models of the installed Keras, for `check_clone`.

    `kinds` names the only layers and operations to draw. `layers` adds layers to draw: classes, or names of modules,
    of files, or of classes in them. `values` has more values to try, by argument. Graphs shrink towards fewer calls and
    plainer arguments.
    """
    names = tuple(layer if isinstance(layer, str) else _name_of(layer) for layer in layers)
    request = {
        "kinds": sorted(kinds) if kinds is not None else None,
        "plain": True,
        "values": {name: [repr(value) for value in choices] for name, choices in (values or {}).items()},
    }

    def draw(numbers: list[list[int]]) -> Graph:
        graph = _warm_process(generation, names).draw({"numbers": numbers, **request})
        return graph if graph is not None else reject()

    part = st.lists(st.integers(0, 2**BITS - 1), min_size=NUMBERS_PER_PART, max_size=NUMBERS_PER_PART)
    return st.lists(part, min_size=2, max_size=MAX_PARTS).map(draw)


@functools.cache
def _warm_process(generation: Generation, layers: tuple[str, ...]) -> SubjectProcess:
    path = tuple(map(os.path.abspath, sys.path))
    process = SubjectProcess(Subject.parse(generation), search_path=path)
    process.layers = layers
    return process


def _name_of(layer: type) -> str:
    name = f"{layer.__module__}.{layer.__qualname__}"
    if "<locals>" in name:
        raise ValueError(f"layers: {name} is defined in a function, so scripts cannot import it: define it in a module")
    return name
