"""Graphs that tests draw or build in a warm process of each generation."""

from __future__ import annotations

import atexit
from collections.abc import Callable, Iterator
from functools import cache
from itertools import chain, count, islice
from typing import Any

from clonediff.harness.search.search import draw_graphs, rebuild
from clonediff.harness.subjects.process import SubjectProcess
from clonediff.harness.subjects.subject import Subject
from clonediff.strategies.program import Again, Apply, Generation, Graph, Input, Nest, Program

_process_functions: list[Callable[[str], SubjectProcess]] = []


def use_processes(warm: Callable[[str], SubjectProcess]) -> None:
    """Draw and build graphs in the warm processes of the session."""
    _process_functions[:] = [warm]


def process_of(generation: Generation) -> SubjectProcess:
    """Return the warm process of a generation."""
    return (_process_functions[0] if _process_functions else _start_alone)(generation)


@cache
def _start_alone(name: str) -> SubjectProcess:
    """Start a process for a script that runs without pytest; close it when the script ends."""
    process = SubjectProcess(Subject.parse(name))
    atexit.register(process.close)
    return process


SEED = 7
_DRAWN_GRAPHS: dict[Generation, tuple[list[Graph], Iterator[Graph]]] = {}
"""By generation: the graphs drawn so far, and an iterator of the next ones."""


def drawn_graphs(generation: Generation, max_graphs: int) -> list[Graph]:
    """Return the first `max_graphs` graphs of `SEED`, which all tests of a worker share."""
    if generation not in _DRAWN_GRAPHS:
        process = process_of(generation)
        rounds = (draw_graphs(process, seed, 50, cloners=("fixed",)) for seed in count(SEED))
        _DRAWN_GRAPHS[generation] = [], chain.from_iterable(rounds)
    graphs, next_graphs = _DRAWN_GRAPHS[generation]
    graphs += islice(next_graphs, max(0, max_graphs - len(graphs)))
    return graphs[:max_graphs]


def graph_of(*body: Apply | Nest | Again, inputs: tuple[Input, ...] = (Input((4,)),), **fields: Any) -> Graph:
    """Build the graph of a program whose output is the first output of the last instruction."""
    program = Program(
        **{"generation": "keras", "inputs": inputs, "body": body, "outputs": ((len(body) - 1, 0),), **fields}
    )
    graph = rebuild(process_of(program.generation), program)
    assert graph is not None, program
    return graph
