"""The campaign itself: gives tasks to workers until the budget is spent.

Three quarters of the time draw graphs. Then each finding is made smaller, the smallest first, and its script is run.
"""

from __future__ import annotations

import signal
import time
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, CancelledError, Executor, Future, wait
from dataclasses import dataclass, field, replace
from types import FrameType
from typing import Any

import msgspec

from clonediff.harness.campaign import tasks
from clonediff.harness.campaign.pools import ClusterError, Pool
from clonediff.harness.campaign.record import Record
from clonediff.harness.campaign.shards import (
    SIZE,
    FindingWithScript,
    Plan,
    Reduction,
    Shard,
    ShardResult,
    TaskFailed,
)
from clonediff.harness.trials.trial import Key
from clonediff.reports.verdict import in_words

REDUCING = 1 / 4
"""The share of the time for making findings smaller, where there are any."""
LEAST = 5.0
"""The seconds that a finding has at least to be made smaller."""
FAILURES = 3
"""After so many shards in a row that fail, a subject is given up."""
SAME_CAUSE = 3
"""So many drawn graphs of a cause are tried again; if none shows it, it is unsteady."""
TICK = 0.5


@dataclass(slots=True)
class CauseFound:
    """A cause on a subject. `drawn` has the first graphs that showed it, by shard, and `result` the reduced finding."""

    count: int = 0
    drawn: list[tuple[int, FindingWithScript]] = field(default_factory=list)
    tries: int = 0
    busy: bool = False
    result: FindingWithScript | None = None

    @property
    def open(self) -> bool:
        """Whether it can be made smaller."""
        return bool(self.drawn) and self.result is None and not self.busy

    @property
    def latest(self) -> FindingWithScript | None:
        """The finding to keep, with the number of graphs that showed the cause."""
        latest = self.result or (self.drawn[0][1] if self.drawn else None)
        if latest is None:
            return None
        return msgspec.structs.replace(latest, finding=msgspec.structs.replace(latest.finding, count=self.count))


