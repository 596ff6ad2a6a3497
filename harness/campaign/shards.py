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
"""The graphs of a block, which are drawn from one seed: a second of work or a few."""
JOBS = 32
"""With more jobs than that, a shard has more blocks, so that the driver is not asked more often.

The first are small, and the next twice as large each: a worker soon learns what others found.
"""


class Setup(msgspec.Struct, frozen=True):
    """What all tasks of a campaign share. `layers` names the user's own layers."""

    campaign: str
    cloners: tuple[str, ...]
    known: tuple[KnownIssue, ...] = ()
    layers: tuple[str, ...] = ()
    at_least: Severity = Severity.NAME


class Shard(msgspec.Struct, frozen=True):
    """Graphs to try on a subject: those of the corpus, or blocks of a seed, each a number and how many graphs it has.

    Of the causes that were `seen` already, no finding is returned.
    """

    subject: str
    turn: int
    graphs: tuple[bytes, ...] = ()
    blocks: tuple[tuple[int, int], ...] = ()
    seen: tuple[Key, ...] = ()


def shards(run: Run, first: Mapping[str, Sequence[bytes]]) -> Iterator[Shard]:
    """The shards of a run, the subjects in turn; `first` has the graphs of the corpus, by subject."""
    turns = itertools.count()
    for row in itertools.zip_longest(*(_shards_of(name, run, first.get(name, ()), turns) for name in run.subjects)):
        yield from filter(None, row)


def _shards_of(subject: str, run: Run, first: Sequence[bytes], turns: Iterator[int]) -> Iterator[Shard]:
    for start in range(0, len(first), SIZE):
        yield Shard(subject, next(turns), graphs=tuple(first[start : start + SIZE]))
    starts = itertools.count(0, SIZE) if run.trials is None else iter(range(0, run.trials, SIZE))
    for turn in turns:
        some = tuple(itertools.islice(starts, min(1 + run.jobs // JOBS, 2 ** (turn // run.jobs))))
        if not some:
            return
        sizes = [SIZE if run.trials is None else min(SIZE, run.trials - start) for start in some]
        seeds = [run.seed * 1_000_003 + start // SIZE for start in some]
        yield Shard(subject, turn, blocks=tuple(zip(seeds, sizes, strict=True)))


class Result(msgspec.Struct, frozen=True):
    """The result of a task: of a shard, or of a finding that was made smaller.

    `findings` has the first graph of each new cause of the shard, or the smaller finding; nothing if it did not show
    again; `failed` says what stopped the reduction. `met` counts the graphs of each new cause. `refused` has a graph
    for each reason why the release builds none, `faulty` one for each fault of clonediff.
    """

    versions: dict[str, str]
    counts: Counts
    findings: tuple[Finding, ...] = ()
    met: dict[Key, int] = {}
    refused: dict[str, bytes] = {}
    faulty: dict[str, bytes] = {}
    failed: str = ""
