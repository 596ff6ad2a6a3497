"""The campaign itself: gives tasks to workers until the budget is spent.

Graphs are drawn for three quarters of the time. Then each finding is made smaller, the smallest first, and its script
is run. If there is time left, more graphs are drawn.
"""

from __future__ import annotations

import math
import signal
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, CancelledError, Executor, Future, wait
from dataclasses import dataclass, field, replace
from typing import Any

import msgspec

from clonediff.harness.campaign import tasks
from clonediff.harness.campaign.pools import ClusterError, Pool
from clonediff.harness.campaign.record import Record
from clonediff.harness.campaign.shards import Result, Setup, Shard, TaskFailed, shards
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
SAME_CAUSE = 3
"""How many of the drawn graphs of a cause are tried again; if none shows it, it is unsteady."""
TICK = 0.5


@dataclass(slots=True)
class NewCause:
    """A new cause on a subject. `drawn` has the first findings that showed it, by shard, `smaller` the reduced one."""

    count: int = 0
    drawn: list[tuple[int, Finding]] = field(default_factory=list)
    smaller: Finding | None = None
    busy: bool = False

    @property
    def first(self) -> Finding:
        """The finding of the first shard that showed the cause."""
        return self.drawn[0][1]

    @property
    def latest(self) -> Finding:
        """The finding to keep, with the number of graphs that showed the cause."""
        return msgspec.structs.replace(self.smaller or self.first, count=self.count)


@dataclass(frozen=True, slots=True)
class Task:
    """A shard, or a cause that is made smaller: a function of `tasks` and what it takes."""

    subject: str
    function: Callable[..., Result]
    arguments: tuple[Any, ...]
    cause: NewCause | None = None
    retry: bool = False


class Campaign:
    """Draws and reduces graphs on a pool, as `record.run` says. `first` has the graphs of the corpus, by subject."""

    def __init__(self, setup: Setup, first: Mapping[str, Sequence[bytes]], pool: Pool, record: Record) -> None:
        self._setup = setup
        self._pool = pool
        self._record = record
        self._run = record.run
        self._shards = (shard for shard in shards(self._run, first) if shard.subject not in self._run.lost)
        self._idle = list(pool.executors)
        self._running: dict[Future[Any], tuple[Task, Executor]] = {}
        self._causes: dict[tuple[str, Key], NewCause] = {}
        self._failures = dict.fromkeys(self._run.subjects, 0)
        self._deadline = math.inf
        self._longest = 0.0

    def run(self) -> None:
        """Run until the budget is spent, or the user stops it."""
        handler = signal.signal(signal.SIGINT, lambda *_: setattr(self._run, "interrupted", True))
        try:
            while (task := self._next()) or self._running:
                if task:
                    self._submit(task)
                else:
                    self._wait()
        except KeyboardInterrupt:
            pass
        except ClusterError as error:
            self._record.fail(str(error))
        finally:
            signal.signal(signal.SIGINT, handler)
        for cause in filter(lambda cause: cause.drawn, self._causes.values()):
            self._record.found(cause.latest)
        self._run.ended = True
        self._record.write()

    def _next(self) -> Task | None:
        """A task for an idle worker that there is time for: a shard, or the smallest finding once no shard runs."""
        if not self._idle or len(self._run.lost) == len(self._run.subjects):
            return None
        left = self._deadline - time.monotonic()  # without end before the first result
        causes = [
            cause
            for (subject, _), cause in self._causes.items()
            if cause.drawn and not cause.smaller and not cause.busy and subject not in self._run.lost
        ]
        kept = REDUCING_SHARE * 60 * (self._run.minutes or 0) if causes else 0  # seconds for making findings smaller
        if left > kept + self._longest and (shard := next(self._shards, None)):
            return Task(shard.subject, tasks.try_shard, (shard,))
        if not causes or left < LEAST + SCRIPT or any(task.cause is None for task, _ in self._running.values()):
            return None
        cause = min(causes, key=lambda cause: (len(bytes(cause.first.graph)), cause.first.id))
        cause.busy = True
        seconds = max(LEAST, left * min(1, len(self._pool.executors) / len(causes)) - SCRIPT)
        return Task(cause.first.subject, tasks.reduce_finding, (cause.first, seconds), cause=cause)

    def _wait(self) -> None:
        """Wait for a moment, or for a result."""
        done, _ = wait(self._running, timeout=TICK, return_when=FIRST_COMPLETED)
        for future in done:
            self._take(future)
        self._pool.check()
        reducing = [task.cause.first.title for task, _ in self._running.values() if task.cause is not None]
        self._record.show(self._record, self._deadline - time.monotonic(), reducing)
        if self._run.interrupted:
            raise KeyboardInterrupt

    def _submit(self, task: Task) -> None:
        executor = self._idle.pop()
        try:
            future = executor.submit(task.function, self._setup, *task.arguments)
        except BrokenExecutor:  # its process died when it had nothing to do
            executor = self._pool.replace(executor)
            future = executor.submit(task.function, self._setup, *task.arguments)
        self._running[future] = task, executor

    def _take(self, future: Future[Any]) -> None:
        """Add a result, or try the task once more, or give it up."""
        task, executor = self._running.pop(future)
        try:
            result = future.result()
        except TaskFailed as error:
            result = error
        except BrokenExecutor:
            result = TaskFailed("its worker died")
            executor = self._pool.replace(executor)
        except CancelledError as error:
            raise ClusterError("the scheduler is gone") from error
        except Exception as error:  # a worker that Dask lost too often, or a result that cannot be read
            result = TaskFailed(f"{type(error).__name__}: {error}")
        self._idle.append(executor)
        if task.subject in self._run.lost:
            return
        if isinstance(result, Result):
            self._record.add(task.subject, result)
            if task.cause is None:
                self._take_shard(task.arguments[0], result)
            else:
                self._take_reduction(task.cause, result)
        elif not result.final and not task.retry:
            self._submit(replace(task, retry=True))
        else:
            self._give_up(task, result)

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
            if cause.smaller:
                continue
            cause.drawn = sorted([*cause.drawn, (shard.turn, finding)], key=lambda pair: pair[0])[:SAME_CAUSE]
            if cause.first is finding:
                self._record.found(finding)

    def _take_reduction(self, cause: NewCause, result: Result) -> None:
        cause.busy = False
        if result.failed:
            self._record.fail(f"making smaller: {cause.first.title}: {result.failed}")
        if result.findings:
            cause.smaller = result.findings[0]
            self._record.found(cause.latest)
            return
        _, drawn = cause.drawn.pop(0)
        if not cause.drawn:
            self._record.withdraw(drawn)

    def _give_up(self, task: Task, failed: TaskFailed) -> None:
        """Record that a task failed twice; the cause of a reduction stays busy, so that nobody tries it again."""
        subject = task.subject
        self._failures[subject] += task.cause is None
        if failed.final or subject not in self._run.versions or self._failures[subject] == FAILURES:
            self._record.lose(subject, failed.reason)
        else:
            what = f"making smaller: {task.cause.first.title}" if task.cause else "a shard"
            self._record.fail(f"{subject}: {what}: {failed.reason}")
