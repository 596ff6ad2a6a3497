"""A campaign as data: what all of it shares, its shards, and what comes back of each.

A shard is a few graphs on one subject. It is the same wherever and whenever it runs, so a worker that is lost loses
nothing: the shard runs again. What comes back is small, since it crosses the network.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import TypeAlias

import msgspec

from clonediff.harness.trials.trial import Key
from clonediff.reports.known import KnownIssue
from clonediff.reports.records import Budget, Finding, Severity

SIZE = 50
"""Graphs in a shard: some seconds of work, which is what a lost worker costs."""


class Setup(msgspec.Struct, frozen=True):
    """What all shards of a campaign share.

    `layers` names the user's own layers. What is less severe than `at_least` is left out.
    """

    campaign: str
    cloners: tuple[str, ...]
    known: tuple[KnownIssue, ...] = ()
    layers: tuple[str, ...] = ()
    at_least: Severity = Severity.NAME


class Plan(msgspec.Struct, frozen=True):
    """What was asked for: all that is needed to begin a campaign.

    `first` has the graphs to try before any are drawn, by subject. `corpus` is the folder of
    `clonediff.harness.campaign.corpus`.
    """

    started: str
    subjects: tuple[str, ...]
    setup: Setup
    seed: int
    budget: Budget
    first: dict[str, tuple[msgspec.Raw, ...]] = {}
    corpus: str = ""
    clonediff: str = ""


class Shard(msgspec.Struct, frozen=True):
    """Graphs to try on a subject: those given, or `count` that are drawn from a seed. `turn` is its place in line.

    `opens` is for the first that draws: it tries the simplest graph of all as well.
    """

    subject: str
    turn: int
    seed: int = 0
    count: int = 0
    opens: bool = False
    graphs: tuple[msgspec.Raw, ...] = ()

    @property
    def examples(self) -> int:
        """How many graphs are drawn for it. The first is the simplest of all, which only the first shard tries."""
        return self.count + (not self.opens)


class WrittenFinding(msgspec.Struct, frozen=True):
    """A finding and the script that shows it, as its worker wrote it: that may take a Keras, and the layers it has."""

    finding: Finding
    script: str = ""

    @property
    def key(self) -> Key:
        """That of the hit."""
        return self.finding.cloner, self.finding.id


class RefusedGraph(msgspec.Struct, frozen=True):
    """The smallest of `graphs` that the release could not build for a reason."""

    why: str
    graph: msgspec.Raw
    graphs: int = 1


def _counted(*counts: Mapping[str, int]) -> dict[str, int]:
    """The sum of numbers by name. A name whose sum is zero stays: adding Counters would leave it out."""
    total: Counter[str] = Counter()
    for each in counts:
        total.update(each)
    return dict(total)


def count_refused(found: dict[str, RefusedGraph], new: RefusedGraph) -> None:
    """Count graphs to those that were refused for the same reason; after 20 reasons, the rest are one."""
    why = new.why if new.why in found or len(found) < 20 else "other reasons"
    old = found.get(why, RefusedGraph(why, new.graph, 0))
    smallest = min(bytes(old.graph), bytes(new.graph), key=lambda graph: (len(graph), graph))
    found[why] = RefusedGraph(why, msgspec.Raw(smallest), old.graphs + new.graphs)


class ShardDone(msgspec.Struct, frozen=True):
    """What came of a shard. `raw_findings` has the first graph that shows each thing that is new, as it was drawn.

    `met` has how many of its graphs showed each of these, `known` how many each known issue, and `severities` the worst
    that this did. `verdicts` counts graphs by the verdict on a cloner, `worst` by the worst that it did to them.
    `accepted` has the kinds that the release accepted a call of, `not_accepted` those that it refused each time,
    with the number of tensors that were tried and the last exception.
    """

    subject: str
    turn: int
    trials: int = 0
    seconds: float = 0.0
    verdicts: dict[str, int] = {}
    worst: dict[str, int] = {}
    known: dict[str, int] = {}
    severities: dict[str, Severity] = {}
    raw_findings: tuple[WrittenFinding, ...] = ()
    refusals: tuple[RefusedGraph, ...] = ()
    met: tuple[tuple[Key, int], ...] = ()
    losses: dict[str, int] = {}
    accepted: tuple[str, ...] = ()
    not_accepted: dict[str, tuple[int, str]] = {}

    def plus(self, more: ShardDone) -> ShardDone:
        """What came of both together; the turn is that of the first."""
        refusals = {each.why: each for each in self.refusals}
        for each in more.refusals:
            count_refused(refusals, each)
        never = dict(self.not_accepted)
        for kind, (tensors, exception) in more.not_accepted.items():
            never[kind] = never.get(kind, (0, ""))[0] + tensors, exception
        return ShardDone(
            self.subject,
            self.turn,
            trials=self.trials + more.trials,
            seconds=self.seconds + more.seconds,
            verdicts=_counted(self.verdicts, more.verdicts),
            worst=_counted(self.worst, more.worst),
            known=_counted(self.known, more.known),
            severities={
                name: min(self.severities.get(name, severity), severity)
                for name, severity in (self.severities | more.severities).items()
            },
            refusals=tuple(refusals.values()),
            losses=_counted(self.losses, more.losses),
            accepted=tuple({*self.accepted, *more.accepted}),
            not_accepted=never,
        )


class MadeSmaller(msgspec.Struct, frozen=True):
    """A raw finding after a piece of reducing: smaller, and proven; None where it did not show again.

    `trials` and `seconds` are what the piece took. `rest` is None once the finding is as small as it gets; before, it
    says of each graph that was tried whether it showed the same, "1" or "0", so that the next piece goes on there.
    """

    subject: str
    key: Key
    turn: int
    finding: Finding | None = None
    script: str = ""
    trials: int = 0
    seconds: float = 0.0
    rest: str | None = None


class SubjectStarted(msgspec.Struct, frozen=True):
    """A subject that works; or, as `lost`, why it does not work."""

    subject: str
    versions: dict[str, str] = {}
    keras: str = ""
    lost: str = ""
    clonediff: str = ""


Done: TypeAlias = ShardDone | MadeSmaller | SubjectStarted
"""What a task comes to."""
