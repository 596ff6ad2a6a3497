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
from clonediff.harness.trials.graph_trials import GraphTrials, new_causes
from clonediff.harness.trials.trial import Key, TrialCause
from clonediff.reports.records import Difference
from clonediff.strategies.program import Graph, Program
from clonediff.strategies.undefined import why_undefined

REDUCING_SECONDS = 60.0
"""How many seconds to reduce a graph once the time for drawing is over."""


class _OutOfTime(Exception):
    """The time for reducing is over."""


def draw_graphs(
    process: SubjectProcess, seed: int, count: int, *, cloners: Collection[str] = (), **options: Any
) -> Iterator[Graph]:
    """Draw `count` graphs, with preparations if all `cloners` take `clone_model`'s arguments.

    A draw may yield no graph, so there are up to `3 * count` draws.
    """
    options["plain"] = not (cloners and all(map(takes_arguments, cloners)))
    graphs = (process.draw({"seed": seed * 1_000_003 + number, **options}) for number in range(3 * count))
    yield from itertools.islice((graph for graph in graphs if graph is not None), count)


def rebuild(process: SubjectProcess, program: Program) -> Graph | None:
    """A program's graph; None if it is refused, or its clone is undefined."""
    return None if why_undefined(program) else process.draw({"program": msgspec.to_builtins(program)})


def search(
    trials: GraphTrials,
    *,
    max_graphs: int,
    seed: int,
    seen: Collection[Key] = (),
    deadline: float = math.inf,
    reducing_seconds: float = REDUCING_SECONDS,
    **options: Any,
) -> TrialCause | None:
    """Draw up to `max_graphs` graphs. Return the first new cause, with its smallest graph.

    Causes with keys in `seen` are not new. Drawing stops when `time.monotonic()` is `deadline`. The same seed and
    releases give the same result, unless time runs out. Flaky causes are ignored.
    """
    for graph in draw_graphs(trials.process, seed, max_graphs, **{"cloners": trials.cloners, **options}):
        if time.monotonic() > deadline:
            return None
        trials.tally.drawn += 1
        if causes := new_causes(trials.try_graph(graph).found_causes, seen):
            root = None if causes[0].cause is None else causes[0].cause.root
            reduction = reduce_graph(trials, graph, causes[0].key, root, deadline=deadline + reducing_seconds)
            if reduction.smallest_cause is not None:
                return reduction.smallest_cause
            trials.tally.flaky += 1
    return None


@dataclass(frozen=True, slots=True)
class Reduction:
    """A reduction's result: the cause in the smallest graph, and in the drawn graph.

    Both are None if the drawn graph does not show the cause again. `is_finished` is False if time ran out, or the
    subject failed.
    """

    smallest_cause: TrialCause | None = None
    drawn_cause: TrialCause | None = None
    is_finished: bool = True
    failure: str = ""


def reduce_graph(
    trials: GraphTrials,
    graph: Graph,
    key: Key,
    root: Difference | None,
    *,
    deadline: float = math.inf,
    max_trials: int = MAX_TRIALS,
) -> Reduction:
    """Reduce a graph while it shows the cause with this key.

    `root` is the root of the cause. The graph itself is tried even after the deadline.
    """
    causes: list[TrialCause] = []  # in the drawn graph, and in the smallest graph
    costly: bool | None = False
    cloner_trials = trials.select_cloner(key[0])

    def shows(candidate: Graph, trials: GraphTrials = cloner_trials) -> bool:
        if causes and time.monotonic() > deadline:
            raise _OutOfTime
        cause = trials.find(key, candidate, costly=costly)
        if cause is not None:
            causes[1:] = [cause]
        return cause is not None

    if not shows(graph, trials) and trials.is_sampled(graph):
        # If only the costly checks show the cause, each candidate needs them.
        costly = root is None or needs_costly_trial(root)
        shows(graph, trials)
    if not causes:
        return Reduction()
    is_finished, failure = True, ""
    try:
        reduce(graph, lambda program: rebuild(trials.process, program), shows, max_trials)
    except (_OutOfTime, SubjectError) as error:
        is_finished, failure = False, str(error)
    drawn_cause, smallest_cause = causes[0], causes[-1]
    if smallest_cause.graph is not None and smallest_cause is not drawn_cause and not failure:
        # Try all cloners, to see which are at fault.
        smallest_cause = trials.find(key, smallest_cause.graph, costly=costly) or drawn_cause
    return Reduction(smallest_cause, drawn_cause, is_finished, failure)
