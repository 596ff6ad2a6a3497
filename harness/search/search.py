"""Draws the graphs of a seed, finds a new cause, and reduces its graph."""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any

import msgspec

from clonediff.harness.search.reduce import MAX_TRIALS, reduce
from clonediff.harness.subjects import SubjectError
from clonediff.harness.subjects.process import SubjectProcess
from clonediff.harness.trials.checks import needs_costly_trial
from clonediff.harness.trials.cloners import takes_arguments
from clonediff.harness.trials.graph_trials import Costly, GraphTrials, new_causes
from clonediff.harness.trials.trial import Key, TrialCause
from clonediff.reports.records import Difference
from clonediff.strategies.program import Graph, Program

REDUCING_SECONDS = 60.0
"""How many seconds a graph may be reduced after the time for drawing is over."""


class _Stopped(Exception):
    """The time for reducing is over."""


def draws(
    process: SubjectProcess, seed: int, count: int, *, cloners: Collection[str] = (), **options: Any
) -> Iterator[Graph]:
    """Draw `count` graphs, with preparations if all `cloners` take the arguments of `clone_model`.

    If a draw yields no model, draw another: up to three draws for each graph.
    """
    options["plain"] = not (cloners and all(map(takes_arguments, cloners)))
    drawn = (process.draw({"seed": seed * 1_000_003 + number, **options}) for number in range(3 * count))
    yield from itertools.islice((graph for graph in drawn if graph is not None), count)


def rebuild(process: SubjectProcess, program: Program) -> Graph | None:
    """The graph of a program, None if Keras refuses it."""
    return process.draw({"program": msgspec.to_builtins(program)})


def search(
    trials: GraphTrials,
    *,
    examples: int,
    seed: int,
    seen: Collection[Key] = (),
    until: float = math.inf,
    reducing: float = REDUCING_SECONDS,
    **options: Any,
) -> TrialCause | None:
    """Draw up to `examples` graphs. Return the first new cause, with its smallest graph.

    Causes with keys in `seen` are not new. Drawing stops when `time.monotonic()` is `until`. The same seed and releases
    give the same result, unless time runs out. Flaky causes are ignored.
    """
    for graph in draws(trials.process, seed, examples, **{"cloners": trials.cloners, **options}):
        if time.monotonic() > until:
            return None
        trials.tally.drawn += 1
        if causes := new_causes(trials.try_graph(graph).found, seen):
            root = None if causes[0].cause is None else causes[0].cause.root
            reduction = reduce_graph(trials, graph, causes[0].key, root, until=until + reducing)
            if reduction.smallest is not None:
                return reduction.smallest
            trials.tally.flaky += 1
    return None


@dataclass(frozen=True, slots=True)
class Reduction:
    """The result of a reduction: the cause in the smallest graph, and in the `drawn` graph.

    `drawn` is None if the drawn graph does not show the cause again. If time ran out or the subject `failed`,
    `finished` is False.
    """

    smallest: TrialCause | None = None
    drawn: TrialCause | None = None
    finished: bool = True
    failed: str = ""


def reduce_graph(
    trials: GraphTrials,
    graph: Graph,
    key: Key,
    root: Difference | None,
    *,
    until: float = math.inf,
    max_trials: int = MAX_TRIALS,
) -> Reduction:
    """Reduce a graph while it shows the cause with this key.

    `root` is the first difference of the cause. The graph itself is tried even if the time is over.
    """
    causes: list[TrialCause] = []  # in the drawn graph, and in the smallest graph
    costly: Costly = False
    alone = trials.for_cloner(key[0])

    def shows(candidate: Graph, trials: GraphTrials = alone) -> bool:
        if causes and time.monotonic() > until:
            raise _Stopped
        found = trials.find(key, candidate, costly=costly)
        if found is not None:
            causes[1:] = [found]
        return found is not None

    if not shows(graph, trials) and trials.is_sampled(graph):
        # If only the costly checks show the cause, they are run on each candidate, too.
        costly = root is None or needs_costly_trial(root)
        shows(graph, trials)
    if not causes:
        return Reduction()
    finished, failed = True, ""
    try:
        reduce(graph, lambda program: rebuild(trials.process, program), shows, max_trials)
    except (_Stopped, SubjectError) as error:
        finished, failed = False, str(error)
    first, smallest = causes[0], causes[-1]
    if smallest.graph is not None and smallest is not first and not failed:
        # Try all cloners: this shows whether Keras or a cloner is at fault.
        smallest = trials.find(key, smallest.graph, costly=costly) or first
    return Reduction(smallest, first, finished=finished, failed=failed)
