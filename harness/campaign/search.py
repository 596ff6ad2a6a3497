"""The search for one thing that is not known, and for the smallest graph that shows it.

Hypothesis draws and shrinks; here is only what counts as the same failure, and when to stop. Must not import Keras.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Collection

from hypothesis import Phase, Verbosity, given, seed, settings
from hypothesis.strategies import SearchStrategy

from harness.campaign.hunt import LOST, REFUSED, Accusation, Hunt, news
from strategies.graph import Graph

SHRINKING = 60.0
"""The seconds that a finding may be shrunk for once the time for drawing is over."""


class _Found(AssertionError):
    """Hypothesis is to shrink this."""


class _OutOfTime(BaseException):
    """The search is over; not an `Exception`, so that Hypothesis lets it through."""


def search(
    hunt: Hunt,
    graphs: SearchStrategy[Graph],
    *,
    examples: int,
    seed_: int,
    seen: Collection[tuple[str, str]] = (),
    until: float | None = None,
    after_each: Callable[[], None] = lambda: None,
) -> Accusation | None:
    """The first news among `examples` graphs, with the smallest graph that shows the same; None where there is none.

    `seen` has what is news no more, as pairs of cloner and fingerprint. `until` is when to stop drawing, on the clock
    of `time.monotonic`. The same seed, strategy and releases give the same answer, unless time runs out.
    """
    smallest: list[Accusation] = []

    def probe(graph: Graph) -> None:
        limit = None if until is None else until + (SHRINKING if smallest else 0.0)
        if limit is not None and time.monotonic() > limit:
            raise _OutOfTime
        target = smallest[-1] if smallest else None
        costly = None if target is None or target.cause is None else (hunt.sampled(target.graph) or None)
        hunt.tally.drawn += target is None
        fresh = news(hunt.look(graph, costly=costly), seen)
        after_each()
        same = [each for each in fresh if target is None or _key(each) == _key(target)]
        if same:
            smallest.append(same[0])
            raise _Found(same[0].title)

    test = seed(seed_)(
        settings(
            max_examples=examples,
            database=None,
            deadline=None,
            report_multiple_bugs=False,
            print_blob=False,
            verbosity=Verbosity.quiet,
            phases=(Phase.generate, Phase.shrink),
        )(given(graphs)(probe))
    )
    with contextlib.suppress(_Found, _OutOfTime):
        test()
    return smallest[-1] if smallest else None


def _key(accusation: Accusation) -> tuple[str, str, str]:
    """What makes two accusations the same one; a refusal is known by the type of its exception."""
    said = accusation.detail.partition(":")[0] if accusation.fingerprint in (REFUSED, LOST) else ""
    return accusation.cloner, accusation.fingerprint, said
