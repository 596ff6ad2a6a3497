"""What is left to try on one subject, what was tried, and what came of each cause that was found.

Shards come back in any order and are taken in the order of their turns. So the first raw finding of a cause, the one
that is made smaller, does not depend on how many workers there are. Pure: no clock, no process, no file.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import msgspec

from clonediff.harness.campaign.shards import SIZE, MadeSmaller, Shard, ShardDone, WrittenFinding
from clonediff.harness.trials.trial import Key
from clonediff.reports.records import Finding

MOST_TRIES = 3
"""A cause is unsteady once so many of its raw findings did not show again."""


@dataclass(slots=True)
class FoundCause:
    """One cause: how often it was met, the raw findings that wait, with their turns, and what came of one.

    `seen` is the first raw finding. `heard` counts those that were made as small as they get, or did not show again.
    `seconds` is what was spent on making it smaller.
    """

    key: Key
    count: int = 0
    heard: int = 0
    waiting: list[tuple[int, WrittenFinding]] = field(default_factory=list)
    under_way: bool = False
    given_up: bool = False
    settled: MadeSmaller | None = None
    seen: WrittenFinding | None = None
    seconds: float = 0.0

    @property
    def finished(self) -> bool:
        """Whether it is as small as it gets."""
        return self.settled is not None and self.settled.rest is None

    @property
    def finding(self) -> Finding | None:
        """What is kept of it, where it was settled, as often as it was met."""
        return self.latest.finding if self.settled is not None and self.latest is not None else None

    @property
    def latest(self) -> WrittenFinding | None:
        """What is kept of it, made smaller or as it was drawn; None where there is nothing to keep."""
        if self.settled is not None and self.settled.finding is not None:
            finding, script = self.settled.finding, self.settled.script
        elif self.waiting:
            finding, script = self.waiting[0][1].finding, self.waiting[0][1].script
        else:
            return None
        return WrittenFinding(msgspec.structs.replace(finding, count=max(1, self.count)), script)

    @property
    def cost(self) -> tuple[float, int]:
        """What it is ordered by: the cause that had the least time is made smaller next, and of these the smallest.

        So each has a piece of the time before any has two.
        """
        return self.seconds, len(bytes(self.latest.finding.graph)) if self.latest is not None else 0

    @property
    def unsteady(self) -> bool:
        """Whether none of its raw findings showed again."""
        return self.heard > 0 and self.settled is None and not self.waiting and not self.under_way

    @property
    def title(self) -> str:
        """What to call it."""
        if self.settled is not None and self.settled.finding is not None:
            return self.settled.finding.title
        return self.seen.finding.title if self.seen is not None else self.key[1]


class ShardQueue:
    """The shards and the cases of one subject.

    The graphs given come first, then `trials` drawn ones, or as many as there is time for (None).
    """

    def __init__(self, subject: str, seed: int, first: tuple[msgspec.Raw, ...], trials: int | None) -> None:
        self.subject = subject
        self.cases: dict[Key, FoundCause] = {}
        self._seed = seed
        self._first = [first[start : start + SIZE] for start in range(0, len(first), SIZE)]
        self._trials = trials
        self._next = 0
        self._taken = 0
        self._done: set[int] = set()
        self._early: dict[int, ShardDone] = {}

    def shard(self, turn: int) -> Shard | None:
        """The shard of a turn; None where there is no more to try."""
        if turn < len(self._first):
            return Shard(self.subject, turn, graphs=self._first[turn])
        number = turn - len(self._first)
        count = SIZE if self._trials is None else min(SIZE, self._trials - SIZE * number)
        if count <= 0:
            return None
        return Shard(self.subject, turn, self._seed * 1_000_003 + number, count, opens=number == 0)

    def next_shard(self) -> Shard | None:
        """The next shard that nobody was given and that is not done; None where there is no more to try."""
        while True:
            shard = self.shard(self._next)
            if shard is None:
                return None
            self._next += 1
            if shard.turn not in self._done:
                return shard

    def done(self, done: ShardDone) -> bool:
        """Take what came of a shard; whether it is the first that is heard of it."""
        if done.turn in self._done:
            return False
        self._done.add(done.turn)
        self._early[done.turn] = done
        while self._taken in self._early:
            self._take(self._early.pop(self._taken))
            self._taken += 1
        return True

    def take_all(self) -> None:
        """Take what waits for an earlier shard that will not come."""
        for turn in sorted(self._early):
            self._take(self._early.pop(turn))

    @property
    def drawn_out(self) -> bool:
        """Whether every shard was given to somebody."""
        while self._next in self._done:
            self._next += 1
        return self.shard(self._next) is None

    def least(self) -> FoundCause | None:
        """The cause that is settled next: the one that cost least so far, and then the one that should cost least."""
        can = (case for case in self.cases.values() if case.waiting and not (case.under_way or case.given_up))
        return min(can, key=lambda case: case.cost, default=None)

    def next_case(self) -> tuple[FoundCause, Shard, WrittenFinding] | None:
        """The next cause to settle, with its raw finding and the shard that this is from."""
        case = self.least()
        if case is None:
            return None
        turn, raw_finding = case.waiting[0]
        shard = self.shard(turn)
        if shard is None:
            raise AssertionError(f"turn {turn} has a raw finding and no shard")
        case.under_way = True
        return case, shard, raw_finding

    def settled(self, settled: MadeSmaller) -> FoundCause:
        """Take what came of a raw finding, or of a piece of making it smaller."""
        case = self.cases.setdefault(settled.key, FoundCause(settled.key))
        case.under_way = False
        case.seconds += settled.seconds
        if case.finished:
            return case
        case.settled = settled if settled.finding is not None else None
        if settled.rest is None:
            case.heard += 1
            case.waiting = [each for each in case.waiting if each[0] != settled.turn]
            if case.finished or case.heard >= MOST_TRIES:
                case.waiting = []
        return case

    def given_back(self, key: Key) -> None:
        """A cause that there was no time to settle: it waits again."""
        self.cases[key].under_way = False

    def give_up(self, key: Key) -> None:
        """A cause that cannot be settled: it stays as it was seen."""
        self.cases[key].under_way = False
        self.cases[key].given_up = True

    def _take(self, done: ShardDone) -> None:
        for raw_finding in done.raw_findings:
            case = self.cases.setdefault(raw_finding.key, FoundCause(raw_finding.key))
            case.seen = case.seen or raw_finding
            if not case.finished and case.heard + len(case.waiting) < MOST_TRIES:
                case.waiting.append((done.turn, raw_finding))
        for key, count in done.met:
            self.cases.setdefault(key, FoundCause(key)).count += count
