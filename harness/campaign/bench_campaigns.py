"""How many trials a second campaigns make, beside trials that are run one after another with nothing around them.

Owns what is held against what, and when each of them runs: the same graphs of the same shards, in turns of some seconds
in which all others are stopped, since a machine is not as fast all the time.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any

import msgspec
import psutil  # type: ignore[import-untyped]  # it comes without types

from clonediff.harness.campaign.shard_queue import ShardQueue
from clonediff.harness.campaign.shards import SIZE
from clonediff.harness.search.even_draws import evenly
from clonediff.harness.subjects.case import COSTLY
from clonediff.harness.subjects.releases import open_subject
from clonediff.harness.subjects.subject import Subject
from clonediff.harness.trials.cases import case_of
from clonediff.harness.trials.graph_trials import GraphTrials
from clonediff.harness.trials.offers import graphs_on
from clonediff.reports.known import KnownIssues

TURN = 15.0
"""The seconds of a turn; a trial's limit must not pass while the others have theirs."""
WAIT = 300.0
"""The seconds without a word after which something is wrong."""

DEFAULT = 1400
"""The trials of each, unless it is told otherwise."""

_EVENTS = "events.ndjson"


def fewest_trials(jobs: int) -> int:
    """With fewer trials there is too little to time once each worker is warm."""
    return 2 * _warm(jobs)


def _warm(jobs: int) -> int:
    return 2 * jobs * SIZE


def campaign_speed(name: str, jobs: int, trials: int, say: Callable[[str], None]) -> dict[str, Any]:
    """Trials a second of plain trials, of a campaign with one job, and of one with `jobs`, once they are warm."""
    with (
        tempfile.TemporaryDirectory(prefix="clonediff-", ignore_cleanup_errors=True) as folder,
        contextlib.ExitStack() as stack,
    ):
        place = Path(folder)
        # By then each worker is warm, and the examples of known issues have been tried, which is no part of this. The
        # same for all, so that they are timed on the same graphs.
        timed = max(_warm(jobs), trials // 4), trials
        commands = {
            "plain trials": (place / "plain", _plain_command(name, place)),
            "one job": (place / "one", _fuzz_command(name, place, "one", 1)),
            f"{jobs} jobs": (place / "many", _fuzz_command(name, place, "many", jobs)),
        }
        runners = [stack.enter_context(_running(each, timed, *command)) for each, command in commands.items()]
        began = time.monotonic()
        while not all(runner.over() for runner in runners):
            for runner in runners:
                if not runner.over():
                    runner.turn()
            done = sum(min(runner.trials(), trials) for runner in runners)
            left = (time.monotonic() - began) * (len(runners) * trials - done) / done if done else None
            told = ", ".join(f"{runner.name} {runner.trials()}" for runner in runners)
            say(f"trials: {told}" + (f"; about {left:.0f} s left" if left else ""))
        rates = [runner.rate() for runner in runners]
    return {
        "subject": name,
        "jobs": jobs,
        "trials": trials,
        "trials_per_second": rates[0],
        "one_job_per_second": rates[1],
        "jobs_per_second": rates[2],
        "one_job_of_plain": rates[1] / rates[0],
        "jobs_of_one_job": rates[2] / rates[1],
        "jobs_of_plain_times_jobs": rates[2] / rates[0] / jobs,
    }


class _Event(msgspec.Struct):
    at: str
    event: str
    trials: int = 0


_EVENT = msgspec.json.Decoder(_Event)


@dataclass(slots=True)
class _Runner:
    """A process that makes trials and writes down how many, while it is let; `turns` are when it was.

    It is timed from one number of trials to another.
    """

    name: str
    timed: tuple[int, int]
    folder: Path
    process: subprocess.Popen[bytes]
    said: IO[bytes]
    turns: list[tuple[float, float]] = field(default_factory=list)

    def turn(self) -> None:
        """Let it run for a while, but not for longer than it needs."""
        began = time.time()
        self._signal(signal.SIGCONT)
        while time.time() - began < TURN and not self.over():
            time.sleep(0.05)
            if self.process.poll() is not None:
                self.said.seek(0)
                said = self.said.read().decode(errors="replace").strip()
                raise RuntimeError(f"{self.name} ended with exit code {self.process.returncode}: {said[-500:]}")
        self.stop()
        self.turns.append((began, time.time()))
        if not self.trials() and sum(end - start for start, end in self.turns) > WAIT:
            raise RuntimeError(f"{self.name} made no trial in {WAIT:g} s")

    def stop(self) -> None:
        """Stop it and all that it started, itself first, so that it starts nothing more."""
        self._signal(signal.SIGSTOP)

    def end(self) -> None:
        """End it, and all that it started, which is found while it is still there."""
        self.stop()
        self._signal(signal.SIGKILL)
        self.process.wait()

    def over(self) -> bool:
        """Whether it has made its trials."""
        return self.trials() >= self.timed[1]

    def trials(self) -> int:
        """How many it has made."""
        marks = self._marks()
        return marks[-1][1] if marks else 0

    def rate(self) -> float:
        """Trials a second of its own time."""
        marks = self._marks()
        (began, before), (ended, after) = (next(mark for mark in marks if mark[1] >= each) for each in self.timed)
        return (after - before) / (self._own(ended) - self._own(began))

    def _own(self, at: float) -> float:
        """How long it had run at a moment."""
        return sum(min(end, at) - start for start, end in self.turns if start < at)

    def _marks(self) -> list[tuple[float, int]]:
        try:
            lines = (self.folder / _EVENTS).read_bytes().split(b"\n")[:-1]
        except FileNotFoundError:
            return []
        events = (_EVENT.decode(line) for line in lines)
        return [(datetime.fromisoformat(each.at).timestamp(), each.trials) for each in events if each.trials]

    def _signal(self, number: signal.Signals) -> None:
        with contextlib.suppress(psutil.NoSuchProcess):
            mine = psutil.Process(self.process.pid)
            below = mine.children(recursive=True) if number == signal.SIGKILL else []
            mine.send_signal(number)
            for each in below or mine.children(recursive=True):
                with contextlib.suppress(psutil.NoSuchProcess):
                    each.send_signal(number)


@contextlib.contextmanager
def _running(name: str, timed: tuple[int, int], folder: Path, command: list[str]) -> Iterator[_Runner]:
    # What it leaves behind when it is killed goes with the folder that all of them are in.
    surroundings = {**os.environ, "TMPDIR": str(folder.parent)}
    with (
        tempfile.TemporaryFile() as said,
        subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=said, env=surroundings) as process,
    ):
        runner = _Runner(name, timed, folder, process, said)
        try:
            runner.stop()
            yield runner
        finally:
            runner.end()


