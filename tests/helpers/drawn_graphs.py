"""Graphs that tests draw or build in a warm process of each generation."""

from __future__ import annotations

import atexit
from collections.abc import Callable, Iterator
from functools import cache
from itertools import chain, count, islice
from typing import Any

from clonediff.harness.search.search import draws, rebuild
from clonediff.harness.subjects.process import SubjectProcess
from clonediff.harness.subjects.subject import Subject
from clonediff.strategies.program import Again, Apply, Generation, Graph, Input, Nest, Program

_processes: list[Callable[[str], SubjectProcess]] = []


def processes(warm: Callable[[str], SubjectProcess]) -> None:
    """Use the warm processes of a session."""
    _processes[:] = [warm]


def process_of(generation: Generation) -> SubjectProcess:
    """The warm process of a generation."""
    return (_processes[0] if _processes else _alone)(generation)


@cache
def _alone(name: str) -> SubjectProcess:
    """Start a process for a script that runs without pytest; it ends with the script."""
    process = SubjectProcess(Subject.parse(name))
    atexit.register(process.close)
    return process


SEED = 7
_DRAWN: dict[Generation, tuple[list[Graph], Iterator[Graph]]] = {}
"""The graphs that were drawn so far, and those that come next."""


def drawn(generation: Generation, most: int) -> list[Graph]:
    """The first graphs of a seed, which all tests of a worker share."""
    if generation not in _DRAWN:
        process = process_of(generation)
        rounds = (draws(process, seed, 50, cloners=("fixed",)) for seed in count(SEED))
        _DRAWN[generation] = [], chain.from_iterable(rounds)
    graphs, more = _DRAWN[generation]
    graphs += islice(more, max(0, most - len(graphs)))
    return graphs[:most]


def built(*body: Apply | Nest | Again, inputs: tuple[Input, ...] = (Input((4,)),), **fields: Any) -> Graph:
    """The graph of a program, whose outputs are those of the last instruction; Keras 3 builds it."""
    program = Program(
        **{"generation": "keras", "inputs": inputs, "body": body, "outputs": ((len(body) - 1, 0),), **fields}
    )
    graph = rebuild(process_of(program.generation), program)
    assert graph is not None, program
    return graph
