"""A campaign as data: what its tasks share, a shard, and a result.

A shard is a few graphs on one subject: a seed and a count. It is the same wherever and whenever it runs, so a worker
that dies costs its shard a retry.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence

import msgspec

from clonediff.harness.trials.trial import Key
from clonediff.reports.known import KnownIssue
from clonediff.reports.records import Counts, Finding, Run, Severity

SIZE = 10
"""The graphs of a shard: a few seconds of work."""


class Setup(msgspec.Struct, frozen=True):
    """What all tasks of a campaign share. `layers` names the user's own layers."""

    campaign: str
    cloners: tuple[str, ...]
    known: tuple[KnownIssue, ...] = ()
    layers: tuple[str, ...] = ()
    at_least: Severity = Severity.NAME


class Shard(msgspec.Struct, frozen=True):
    """Graphs to try on a subject: those of the corpus, or `count` that are drawn from a seed.

    The shard that `opens` the draws tries the simplest graph of all as well.
    """

    subject: str
    turn: int
    seed: int = 0
    count: int = 0
    opens: bool = False
    graphs: tuple[bytes, ...] = ()


def shards(run: Run, first: Mapping[str, Sequence[bytes]]) -> Iterator[Shard]:
    """The shards of a run, the subjects in turn; `first` has the graphs of the corpus, by subject."""
    turns = itertools.count()
    for row in itertools.zip_longest(*(_shards_of(name, run, first.get(name, ()), turns) for name in run.subjects)):
        yield from filter(None, row)


def _shards_of(subject: str, run: Run, first: Sequence[bytes], turns: Iterator[int]) -> Iterator[Shard]:
    for start in range(0, len(first), SIZE):
        yield Shard(subject, next(turns), graphs=tuple(first[start : start + SIZE]))
    for number in itertools.count():
        count = SIZE if run.trials is None else min(SIZE, run.trials - SIZE * number)
        if count <= 0:
            return
        yield Shard(subject, next(turns), run.seed * 1_000_003 + number, count, opens=number == 0)


class Result(msgspec.Struct, frozen=True):
    """The result of a task: of a shard, or of a finding that was made smaller.

    `findings` has the first graph of each new cause of the shard, or the smaller finding; nothing if it did not show
    again; `failed` says what stopped the reduction. `met` counts the graphs of each new cause. `refused` has a graph
    for each reason why the release builds none.
    """

    versions: dict[str, str]
    counts: Counts
    findings: tuple[Finding, ...] = ()
    met: dict[Key, int] = {}
    refused: dict[str, bytes] = {}
    failed: str = ""


class TaskFailed(Exception):
    """Why a task has no result. With `final`, the subject does not work, and another try would fail too."""

    def __init__(self, reason: str, final: bool = False) -> None:
        super().__init__(reason, final)
        self.reason = reason
        self.final = final
