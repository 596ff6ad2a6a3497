"""Print lines, tables, JSON and progress to the terminal; choose exit codes.

Results go to standard output, progress and warnings to standard error. Control characters are escaped.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Self

import msgspec
from rich.console import Console
from rich.status import Status
from rich.text import Text

from clonediff.reports.markup import escape_controls, one_line
from clonediff.reports.verdict import duration

_FIRST_PAUSE, _NEXT_PAUSE = 2.0, 15.0
"""The seconds before the first and each further line of progress, without a terminal."""
_OUT, _ERR = (Console(stderr=stderr, highlight=False, markup=False, emoji=False) for stderr in (False, True))
_COLOURS = {"breaks": "red", "gone": "green", "other": "yellow", "cannot tell": "magenta"}
"""The colour of each answer of `replay`."""


def say(text: str | Iterable[str], *, err: bool = False) -> None:
    """Print lines without wrapping."""
    for line in text.splitlines() if isinstance(text, str) else text:
        answer = next((answer for answer in _COLOURS if line.startswith(answer)), "")
        styled = Text(escape_controls(line))
        if answer:
            styled.stylize(_COLOURS[answer], 0, len(answer))
        (_ERR if err else _OUT).print(styled, soft_wrap=True)


def warn(text: str) -> None:
    say(f"clonediff: {text}", err=True)


def say_json(value: Any) -> None:
    say(json.dumps(msgspec.to_builtins(value), indent=2))


def say_table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print a header and rows in aligned columns."""
    lines = [[one_line(cell) for cell in row] for row in (header, *rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    say("  ".join(map(str.ljust, line, widths)).rstrip() for line in lines)


def exit_code(*, interrupted: bool = False, failed: bool = False, breaks: bool = False) -> int:
    return 130 if interrupted else 2 if failed else int(breaks)


def estimate(count: int, total: int, seconds: float) -> str:
    """The remaining time to end a line, or ""."""
    return f", about {duration(seconds * (total - count) / count)} left" if 0 < count < total else ""


class Progress:
    """The progress of a command: a status line or, without a terminal, several lines.

    Print other lines through its method `say`.
    """

    def __init__(self, *, quiet: bool = False) -> None:
        self._status = Status("starting", console=_ERR) if _ERR.is_terminal else None
        self._quiet = quiet
        self._start = time.monotonic()
        self._next_line = _FIRST_PAUSE

    def __enter__(self) -> Self:
        if self._status:
            self._status.start()
        return self

    def __exit__(self, *error: object) -> None:
        if self._status:
            self._status.stop()

    @property
    def seconds(self) -> float:
        """How long the command has run."""
        return time.monotonic() - self._start

    def show(self, text: str | Callable[[], str]) -> None:
        """Show a text, or a function's result, if it is time for a line."""
        if self._status is None and (self._quiet or self.seconds < self._next_line):
            return
        self._next_line = self.seconds + _NEXT_PAUSE
        line = one_line(text() if callable(text) else text)
        if self._status:
            self._status.update(Text(line, overflow="ellipsis", no_wrap=True))
        else:
            say(line, err=True)

    def say(self, text: str | Iterable[str], *, err: bool = False) -> None:
        """Print lines above the status line."""
        if self._status:
            self._status.stop()
        say(text, err=err)
        if self._status:
            self._status.start()
