"""The search for one thing that is not known, and for the smallest graph that shows it.

Graphs are drawn evenly, and Hypothesis shrinks; here is what counts as the same failure, and when to stop.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection

from hypothesis import HealthCheck, Phase, Verbosity, given, seed, settings
from hypothesis.database import ExampleDatabase
from hypothesis.errors import Flaky
from hypothesis.strategies import SearchStrategy

from clonediff.harness.search.deterministic import deterministic
from clonediff.harness.search.even_draws import StartingFrom, evenly
from clonediff.harness.trials.graph_trials import GraphTrials, Hit, Key, news
from clonediff.strategies.graph import Graph

SHRINKING = 60.0
"""The seconds that a finding may be shrunk for once the time for drawing is over."""


class _Found(AssertionError):
    """Hypothesis is to shrink this."""


class _NotAgain(Exception):
    """What was found did not show when it was tried again."""


class _OutOfTime(BaseException):
    """The search is over; not an `Exception`, so that Hypothesis lets it through."""


class _Stopped(BaseException):
    """A trial could not be run: neither a finding nor for Hypothesis to shrink."""

    def __init__(self, error: Exception) -> None:
        super().__init__(str(error))
        self.error = error


class Interrupted(KeyboardInterrupt):
    """The user has had enough. `found` is what the search held then, however small it had become."""

    def __init__(self, found: Hit | None) -> None:
        super().__init__()
        self.found = found


def search(
    trials: GraphTrials,
    graphs: SearchStrategy[Graph],
    *,
    examples: int,
    seed_: int,
    seen: Collection[Key] = (),
    until: float | None = None,
    after_each: Callable[[], None] = lambda: None,
    shrinking: float = SHRINKING,
    database: ExampleDatabase | None = None,
) -> Hit | None:
    """The first news among `examples` graphs, with the smallest graph that shows the same; None where there is none.

    `seen` has the keys of what is news no more. `until` is when to stop drawing, on the clock
    of `time.monotonic`. What is found is saved to `database`, from which nothing is taken. The same seed, strategy and
    releases give the same answer, unless time runs out.
    """
    smallest: list[Hit] = []

    def look(graph: Graph) -> list[Hit]:
        target = smallest[-1] if smallest else None
        costly = None if target is None or target.cause is None else (trials.sampled(target.graph) or None)
        fresh = news(trials.try_graph(graph, costly=costly).hits, seen)
        after_each()
        return [each for each in fresh if target is None or each.key == target.key]

    def probe(graph: Graph) -> None:
        if until is not None and time.monotonic() > until + shrinking:
            raise _OutOfTime
        try:
            same = look(graph)
        except Exception as error:
            raise _Stopped(error) from error
        if same:
            smallest.append(same[0])
            raise _Found(same[0].title)

    try:
        for drawn in evenly(graphs, examples, seed_):
            if until is not None and time.monotonic() > until:
                return None
            trials.tally.drawn += 1
            found = look(drawn.graph)
            if found:
                smallest.append(found[0])
                _smaller(graphs, drawn.example, probe, seed_, database)
                raise _NotAgain
    except (_Found, _OutOfTime, _Stopped):
        pass
    except (Flaky, _NotAgain):
        # It showed once and not again: a time limit on a busy machine, say. No hit is made of that.
        trials.tally.unsteady += 1
        return None
    except KeyboardInterrupt:
        raise Interrupted(smallest[-1] if smallest else None) from None
    return smallest[-1] if smallest else None


def draw(graphs: SearchStrategy[Graph], count: int, seed_: int, each: Callable[[Graph], None]) -> None:
    """Hand on `count` graphs, each once, the same for the same seed; fewer where there are no more."""
    for drawn in evenly(graphs, count, seed_):
        each(drawn.graph)


def shrink(
    graphs: SearchStrategy[Graph],
    found: Graph,
    still: Callable[[Graph], bool],
    *,
    examples: int,
    seed_: int,
    most: int,
    database: ExampleDatabase | None = None,
) -> Graph | None:
    """The smallest graph for which `still` holds that Hypothesis makes, asking `most` times, of one that `draw` gave.

    None where it does not hold for that, or not each time. What it raises ends it. The same answers give the same
    graph. What fails is kept in the database, for another night.
    """
    example = next((drawn.example for drawn in evenly(graphs, examples, seed_) if drawn.graph == found), None)
    if example is None:
        return None
    smallest: list[Graph] = []
    tried = 0

    def probe(graph: Graph) -> None:
        nonlocal tried
        if smallest and tried >= most:
            raise _OutOfTime
        tried += 1
        try:
            same = still(graph)
        except Exception as error:
            raise _Stopped(error) from error
        if same:
            smallest.append(graph)
            raise _Found

    try:
        _smaller(graphs, example, probe, seed_, database)
    except (_Found, _OutOfTime):
        pass
    except Flaky:
        return None
    except _Stopped as stopped:
        raise stopped.error from None
    return smallest[-1] if smallest else None


def _smaller(
    graphs: SearchStrategy[Graph],
    example: bytes,
    probe: Callable[[Graph], None],
    seed_: int,
    database: ExampleDatabase | None,
) -> None:
    """Have Hypothesis ask `probe` of an example, and of ever smaller ones."""
    # In this order: `seed` takes the database away, and what `settings` says then holds.
    test = seed(seed_)(given(graphs)(probe))
    test = settings(
        max_examples=1_000_000,  # nothing is generated; it ends once nothing smaller shows
        database=StartingFrom(example, database),
        derandomize=False,  # a profile for CI would have it, and forbid the database
        deadline=None,
        report_multiple_bugs=False,
        print_blob=False,
        verbosity=Verbosity.quiet,
        phases=(Phase.reuse, Phase.shrink),
        suppress_health_check=list(HealthCheck),
    )(test)
    with deterministic():
        test()
