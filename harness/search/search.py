"""Draws the graphs of a seed, finds a new hit, and reduces its graph."""

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
from clonediff.harness.trials.graph_trials import Costly, GraphTrials, new_hits
from clonediff.harness.trials.trial import Hit, Key
from clonediff.reports.records import Difference
from clonediff.strategies.program import Graph, Program

REDUCING_SECONDS = 60.0
"""How many seconds a hit may be reduced after the time for drawing is over."""


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
) -> Hit | None:
    """Draw up to `examples` graphs. Return the first new hit, with its smallest graph.

    Hits with keys in `seen` are not new. Drawing stops when `time.monotonic()` is `until`. The same seed and releases
    give the same result, unless time runs out. Flaky hits are ignored.
    """
    for graph in draws(trials.process, seed, examples, **{"cloners": trials.cloners, **options}):
        if time.monotonic() > until:
            return None
        trials.tally.drawn += 1
        if hits := new_hits(trials.try_graph(graph).hits, seen):
            root = None if hits[0].cause is None else hits[0].cause.root
            reduction = reduce_hit(trials, graph, hits[0].key, root, until=until + reducing)
            if reduction.hit is not None:
                return reduction.hit
            trials.tally.flaky += 1
    return None


@dataclass(frozen=True, slots=True)
class Reduction:
    """The result of a reduction: the hit of the smallest graph, and of the `drawn` graph.

    `hit` is None if the drawn graph does not show the hit again. `finished` is False if time ran out or the subject
    `failed`.
    """

    hit: Hit | None = None
    drawn: Hit | None = None
    finished: bool = True
    failed: str = ""


def reduce_hit(
    trials: GraphTrials,
    graph: Graph,
    key: Key,
    root: Difference | None,
    *,
    until: float = math.inf,
    max_trials: int = MAX_TRIALS,
) -> Reduction:
    """Reduce a graph while it shows the hit with this key and root cause.

    The graph itself is tried even if the time is over.
    """
    hits: list[Hit] = []  # of the drawn graph, and of the smallest graph
    costly: Costly = False
    alone = trials.for_cloner(key[0])

    def shows(candidate: Graph, trials: GraphTrials = alone) -> bool:
        if hits and time.monotonic() > until:
            raise _Stopped
        hit = trials.new_hit(candidate, key, costly=costly)
        if hit is not None:
            hits[1:] = [hit]
        return hit is not None

    if not shows(graph, trials) and trials.is_sampled(graph):
        # If only the costly checks show the hit, they are run on each candidate, too.
        costly = root is None or needs_costly_trial(root)
        shows(graph, trials)
    if not hits:
        return Reduction()
    finished, failed = True, ""
    try:
        reduce(graph, lambda program: rebuild(trials.process, program), shows, max_trials)
    except (_Stopped, SubjectError) as error:
        finished, failed = False, str(error)
    first, smallest = hits[0], hits[-1]
    if smallest.graph is not None and smallest is not first and not failed:
        # Try all cloners: this shows whether Keras or a cloner is at fault.
        smallest = trials.new_hit(smallest.graph, key, costly=costly) or first
    return Reduction(smallest, first, finished=finished, failed=failed)
