"""The campaign itself: it gives tasks to workers until the budget is spent.

Owns the order of tasks, what happens when a worker is lost, and when a campaign ends. The queues say what to try, and
listeners keep what comes of it.
"""

from __future__ import annotations

import queue
import signal
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from types import FrameType
from typing import Any
from uuid import uuid4

import msgspec
from distributed import Client, Future, KilledWorker

from clonediff.harness.campaign import tasks
from clonediff.harness.campaign.cluster import WAIT, ClusterError, threads
from clonediff.harness.campaign.events import (
    Event,
    Found,
    Listener,
    MakingSmaller,
    ShardEnded,
    ShardLost,
    Stopping,
    SubjectLost,
    Tick,
    Unsteady,
)
from clonediff.harness.campaign.shard_queue import FoundCause, ShardQueue
from clonediff.harness.campaign.shards import (
    Done,
    MadeSmaller,
    Plan,
    Shard,
    ShardDone,
    SubjectStarted,
    WrittenFinding,
)
from clonediff.harness.campaign.share import SCRIPT, TimeShare, piece
from clonediff.harness.search.draw_and_reduce import REDUCING
from clonediff.reports.verdict import in_words

ATTEMPTS = 5
"""How often a task is begun that loses its worker or its subject."""
FAILURES = 3
"""The shards in a row that fail on a subject before it counts as lost."""
TICK = 0.5
COUNT = 5.0
"""The seconds after which the workers are counted again."""


@dataclass(frozen=True, slots=True)
class Task:
    """Something for a worker to do. With a `case`, its `raw_finding` is made smaller for `seconds`.

    That goes on where the piece `before` ended.
    """

    what: str
    subject: str
    shard: Shard | None = None
    case: FoundCause | None = None
    raw_finding: WrittenFinding | None = None
    before: MadeSmaller | None = None
    seconds: float | None = None
    attempt: int = 0
    began: float = field(default_factory=time.monotonic)

    @property
    def took(self) -> float:
        """The seconds since it was given out."""
        return time.monotonic() - self.began

    @property
    def takes(self) -> float:
        """The seconds that it will have taken, as far as that is known."""
        return max(self.took, self.seconds + SCRIPT if self.seconds is not None else 0.0)


@dataclass(slots=True)
class Ending:
    """How a campaign ended. `failures` are shards and tasks that nobody could do."""

    interrupted: bool = False
    failures: list[str] = field(default_factory=list)


