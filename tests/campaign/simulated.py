"""Simulate a campaign on many workers, with the results of recorded trials.

`python -m tests.campaign.simulated WORKERS MINUTES` starts a Dask cluster of threads in another process, runs a
campaign on it, and prints the load of the driver. A worker spends as much time on a graph as a real core does.
"""

from __future__ import annotations

import functools
import importlib
import lzma
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
from msgspec.structs import replace

from clonediff.harness.campaign import tasks
from clonediff.harness.campaign.campaign import Campaign, Task
from clonediff.harness.campaign.corpus import NightlyCorpus
from clonediff.harness.campaign.pools import DaskPool
from clonediff.harness.campaign.record import Record
from clonediff.harness.campaign.shards import Result, Setup, Shard
from clonediff.reports.known import KnownIssues, load
from clonediff.reports.records import Counts, Finding, Run
from clonediff.reports.run_folder import RunFolder
from tests.helpers.example_runs import example_finding
from tests.helpers.waiting import wait_until
from tests.recorded import FILE

GRAPH_SECONDS = 0.09
"""Seconds of one core for a graph: 13,970 graphs took ten minutes on two cores."""
REDUCTION_SECONDS = 3.0
CLUSTER_SCRIPT = """
import sys, time
from distributed import LocalCluster
import tests.campaign.simulated
workers, file = int(sys.argv[1]), sys.argv[2]
cluster = LocalCluster(
    n_workers=max(1, workers // 50), threads_per_worker=min(50, workers), processes=False, host="127.0.0.1",
    protocol="tcp://", dashboard_address=None,
)
open(file, "w").write(cluster.scheduler_address)
sys.stdin.read()
"""


@functools.cache
def recorded_causes() -> list[list[str]]:
    """Return the fingerprints of the causes in each recorded trial of a drawn graph."""
    recorded = msgspec.json.decode(lzma.decompress(FILE.read_bytes()))
    drawn = [trial["causes"] for trial in recorded if trial["name"].startswith("drawn keras")]
    return [[cause.partition(" at ")[0] for cause in causes] for causes in drawn]


@functools.cache
def finding_of(id_: str) -> Finding:
    """Return a finding of the cause with this id."""
    return replace(example_finding(0), id=id_, subject="keras", known=None, smallest=False)


def simulate_shard(setup: Setup, shard: Shard) -> Result:
    """Return the result of a shard, put together from recorded trials."""
    graph_counts: Counter[tuple[str, str]] = Counter()
    findings: dict[tuple[str, str], Finding] = {}
    graphs = 0
    for seed, size in shard.blocks:
        for causes in random.Random(seed).choices(recorded_causes(), k=size):
            graphs += 1
            for cause in causes:
                key = ("upstream", cause)
                graph_counts[key] += 1
                if key not in shard.seen:
                    findings.setdefault(key, finding_of(key[1]))
    time.sleep(GRAPH_SECONDS * graphs)
    verdicts = {"upstream": {"broken": graphs}, "fixed": {"faithful": graphs}}
    known = {issue.id: {"lost-property": graphs} for issue in setup.known[:60]}
    counts = Counts(graphs=graphs, seconds=GRAPH_SECONDS * graphs, verdicts=verdicts, known=known)
    return Result({"keras": "3.15.1"}, counts, tuple(findings.values()), dict(graph_counts))


def simulate_reduction(setup: Setup, finding: Finding, seconds: float) -> Result:
    """Wait as long as a reduction takes; return the finding, marked as fully reduced."""
    time.sleep(REDUCTION_SECONDS)
    counts = Counts(reducing=30, reducing_seconds=REDUCTION_SECONDS)
    return Result({"keras": "3.15.1"}, counts, (replace(finding, smallest=True, proof=True),))


class Load(NamedTuple):
    """The load of the driver during a campaign."""

    jobs: int
    graphs: int
    causes: int
    cores: float
    mebibytes: int
    delay: float
    repeated_reductions: int

    def __str__(self) -> str:
        return (
            f"{self.jobs:,} workers, {self.graphs:,} graphs, {self.causes} causes: the driver took {self.cores:.2f} of "
            f"a core and at most {self.mebibytes} MiB; a worker learned of a cause after {self.delay:.0f} s at the "
            f"latest; {self.repeated_reductions} causes were reduced twice"
        )


class WatchedCampaign(Campaign):
    """A campaign that records how late workers learn of causes, and which causes are reduced twice."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.first_times: dict[tuple[str, str], float] = {}
        self.delay = 0.0
        self.reductions: Counter[str] = Counter()

    def _submit(self, task: Task) -> None:
        if not isinstance(task.work, Shard) and task.work.finding is not None:
            self.reductions[task.work.finding.id] += 1
        super()._submit(task)

    def _add_shard(self, shard: Shard, result: Result) -> None:
        for finding in result.findings:
            began = self.first_times.setdefault(finding.key, time.monotonic())
            self.delay = max(self.delay, time.monotonic() - began)
        super()._add_shard(shard, result)


@contextmanager
def cluster(workers: int, folder: Path) -> Iterator[str]:
    """Start a scheduler with simulated workers; yield its address."""
    file = folder / "address"
    command = [sys.executable, "-c", CLUSTER_SCRIPT, str(workers), str(file)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        try:
            wait_until(lambda: file.exists() and file.read_text(), process)
            yield file.read_text()
        finally:
            process.kill()


def _print_failure(failure: str) -> None:
    sys.stderr.write(f"{failure}\n")


def simulate(workers: int, minutes: float, folder: Path) -> Load:
    """Run a campaign on this number of workers; return the load of the driver."""
    tasks.try_shard, tasks.reduce_finding = simulate_shard, simulate_reduction
    setup = Setup("simulated", ("upstream", "fixed"), load().issues)
    run = Run("2026-11-29T00:00:00+00:00", ("keras",), minutes=minutes, jobs=workers)
    ignore: Any = lambda *_: None  # noqa: E731 - it is used twice
    corpus = NightlyCorpus(folder / "corpus")
    result = Record(RunFolder(folder / "run"), run, corpus, KnownIssues(), ignore, _print_failure, ignore)
    with cluster(workers, folder) as address:
        pool = DaskPool(address, setup)
        campaign = WatchedCampaign({}, pool, result)
        cpu, began = time.process_time(), time.monotonic()
        campaign.run()
        cores = (time.process_time() - cpu) / (time.monotonic() - began)
        pool.close()
    mebibytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
    repeated = sum(count > 1 for count in campaign.reductions.values())
    return Load(pool.jobs, run.total.graphs, len(result.findings), cores, mebibytes, campaign.delay, repeated)


if __name__ == "__main__":
    module = importlib.import_module("tests.campaign.simulated")  # workers cannot import the functions of `__main__`
    with tempfile.TemporaryDirectory() as name:
        sys.stdout.write(f"{module.simulate(int(sys.argv[1]), float(sys.argv[2]), Path(name))}\n")
