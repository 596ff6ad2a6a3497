"""Graphs of a seed, the search for one new finding among them, and the smallest graph that shows a finding."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from typing import Any

import msgspec

from clonediff.harness.search.reduce import MOST, reduce
from clonediff.harness.subjects import SubjectError
from clonediff.harness.subjects.process import SubjectProcess
from clonediff.harness.trials.checks import takes_costly
from clonediff.harness.trials.cloners import takes_arguments
from clonediff.harness.trials.graph_trials import Costly, GraphTrials, new_hits
from clonediff.harness.trials.trial import Hit, Key
from clonediff.reports.records import Difference
from clonediff.strategies.program import Graph, Program

REDUCING_SECONDS = 60.0
"""The seconds that a finding may be reduced for once the time for drawing is over."""


class _Stopped(Exception):
    """The time for reducing is over: the smallest graph so far is kept."""


def draws(
    process: SubjectProcess, seed: int, count: int, *, cloners: Collection[str] = (), **options: Any
) -> Iterator[Graph]:
    """Draw `count` graphs from a seed. Models are prepared, too, if all `cloners` take the arguments of `clone_model`.

    A draw that gives no model is replaced by the next; with some custom layers no draw gives one, so there is a limit.
    """
    options["plain"] = not (cloners and all(map(takes_arguments, cloners)))
    drawn = (process.draw({"seed": seed * 1_000_003 + number, **options}) for number in range(3 * count))
    yield from itertools.islice((graph for graph in drawn if graph is not None), count)


def rebuilt(process: SubjectProcess, program: Program) -> Graph | None:
    """The graph of a program as it is; None where Keras refuses it."""
    return process.draw({"program": msgspec.to_builtins(program)})


def search(
    trials: GraphTrials,
    *,
    examples: int,
    seed: int,
    seen: Collection[Key] = (),
    until: float | None = None,
    after_each: Callable[[], None] = lambda: None,
    reducing: float = REDUCING_SECONDS,
    **options: Any,
) -> Hit | None:
    """The first new hit among `examples` draws, with the smallest graph that shows it; None where there is none.

    `seen` has the keys of what is no longer new. `until` is when to stop drawing, on the clock of `time.monotonic`. The
    same seed and releases give the same answer, unless time runs out. What shows once and not again is no hit: a time
    limit on a busy machine, say.
    """
    for graph in draws(trials.process, seed, examples, **{"cloners": trials.cloners, **options}):
        if until is not None and time.monotonic() > until:
            return None
        trials.tally.drawn += 1
        hits = new_hits(trials.try_graph(graph).hits, seen)
        after_each()
        if hits:
            cause = hits[0].cause
            smaller = make_smaller(
                trials,
                graph,
                hits[0].key,
                None if cause is None else cause.root,
                until=None if until is None else until + reducing,
                after_each=after_each,
            )
            if smaller.hit is not None:
                return smaller.hit
            trials.tally.unsteady += 1
    return None


@dataclass(frozen=True, slots=True)
class Smaller:
    """What became of a drawn graph: `hit` is of the smallest that shows the same, `drawn` of the graph itself.

    `hit` is None where the graph does not show the same again. `finished` is False where the time was over before, or
    where something `failed`.
    """

    hit: Hit | None = None
    drawn: Hit | None = None
    finished: bool = True
    failed: str = ""


def make_smaller(
    trials: GraphTrials,
    graph: Graph,
    key: Key,
    root: Difference | None,
    *,
    until: float | None = None,
    most: int = MOST,
    after_each: Callable[[], None] = lambda: None,
) -> Smaller:
    """Reduce a graph while it still shows the hit of this key, whose first difference is `root`.

    The graph itself is tried even if the time is over.
    """
    first: Hit | None = None
    smallest: Hit | None = None
    costly: Costly = False
    alone = trials.for_cloner(key[0])

    def still(candidate: Graph, by: GraphTrials = alone) -> bool:
        nonlocal first, smallest
        if first is not None and until is not None and time.monotonic() > until:
            raise _Stopped
        hit = by.new_hit(candidate, key, costly=costly)
        after_each()
        if hit is None:
            return False
        smallest = hit
        if first is None:
            first = hit
        return True

    again = still(graph, trials)
    if not again and trials.sampled(graph):
        # It may take the costly checks to show it: only then are they run on each candidate.
        costly = root is None or takes_costly(root)
        again = still(graph, trials)
    if not again or first is None:
        return Smaller()
    finished, failed = True, ""
    try:
        reduce(graph, lambda program: rebuilt(trials.process, program), still, most)
    except (_Stopped, SubjectError) as error:
        finished, failed = False, str(error)
    # Whose fault it is takes all cloners to say.
    if smallest is not None and smallest.graph is not None and smallest is not first and not failed:
        smallest = trials.new_hit(smallest.graph, key, costly=costly) or first
    return Smaller(smallest, first, finished=finished, failed=failed)
