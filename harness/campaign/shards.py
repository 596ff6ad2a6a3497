"""A campaign as data: what its tasks share, a shard, and what comes back.

A shard is a few graphs on one subject: a seed and a count. It is the same wherever and whenever it runs, so a worker
that dies costs its shard a retry.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

import msgspec

from clonediff.harness.trials.trial import Key
from clonediff.reports.known import KnownIssue
from clonediff.reports.records import Budget, Finding, Severity

SIZE = 20
"""The graphs of a shard: a few seconds of work."""
REASONS = 20
"""So many reasons of refused graphs are counted; the rest are one."""


class Setup(msgspec.Struct, frozen=True):
    """What all tasks of a campaign share. `layers` names the user's own layers."""

    campaign: str
    cloners: tuple[str, ...]
    known: tuple[KnownIssue, ...] = ()
    layers: tuple[str, ...] = ()
    at_least: Severity = Severity.NAME
    clonediff: str = ""


class Plan(msgspec.Struct, frozen=True):
    """A whole campaign. `first` has the graphs of the corpus by subject: they are tried before any are drawn."""

    started: str
    subjects: tuple[str, ...]
    setup: Setup
    seed: int
    budget: Budget
    first: dict[str, tuple[msgspec.Raw, ...]] = {}


class Shard(msgspec.Struct, frozen=True):
    """Graphs to try on a subject: those of the corpus, or `count` that are drawn from a seed.

    `turn` is its number on the subject. The shard that `opens` the draws tries the simplest graph of all as well.
    """

    subject: str
    turn: int
    seed: int = 0
    count: int = 0
    opens: bool = False
    graphs: tuple[msgspec.Raw, ...] = ()


class FindingWithScript(msgspec.Struct, frozen=True):
    """A finding and the script that shows it, which the worker writes: it has the Keras and the user's layers."""

    finding: Finding
    script: str = ""

    @property
    def key(self) -> Key:
        """That of the hit."""
        return self.finding.cloner, self.finding.id

    @property
    def size(self) -> int:
        """The length of the graph."""
        return len(bytes(self.finding.graph))


class RefusedGraphs(msgspec.Struct, frozen=True):
    """The number of graphs that the release could not build for a reason, and the smallest."""

    why: str
    graph: msgspec.Raw
    graphs: int = 1


def count_refused(refusals: dict[str, RefusedGraphs], new: RefusedGraphs) -> None:
    """Add graphs to those that were refused for the same reason."""
    why = new.why if new.why in refusals or len(refusals) < REASONS else "other reasons"
    old = refusals.get(why, RefusedGraphs(why, new.graph, 0))
    smallest = min(bytes(old.graph), bytes(new.graph), key=lambda graph: (len(graph), graph))
    refusals[why] = RefusedGraphs(why, msgspec.Raw(smallest), old.graphs + new.graphs)


def _sum(first: Mapping[str, int], second: Mapping[str, int]) -> dict[str, int]:
    """The sum of two counts. A name whose sum is zero stays: adding Counters would leave it out."""
    total = Counter(first)
    total.update(second)
    return dict(total)


class ShardResult(msgspec.Struct, frozen=True):
    """The result of a shard. `findings` has the first graph of each new cause, as it was drawn.

    `met` counts the graphs of each new cause, `known` those of each known issue, and `severities` has the worst that
    this did. `verdicts` counts graphs by the verdict on a cloner, `worst` by the worst that it did to them.
    `accepted` has the kinds that the release accepted a call of, `not_accepted` those that it refused each time,
    with the number of tensors that were tried and the last exception.
    """

    subject: str = ""
    turn: int = 0
    versions: dict[str, str] = {}
    trials: int = 0
    seconds: float = 0.0
    verdicts: dict[str, int] = {}
    worst: dict[str, int] = {}
    known: dict[str, int] = {}
    severities: dict[str, Severity] = {}
    findings: tuple[FindingWithScript, ...] = ()
    refusals: tuple[RefusedGraphs, ...] = ()
    met: tuple[tuple[Key, int], ...] = ()
    losses: dict[str, int] = {}
    accepted: tuple[str, ...] = ()
    not_accepted: dict[str, tuple[int, str]] = {}

    def plus(self, more: ShardResult) -> ShardResult:
        """The sums of both. Findings are left out: they would grow with the campaign."""
        refusals = {refused.why: refused for refused in self.refusals}
        for refused in more.refusals:
            count_refused(refusals, refused)
        not_accepted = dict(self.not_accepted)
        for kind, (tensors, exception) in more.not_accepted.items():
            not_accepted[kind] = not_accepted.get(kind, (0, ""))[0] + tensors, exception
        return ShardResult(
            versions=self.versions or more.versions,
            trials=self.trials + more.trials,
            seconds=self.seconds + more.seconds,
            verdicts=_sum(self.verdicts, more.verdicts),
            worst=_sum(self.worst, more.worst),
            known=_sum(self.known, more.known),
            severities={
                name: min(self.severities.get(name, severity), severity)
                for name, severity in (self.severities | more.severities).items()
            },
            refusals=tuple(refusals.values()),
            losses=_sum(self.losses, more.losses),
            accepted=tuple({*self.accepted, *more.accepted}),
            not_accepted=not_accepted,
        )


class Reduction(msgspec.Struct, frozen=True):
    """A finding that was made smaller and whose script was run; None where it did not show again."""

    result: FindingWithScript | None = None
    trials: int = 0
    seconds: float = 0.0


class TaskFailed(msgspec.Struct, frozen=True):
    """Why a task has no result. With `final`, the subject does not work, and another try would fail too."""

    reason: str
    final: bool = False
