"""A replay for a person: a line for each answer on standard output, the progress on standard error.

Nothing that stands in a file reaches a terminal as it is. Must not import Keras.
"""

from __future__ import annotations

import math
import sys
import time
from collections import Counter
from collections.abc import Iterable, Sequence

import click

from harness.answers.replay.outcome import ReplayOutcome
from harness.answers.replay.trying import ReplayRow
from reports.markup import visible

_COLOURS = {
    ReplayOutcome.FIXED: "green",
    ReplayOutcome.HOLDS: "green",
    ReplayOutcome.BROKEN: "red",
    ReplayOutcome.CHANGED: "yellow",
    ReplayOutcome.ERROR: "magenta",
}
_WIDTH = max(len(each) for each in ReplayOutcome)
_SOON, _OFTEN, _SELDOM = 2.0, 0.3, 15.0
_MOST = 400


def line(text: str, most: int = _MOST) -> str:
    """Text from a file as a line for a terminal: no control character in it does anything."""
    shown = " ".join(visible(text).split())
    return shown if len(shown) <= most else shown[: most - 3] + "..."


def told(row: ReplayRow, *, colour: bool = False) -> str:
    """An answer, with what is behind it in lines of its own."""
    word = row.outcome.value.ljust(_WIDTH)
    where = " and ".join(row.across) or row.subject
    name = f"{row.title} [{row.id}]" if row.id else row.title or row.where
    by = f", cloned by {row.cloner}" if row.cloner and row.title else ""
    head = "  ".join(filter(None, (line(where), line(name) + line(by))))
    lines = [f"{click.style(word, fg=_COLOURS[row.outcome]) if colour else word}  {head}"]
    if row.outcome is ReplayOutcome.ERROR and row.title and row.id != row.where:
        lines.append(line(f"of {row.where}"))
    if row.because:
        lines.append(line(row.because))
    if row.outcome is ReplayOutcome.BROKEN:
        word = "also shows" if row.id else "shows"
        for each in row.shown:
            known = f" (known: {each.known})" if each.known else ""
            if row.id not in (each.fingerprint, each.known):
                lines.append(line(f"{word}: {each.title} [{each.fingerprint}]{known}"))
    return ("\n" + " " * (_WIDTH + 2)).join(lines)


def summary(rows: Sequence[ReplayRow], total: int, seconds: float, *, interrupted: bool) -> str:
    """How many of each, in a line."""
    if not total:
        return "nothing to replay"
    counts = Counter(row.outcome for row in rows)
    words = ", ".join(f"{counts[each]} {each.value}" for each in ReplayOutcome if counts[each])
    done = f"{len(rows)} of {total} replayed" if interrupted else f"{total} replayed"
    return f"{'interrupted; ' if interrupted else ''}{done} in {seconds:.0f} s" + (f": {words}" if words else "")


def exit_code(rows: Iterable[ReplayRow], *, interrupted: bool) -> int:
    """0 nothing is broken, 1 something is still broken or has changed, 2 something could not be tried, 130."""
    outcomes = {row.outcome for row in rows}
    if interrupted:
        return 130
    if ReplayOutcome.ERROR in outcomes:
        return 2
    return 1 if outcomes & {ReplayOutcome.BROKEN, ReplayOutcome.CHANGED} else 0


class ReplayProgress:
    """Where a replay is, on standard error: a line that is written over on a terminal, now and then one elsewhere.

    It is silent for the first seconds: most replays are over by then.
    """

    def __init__(self, total: int) -> None:
        self._total = total
        self._done = 0
        self._spent = 0.0
        self._eyes = sys.stderr.isatty()
        self._began = self._said = time.monotonic()
        self._line = ""

    def starting(self, what: str) -> None:
        """A subject is started, which takes seconds, or minutes where it is installed first."""
        self._show(what, now=self._eyes)

    def one(self, seconds: float) -> None:
        """One more is replayed, which took so long."""
        self._done += 1
        self._spent += seconds
        if self._done < self._total:
            self._show(f"replayed {self._done} of {self._total}{self._left()}")

    def clear(self) -> None:
        """Take back the line that is written over."""
        if self._line:
            click.echo("\r" + " " * len(self._line) + "\r", nl=False, err=True)
            self._line = ""

    def _show(self, what: str, *, now: bool = False) -> None:
        at = time.monotonic()
        if not now and (at - self._began < _SOON or at - self._said < (_OFTEN if self._eyes else _SELDOM)):
            return
        self._said = at
        self.clear()
        shown = line(what, 118)
        click.echo(shown, nl=not self._eyes, err=True)
        self._line = shown if self._eyes else ""

    def _left(self) -> str:
        """An estimate from the trials alone: another subject takes seconds more to start."""
        left = math.ceil(self._spent / self._done * (self._total - self._done))
        return f", about {left} s left" if left else ""
