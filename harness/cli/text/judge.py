"""Judged candidates for a person: each within a screen, then a line on what it was compared with."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence

import click

from clonediff.harness.cli.terminal import coloured, cut
from clonediff.harness.judge.record import Judged
from clonediff.harness.judge.text import ROWS, lines_on
from clonediff.reports.verdict import some

_COLOURS = {"holds": "green", "breaks elsewhere": "yellow", "fixes it, leaves others broken": "yellow"}


def judged_text(judged: Sequence[Judged], subject: str) -> Iterator[str]:
    """The lines on all candidates. The reason for a verdict is whole, the others are cut at the terminal's width."""
    colour = coloured(sys.stdout)
    for each in judged:
        if each.form != "reference":
            head, reason, *lines = lines_on(each, ROWS)
            yield click.style(head, fg=_COLOURS.get(each.word, "red"), bold=True) if colour else head
            yield from (reason, *map(cut, lines), "")
    references = [each for each in judged if each.form == "reference"]
    if references:
        yield cut(f"Compared with, on {subject}:")
    for each in references:
        wrong = each.worse + each.broken + each.otherwise + each.left
        less = each.only_lost + each.lost_now + each.left_lost
        also = f", loses a property or a name on {less} more" if less else ""
        yield cut(f"  {each.candidate}: {each.word}; wrong on {wrong} of {some(each.tried, 'graph')}{also}")
