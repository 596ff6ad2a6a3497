"""A replay for a person: an answer with what is behind it, and how many there are of each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

import click

from clonediff.harness.answers.expected import ReplayOutcome
from clonediff.harness.answers.replay import ReplayRow
from clonediff.reports.markup import one_line

_COLOURS = {
    ReplayOutcome.FIXED: "green",
    ReplayOutcome.HOLDS: "green",
    ReplayOutcome.BROKEN: "red",
    ReplayOutcome.CHANGED: "yellow",
    ReplayOutcome.ERROR: "magenta",
}
CANNOT_BE_TOLD = 125
"""The exit code by which `git bisect run` passes over a commit."""
_WIDTH = max(len(each) for each in ReplayOutcome)


def answer_text(row: ReplayRow, *, colour: bool = False) -> str:
    """An answer, with what is behind it in lines of its own."""
    return _answer(row, "  ".join(filter(None, (one_line(row.subject), _target(row)))), colour)


def answers_text(rows: Sequence[ReplayRow], *, colour: bool = False) -> str:
    """The answers for one target, a line for each subject."""
    lines = [line for row in rows for line in _answer(row, one_line(row.subject), colour).splitlines()]
    return "\n  ".join((_target(rows[0]), *lines))


def _target(row: ReplayRow) -> str:
    name = f"{row.title} [{row.id}]" if row.id else row.title or row.where
    by = f", cloned by {row.cloner}" if row.cloner and row.title else ""
    return one_line(name) + one_line(by)


def _answer(row: ReplayRow, head: str, colour: bool) -> str:
    word = row.outcome.value.ljust(_WIDTH)
    lines = [f"{click.style(word, fg=_COLOURS[row.outcome]) if colour else word}  {head}"]
    if row.outcome is ReplayOutcome.ERROR and row.title and row.id != row.where:
        lines.append(one_line(f"of {row.where}"))
    if row.because:
        lines.append(one_line(row.because))
    if row.outcome is ReplayOutcome.BROKEN:
        word = "also shows" if row.id else "shows"
        lines += [one_line(f"{word}: {each.said}") for each in row.shown if row.id not in (each.id, each.known)]
    return ("\n" + " " * (_WIDTH + 2)).join(lines)


def summary(rows: Sequence[ReplayRow], total: int, seconds: float, *, interrupted: bool) -> str:
    """How many of each, in a line."""
    if not total:
        return "nothing to replay"
    counts = Counter(row.outcome for row in rows)
    words = ", ".join(f"{counts[each]} {each.value}" for each in ReplayOutcome if counts[each])
    done = f"{len(rows)} of {total} replayed" if interrupted else f"{total} replayed"
    return f"{'interrupted; ' if interrupted else ''}{done} in {seconds:.0f} s" + (f": {words}" if words else "")


def exit_code(rows: Iterable[ReplayRow], *, interrupted: bool, bisect: bool = False) -> int:
    """0 nothing is broken, 1 something is still broken or has changed, 2 something could not be tried, 130.

    For `git bisect run`, what is still broken comes first, and of what has changed or could not be tried it cannot be
    told.
    """
    outcomes = {row.outcome for row in rows}
    if interrupted:
        return 130
    if bisect:
        cannot = outcomes & {ReplayOutcome.CHANGED, ReplayOutcome.ERROR}
        return 1 if ReplayOutcome.BROKEN in outcomes else CANNOT_BE_TOLD if cannot else 0
    if ReplayOutcome.ERROR in outcomes:
        return 2
    return 1 if outcomes & {ReplayOutcome.BROKEN, ReplayOutcome.CHANGED} else 0