class Engine:
    """One campaign over its subjects. `time` is what its workers did with theirs."""

    def __init__(self, plan: Plan, client: Client, listeners: Sequence[Listener]) -> None:
        self._plan = plan
        self._client = client
        self._listeners = listeners
        self._trials = plan.budget.trials
        self._queues: dict[str, ShardQueue] = {}
        self._met: dict[str, SubjectStarted] = {}
        self._here: set[str] = set()
        self._busy: dict[str, float] = dict.fromkeys(plan.subjects, 0.0)
        self.time = TimeShare()
        self._failed: Counter[str] = Counter()
        self._running: dict[Future, Task] = {}
        self._again: list[Task] = []
        self._heard: queue.SimpleQueue[Future] = queue.SimpleQueue()
        self._began: float | None = None
        self._stopping = False
        self._capacity = 0
        self._counted = 0.0
        self._manned = time.monotonic()
        self.ending = Ending()

    def run(self) -> Ending:
        """Run until the budget is spent, or the user stops it."""
        with self._interruptible():
            try:
                self._submit_all()
                while self._running or (self._again and not self._stopping):
                    self._hear()
                    self._submit_all()
            except KeyboardInterrupt:
                self.ending.interrupted = True
            except ClusterError as error:
                self.ending.failures.append(str(error))
            finally:
                self._cancel()
        for name, shard_queue in self._queues.items():
            shard_queue.take_all()
            for case in shard_queue.cases.values():
                if case.unsteady:
                    self._tell(Unsteady(name, case.title, case.seen.finding if case.seen is not None else None))
        return self.ending

    @property
    def queues(self) -> dict[str, ShardQueue]:
        """What there is of each subject."""
        return self._queues

    # What is next.

    def _submit_all(self) -> None:
        self._count()
        while len(self._running) < self._capacity:
            task = self._next()
            if task is None:
                return
            self._submit(task)

    def _next(self) -> Task | None:
        if self._stopping:
            return None
        if self._again:
            return self._again.pop(0)
        for name in self._busy:
            if name not in self._here and not any(task.subject == name for task in self._running.values()):
                return Task("start_subject", name)
        # All subjects are met first: what is not met has no queue, and its share of the time waits for it.
        settled = self._next_case() if self._here.issuperset(self._busy) else None
        if settled is not None or self._over():
            return settled
        # The subject that had the least of the time so far.
        for name in sorted(self._here, key=lambda each: (self._busy[each], each)):
            shard = self._queues[name].next_shard()
            if shard is not None:
                self._busy[name] += 1e-6  # so that subjects take turns while nothing has come back
                return Task("shard", name, shard)
        return None

    def _next_case(self) -> Task | None:
        """The finding that the least time was spent on, if there is time to make it smaller."""
        waiting = {name: case for name in self._busy if (case := self._queues[name].least()) is not None}
        if not waiting or self._over(REDUCING):
            return None
        name = min(waiting, key=lambda each: waiting[each].cost)
        left, draws = self._left(), not all(self._queues[each].drawn_out for each in self._busy)
        seconds = piece(waiting[name].seconds) if draws or left is not None else None
        if seconds is not None and left is not None:
            seconds = min(seconds, left + REDUCING)
        if seconds is not None and draws and not self._over() and not self._allowed(seconds):
            return None
        found = self._queues[name].next_case()
        if found is None:
            return None
        case, shard, raw_finding = found
        self._tell(MakingSmaller(name, case.key, case.title, begins=True))
        before = case.settled if case.settled is not None and case.settled.turn == shard.turn else None
        return Task("make_smaller", name, shard, case, raw_finding, before, seconds)

    def _allowed(self, seconds: float) -> bool:
        running = self._running.values()
        drawing = sum(task.took for task in running if task.what == "shard")
        return self.time.allows(
            seconds, drawing=drawing, reducing=sum(task.takes for task in running if task.case is not None)
        )

    def _submit(self, task: Task) -> None:
        campaign = self._plan.setup.campaign
        if self._began is None and task.what != "start_subject":
            self._began = time.monotonic()  # the budget is for trials, not for starting
        call: tuple[Any, ...]
        match task.what:
            case "start_subject":
                call = tasks.start_subject, campaign, task.subject
            case "shard":
                call = tasks.try_shard, campaign, task.shard
            case _:
                call = tasks.make_smaller, campaign, task.shard, task.raw_finding, task.before, task.seconds
        future = self._client.submit(
            *call,
            key=f"clonediff-{task.what}-{campaign}-{uuid4().hex}",
            priority=0 if task.what == "shard" else 10,
            pure=False,
        )
        self._running[future] = task
        future.add_done_callback(self._heard.put)

    # What comes back.

    def _hear(self) -> None:
        try:
            future = self._heard.get(timeout=TICK)
        except queue.Empty:
            self._tell(Tick(self._left(), len(self._running)))
            return
        task = self._running.pop(future, None)
        if task is None:
            return
        lost = task.took
        try:
            done = future.result()
        except KilledWorker as error:
            self._retry(task, f"it ended its worker time and again ({error})")
        except CancelledError as error:
            raise ClusterError("the scheduler is gone") from error
        except Exception as error:  # what a worker raised, or what cannot be read of its answer
            self._give_up(task, f"{type(error).__name__}: {error}")
        else:
            match done:
                case tasks.SubjectGone(reason=reason):
                    self._retry(task, reason)
                case tasks.OurFault(reason=reason):
                    self._give_up(task, reason)
                case tasks.MachineRefused():
                    raise done.error()
                case _:
                    lost = 0.0
                    self._keep(task, done)
        finally:
            future.release()
        self.time.drawing += lost if task.what == "shard" else 0.0
        self.time.reducing += lost if task.case is not None else 0.0
        self._tell(Tick(self._left(), len(self._running)))

    def _keep(self, task: Task, done: Done) -> None:
        match done:
            case SubjectStarted(lost=reason) if reason:
                self._lose(task.subject, reason)
            case SubjectStarted():
                self._welcome(done)
            case ShardDone():
                self._failed[done.subject] = 0
                self._take(done)
            case MadeSmaller():
                self._settle(done)

    def _welcome(self, met: SubjectStarted) -> None:
        """Take a subject that works, unless its versions are not those that the campaign began with."""
        before = self._met.get(met.subject)
        if met.clonediff != self._plan.clonediff:
            self._lose(
                met.subject,
                f"{met.subject}: the worker has clonediff {met.clonediff}, the campaign is of {self._plan.clonediff}: "
                "install the same on both",
            )
        elif before is not None and before.versions != met.versions:
            self._lose(
                met.subject,
                f"{met.subject}: was {in_words(before.versions)} when the campaign began, and is "
                f"{in_words(met.versions)} now: begin a new one",
            )
        else:
            if before is None:
                self._meet(met)
            self._here.add(met.subject)

    def _meet(self, met: SubjectStarted) -> None:
        if met.subject not in self._busy:
            return
        self._met[met.subject] = met
        if met.subject not in self._queues:
            first = self._plan.first.get(met.subject, ())
            self._queues[met.subject] = ShardQueue(met.subject, self._plan.seed, first, self._trials)
        self._tell(met)

    def _take(self, done: ShardDone) -> None:
        shard_queue = self._queues.get(done.subject)
        if shard_queue is None or done.subject not in self._busy:
            return
        before = {key for key, case in shard_queue.cases.items() if case.seen is not None}
        if not shard_queue.done(done):
            return
        self._busy[done.subject] += done.seconds
        self.time.drawing += done.seconds
        self._tell(ShardEnded(done))
        for key, case in shard_queue.cases.items():
            if key not in before:
                self._tell_seen(case)

    def _settle(self, settled: MadeSmaller) -> None:
        shard_queue = self._queues.get(settled.subject)
        if shard_queue is None:
            return
        case = shard_queue.settled(settled)
        self.time.reducing += settled.seconds
        self._tell(settled)
        self._tell(MakingSmaller(settled.subject, case.key, case.title, begins=False))
        if settled.finding is not None and case.finding is not None:
            self._tell(Found(case.finding, settled.script))

    def _retry(self, task: Task, reason: str) -> None:
        """Try a task once more, if there is time."""
        late = task.shard is not None and self._over(REDUCING if task.case is not None else 0.0)
        if self._stopping or late:
            self._give_back(task)
        elif task.attempt + 1 < ATTEMPTS:
            self._again.append(replace(task, attempt=task.attempt + 1, began=time.monotonic()))
        else:
            self._give_up(task, reason)

    def _give_back(self, task: Task) -> None:
        """Leave a task undone."""
        if task.case is not None:
            self._queues[task.subject].given_back(task.case.key)
            self._tell(MakingSmaller(task.subject, task.case.key, task.case.title, begins=False))

    def _give_up(self, task: Task, reason: str) -> None:
        if task.subject in self._busy:
            self._busy[task.subject] += task.took
        if task.what == "start_subject":
            self._lose(task.subject, reason)
        elif task.case is not None:
            self._queues[task.subject].give_up(task.case.key)
            self._tell(MakingSmaller(task.subject, task.case.key, task.case.title, begins=False))
            self.ending.failures.append(f"{task.subject}: {task.case.title}: cannot be made smaller: {reason}")
        elif task.shard is not None:
            self.ending.failures.append(f"{task.subject}: shard {task.shard.turn} cannot be tried: {reason}")
            self._tell(ShardLost(task.subject, task.shard.turn, reason))
            self._take(ShardDone(task.subject, task.shard.turn))
            self._failed[task.subject] += 1
            if self._failed[task.subject] == FAILURES:
                self._lose(task.subject, f"{task.subject}: failed on {FAILURES} shards in a row: {reason}")

    def _lose(self, subject: str, reason: str) -> None:
        # What is known of it already stays; nothing more is asked of it.
        self._busy.pop(subject, None)
        self._here.discard(subject)
        self._tell(SubjectLost(subject, reason))

    # Time, and those who wait.

    def _left(self) -> float | None:
        minutes = self._plan.budget.minutes
        if minutes is None:
            return None
        return minutes * 60 - self._now()

    def _over(self, grace: float = 0.0) -> bool:
        left = self._left()
        return left is not None and left + grace <= 0

    def _now(self) -> float:
        return 0.0 if self._began is None else time.monotonic() - self._began

    def _count(self) -> None:
        now = time.monotonic()
        if not self._capacity or now - self._counted > COUNT:
            # No more than can be tried at once, so that what runs is soon done when the user has had enough.
            there = threads(self._client)
            self._counted, self._capacity = now, max(1, there)
            self._manned = now if there else self._manned
            if now - self._manned > WAIT:
                raise ClusterError(f"the cluster has had no worker for {WAIT:g} s")

    def _tell(self, event: Event) -> None:
        for listener in self._listeners:
            listener(event)

    def _tell_seen(self, case: FoundCause) -> None:
        if case.seen is not None:
            seen = msgspec.structs.replace(case.seen.finding, count=max(1, case.count))
            self._tell(Found(seen, case.seen.script, first=True))

    @contextmanager
    def _interruptible(self) -> Iterator[None]:
        if threading.current_thread() is not threading.main_thread():
            yield
            return

        def stop(number: int, frame: FrameType | None) -> None:
            if self._stopping:
                raise KeyboardInterrupt
            self._stopping = True
            self.ending.interrupted = True
            self._tell(Stopping(len(self._running)))

        before = signal.signal(signal.SIGINT, stop)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, before)

    def _cancel(self) -> None:
        for task in (*self._running.values(), *self._again):
            if task.case is not None:
                self._queues[task.subject].given_back(task.case.key)
        for future in list(self._running):
            future.cancel()
        self._running.clear()
