"""The search for one thing that is not known, and for the smallest graph that shows it.

Hypothesis draws and shrinks; here is only what counts as the same failure, and when to stop.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection

from hypothesis import HealthCheck, Phase, Verbosity, given, seed, settings
from hypothesis.database import ExampleDatabase
from hypothesis.errors import Flaky
from hypothesis.strategies import SearchStrategy

from harness.search.deterministic import deterministic
from harness.trials.graph_trials import GraphTrials, Hit, Key, news
from strategies.graph import Graph

SHRINKING = 60.0
"""The seconds that a finding may be shrunk for once the time for drawing is over."""


class _Found(AssertionError):
    """Hypothesis is to shrink this."""


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

    def probe(graph: Graph) -> None:
        limit = None if until is None else until + (shrinking if smallest else 0.0)
        if limit is not None and time.monotonic() > limit:
            raise _OutOfTime
        target = smallest[-1] if smallest else None
        costly = None if target is None or target.cause is None else (trials.sampled(target.graph) or None)
        trials.tally.drawn += target is None
        try:
            fresh = news(trials.try_graph(graph, costly=costly).hits, seen)
        except Exception as error:
            raise _Stopped(error) from error
        after_each()
        same = [each for each in fresh if target is None or each.key == target.key]
        if same:
            smallest.append(same[0])
            raise _Found(same[0].title)

    test = _test(graphs, probe, examples, seed_, Phase.generate, Phase.shrink, database=database)
    try:
        test()
    except (_Found, _OutOfTime):
        pass
    except Flaky:
        # It showed once and not again: a time limit on a busy machine, say. No hit is made of that.
        trials.tally.unsteady += 1
        return None
    except _Stopped as stopped:
        if not smallest:
            raise stopped.error from None
    except KeyboardInterrupt:
        raise Interrupted(smallest[-1] if smallest else None) from None
    return smallest[-1] if smallest else None


def draw(graphs: SearchStrategy[Graph], count: int, seed_: int, each: Callable[[Graph], None]) -> None:
    """Hand on `count` graphs, the same for the same seed; fewer where there are no more. The simplest is the first."""

    def probe(graph: Graph) -> None:
        try:
            each(graph)
        except Exception as error:
            raise _Stopped(error) from error

    try:
        _test(graphs, probe, count, seed_, Phase.generate)()
    except _Stopped as stopped:
        raise stopped.error from None


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
    smallest: list[Graph] = []
    tried = 0

    def probe(graph: Graph) -> None:
        nonlocal tried
        if not smallest and graph != found:
            return  # it was tried, and shows something else
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
        _test(graphs, probe, examples, seed_, Phase.generate, Phase.shrink, database=database)()
    except (_Found, _OutOfTime):
        pass
    except Flaky:
        return None
    except _Stopped as stopped:
        raise stopped.error from None
    return smallest[-1] if smallest else None


def _test(
    graphs: SearchStrategy[Graph],
    probe: Callable[[Graph], None],
    examples: int,
    seed_: int,
    *phases: Phase,
    database: ExampleDatabase | None = None,
) -> Callable[[], None]:
    # In this order: `seed` takes the database away, and what `settings` says then holds.
    test = seed(seed_)(given(graphs)(probe))
    test = settings(
        max_examples=examples,
        database=database,
        derandomize=False,  # a profile for CI would have it, and forbid the database
        deadline=None,
        report_multiple_bugs=False,
        print_blob=False,
        verbosity=Verbosity.quiet,
        phases=phases,
        # How long a draw takes is told by the bench; on a busy machine it says nothing of the strategy.
        suppress_health_check=(HealthCheck.too_slow,),
    )(test)

    def steadily() -> None:
        with deterministic():
            test()

    return steadily
