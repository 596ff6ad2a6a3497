"""Gives tasks to workers until the budget is spent.

For three quarters of the time, workers draw and try graphs. Then they reduce each finding, the smallest first, and run
its script. In the remaining time, they try more graphs.
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
"""The share of the time for reducing findings, if there are any."""
MIN_SECONDS, SCRIPT_SECONDS = 5.0, 4.0
"""The least time for reducing a finding, and the usual time of its script."""
MAX_START_SECONDS = 15.0
"""Seconds of the budget that starting child processes may use; a longer start extends the run."""
MAX_FAILURES = 3
"""How many shards in a row may fail before the campaign gives up their subject."""
WAIT_SECONDS = 0.5


@dataclass(slots=True)
class NewCause:
    """A new cause on a subject: its number of graphs, shard and finding."""

    count: int = 0
    shard: int = 0
    finding: Finding | None = None
    is_reduction_started: bool = False


@dataclass(frozen=True, slots=True)
class Task:
    """A shard to try, or a cause whose finding to reduce."""

    subject: str
    work: Shard | NewCause
    seconds: float = 0.0
    is_retry: bool = False


class Campaign:
    """Tries and reduces graphs on a pool, those in `corpus` first."""

    def __init__(self, corpus: Mapping[str, Sequence[bytes]], pool: Pool, record: Record) -> None:
        self._pool, self._record, self._run = pool, record, record.run
        self._shards = (shard for shard in shards(self._run, corpus) if shard.subject not in self._run.lost)
        self._running_tasks: dict[Future[Result], Task] = {}
        self._results: queue.SimpleQueue[Future[Result]] = queue.SimpleQueue()
        self._causes: dict[tuple[str, Key], NewCause] = {}
        self._failures = dict.fromkeys(self._run.subjects, 0)
        self._deadline = math.inf
        self._longest_shard = 0.0

    def run(self) -> None:
        """Run until the budget is spent, or a signal stops it."""
        signals = (signal.SIGINT, signal.SIGTERM)
        handlers = [signal.signal(signum, lambda *_: setattr(self._run, "interrupted", True)) for signum in signals]
        try:
            while not self._run.interrupted and ((task := self._next_task()) or self._running_tasks):
                if task:
                    self._submit(task)
                else:
                    self._wait()
        except ClusterError as error:
            self._record.add_failure(str(error))
            raise
        finally:
            for signum, handler in zip(signals, handlers, strict=True):
                signal.signal(signum, handler)
            for cause in self._causes.values():
                if cause.finding is not None:
                    self._record.add_finding(msgspec.structs.replace(cause.finding, count=cause.count))
            self._run.ended = True
            self._record.write()

    def _next_task(self) -> Task | None:
        """An idle worker's task, if any: a shard or, later, the smallest finding."""
        if len(self._running_tasks) >= self._pool.jobs or len(self._run.lost) == len(self._run.subjects):
            return None
        remaining = self._deadline - time.monotonic()  # seconds, infinite at first
        rows = [
            (len(bytes(cause.finding.graph)), cause.finding.id, subject, cause)
            for (subject, _), cause in self._causes.items()
            if cause.finding is not None and not cause.is_reduction_started and subject not in self._run.lost
        ]
        reserve = REDUCING_SHARE * 60 * (self._run.minutes or 0) if rows else 0  # seconds
        if remaining > reserve + self._longest_shard and (shard := next(self._shards, None)):
            keys = (key for (subject, key), cause in self._causes.items() if subject == shard.subject and cause.finding)
            return Task(shard.subject, msgspec.structs.replace(shard, seen=tuple(keys)))
        is_drawing = any(isinstance(task.work, Shard) for task in self._running_tasks.values())
        if not rows or remaining < MIN_SECONDS + SCRIPT_SECONDS or is_drawing:
            return None
        *_, subject, cause = min(rows, key=lambda row: row[:3])
        cause.is_reduction_started = True
        return Task(subject, cause, max(MIN_SECONDS, remaining * min(1, self._pool.jobs / len(rows)) - SCRIPT_SECONDS))

    def _submit(self, task: Task) -> None:
        if isinstance(task.work, Shard):
            future = self._pool.submit(tasks.try_shard, task.work)
        else:
            future = self._pool.submit(tasks.reduce_finding, task.work.finding, task.seconds)
        self._running_tasks[future] = task
        future.add_done_callback(self._results.put)

    def _wait(self) -> None:
        """Handle the next result, if any, and report the progress."""
        try:
            self._handle_result(self._results.get(timeout=WAIT_SECONDS))
        except queue.Empty:
            self._pool.check()
        causes = [task.work for task in self._running_tasks.values() if isinstance(task.work, NewCause)]
        titles = [cause.finding.title for cause in causes if cause.finding is not None]
        self._record.update(self._deadline - time.monotonic(), titles)

    def _handle_result(self, future: Future[Result]) -> None:
        """Add the result of a task; if it failed, retry it or give up."""
        task = self._running_tasks.pop(future)
        try:
            result = future.result()
        except CancelledError as error:
            raise ClusterError("the scheduler is gone: restart it, and run again") from error
        except Exception as error:  # a fault of clonediff or a worker
            if task.subject not in self._run.lost:
                self._handle_failure(task, error)
            return
        self._record.add(task.subject, result)
        if isinstance(task.work, NewCause):
            self._add_reduction(task.work, result)
        else:
            self._add_shard(task.work, result)

    def _add_shard(self, shard: Shard, result: Result) -> None:
        self._longest_shard = max(self._longest_shard, result.counts.seconds)
        if self._deadline == math.inf and self._run.minutes is not None:
            start = time.monotonic() - result.counts.seconds
            self._deadline = max(self._record.start, start - MAX_START_SECONDS) + self._run.minutes * 60
        self._failures[shard.subject] = 0
        for key, count in result.graph_counts.items():
            self._causes.setdefault((shard.subject, key), NewCause()).count += count
        for finding in result.findings:
            cause = self._causes[shard.subject, finding.key]
            if not cause.is_reduction_started and (cause.finding is None or shard.number < cause.shard):
                cause.finding, cause.shard = finding, shard.number
                self._record.add_finding(finding)

    def _add_reduction(self, cause: NewCause, result: Result) -> None:
        assert cause.finding is not None
        if result.failure:
            self._record.add_failure(f"reducing: {cause.finding.title}: {result.failure}")
        if result.findings:
            cause.finding = msgspec.structs.replace(result.findings[0], count=cause.count)
            self._record.add_finding(cause.finding)
        else:
            self._record.remove_finding(cause.finding)
            cause.finding, cause.is_reduction_started = None, False  # the next finding of this cause is tried

    def _handle_failure(self, task: Task, error: Exception) -> None:
        """Retry a failed task once, if that may help, or record the failure."""
        subject, is_shard = task.subject, isinstance(task.work, Shard)
        is_unusable = isinstance(error, (ReleaseError, NoDeviceError))
        if not is_unusable and not task.is_retry:
            self._submit(replace(task, is_retry=True))
            return
        reason = str(error) if isinstance(error, SubjectError) else f"{type(error).__name__}: {error}"
        self._failures[subject] += is_shard
        if is_unusable or subject not in self._run.versions or self._failures[subject] == MAX_FAILURES:
            self._record.give_up(subject, reason)
        else:
            self._record.add_failure(f"{subject}: {'searching' if is_shard else 'reducing'}: {reason}")
