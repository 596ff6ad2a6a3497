"""Where the places of a row differ: both ends are tried, and between two that differ the one half-way, or several.

A place is whatever can be tried, such as a release; nothing here knows what it is. Owns which place is next, the
threads, and what an interrupt leaves.
"""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Generic, TypeVar

Place = TypeVar("Place", bound=Hashable)
Answer = TypeVar("Answer")

PATIENCE = 16
"""Where so many between two that differ could not be tried, no more of these are."""
SMALL_STEPS = 8
"""So many beside each other that cannot be tried are passed one by one at the end of a row."""
_TICK = 0.5


def to_try(
    row: Sequence[Place],
    seen: Mapping[Place, Hashable],
    must: Collection[Place] = (),
    *,
    at_once: int = 1,
    under_way: Collection[Place] = (),
) -> list[Place]:
    """The places of a row to try now; none where enough is known. `must` are tried whatever the others show.

    `seen` has what each place showed that was tried: None for one that could not be, of which nothing is known. Between
    two that differ, `at_once` are tried at a time; those `under_way` are among these.
    """
    wanted = {*(place for place in row if place in must), *_that_tell(row, seen, at_once, under_way)}
    return [place for place in row if place in wanted and place not in seen and place not in under_way]


def _that_tell(
    row: Sequence[Place], seen: Mapping[Place, Hashable], at_once: int, under_way: Collection[Place]
) -> Iterator[Place]:
    yield from (*_end(row, seen), *_end(row[::-1], seen))
    told = [number for number, place in enumerate(row) if seen.get(place) is not None]
    for left, right in pairwise(told):
        if seen[row[left]] == seen[row[right]]:
            continue
        between = range(left + 1, right)
        failed = [number for number in between if row[number] in seen]
        pending = [number for number in between if row[number] in under_way]
        if len(failed) < PATIENCE:
            ends = sorted((left, *failed, *pending, right))
            yield from (row[number] for number in _cuts(ends, at_once - len(pending)))


def _end(row: Sequence[Place], seen: Mapping[Place, Hashable]) -> Iterator[Place]:
    """The first of a row, or the next to it that may be tried. Ever longer steps lead past many that cannot be."""
    number = failed = 0
    while number < len(row):
        if row[number] not in seen or seen[row[number]] is not None:
            yield row[number]
            return
        failed += 1
        number += max(1, 2 ** (failed - SMALL_STEPS))


def _cuts(ends: Sequence[int], number: int) -> Iterator[int]:
    """So many numbers, or as many as there are, that cut the spans between the ends into the smallest parts."""
    cuts = dict.fromkeys(pairwise(ends), 0)
    for _ in range(number):
        left, right = max(cuts, key=lambda span: (span[1] - span[0]) / (cuts[span] + 1))
        if cuts[left, right] + 1 < right - left:
            cuts[left, right] += 1
    for (left, right), parts in cuts.items():
        yield from (left + (right - left) * part // (parts + 1) for part in range(1, parts + 1))


class Bisection(Generic[Place, Answer]):
    """What is known so far of the places of some rows, and what is to be tried next.

    `compared_by` says what an answer is compared by with those beside it; None where the place could not be tried.
    Where the places of a row change more than once, put them in several rows, or name more that `must` be tried.
    `at_once` are tried between two that differ, for who has the processors; more are tried in all, in less time.
    """

    def __init__(
        self,
        rows: Sequence[Sequence[Place]],
        compared_by: Callable[[Answer], Hashable],
        must: Collection[Place] = (),
        *,
        at_once: int = 1,
    ) -> None:
        self._rows = rows
        self._compared_by = compared_by
        self._must = frozenset(must)
        self._at_once = at_once
        self._seconds: list[float] = []
        self.answers: dict[Place, Answer] = {}
        self.interrupted = False

    def _seen(self) -> dict[Place, Hashable]:
        return {place: self._compared_by(answer) for place, answer in self.answers.items()}

    def due(self, under_way: Collection[Place] = ()) -> list[Place]:
        """What is to be tried, as far as it is known by now, beside what is `under_way`."""
        seen = self._seen()
        return [
            place
            for row in self._rows
            for place in to_try(row, seen, self._must, at_once=self._at_once, under_way=under_way)
        ]

    def seconds_left(self, jobs: int) -> float:
        """An estimate from what is due by now; two that differ make it more."""
        return len(self.due()) / jobs * sum(self._seconds) / len(self._seconds) if self._seconds else 0.0

    def left_out(self) -> dict[Place, tuple[Place, Place]]:
        """The places that were not tried since those on both sides, which are named, are alike."""
        seen = self._seen()
        found: dict[Place, tuple[Place, Place]] = {}
        for row in self._rows:
            tried = [place for place in row if seen.get(place) is not None]
            for left, right in pairwise(tried):
                between = row[row.index(left) + 1 : row.index(right)] if seen[left] == seen[right] else ()
                found.update({place: (left, right) for place in between if place not in seen})
        return found

    def run(
        self, attempt: Callable[[Place], Answer], jobs: int, tell: Callable[[Sequence[Place], Answer | None], None]
    ) -> None:
        """Try what is due, `jobs` at a time. `tell` hears of each answer, and twice a second of those under way.

        An interrupt leaves the answers that there are. The threads are not waited for: they end with this process, and
        so do their children.
        """
        done: queue.SimpleQueue[tuple[Place, float, Answer | BaseException]] = queue.SimpleQueue()
        under_way: list[Place] = []

        def work(place: Place) -> None:
            began = time.monotonic()
            came: Answer | BaseException
            try:
                came = attempt(place)
            except BaseException as error:  # it is a fault of ours, for the main thread to raise
                error.add_note(f"while {place} was tried, {time.monotonic() - began:.0f} s in")
                came = error
            done.put((place, time.monotonic() - began, came))

        try:
            while True:
                for place in self.due(under_way):
                    if len(under_way) < jobs:
                        under_way.append(place)
                        threading.Thread(target=work, args=(place,), daemon=True).start()
                if not under_way:
                    return
                tell(under_way, None)
                try:
                    place, seconds, came = done.get(timeout=_TICK)
                except queue.Empty:
                    continue
                under_way.remove(place)
                if isinstance(came, BaseException):
                    raise came
                self.answers[place] = came
                self._seconds.append(seconds)
                tell(under_way, came)
        except KeyboardInterrupt:
            self.interrupted = True
