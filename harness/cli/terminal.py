"""The one terminal: text that is safe to print, tables, colours, a status line, and exit codes.

What was found goes to standard output, progress and warnings to standard error. Nothing that a file or a model says
can be a command to the terminal. Colours are for a terminal whose user wants them, which `rich` knows.
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

from clonediff.reports.markup import one_line, visible
from clonediff.reports.verdict import lasted

_SOON, _EVERY = 2.0, 15.0
"""The seconds before the first line of progress without a terminal, and between two."""
_OUT, _ERR = (Console(stderr=stderr, highlight=False, markup=False, emoji=False) for stderr in (False, True))
_STYLES = {"breaks": "red", "gone": "green", "other": "yellow", "cannot tell": "magenta"}
"""The colours of the words that answer a question."""


def say(text: str | Iterable[str], *, err: bool = False) -> None:
    """Print lines, each as long as it is."""
    for line in text.splitlines() if isinstance(text, str) else text:
        word = next((word for word in _STYLES if line.startswith(word)), "")
        styled = Text(visible(line))
        if word:
            styled.stylize(_STYLES[word], 0, len(word))
        (_ERR if err else _OUT).print(styled, soft_wrap=True)


def warn(text: str) -> None:
    """Say on standard error what is wrong."""
    say(f"clonediff: {text}", err=True)


def say_json(value: Any) -> None:
    """Print a record, or plain data with records in it, as JSON."""
    say(json.dumps(msgspec.to_builtins(value), indent=2))


def say_table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print rows below their heads, each column as wide as what is in it."""
    lines = [[one_line(cell) for cell in row] for row in (heads, *rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    say("  ".join(map(str.ljust, line, widths)).rstrip() for line in lines)


def exit_code(*, interrupted: bool = False, failed: bool = False, breaks: bool = False) -> int:
    """130 interrupted, 2 the command could not do its work, 1 something breaks, 0."""
    return 130 if interrupted else 2 if failed else int(breaks)


def estimate(done: int, total: int, seconds: float) -> str:
    """The time that is left as the end of a line; "" where it is not known, or nothing is left."""
    return f", about {lasted(seconds * (total - done) / done)} left" if 0 < done < total else ""


class Progress:
    """Where a command is, on standard error: a line that is written over on a terminal, now and then one elsewhere.

    Everything that is printed meanwhile goes through `say`, so that it never stands in the middle of the line.
    """

    def __init__(self, *, quiet: bool = False) -> None:
        self._status = Status("starting", console=_ERR) if _ERR.is_terminal else None
        self._quiet = quiet
        self._began = time.monotonic()
        self._due = _SOON

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
        return time.monotonic() - self._began

    def show(self, text: str | Callable[[], str]) -> None:
        """Show where the command is, if a line is due. A function is called only then."""
        if self._status is None and (self._quiet or self.seconds < self._due):
            return
        self._due = self.seconds + _EVERY
        line = one_line(text() if callable(text) else text)
        if self._status:
            self._status.update(Text(line, overflow="ellipsis", no_wrap=True))
        else:
            say(line, err=True)

    def say(self, text: str | Iterable[str], *, err: bool = False) -> None:
        """Print lines of their own."""
        if self._status:
            self._status.stop()
        say(text, err=err)
        if self._status:
            self._status.start()