class SubjectQueue:
    """The shards of a subject and the causes that were found on it."""

    def __init__(self, name: str, plan: Plan) -> None:
        self.name = name
        self.causes: dict[Key, CauseFound] = {}
        self.seconds = 0.0
        self.failures = 0
        self.versions: dict[str, str] = {}
        self._plan = plan
        self._next = 0
        self._done: set[int] = set()
        self._whole = 0

    def shard(self) -> Shard | None:
        """The next shard; None where there is no more to try."""
        first, trials = self._plan.first.get(self.name, ()), self._plan.budget.trials
        turn, graphs = self._next, first[self._next * SIZE : (self._next + 1) * SIZE]
        number = turn - -(-len(first) // SIZE)
        count = SIZE if trials is None else min(SIZE, trials - SIZE * number)
        if not graphs and count <= 0:
            return None
        self._next += 1
        if graphs:
            return Shard(self.name, turn, graphs=graphs)
        return Shard(self.name, turn, self._plan.seed * 1_000_003 + number, count, opens=number == 0)

    def take(self, turn: int, result: ShardResult) -> list[FindingWithScript]:
        """Add the causes of a shard, and return the findings that are now the first of their cause."""
        self._done.add(turn)
        while self._whole in self._done:
            self._done.remove(self._whole)
            self._whole += 1
        first = []
        for key, count in result.met:
            self.causes.setdefault(key, CauseFound()).count += count
        for finding in result.findings:
            cause = self.causes[finding.key]
            cause.drawn = sorted([*cause.drawn, (turn, finding)], key=lambda pair: pair[0])[: SAME_CAUSE - cause.tries]
            if cause.result is None and cause.drawn and cause.drawn[0][1] is finding and not cause.tries:
                first.append(finding)
        return first

    def open(self) -> list[tuple[int, str, Key]]:
        """The causes that can be made smaller, with their sizes: those that no earlier shard can still show."""
        return [
            (cause.drawn[0][1].size, self.name, key)
            for key, cause in self.causes.items()
            if cause.open and cause.drawn[0][0] < self._whole
        ]


@dataclass(frozen=True, slots=True)
class Task:
    """A shard, or the cause `key` that is made smaller for `seconds`."""

    subject: str
    shard: Shard | None = None
    key: Key = ("", "")
    seconds: float | None = None
    retry: bool = False


class Campaign:
    """Runs a plan on a pool. `failures` are the tasks that could not be done, even in a second try."""

    def __init__(self, plan: Plan, pool: Pool, record: Record) -> None:
        self.interrupted = False
        self.failures: list[str] = []
        self._plan = plan
        self._pool = pool
        self._record = record
        self._idle = list(pool.executors)
        self._queues = {name: SubjectQueue(name, plan) for name in plan.subjects}
        self._lost: set[str] = set()
        self._retries: list[Task] = []
        self._running: dict[Future[Any], tuple[Task, Executor]] = {}
        self._began: float | None = None

    def run(self) -> None:
        """Run until the budget is spent, or the user stops it."""
        handler = signal.signal(signal.SIGINT, self._interrupt)
        try:
            self._loop()
        except ClusterError as error:
            self.failures.append(str(error))
        finally:
            signal.signal(signal.SIGINT, handler)
        for queue in self._queues.values():
            for cause in queue.causes.values():
                if cause.latest is not None:
                    self._record.found(cause.latest)

    def _loop(self) -> None:
        while not self.interrupted:
            while self._idle and (task := self._next()) is not None:
                self._submit(task, self._idle.pop())
            if not self._running:
                return
            done, _ = wait(self._running, timeout=TICK, return_when=FIRST_COMPLETED)
            for future in done:
                self._take(future)
            self._pool.check()
            self._record.progress(self._left(), self._reducing())

    def _interrupt(self, number: int, frame: FrameType | None) -> None:
        self.interrupted = True
        signal.signal(signal.SIGINT, signal.default_int_handler)

    def _reducing(self) -> list[str]:
        titles = []
        for task, _ in self._running.values():
            if task.shard is None and (latest := self._queues[task.subject].causes[task.key].latest) is not None:
                titles.append(latest.finding.title)
        return titles

    def _left(self) -> float | None:
        """The seconds that are left, where they are limited. The time begins with the first result."""
        minutes = self._plan.budget.minutes
        if minutes is None:
            return None
        return minutes * 60 - (0.0 if self._began is None else time.monotonic() - self._began)

    def _next(self) -> Task | None:
        left = self._left()
        if left is not None and left <= 0:
            return None
        if self._retries:
            return self._retries.pop()
        if left is not None and left < (self._plan.budget.minutes or 0) * 60 * REDUCING:
            return self._next_cause(left) or self._next_shard()
        return self._next_shard() or self._next_cause(left)

    def _next_shard(self) -> Task | None:
        """A shard of the subject that had the least of the time."""
        for queue in sorted(self._queues.values(), key=lambda queue: queue.seconds):
            if queue.name not in self._lost and (shard := queue.shard()) is not None:
                queue.seconds += 1e-6  # subjects take turns while there are no results
                return Task(queue.name, shard)
        return None

    def _next_cause(self, left: float | None) -> Task | None:
        """The smallest finding, with its part of the time that is left."""
        causes = sorted(
            each for queue in self._queues.values() if queue.name not in self._lost for each in queue.open()
        )
        if not causes:
            return None
        _, subject, key = causes[0]
        self._queues[subject].causes[key].busy = True
        if left is None:
            return Task(subject, key=key)
        return Task(subject, key=key, seconds=max(LEAST, left * min(1, len(self._pool.executors) / len(causes))))

    def _submit(self, task: Task, executor: Executor) -> None:
        setup = self._plan.setup
        if task.shard is not None:
            future: Future[Any] = executor.submit(tasks.try_shard, setup, task.shard)
        else:
            drawn = self._queues[task.subject].causes[task.key].drawn[0][1]
            future = executor.submit(tasks.reduce_finding, setup, drawn, task.seconds)
        self._running[future] = task, executor

    def _take(self, future: Future[Any]) -> None:
        task, executor = self._running.pop(future)
        try:
            result = future.result()
        except BrokenExecutor:
            result = TaskFailed("its worker died")
            executor = self._pool.replace(executor)
        except CancelledError as error:
            raise ClusterError("the scheduler is gone") from error
        except Exception as error:  # a worker that Dask lost too often, or a result that cannot be read
            result = TaskFailed(f"{type(error).__name__}: {error}")
        self._idle.append(executor)
        match result:
            case ShardResult():
                self._take_shard(result)
            case Reduction():
                self._take_reduction(task, result)
            case TaskFailed(reason, final):
                self._fail(task, reason, final)

    def _take_shard(self, result: ShardResult) -> None:
        queue = self._queues[result.subject]
        if self._began is None:
            self._began = time.monotonic() - result.seconds
        if queue.versions and queue.versions != result.versions:
            before, now = in_words(queue.versions), in_words(result.versions)
            self._lose(queue.name, f"{queue.name}: one worker has {before}, another {now}")
        if queue.name in self._lost:
            return
        queue.versions, queue.failures = result.versions, 0
        queue.seconds += result.seconds
        self._record.shard(result)
        for finding in queue.take(result.turn, result):
            self._record.found(finding)

    def _take_reduction(self, task: Task, reduction: Reduction) -> None:
        cause = self._queues[task.subject].causes[task.key]
        cause.busy = False
        self._record.reduced(task.subject, reduction)
        if reduction.result is not None:
            cause.result = reduction.result
            if cause.latest is not None:
                self._record.found(cause.latest)
            return
        cause.tries += 1
        _, drawn = cause.drawn.pop(0)
        if not cause.drawn:
            self._record.unsteady(drawn.finding)

    def _fail(self, task: Task, reason: str, final: bool) -> None:
        """Try a task once more, or give it up."""
        queue = self._queues[task.subject]
        if task.subject in self._lost:
            return
        if not final and not task.retry:
            self._retries.append(replace(task, retry=True))
            return
        if task.shard is None:
            cause = queue.causes[task.key]
            if cause.latest is not None:  # it stays busy: nobody tries it again
                self.failures.append(f"{queue.name}: {cause.latest.finding.title}: cannot be made smaller: {reason}")
            return
        queue.failures += 1
        queue.take(task.shard.turn, ShardResult())
        if final or not queue.versions or queue.failures == FAILURES:
            self._lose(queue.name, reason)
        else:
            self.failures.append(f"{queue.name}: shard {task.shard.turn} cannot be tried: {reason}")
            self._record.warn(self.failures[-1])

    def _lose(self, subject: str, reason: str) -> None:
        if subject not in self._lost:
            self._lost.add(subject)
            self._record.lose(subject, reason)
