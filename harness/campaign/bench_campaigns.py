"""How many trials a second campaigns make, beside trials that are run one after another with nothing around them.

Owns what is held against what: the same graphs of the same shards, one after the other, each once it is warm.
"""

from __future__ import annotations

import contextlib
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any

import msgspec
import psutil  # type: ignore[import-untyped]  # it comes without types

from clonediff.harness.campaign.shard_queue import ShardQueue
from clonediff.harness.campaign.shards import SIZE
from clonediff.harness.search.sampling import sample_graphs
from clonediff.harness.subjects.releases import open_subject
from clonediff.harness.subjects.subject import Subject
from clonediff.harness.trials.cases import case_of
from clonediff.harness.trials.drawable_kinds import graphs_on
from clonediff.harness.trials.graph_trials import GraphTrials
from clonediff.reports.known import KnownIssues
from clonediff.reports.reading import Event
from clonediff.reports.verdict import some

DEFAULT = 1400
"""The trials of each, unless it is told otherwise."""
WAIT = 300.0
"""The seconds without a trial after which something is wrong."""
ENDING = 60.0
"""The seconds that a campaign may take to end once it is interrupted."""

Progress = Generator[tuple[float, int], None, None]
"""How many trials were made by a moment, in seconds."""


def fewest_trials(jobs: int) -> int:
    """With fewer trials there is too little to time once each worker is warm."""
    return 2 * _warm(jobs)


def _warm(jobs: int) -> int:
    return 2 * jobs * SIZE


def campaign_speed(name: str, jobs: int, trials: int, say: Callable[[str], None]) -> dict[str, Any]:
    """Trials a second of plain trials, of a campaign with one job, and of one with `jobs`, once they are warm."""
    # By then each worker is warm, and the examples of known issues have been tried, which is no part of this.
    timed = max(_warm(jobs), trials // 4), trials
    with tempfile.TemporaryDirectory(prefix="clonediff-", ignore_cleanup_errors=True) as folder:
        plain = rate("plain trials", plain_trials(name), timed, say)
        one, many = (
            rate(some(each, "job"), trials_of(fuzz_command(name, Path(folder) / str(each), each)), timed, say)
            for each in (1, jobs)
        )
    return {
        "subject": name,
        "jobs": jobs,
        "trials": trials,
        "trials_per_second": plain,
        "one_job_per_second": one,
        "jobs_per_second": many,
        "one_job_of_plain": one / plain,
        "jobs_of_one_job": many / one,
        "jobs_of_plain_times_jobs": many / plain / jobs,
    }


def rate(name: str, progress: Progress, timed: tuple[int, int], say: Callable[[str], None]) -> float:
    """Trials a second, from one number of trials to another; what makes them is ended then."""
    first: tuple[float, int] | None = None
    with contextlib.closing(progress):
        for at, trials in progress:
            say(f"{name}: {trials} of {timed[1]} trials")
            if first is None and trials >= timed[0]:
                first = at, trials
            elif first is not None and trials >= timed[1]:
                return (trials - first[1]) / (at - first[0])
    raise RuntimeError(f"{name} ended before it had made {timed[1]} trials")


def plain_trials(name: str) -> Progress:
    """The graphs of a campaign's shards, drawn and tried in this process, without an end."""
    tried = 0
    with open_subject(Subject.parse(name)) as process:
        trials = GraphTrials(process, KnownIssues())
        shard_queue = ShardQueue(name, 0, (), None)
        for shard in iter(shard_queue.next_shard, None):
            graphs = list(sample_graphs(graphs_on(process), shard.examples, shard.seed))
            for graph in graphs[not shard.opens :]:
                trials.try_case(case_of(graph, process.subject.dialect), trials.parts(graph))
                tried += 1
            yield time.monotonic(), tried


def trials_of(command: list[str]) -> Progress:
    """The trials of a campaign that is begun by a command; the last word of that is the folder of its run."""
    events = Path(command[-1]) / "events.ndjson"
    with (
        tempfile.TemporaryFile() as said,
        subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=said) as process,
    ):
        before, since = 0, time.monotonic()
        try:
            while process.poll() is None:
                time.sleep(0.1)
                lines = events.read_bytes().split(b"\n")[:-1] if events.exists() else []
                told = [each for each in map(_EVENT.decode, lines) if each.trials]
                if told and (told[-1].trials or 0) > before:
                    before, since = told[-1].trials or 0, time.monotonic()
                    yield told[-1].at.timestamp(), before
                elif time.monotonic() - since > WAIT:
                    raise RuntimeError(f"{' '.join(command)}: made no trial in {WAIT:g} s")
            said.seek(0)
            text = said.read().decode(errors="replace").strip()
            raise RuntimeError(f"{' '.join(command)} ended with exit code {process.returncode}: {text[-500:]}")
        finally:
            _end(process)


def _end(process: subprocess.Popen[bytes]) -> None:
    """Interrupt a campaign; kill it, and all that it has started, where it does not end then."""
    process.send_signal(signal.SIGINT)
    try:
        process.wait(ENDING)
    except subprocess.TimeoutExpired:
        started = psutil.Process(process.pid).children(recursive=True)
        process.kill()
        for each in started:
            with contextlib.suppress(psutil.NoSuchProcess):
                each.kill()


def fuzz_command(name: str, folder: Path, jobs: int) -> list[str]:
    """A campaign without an end, so that no job waits for another's last shard.

    Its corpus is empty: what was found before is no part of this.
    """
    fuzz = [sys.executable, "-c", "from clonediff.harness.cli import main; main()", "fuzz", "--subject", name, "--json"]
    corpus = str(folder.with_name(f"{folder.name}-corpus"))
    return [*fuzz, "--jobs", str(jobs), "--trials", str(10**9), "--corpus", corpus, "--out", str(folder)]


_EVENT = msgspec.json.Decoder(Event)
