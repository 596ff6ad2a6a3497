"""A campaign as data: what all of it shares, its shards, and what comes back of each.

A shard is a few graphs on one subject. It is the same wherever and whenever it runs, so a worker that is lost loses
nothing: the shard runs again. What comes back is small, since it crosses the network and is kept for whoever resumes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import TypeAlias

import msgspec

from clonediff.harness.subjects.outcomes import Statement
from clonediff.harness.trials.graph_trials import Key
from clonediff.reports.coverage import Counting
from clonediff.reports.known import KnownIssue
from clonediff.reports.records import FORMAT, Budget, Cost, Coverage, Finding
from clonediff.strategies.states import RATE

SIZE = 50
"""Graphs in a shard: some seconds of work, which is what a lost worker costs."""


class Setup(msgspec.Struct, frozen=True):
    """What every shard of a campaign shares. `across` has, by subject, those that it is compared with.

    `journals` is where a worker writes the trial that it is on; "" where the workers have a disk of their own.
    Of `state_rate` drawn graphs to which something is done before they are cloned, with one it is something costly.
    `layers` names those that are drawn beside Keras' own. `reach` is whether the lines are counted that trials run of a
    release's cloning code. What costs less than `at_least` is left out.
    """

    campaign: str
    cloners: tuple[str, ...]
    rate: int
    known: tuple[KnownIssue, ...] = ()
    across: dict[str, tuple[str, ...]] = {}
    journals: str = ""
    reach: bool = False
    state_rate: int = RATE
    layers: tuple[str, ...] = ()
    at_least: Cost = Cost.NAME


class Plan(msgspec.Struct, frozen=True):
    """What was asked for: enough to begin a campaign, and to go on with it.

    `first` has the graphs to try before any are drawn, by subject. `corpus` and `database` are of
    `clonediff.harness.campaign.corpus`.
    """

    started: str
    subjects: tuple[str, ...]
    setup: Setup
    seed: int
    budget: Budget
    first: dict[str, tuple[msgspec.Raw, ...]] = {}
    corpus: str = ""
    database: str | None = None
    clonediff: str = ""
    format: int = FORMAT


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
        """How many are drawn for it: the simplest of all comes first, and is tried by one shard only."""
        return self.count + (not self.opens)


class WrittenFinding(msgspec.Struct, frozen=True):
    """A finding and the script that shows it, as its worker wrote it: that may take a Keras, and the layers it has."""

    finding: Finding
    script: str = ""

    @property
    def key(self) -> Key:
        """That of the hit."""
        return self.finding.cloner, self.finding.id, " ".join(self.finding.across)


class RefusedGraph(msgspec.Struct, frozen=True):
    """The smallest of `graphs` that the release could not build for a reason."""

    why: str
    graph: msgspec.Raw
    graphs: int = 1


def _counted(*counts: Mapping[str, int]) -> dict[str, int]:
    """The sum of numbers by name."""
    return dict(sum(map(Counter, counts), Counter()))


def count_refused(found: dict[str, RefusedGraph], new: RefusedGraph) -> None:
    """Count graphs to those that were refused for the same reason; after 20 reasons, the rest are one."""
    why = new.why if new.why in found or len(found) < 20 else "other reasons"
    old = found.get(why, RefusedGraph(why, new.graph, 0))
    smallest = min(bytes(old.graph), bytes(new.graph), key=lambda graph: (len(graph), graph))
    found[why] = RefusedGraph(why, msgspec.Raw(smallest), old.graphs + new.graphs)


class ShardDone(msgspec.Struct, frozen=True, tag="shard"):
    """What came of a shard. `raw_findings` has the first graph that shows each thing that is new, as it was drawn.

    `met` has how many of its graphs showed each of these, `known` how many each known issue, and `costs` the worst that
    this cost. `verdicts` counts graphs by the verdict on a cloner, `worst` by the worst that it did to them.

    `states` counts the graphs to which something costly is done before they are cloned, which took `stating` seconds.
    `accepted` has the kinds of which the release accepted a call, `not_accepted` those of which it accepted none, each
    with the number of tensors on which it was proposed, and the last exception.
    """

    subject: str
    turn: int
    trials: int = 0
    costly: int = 0
    states: int = 0
    stating: float = 0.0
    seconds: float = 0.0
    verdicts: dict[str, int] = {}
    worst: dict[str, int] = {}
    known: dict[str, int] = {}
    costs: dict[str, Cost] = {}
    raw_findings: tuple[WrittenFinding, ...] = ()
    refusals: tuple[RefusedGraph, ...] = ()
    met: tuple[tuple[Key, int], ...] = ()
    coverage: Coverage = Coverage()
    compared: dict[str, int] = {}
    not_compared: dict[str, dict[str, int]] = {}
    restarts: int = 0
    reached: dict[str, tuple[int, ...]] = {}
    accepted: tuple[str, ...] = ()
    not_accepted: dict[str, tuple[int, str]] = {}

    def plus(self, more: ShardDone) -> ShardDone:
        """What came of both together; the turn is that of the first."""
        refusals = {each.why: each for each in self.refusals}
        for each in more.refusals:
            count_refused(refusals, each)
        counting = Counting()
        for coverage in (self.coverage, more.coverage):
            counting.include(coverage)
        never = dict(self.not_accepted)
        for kind, (tensors, exception) in more.not_accepted.items():
            never[kind] = never.get(kind, (0, ""))[0] + tensors, exception
        return ShardDone(
            self.subject,
            self.turn,
            trials=self.trials + more.trials,
            costly=self.costly + more.costly,
            states=self.states + more.states,
            stating=self.stating + more.stating,
            seconds=self.seconds + more.seconds,
            verdicts=_counted(self.verdicts, more.verdicts),
            worst=_counted(self.worst, more.worst),
            known=_counted(self.known, more.known),
            costs={name: min(self.costs.get(name, cost), cost) for name, cost in (self.costs | more.costs).items()},
            refusals=tuple(refusals.values()),
            coverage=counting.coverage(),
            compared=_counted(self.compared, more.compared),
            not_compared={
                name: _counted(self.not_compared.get(name, {}), more.not_compared.get(name, {}))
                for name in self.not_compared | more.not_compared
            },
            restarts=self.restarts + more.restarts,
            reached={
                name: tuple({*self.reached.get(name, ()), *more.reached.get(name, ())})
                for name in self.reached | more.reached
            },
            accepted=tuple({*self.accepted, *more.accepted}),
            not_accepted=never,
        )


class MadeSmaller(msgspec.Struct, frozen=True, tag="settled"):
    """What came of a raw finding by now: the finding made smaller and proven, or None where it did not show again.

    `trials` and `seconds` are what this piece took. Without a `rest` it is as small as it gets. With one, the reducer
    can go on where this piece ended: it says of each graph that was tried whether it showed the same, "1" or "0".
    """

    subject: str
    key: Key
    turn: int
    finding: Finding | None = None
    script: str = ""
    trials: int = 0
    seconds: float = 0.0
    rest: str | None = None


class KnownRetried(msgspec.Struct, frozen=True, tag="examined"):
    """Whether each known issue's example still breaks, on one subject; None where it could not be tried.

    `examples` has what those show that do.
    """

    subject: str
    breaks: dict[str, bool | None] = {}
    examples: dict[str, WrittenFinding] = {}


class SubjectStarted(msgspec.Struct, frozen=True, tag="met"):
    """A subject that works, and where it came from; or, as `lost`, why it does not work.

    `layers` has the layer classes that may be drawn.
    """

    subject: str
    versions: dict[str, str] = {}
    how: str = ""
    keras: str = ""
    lost: str = ""
    clonediff: str = ""
    statements: dict[str, tuple[Statement, ...]] = {}
    layers: tuple[str, ...] = ()


class Spent(msgspec.Struct, frozen=True, tag="spent"):
    """How many seconds of its budget a campaign has spent by now, over all the times that it ran."""

    seconds: float


Done: TypeAlias = ShardDone | MadeSmaller | KnownRetried | SubjectStarted | Spent
"""What is kept of a campaign that may have to go on: a line each."""
