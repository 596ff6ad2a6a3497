"""Many releases tried at once, each in a process of its own, until enough is known.

Owns the threads and what an interrupt leaves.
"""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Hashable, Sequence

from clonediff.harness.answers.history import which_next
from clonediff.harness.answers.history.record import TOLD, ReleaseRow, ReleaseVerdict
from clonediff.harness.answers.history.releases_option import ReleaseLine
from clonediff.harness.subjects.subject import Subject

Try = Callable[[Subject], ReleaseRow]
_TICK = 0.5


class ReleaseSurvey:
    """What is known so far, and what is to be tried next.

    `rows` has those that were tried; `all_` tries every release, whatever its neighbours showed. `sought` says that one
    cause is looked for, so that what shows beside it is no difference between two releases.
    """

    def __init__(self, lines: Sequence[ReleaseLine], *, all_: bool = False, sought: bool = False) -> None:
        self.lines = tuple(lines)
        self._sought = sought
        self.rows: dict[Subject, ReleaseRow] = {}
        self.interrupted = False
        self._must = {line: self._all_of(line, all_) for line in self.lines}

    @staticmethod
    def _all_of(line: ReleaseLine, all_: bool) -> frozenset[str]:
        whole = all_ or len(line.asked) <= which_next.FEW
        return frozenset(line.asked) if whole else line.named

    def seen(self, line: ReleaseLine) -> dict[str, Hashable]:
        """What the releases of a line showed; None for one that could not be tried."""
        rows = {version: self.rows.get(line.at(version)) for version in line.asked}
        return {version: compared_by(row, self._sought) for version, row in rows.items() if row is not None}

    def due(self) -> list[Subject]:
        """What is to be tried, as far as it is known by now."""
        return [
            line.at(version)
            for line in self.lines
            for version in which_next.to_try(line.asked, self.seen(line), self._must[line])
        ]

    def seconds_left(self, jobs: int) -> float:
        """An estimate from what is due by now; a branch whose ends differ makes it more."""
        times = [row.seconds for row in self.rows.values() if row.seconds > 0]
        return len(self.due()) / jobs * sum(times) / len(times) if times else 0.0

    def run(
        self, attempt: Try, jobs: int, tell: Callable[[ReleaseSurvey, Sequence[Subject], ReleaseRow | None], None]
    ) -> None:
        """Try what is due, `jobs` at a time. `tell` hears of each row, and twice a second of those under way.

        An interrupt leaves the rows that there are. The threads are not waited for: they end with this process, and
        so do their children.
        """
        done: queue.SimpleQueue[tuple[Subject, ReleaseRow | BaseException]] = queue.SimpleQueue()
        under_way: list[Subject] = []
        try:
            while True:
                for subject in self.due():
                    if subject not in under_way and len(under_way) < jobs:
                        under_way.append(subject)
                        threading.Thread(target=_attempt, args=(attempt, subject, done), daemon=True).start()
                if not under_way:
                    return
                tell(self, under_way, None)
                try:
                    subject, came = done.get(timeout=_TICK)
                except queue.Empty:
                    continue
                under_way.remove(subject)
                if isinstance(came, BaseException):
                    raise came
                self.rows[subject] = came
                tell(self, under_way, came)
        except KeyboardInterrupt:
            self.interrupted = True

    def table(self) -> list[tuple[ReleaseLine, list[ReleaseRow]]]:
        """Every release that was asked for, in order, with its row or one that says why it has none."""
        return [(line, self._of_line(line)) for line in self.lines]

    def _of_line(self, line: ReleaseLine) -> list[ReleaseRow]:
        seen = self.seen(line)
        why = dict(_skipped(line.asked, seen))
        rows = []
        for version in line.asked:
            row, subject = self.rows.get(line.at(version)), line.at(version)
            rows.append(
                row
                or ReleaseRow(
                    str(subject),
                    subject.package,
                    version,
                    ReleaseVerdict.NOT_TRIED,
                    reason=why.get(version, "interrupted"),
                )
            )
        return rows


def compared_by(row: ReleaseRow, sought: bool = False) -> Hashable:
    """What a row is compared by with those beside it; None where the release could not be tried."""
    if row.verdict not in TOLD:
        return None
    if row.verdict is ReleaseVerdict.OTHERWISE or (row.verdict is ReleaseVerdict.BREAKS and not sought):
        return row.verdict, tuple(sorted({each.key for each in row.causes}))
    return row.verdict


def _skipped(versions: Sequence[str], seen: which_next.Seen) -> list[tuple[str, str]]:
    """The releases that were left out since those around them are alike, with the words for it."""
    found = []
    for group in which_next.branches(versions):
        had = [version for version in group if version not in seen or seen[version] is not None]
        for place, version in enumerate(had):
            if version in seen:
                continue
            left = next((each for each in reversed(had[:place]) if each in seen), None)
            right = next((each for each in had[place + 1 :] if each in seen), None)
            if left is not None and right is not None and seen[left] == seen[right]:
                found.append((version, f"between {left} and {right}, which are alike"))
    return found


def _attempt(
    attempt: Try, subject: Subject, done: queue.SimpleQueue[tuple[Subject, ReleaseRow | BaseException]]
) -> None:
    began = time.monotonic()
    try:
        done.put((subject, attempt(subject)))
    except BaseException as error:  # it is a fault of ours, for the main thread to raise
        error.add_note(f"while {subject} was tried, {time.monotonic() - began:.0f} s in")
        done.put((subject, error))
