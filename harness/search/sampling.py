"""Graphs sampled uniformly, from bytes that follow from a seed.

The engine that draws for `@given` repeats and mutates what it drew, which helps it to shrink, and makes a third of its
graphs the same as others and some kinds rare. Here a strategy reads random bytes, so that each choice is as likely as
the next. What was drawn is a graph: the bytes are not kept.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Any

from hypothesis import Verbosity, given, settings
from hypothesis.strategies import SearchStrategy

from clonediff.strategies.graph import Graph

BYTES = 8192
"""As many as any graph takes; one that would take more is not drawn."""
IN_VAIN = 100
"""After as many draws in a row that gave nothing new there are no more graphs."""


def sample_graphs(graphs: SearchStrategy[Graph], count: int, seed_: int) -> Iterator[Graph]:
    """`count` different graphs, the simplest first, the same for the same seed; fewer where there are no more."""
    found: list[Graph] = []
    target = _target(graphs, found.append)
    seen: set[Graph] = set()
    number = vain = 0
    while len(seen) < count and vain < IN_VAIN:
        buffer = random.Random(f"{seed_}/{number}").randbytes(BYTES) if number else bytes(BYTES)
        number += 1
        found.clear()
        target(buffer)
        if not found or found[0] in seen:
            vain += 1
            continue
        vain = 0
        seen.add(found[0])
        yield found[0]


def _target(graphs: SearchStrategy[Graph], each: Callable[[Graph], None]) -> Callable[[bytes], Any]:
    def one(graph: Graph) -> None:
        each(graph)

    test = settings(database=None, deadline=None, verbosity=Verbosity.quiet)(given(graphs)(one))
    return test.hypothesis.fuzz_one_input  # type: ignore[attr-defined,no-any-return]  # `given` adds it
