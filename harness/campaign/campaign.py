"""The campaign itself: gives tasks to workers until the budget is spent.

Graphs are drawn for three quarters of the time. Then each finding is made smaller, the smallest first, and its script
is run. If there is time left, more graphs are drawn.
"""

from __future__ import annotations

import math
import queue
import signal
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import CancelledError, Future
from dataclasses import dataclass, replace

import msgspec

from clonediff.harness.campaign import tasks
from clonediff.harness.campaign.pools import ClusterError, Pool
from clonediff.harness.campaign.record import Record
from clonediff.harness.campaign.shards import Result, Shard, shards
from clonediff.harness.subjects.outcomes import NoDeviceError, ReleaseError, SubjectError
from clonediff.harness.trials.trial import Key
from clonediff.reports.records import Finding

REDUCING_SHARE = 1 / 4
"""The share of the time for making findings smaller, where there are any."""
LEAST, SCRIPT = 5.0, 4.0
"""The least seconds that a finding gets to be made smaller, and about how many its script takes."""
STARTING = 15.0
"""The most seconds of the budget that starting may use; a longer start, such as an installation, extends the run."""
FAILURES = 3
"""A subject is given up after this many shards in a row have failed."""
TICK = 0.5


@dataclass(slots=True)
class NewCause:
    """A new cause on a subject: how many graphs show it, and the finding of the first shard that did, or a smaller."""

    count: int = 0
    turn: int = 0
    finding: Finding | None = None
    reduced: bool = False


@dataclass(frozen=True, slots=True)
class Task:
    """A shard that is tried, or a cause that is made smaller."""

    subject: str
    what: Shard | NewCause
    seconds: float = 0.0
    again: bool = False


class Campaign:
    """Draws and reduces graphs on a pool, as `record.run` says. `first` has the graphs of the corpus, by subject."""

    def __init__(self, first: Mapping[str, Sequence[bytes]], pool: Pool, record: Record) -> None:
        self._pool, self._record, self._run = pool, record, record.run
        self._shards = (shard for shard in shards(self._run, first) if shard.subject not in self._run.lost)
        self._running: dict[Future[Result], Task] = {}
        self._drawing = 0
        self._done: queue.SimpleQueue[Future[Result]] = queue.SimpleQueue()
        self._causes: dict[tuple[str, Key], NewCause] = {}
        self._failures = dict.fromkeys(self._run.subjects, 0)
        self._deadline = math.inf
        self._longest = 0.0

    def run(self) -> None:
        """Run until the budget is spent, or the user or the machine stops it."""
        stops = (signal.SIGINT, signal.SIGTERM)
        handlers = [signal.signal(stop, lambda *_: setattr(self._run, "interrupted", True)) for stop in stops]
        try:
            while not self._run.interrupted and ((task := self._next()) or self._running):
                if task:
                    self._submit(task)
                else:
                    self._wait()
        except ClusterError as error:
            self._record.fail(str(error))
            raise
        finally:
            for stop, handler in zip(stops, handlers, strict=True):
                signal.signal(stop, handler)
            for cause in self._causes.values():
                if cause.finding is not None:
                    self._record.found(msgspec.structs.replace(cause.finding, count=cause.count))
            self._run.ended = True
            self._record.write()

    def _next(self) -> Task | None:
        """A task for an idle worker that there is time for: a shard, or the smallest finding once no shard runs."""
        if len(self._running) >= self._pool.jobs or len(self._run.lost) == len(self._run.subjects):
            return None
        left = self._deadline - time.monotonic()  # without end before the first result
        found = [
            (len(bytes(cause.finding.graph)), cause.finding.id, subject, cause)
            for (subject, _), cause in self._causes.items()
            if cause.finding is not None and not cause.reduced and subject not in self._run.lost
        ]
        kept = REDUCING_SHARE * 60 * (self._run.minutes or 0) if found else 0  # seconds for making findings smaller
        if left > kept + self._longest and (shard := next(self._shards, None)):
            keys = (key for (subject, key), cause in self._causes.items() if subject == shard.subject and cause.finding)
            return Task(shard.subject, msgspec.structs.replace(shard, seen=tuple(keys)))
        if not found or left < LEAST + SCRIPT or self._drawing:
            return None
        *_, subject, cause = min(found, key=lambda row: row[:3])
        cause.reduced = True
        return Task(subject, cause, max(LEAST, left * min(1, self._pool.jobs / len(found)) - SCRIPT))

    def _submit(self, task: Task) -> None:
        if isinstance(task.what, Shard):
            future = self._pool.submit(tasks.try_shard, task.what)
            self._drawing += 1
        else:
            future = self._pool.submit(tasks.reduce_finding, task.what.finding, task.seconds)
        self._running[future] = task
        future.add_done_callback(self._done.put)

    def _wait(self) -> None:
        """Wait for a moment, or for a result."""
        try:
            self._take(self._done.get(timeout=TICK))
        except queue.Empty:
            self._pool.check()
        causes = [task.what for task in self._running.values() if isinstance(task.what, NewCause)]
        reducing = [cause.finding.title for cause in causes if cause.finding is not None]
        self._record.show(self._deadline - time.monotonic(), reducing)

    def _take(self, future: Future[Result]) -> None:
        """Add a result, or try the task once more, or give it up."""
        task = self._running.pop(future)
        self._drawing -= isinstance(task.what, Shard)
        try:
            result = future.result()
        except CancelledError as error:
            raise ClusterError("the scheduler is gone") from error
        except Exception as error:  # a fault of ours, or of a worker, ends no campaign
            if task.subject not in self._run.lost:
                self._take_failure(task, error)
            return
        self._record.add(task.subject, result)
        if isinstance(task.what, NewCause):
            self._take_smaller(task.what, result)
        else:
            self._take_shard(task.what, result)

    def _take_shard(self, shard: Shard, result: Result) -> None:
        self._longest = max(self._longest, result.counts.seconds)
        if self._deadline == math.inf and self._run.minutes is not None:
            started = time.monotonic() - result.counts.seconds
            self._deadline = max(self._record.began, started - STARTING) + self._run.minutes * 60
        self._failures[shard.subject] = 0
        for key, count in result.met.items():
            self._causes.setdefault((shard.subject, key), NewCause()).count += count
        for finding in result.findings:
            cause = self._causes[shard.subject, finding.key]
            if not cause.reduced and (cause.finding is None or shard.turn < cause.turn):
                cause.finding, cause.turn = finding, shard.turn
                self._record.found(finding)

    def _take_smaller(self, cause: NewCause, result: Result) -> None:
        assert cause.finding is not None
        if result.failed:
            self._record.fail(f"making smaller: {cause.finding.title}: {result.failed}")
        if result.findings:
            cause.finding = msgspec.structs.replace(result.findings[0], count=cause.count)
            self._record.found(cause.finding)
        else:
            self._record.withdraw(cause.finding)
            cause.finding, cause.reduced = None, False  # what shows it next is tried

    def _take_failure(self, task: Task, error: Exception) -> None:
        """Try the task once more unless that is of no use, or record that it failed."""
        subject, shard = task.subject, isinstance(task.what, Shard)
        unusable = isinstance(error, (ReleaseError, NoDeviceError))
        if not unusable and not task.again:
            self._submit(replace(task, again=True))
            return
        reason = str(error) if isinstance(error, SubjectError) else f"{type(error).__name__}: {error}"
        self._failures[subject] += shard
        if unusable or subject not in self._run.versions or self._failures[subject] == FAILURES:
            self._record.lose(subject, reason)
        else:
            self._record.fail(f"{subject}: {'a shard' if shard else 'making smaller'}: {reason}")
