"""The strategy for tests of your own: Hypothesis draws numbers, and a child of this process makes a graph of them.

A graph reaches the test once it has run in the child: it can end the child, and never the process of the test.
"""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Collection, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from clonediff.strategies.choices import BITS
from clonediff.strategies.program import Generation, Graph

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

    from clonediff.harness.subjects.process import SubjectProcess

NUMBERS = 24
"""The numbers of a frame, and of an instruction: after them, the simplest choices are made."""
MOST_PARTS = 8


def functional_graphs(
    *,
    generation: Generation = "keras",
    kinds: Collection[str] | None = None,
    layers: Collection[str | type] = (),
    values: Mapping[str, Iterable[Any]] | None = None,
) -> SearchStrategy[Graph]:
    """Functional and Sequential models that the Keras installed here can build, for `check_clone`.

    `kinds` are the names of the only layers and operations to draw. `layers` are others, which are drawn too: the name
    of a module, of a class in one, a file, a class in a file, or a class itself. `values` are further ones to try, by
    the name of an argument. Shrinks towards fewer calls and plainer arguments.
    """
    from hypothesis import reject
    from hypothesis import strategies as st

    names = tuple(layer if isinstance(layer, str) else _name_of(layer) for layer in layers)
    request = {
        "kinds": sorted(kinds) if kinds is not None else None,
        "plain": True,
        "values": {name: [repr(value) for value in further] for name, further in (values or {}).items()},
    }

    def drawn(numbers: list[list[int]]) -> Graph:
        graph = _process(generation, names).draw({"numbers": numbers, **request})
        return graph if graph is not None else reject()

    part = st.lists(st.integers(0, 2**BITS - 1), min_size=NUMBERS, max_size=NUMBERS)
    return st.lists(part, min_size=2, max_size=MOST_PARTS).map(drawn)


@functools.cache
def _process(generation: Generation, layers: tuple[str, ...]) -> SubjectProcess:
    """The warm child, which finds the modules that this process finds."""
    from clonediff.harness.subjects.process import SubjectProcess
    from clonediff.harness.subjects.subject import Subject

    path = tuple(map(os.path.abspath, sys.path))
    process = SubjectProcess(Subject.parse(generation), search_path=path)
    process.layers = layers
    return process


def _name_of(layer: type) -> str:
    name = f"{layer.__module__}.{layer.__qualname__}"
    if "<locals>" in name:
        raise ValueError(f"layers: {name} is made within a function, where no script finds it: define it in a module")
    return name