def _fuzz_command(name: str, place: Path, out: str, jobs: int) -> list[str]:
    # Without an end, so that no job waits for another's last shard. Its corpus is empty: what was found before is no
    # part of this.
    fuzz = [sys.executable, "-c", "from clonediff.harness.cli import main; main()", "fuzz", "--subject", name, "--json"]
    where = ["--out", str(place / out), "--corpus", str(place / f"{out}-corpus")]
    return [*fuzz, *where, "--jobs", str(jobs), "--trials", str(10**9)]


def _plain_command(name: str, place: Path) -> list[str]:
    call = f"plain_trials({name!r}, {str(place / 'plain')!r})"
    return [sys.executable, "-c", f"from {__name__} import plain_trials; {call}"]


def plain_trials(name: str, folder: str) -> None:
    """The graphs of a campaign's shards, drawn and tried in one process, without an end."""
    Path(folder).mkdir()
    tried = 0
    with open_subject(Subject.parse(name)) as process, (Path(folder) / _EVENTS).open("a", encoding="utf-8") as events:
        trials = GraphTrials(process, KnownIssues())
        shard_queue = ShardQueue(name, 0, (), None)
        for shard in iter(shard_queue.next_shard, None):
            graphs = list(evenly(graphs_on(process), shard.examples, shard.seed))
            for graph in graphs[not shard.opens :]:
                trials.try_case(case_of(graph, process.subject.dialect), COSTLY if trials.sampled(graph) else ())
                tried += 1
            event = _Event(datetime.now(UTC).isoformat(), "progress", tried)
            events.write(msgspec.json.encode(event).decode() + "\n")
            events.flush()
