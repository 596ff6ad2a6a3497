"""The data of a campaign's tasks: setup, shards, and results.

A shard is a few graphs on one subject, given by seeds and counts, so it can be retried on another worker.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence

import msgspec

from clonediff.harness.trials.trial import Key
from clonediff.reports.known import KnownIssue
from clonediff.reports.records import Counts, Finding, Run, Severity

BLOCK_SIZE = 10
"""How many graphs to draw from one seed."""
JOBS_PER_BLOCK = 32
"""A shard has one more block for every 32 jobs. The first shards are small, to share findings soon."""


class Setup(msgspec.Struct, frozen=True):
    """The settings that all tasks share."""

    campaign: str
    cloners: tuple[str, ...]
    known: tuple[KnownIssue, ...] = ()
    layers: tuple[str, ...] = ()
    at_least: Severity = Severity.NAME


class Shard(msgspec.Struct, frozen=True):
    """Graphs to try: from the corpus, or drawn in blocks, each a seed and a count.

    `number` counts the shards of a run. Findings of causes in `seen` are not returned.
    """

    subject: str
    number: int
    graphs: tuple[bytes, ...] = ()
    blocks: tuple[tuple[int, int], ...] = ()
    seen: tuple[Key, ...] = ()


def shards(run: Run, corpus: Mapping[str, Sequence[bytes]]) -> Iterator[Shard]:
    """Yield a run's shards, in turn for each subject, the corpus first."""
    numbers = itertools.count()
    for row in itertools.zip_longest(*(_shards_of(name, run, corpus.get(name, ()), numbers) for name in run.subjects)):
        yield from filter(None, row)


def _shards_of(subject: str, run: Run, corpus: Sequence[bytes], numbers: Iterator[int]) -> Iterator[Shard]:
    for start in range(0, len(corpus), BLOCK_SIZE):
        yield Shard(subject, next(numbers), graphs=tuple(corpus[start : start + BLOCK_SIZE]))
    starts = itertools.count(0, BLOCK_SIZE) if run.trials is None else iter(range(0, run.trials, BLOCK_SIZE))
    for number in numbers:
        block_count = min(1 + run.jobs // JOBS_PER_BLOCK, 2 ** (number // run.jobs))
        block_starts = tuple(itertools.islice(starts, block_count))
        if not block_starts:
            return
        sizes = [BLOCK_SIZE if run.trials is None else min(BLOCK_SIZE, run.trials - start) for start in block_starts]
        seeds = [run.seed * 1_000_003 + start // BLOCK_SIZE for start in block_starts]
        yield Shard(subject, number, blocks=tuple(zip(seeds, sizes, strict=True)))


class Result(msgspec.Struct, frozen=True):
    """The result of a task, which tries a shard or reduces a finding.

    `findings` has the first finding of each new cause of a shard, or the reduced finding, unless it is flaky. `failure`
    says why the reduction stopped early. `graph_counts` has the number of graphs of each new cause. `refused_examples`
    has a graph for each reason of a refusal, `fault_examples` for each fault of clonediff.
    """

    versions: dict[str, str]
    counts: Counts
    findings: tuple[Finding, ...] = ()
    graph_counts: dict[Key, int] = {}
    refused_examples: dict[str, bytes] = {}
    fault_examples: dict[str, bytes] = {}
    failure: str = ""
