"""A finding made smaller, a piece of the work at a time.

Owns how a piece goes on where another ended, on whichever worker: with the answers that were given by then, by which
Hypothesis and the reducer come to the same graph again. So what comes of all the pieces is the same however long each
of them was.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import NamedTuple

import msgspec
from hypothesis.database import ExampleDatabase
from hypothesis.strategies import SearchStrategy
from msgspec.structs import replace

from clonediff.harness.campaign.shards import LeftToShrink, MadeSmaller, RawFinding, Shard
from clonediff.harness.scripts.of_finding import finding_of, script_of
from clonediff.harness.scripts.run_alone import PROVEN, tried_alone
from clonediff.harness.search.draw_and_shrink import shrink
from clonediff.harness.search.reducing import reduce
from clonediff.harness.trials.graph_trials import GraphTrials, Hit, Key, news
from clonediff.harness.trials.offers import graphs_on
from clonediff.reports.records import Finding
from clonediff.reports.store import slug
from clonediff.strategies.graph import Graph, from_json, to_json
from clonediff.strategies.states import RATE

SHRINKS, REDUCTIONS = 60, 300
"""The trials that Hypothesis may spend on making a finding smaller, and then the reducer, which is quicker at it."""

_DEADLY = {"timed-out": 2, "out-of-memory": 6, "process": 6}
"""Where each trial costs a process, or a minute, there are fewer of them."""


class _Paused(BaseException):
    """The time of this piece is over; not an `Exception`, so that Hypothesis lets it through."""


class KeptVersion(NamedTuple):
    """A finding and its script."""

    finding: Finding
    script: str


class ShowsTheSame:
    """Whether a graph shows the same. What was answered in earlier pieces is not tried again.

    `answers` are all of this stage, `shown` is the last that this piece saw. One graph is tried, however late it is.
    """

    def __init__(self, look: Callable[[Graph], Hit | None], until: float | None = None) -> None:
        self.answers = ""
        self.shown: Hit | None = None
        self._look = look
        self._until = until
        self._before = ""
        self._tried = 0

    def follow(self, answers: str) -> None:
        """Begin a stage, of which so much is answered."""
        self._before, self.answers = answers, ""

    def __call__(self, graph: Graph) -> bool:
        """Try it, unless that is answered."""
        number = len(self.answers)
        if number < len(self._before):
            same = self._before[number] == "1"
        else:
            if self._tried and self._until is not None and time.monotonic() > self._until:
                raise _Paused
            self._tried += 1
            shown = self._look(graph)
            same = shown is not None
            self.shown = shown or self.shown
        self.answers += "1" if same else "0"
        return same


def piece(
    trials: GraphTrials,
    shard: Shard,
    raw_finding: RawFinding,
    before: MadeSmaller | None = None,
    *,
    until: float | None = None,
    database: ExampleDatabase | None = None,
    state_rate: int = RATE,
) -> MadeSmaller:
    """Go on where `before` ended, until it is as small as it gets or the time is over; then run its script alone.

    `state_rate` is that with which the graph was drawn.
    """
    drawn = from_json(bytes(raw_finding.finding.graph), "a raw finding")
    rest = before.rest if before is not None and before.rest is not None else LeftToShrink()
    kept = KeptVersion(before.finding, before.script) if before is not None and before.finding is not None else None
    costly = trials.sampled(drawn)

    def look(graph: Graph) -> Hit | None:
        return next(
            (each for each in news(trials.try_graph(graph, costly=costly).hits) if each.key == raw_finding.key), None
        )

    def proven(hit: Hit) -> KeptVersion:
        return _proven(trials, hit, raw_finding.finding)

    same = ShowsTheSame(look, until)
    same.follow(rest.answers)
    left: LeftToShrink | None = None
    try:
        shrunk = from_json(bytes(rest.shrunk), "a finding") if rest.reducing else None
        if shrunk is None:
            graphs = graphs_on(trials.process, cloners=trials.cloners, state_rate=state_rate)
            shrunk = _by_hypothesis(graphs, shard, drawn, raw_finding.key, same, database)
            if shrunk is None:
                return MadeSmaller(shard.subject, raw_finding.key, shard.turn, trials=trials.tally.trials)
            rest = LeftToShrink(shrunk=msgspec.Raw(to_json(shrunk)))
            same.follow("")
        smallest = reduce(shrunk, same, most=_most(raw_finding.key, REDUCTIONS)).graph
    except _Paused:
        left = LeftToShrink(same.answers, rest.shrunk)
        kept = _better(kept, proven(same.shown) if same.shown is not None else None)
    else:
        kept = _first_proven((smallest, shrunk, drawn), kept, same.shown, look, proven)
    return MadeSmaller(
        shard.subject,
        raw_finding.key,
        shard.turn,
        replace(kept.finding, smallest=left is None) if kept is not None else None,
        kept.script if kept is not None else "",
        trials.tally.trials,
        rest=left if kept is not None else None,
    )


def _by_hypothesis(
    graphs: SearchStrategy[Graph],
    shard: Shard,
    drawn: Graph,
    key: Key,
    same: ShowsTheSame,
    database: ExampleDatabase | None,
) -> Graph | None:
    """As small as Hypothesis makes it; a graph that was not drawn stays as it is. None where it does not show again."""
    if shard.graphs:
        return drawn if same(drawn) else None
    return shrink(
        graphs,
        drawn,
        same,
        examples=shard.examples,
        seed_=shard.seed,
        most=_most(key, SHRINKS),
        database=database,
    )


def _better(kept: KeptVersion | None, new: KeptVersion | None) -> KeptVersion | None:
    """The new one, which is smaller, unless its script alone shows nothing and that of the other does."""
    if new is None or (kept is not None and new.finding.proof is False and kept.finding.proof is not False):
        return kept
    return new


def _first_proven(
    graphs: tuple[Graph, ...],
    kept: KeptVersion | None,
    shown: Hit | None,
    look: Callable[[Graph], Hit | None],
    proven: Callable[[Hit], KeptVersion],
) -> KeptVersion | None:
    """The smallest whose script does not pass alone, or else the smallest. They come with the smallest first."""
    first: KeptVersion | None = None
    for graph in dict.fromkeys(graphs):
        found = kept
        if kept is None or bytes(kept.finding.graph) != to_json(graph):
            hit = shown if shown is not None and shown.graph == graph else look(graph)
            if hit is None:
                continue
            found = proven(hit)
        if found is not None and found.finding.proof is not False:
            return found
        first = first or found
    return first or kept


def _proven(trials: GraphTrials, hit: Hit, seen: Finding) -> KeptVersion:
    """A finding with its script, which is run alone where it is plain Keras."""
    process = trials.process
    script = script_of(hit, process.subject.dialect, process.versions)
    finding = replace(finding_of(hit, process.subject, process.versions), first_seen=seen.first_seen)
    if hit.cloner in PROVEN or hit.across:
        proof, unproven = tried_alone(script, process.subject, process.place)
        finding = replace(finding, proof=proof, unproven=unproven)
    return KeptVersion(finding, script.text)


def _most(key: Key, usual: int) -> int:
    words = slug(*key[1:])
    return next((most for word, most in _DEADLY.items() if word in words), usual)
