"""A finding made smaller, a piece of the work at a time.

Owns how a piece goes on where another ended, on any worker: the answers of the earlier pieces lead the reducer to the
same graph again. So the result does not depend on how long each piece was.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from msgspec.structs import replace

from clonediff.harness.campaign.shards import MadeSmaller, Shard, WrittenFinding
from clonediff.harness.scripts.forked import ForkedScripts
from clonediff.harness.scripts.of_finding import finding_of, script_of
from clonediff.harness.scripts.run_alone import is_proven
from clonediff.harness.search.reducing import MOST, reduce
from clonediff.harness.trials.checks import takes_costly
from clonediff.harness.trials.graph_trials import Costly, GraphTrials
from clonediff.harness.trials.trial import Hit, Key
from clonediff.reports.reading import slug
from clonediff.reports.records import Finding
from clonediff.strategies.graph import Graph, from_json, to_json

_DEADLY = {"timed-out": 2, "out-of-memory": 6, "process": 6}
"""The most trials, where each costs a process or a minute."""


class _Paused(Exception):
    """The time of this piece is over."""


class ShowsTheSame:
    """Whether a graph shows the same. What was answered in earlier pieces is not tried again.

    `answers` has all answers so far, `shown` the last hit of this piece. However late it is, graphs are tried until one
    shows the same.
    """

    def __init__(self, look: Callable[[Graph], Hit | None], before: str = "", until: float | None = None) -> None:
        self.answers = ""
        self.shown: Hit | None = None
        self._look = look
        self._until = until
        self._before = before
        self._tried = 0

    def __call__(self, graph: Graph) -> bool:
        """Try it, unless that is answered."""
        number = len(self.answers)
        if number < len(self._before):
            same = self._before[number] == "1"
        else:
            late = self._until is not None and time.monotonic() > self._until
            if late and self._tried and "1" in self.answers:
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
    raw_finding: WrittenFinding,
    before: MadeSmaller | None = None,
    *,
    scripts: ForkedScripts,
    until: float | None = None,
) -> MadeSmaller:
    """Go on where `before` ended, until it is as small as it gets or the time is over; then run its script alone."""
    drawn = from_json(bytes(raw_finding.finding.graph), "a raw finding")
    kept = WrittenFinding(before.finding, before.script) if before is not None and before.finding is not None else None
    costly: Costly = False

    def look(graph: Graph) -> Hit | None:
        return trials.new_hit(graph, raw_finding.key, costly=costly)

    def proven(hit: Hit) -> WrittenFinding:
        return _proven(trials, scripts, hit, raw_finding.finding)

    same = ShowsTheSame(look, (before and before.rest) or "", until)
    left: str | None = None
    try:
        again = same(drawn)
        if not again and trials.sampled(drawn):
            # Only what does not show without the costly checks is worth them each time.
            root = raw_finding.finding.root
            costly = root is None or takes_costly(root.check, root.path)
            again = same(drawn)
        if not again:
            return MadeSmaller(shard.subject, raw_finding.key, shard.turn, trials=trials.tally.trials)
        smallest = reduce(drawn, same, most=_most(raw_finding.key)).graph
    except _Paused:
        left = same.answers
        kept = _better(kept, proven(same.shown) if same.shown is not None else None)
    else:
        kept = _first_proven((smallest, drawn), kept, same.shown, look, proven)
    return MadeSmaller(
        shard.subject,
        raw_finding.key,
        shard.turn,
        replace(kept.finding, smallest=left is None) if kept is not None else None,
        kept.script if kept is not None else "",
        trials.tally.trials,
        rest=left if kept is not None else None,
    )


def _better(kept: WrittenFinding | None, new: WrittenFinding | None) -> WrittenFinding | None:
    """The new one, which is smaller, unless its script alone shows nothing and that of the other does."""
    if new is None or (kept is not None and new.finding.proof is False and kept.finding.proof is not False):
        return kept
    return new


def _first_proven(
    graphs: tuple[Graph, ...],
    kept: WrittenFinding | None,
    shown: Hit | None,
    look: Callable[[Graph], Hit | None],
    proven: Callable[[Hit], WrittenFinding],
) -> WrittenFinding | None:
    """The smallest whose script does not pass alone, or else the smallest. They come with the smallest first."""
    first: WrittenFinding | None = None
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


def _proven(trials: GraphTrials, scripts: ForkedScripts, hit: Hit, seen: Finding) -> WrittenFinding:
    """A finding with its script, which is run alone where it is plain Keras."""
    process = trials.process
    script = script_of(hit, process.subject.generation, process.versions)
    finding = replace(finding_of(hit, process.subject, process.versions), first_seen=seen.first_seen)
    if is_proven(hit.cloner):
        proof, unproven = scripts.tried(script)
        finding = replace(finding, proof=proof, unproven=unproven)
    return WrittenFinding(finding, script.text)


def _most(key: Key) -> int:
    words = slug(*key[1:])
    return next((most for word, most in _DEADLY.items() if word in words), MOST)
