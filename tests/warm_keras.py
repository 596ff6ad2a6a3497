"""The Keras that tests draw for: a warm process of each generation, asked as a campaign asks its own."""

from __future__ import annotations

import atexit
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from functools import cache
from itertools import count, islice
from typing import Any

from hypothesis import given, settings
from hypothesis.strategies import SearchStrategy, deferred

from clonediff.harness.drawing.drawable_kinds import graphs_on, kinds_on
from clonediff.harness.drawing.remembered_answers import asked
from clonediff.harness.search.sampling import sample_graphs
from clonediff.harness.subjects.process import SubjectProcess
from clonediff.harness.subjects.releases import open_subject
from clonediff.harness.subjects.subject import Subject
from clonediff.strategies import MalformedGraph, infer
from clonediff.strategies.asking import Keras, Question, asking
from clonediff.strategies.graph import Graph
from clonediff.strategies.kinds import Generation, Kind, Specs
from clonediff.strategies.lowering import lower
from clonediff.strategies.no_oracle import unsaid
from clonediff.strategies.programs import Domain, Program
from tests.example_counts import everything

SUBJECTS: dict[Generation, str] = {"keras": "keras", "tf_keras": "tf_keras"}
_processes: list[Callable[[str], SubjectProcess]] = []


def processes(warm: Callable[[str], SubjectProcess]) -> None:
    """Take the processes of a session from here."""
    _processes[:] = [warm]


def process_of(generation: Generation) -> SubjectProcess:
    """The warm process of a generation."""
    return (_processes[0] if _processes else _alone)(SUBJECTS[generation])


@cache
def _alone(name: str) -> SubjectProcess:
    """A process of a script that runs beside the tests; it ends with the script."""
    process = open_subject(Subject.parse(name))
    atexit.register(process.close)
    return process


def at_hand(generation: Generation) -> AbstractContextManager[None]:
    """A scope in which questions go to the Keras of a generation."""
    return asking(asked(process_of(generation)))


def graphs_of(generation: Generation = "keras", **options: Any) -> SearchStrategy[Graph]:
    """What is drawn for a generation."""
    return deferred(lambda: graphs_on(process_of(generation), **options))


SEED = 0
"""Of the graphs that tests share: what Keras says to a call is asked once, and kept for all workers."""
ENOUGH = 1_000_000
"""More graphs than anybody draws."""


class Drawn:
    """The graphs of one sample, each drawn when it is looked at first."""

    def __init__(self, graphs: SearchStrategy[Graph], seed: int = SEED) -> None:
        self._more = sample_graphs(graphs, ENOUGH, seed)
        self._found: list[Graph] = []

    def __iter__(self) -> Iterator[Graph]:
        for number in count():
            if number == len(self._found):
                graph = next(self._more, None)
                if graph is None:
                    return
                self._found.append(graph)
            yield self._found[number]


@cache
def _sample(generation: Generation, kinds: tuple[str, ...] | None) -> Drawn:
    return Drawn(graphs_of(generation, kinds=kinds))


def drawn(generation: Generation, most: int, kinds: tuple[str, ...] | None = None) -> Iterator[Graph]:
    """The first graphs that are drawn for a generation, the same ones for every test of a worker."""
    return islice(_sample(generation, kinds), most)


def hold(holds: Callable[[Graph], None], generation: Generation, few: int, many: int) -> None:
    """Try a property on the first few graphs that are drawn; at night on many others, which Hypothesis makes small."""
    if everything():
        settings(max_examples=many, deadline=None, database=None)(given(graphs_of(generation))(holds))()
        return
    for graph in drawn(generation, few):
        holds(graph)


def kinds_of(generation: Generation = "keras") -> Mapping[str, Kind]:
    """The kinds that are drawn for a generation."""
    return kinds_on(asked(process_of(generation)))


def lowered(program: Program) -> Graph:
    """The graph that a program means to Keras 3."""
    missing = frozenset(asked(process_of("keras")).capabilities.missing)
    with at_hand("keras"):
        return lower(program, Domain(kinds_of("keras"), missing, "keras"))


class KerasAtHand:
    """Keras 3, which is started when it is asked first."""

    @property
    def _keras(self) -> Keras:
        return asked(process_of("keras"))

    def gives(self, question: Question) -> Specs | None:
        """What it answers."""
        return self._keras.gives(question)

    def why(self, question: Question) -> str:
        """What it answers."""
        return self._keras.why(question)

    def refuses(self, graph: Graph) -> str:
        """What it answers."""
        return self._keras.refuses(graph)


def well_typed(graph: Graph) -> tuple[Specs, ...]:
    """What each node gives. Raises `MalformedGraph` where Keras refuses it, or nobody says what its clone is."""
    specs = infer(graph)
    wrong = unsaid(graph)
    if wrong:
        raise MalformedGraph(f"graph: nobody says {wrong}")
    return specs
