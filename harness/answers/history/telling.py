"""A history for a person: the table on standard output, the progress on standard error.

Plain where it is piped, and without colour under NO_COLOR. Must not import Keras.
"""

from __future__ import annotations

import math
import os
import sys
import time
from collections.abc import Iterable, Sequence
from typing import TextIO

import click

from harness.answers.history.record import ReleaseRow, ReleaseVerdict
from harness.answers.history.survey import ReleaseSurvey
from harness.subjects.subject import Subject

_COLOURS = {
    ReleaseVerdict.HOLDS: "green",
    ReleaseVerdict.BREAKS: "red",
    ReleaseVerdict.OTHERWISE: "yellow",
    ReleaseVerdict.CANNOT_BUILD: "yellow",
    ReleaseVerdict.CANNOT_TELL: "yellow",
}
_HEAD = ("release", "verdict", "used", "what")


def coloured(stream: TextIO) -> bool:
    """Whether a stream is for eyes that want colour."""
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def table(rows: Iterable[ReleaseRow], *, colour: bool = False) -> list[str]:
    """The lines of the table."""
    cells = [_HEAD, *((row.subject, row.verdict.value, used(row), what(row)) for row in rows)]
    widths = [max(len(line[column]) for line in cells) for column in range(len(_HEAD) - 1)]
    lines = []
    for line in cells:
        padded = [cell.ljust(width) for cell, width in zip(line, widths, strict=False)]
        if colour and line is not _HEAD:
            padded[1] = click.style(
                padded[1], fg=_COLOURS.get(ReleaseVerdict(line[1])), dim=line[1] == ReleaseVerdict.NOT_TRIED
            )
        lines.append("  ".join((*padded, line[-1])).rstrip())
    return lines


def used(row: ReleaseRow) -> str:
    """What a release ran on: in which way it was had, its Python, its backend."""
    if not row.how:
        return ""
    others = {
        name: version
        for name, version in row.versions.items()
        if name not in ("numpy", "stack", "keras", "tf_keras", "tf.keras")
    }
    python = others.pop("python", "")
    stack = [f"{name} {version}" for name, version in others.items()]
    return ", ".join(filter(None, (row.how, f"Python {python}" if python else "", *stack)))


def what(row: ReleaseRow) -> str:
    """The reason of a row, and its causes."""
    causes = (each.title + (f" (known: {each.known})" if each.known else "") for each in row.causes)
    return "; ".join(filter(None, (row.reason, *causes)))


class HistoryProgress:
    """A line on standard error that is written over on a terminal; elsewhere a line for each release."""

    def __init__(self, jobs: int, *, quiet: bool = False) -> None:
        self.jobs = jobs
        self._quiet = quiet
        self._eyes = sys.stderr.isatty()
        self._line = ""
        self._began = time.monotonic()

    def said(self, line: str) -> None:
        """A line of its own, such as what is being installed."""
        if not self._quiet:
            self.clear()
            click.echo(line, err=True)

    def __call__(self, pursuit: ReleaseSurvey, under_way: Sequence[Subject], row: ReleaseRow | None) -> None:
        """Show how far it is."""
        if self._quiet:
            return
        if row is not None:
            so_far = f"{len(pursuit.rows)} of {len(pursuit.rows) + len(pursuit.due())}"
            self.said(f"{row.subject}: {row.verdict} ({row.seconds:.0f} s; {so_far}{self._left(pursuit)})")
        elif self._eyes:
            self.clear()
            self._line = f"trying {', '.join(map(str, under_way))}; {len(pursuit.rows)} tried{self._left(pursuit)}"
            click.echo(self._line[:118], nl=False, err=True)

    def clear(self) -> None:
        """Take back the line that is written over."""
        if self._line:
            click.echo("\r" + " " * len(self._line[:118]) + "\r", nl=False, err=True)
            self._line = ""

    def _left(self, pursuit: ReleaseSurvey) -> str:
        """An estimate from what is due by now; a branch that comes and goes makes it more."""
        times = [row.seconds for row in pursuit.rows.values() if row.seconds > 0]
        due = len(pursuit.due())
        if not times or not due:
            return ""
        return f", about {math.ceil(due / self.jobs * sum(times) / len(times)):d} s left"
