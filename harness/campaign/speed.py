"""How many trials a second campaigns make, beside trials that are run one after another with nothing around them.

Owns what is held against what: the same graphs of the same shards, in turns, since a machine is not as fast all the
time. Must not import Keras, nor Dask.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from statistics import median
from typing import Any

import msgspec

from harness.campaign.docket import Docket
from harness.campaign.shards import SIZE
from harness.cases import case_of
from harness.hunting.hunt import COSTLY, Hunt
from harness.hunting.search import draw
from harness.offers import graphs_on
from harness.releases import open_subject
from harness.subjects.process import SubjectProcess
from harness.subjects.subject import Subject
from harness.trial import run
from reports.known import KnownIssues
from strategies.graph import Graph

ROUNDS = 3
CLONERS = ("upstream", "fixed")


def speed(name: str, jobs: int, trials: int, say: Callable[[str], None]) -> dict[str, Any]:
    """Trials a second of plain trials, of a campaign with one job, and of one with `jobs`, in turns; medians of ratios.

    A campaign's are counted once its subjects are warm.
    """
    subject = Subject.parse(name)
    plain, one, many = [], [], []
    with open_subject(subject) as process, tempfile.TemporaryDirectory(prefix="clonediff-") as folder:
        for turn in range(ROUNDS):
            plain.append(_plain(process, trials))
            one.append(_campaign(Path(folder), f"one-{turn}", name, 1, trials))
            many.append(_campaign(Path(folder), f"many-{turn}", name, jobs, trials))
            say(f"round {turn + 1} of {ROUNDS}: {plain[-1]:.1f}, {one[-1]:.1f}, {many[-1]:.1f} trials a second")
    return {
        "subject": name,
        "jobs": jobs,
        "trials_per_second": plain,
        "one_job_per_second": one,
        "jobs_per_second": many,
        "one_job_of_plain": median(mine / theirs for mine, theirs in zip(one, plain, strict=True)),
        "jobs_of_one_job": median(mine / theirs for mine, theirs in zip(many, one, strict=True)),
        "jobs_of_plain_times_jobs": median(mine / theirs / jobs for mine, theirs in zip(many, plain, strict=True)),
    }


def _plain(process: SubjectProcess, trials: int) -> float:
    """The graphs of a campaign's first shards, drawn and tried in one process that is warm."""
    hunt = Hunt(process, KnownIssues())
    docket = Docket(str(process.subject), 0, (), trials)
    graphs: list[Graph] = []
    began = time.perf_counter()
    for shard in iter(docket.next_shard, None):
        draw(graphs_on(process), shard.count, shard.seed, graphs.append)
    for graph in graphs:
        run(case_of(graph, process.subject.dialect), process, CLONERS, COSTLY if hunt.sampled(graph) else ())
    return len(graphs) / (time.perf_counter() - began)


def _campaign(folder: Path, out: str, name: str, jobs: int, trials: int) -> float:
    command = [sys.executable, "-c", "from harness.commands import main; main()", "fuzz", "--subject", name]
    options = ["--trials", str(trials), "--jobs", str(jobs), "--out", str(folder / out), "--json"]
    # A corpus that is empty each time: what was found before is no part of this.
    done = subprocess.run(
        [*command, *options, "--corpus", str(folder / f"{out}-corpus")], capture_output=True, text=True, check=False
    )
    if done.returncode not in (0, 1):
        raise RuntimeError(f"the campaign ended with exit code {done.returncode}: {done.stderr.strip()[-500:]}")
    marks = [
        (datetime.fromisoformat(event.at).timestamp(), event.trials)
        for event in map(_EVENT.decode, (folder / out / "events.ndjson").read_bytes().splitlines())
        if event.event == "progress"
    ]
    # By then each worker is warm, and the examples of known issues have been tried, which is no part of this.
    (began, before), (ended, after) = marks[max(jobs, len(marks) // 4)], marks[-1]
    return (after - before) / (ended - began)


class _Event(msgspec.Struct):
    at: str
    event: str
    trials: int = 0


_EVENT = msgspec.json.Decoder(_Event)

FEWEST = 4 * SIZE
"""With fewer trials for a job there is nothing to time between a first shard and a last."""
