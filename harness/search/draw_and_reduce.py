"""The search for one new finding, and for the smallest graph that shows it.

Graphs are drawn evenly, and the reducer makes what was found smaller; here is what counts as the same failure, and when
to stop.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection

from hypothesis.strategies import SearchStrategy

from clonediff.harness.search.reducing import reduce
from clonediff.harness.search.sampling import sample_graphs
from clonediff.harness.trials.checks import takes_costly
from clonediff.harness.trials.graph_trials import Costly, GraphTrials, new_hits
from clonediff.harness.trials.trial import Hit, Key
from clonediff.strategies.graph import Graph

REDUCING = 60.0
"""The seconds that a finding may be reduced for once the time for drawing is over."""


class _Stopped(Exception):
    """The time is over, or a trial could not be run: what was found by then stays as it is."""


def search(
    trials: GraphTrials,
    graphs: SearchStrategy[Graph],
    *,
    examples: int,
    seed_: int,
    seen: Collection[Key] = (),
    until: float | None = None,
    after_each: Callable[[], None] = lambda: None,
    reducing: float = REDUCING,
) -> Hit | None:
    """The first new hit among `examples` graphs, with the smallest graph that shows it; None where there is none.

    `seen` has the keys of what is no longer new. `until` is when to stop drawing, on the clock of `time.monotonic`. The
    same seed, strategy and releases give the same answer, unless time runs out. What shows once and not again is no
    hit: a time limit on a busy machine, say.
    """
    for graph in sample_graphs(graphs, examples, seed_):
        if until is not None and time.monotonic() > until:
            return None
        trials.tally.drawn += 1
        found = new_hits(trials.try_graph(graph).hits, seen)
        after_each()
        if found:
            last = None if until is None else until + reducing
            return _smaller(trials, graph, found[0], last, after_each)
    return None


def _smaller(
    trials: GraphTrials, drawn: Graph, found: Hit, until: float | None, after_each: Callable[[], None]
) -> Hit | None:
    """The smallest graph that shows the same by then; None where what was found does not show it again."""
    smallest = found
    costly: Costly = False

    def still(graph: Graph) -> bool:
        nonlocal smallest
        if until is not None and time.monotonic() > until:
            raise _Stopped
        try:
            same = trials.new_hit(graph, found.key, costly=costly)
        except Exception as error:
            raise _Stopped from error
        after_each()
        smallest = same or smallest
        return same is not None

    try:
        again = still(drawn)
        if not again and trials.sampled(drawn):
            # Only what does not show without the costly checks is worth them each time.
            root = None if found.cause is None else found.cause.root
            costly = root is None or takes_costly(root.check, root.path)
            again = still(drawn)
        if not again:
            trials.tally.unsteady += 1
            return None
        with trials.asking():
            reduce(drawn, still)
    except _Stopped:
        pass
    return smallest
