"""Graphs drawn evenly, from bytes that follow from a seed.

The engine that draws for `@given` repeats and mutates what it drew, which helps it to shrink, and makes a third of its
graphs the same as others and some kinds rare. Here a strategy reads random bytes, so that each choice is as likely as
the next; Hypothesis gets the bytes of what was found, to shrink it.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from hypothesis import Verbosity, given, settings
from hypothesis.database import ExampleDatabase
from hypothesis.strategies import SearchStrategy

from clonediff.strategies.graph import Graph

BYTES = 8192
"""As many as any graph takes; one that would take more is not drawn."""
IN_VAIN = 100
"""After as many draws in a row that gave nothing new there are no more graphs."""


class _Saved(ExampleDatabase):
    """The last example that Hypothesis saved."""

    def __init__(self) -> None:
        super().__init__()
        self.example = b""

    def save(self, key: bytes, value: bytes) -> None:
        self.example = value

    def fetch(self, key: bytes) -> Iterable[bytes]:
        return ()

    def delete(self, key: bytes, value: bytes) -> None:
        """It holds one only."""


class StartingFrom(ExampleDatabase):
    """A database of one example, which keeps what is saved in another."""

    def __init__(self, example: bytes, kept: ExampleDatabase | None = None) -> None:
        super().__init__()
        self._example = example
        self._kept = kept

    def save(self, key: bytes, value: bytes) -> None:
        if self._kept is not None:
            self._kept.save(key, value)

    def fetch(self, key: bytes) -> Iterable[bytes]:
        # Where Hypothesis looks for what it has not made small; found elsewhere, it would be as small as it gets.
        return (self._example,) if key.endswith(b".secondary") else ()

    def delete(self, key: bytes, value: bytes) -> None:
        if self._kept is not None:
            self._kept.delete(key, value)


@dataclass(frozen=True, slots=True)
class Drawn:
    """A graph, and how to draw it again as an example of Hypothesis' own."""

    graph: Graph
    _buffer: bytes
    _graphs: SearchStrategy[Graph]

    @property
    def example(self) -> bytes:
        """What a database of Hypothesis would hold of it."""
        saved = _Saved()

        def fail(graph: Graph) -> None:
            raise AssertionError

        try:
            _target(self._graphs, fail, saved)(self._buffer)
        except AssertionError:
            return saved.example
        raise ValueError("a graph that was drawn once is not drawn again")


def evenly(graphs: SearchStrategy[Graph], count: int, seed_: int) -> Iterator[Drawn]:
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
        yield Drawn(found[0], buffer, graphs)


def _target(
    graphs: SearchStrategy[Graph], each: Callable[[Graph], None], database: ExampleDatabase | None = None
) -> Callable[[bytes], Any]:
    def one(graph: Graph) -> None:
        each(graph)

    test = settings(database=database, deadline=None, verbosity=Verbosity.quiet)(given(graphs)(one))
    return test.hypothesis.fuzz_one_input  # type: ignore[attr-defined,no-any-return]  # `given` adds it
