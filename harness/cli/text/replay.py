"""A replay for a person: an answer with what is behind it, and how many there are of each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

import click

from clonediff.harness.answers.replay import ReplayRow
from clonediff.harness.scripts.alone import ReplayAnswer
from clonediff.reports.markup import one_line

_COLOURS = {
    ReplayAnswer.BREAKS: "red",
    ReplayAnswer.GONE: "green",
    ReplayAnswer.OTHER: "yellow",
    ReplayAnswer.UNKNOWN: "magenta",
}
CANNOT_BE_TOLD = 125
"""The exit code by which `git bisect run` passes over a commit."""
_WIDTH = max(len(each) for each in ReplayAnswer)


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
    word = row.answer.value.ljust(_WIDTH)
    lines = [f"{click.style(word, fg=_COLOURS[row.answer]) if colour else word}  {head}"]
    if row.answer is ReplayAnswer.UNKNOWN and row.title and row.id != row.where:
        lines.append(one_line(f"of {row.where}"))
    if row.because:
        lines.append(one_line(row.because))
    if row.answer is ReplayAnswer.BREAKS:
        word = "also shows" if row.id else "shows"
        lines += [one_line(f"{word}: {each.said}") for each in row.shown if row.id not in (each.id, each.known)]
    return ("\n" + " " * (_WIDTH + 2)).join(lines)


def summary(rows: Sequence[ReplayRow], total: int, seconds: float, *, interrupted: bool) -> str:
    """How many of each, in a line."""
    if not total:
        return "nothing to replay"
    counts = Counter(row.answer for row in rows)
    words = ", ".join(f"{counts[each]} {each.value}" for each in ReplayAnswer if counts[each])
    done = f"{len(rows)} of {total} replayed" if interrupted else f"{total} replayed"
    return f"{'interrupted; ' if interrupted else ''}{done} in {seconds:.0f} s" + (f": {words}" if words else "")


def exit_code(rows: Iterable[ReplayRow], *, interrupted: bool, bisect: bool = False) -> int:
    """0 all is gone, 1 something breaks or there is another, 2 something cannot be told, 130 interrupted.

    For `git bisect run`, what breaks comes first, and a commit with another, or of which it cannot be told, is skipped.
    """
    answers = {row.answer for row in rows}
    if interrupted:
        return 130
    if bisect:
        cannot = answers & {ReplayAnswer.OTHER, ReplayAnswer.UNKNOWN}
        return 1 if ReplayAnswer.BREAKS in answers else CANNOT_BE_TOLD if cannot else 0
    if ReplayAnswer.UNKNOWN in answers:
        return 2
    return 1 if answers & {ReplayAnswer.BREAKS, ReplayAnswer.OTHER} else 0
