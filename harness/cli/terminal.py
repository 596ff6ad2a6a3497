"""The one terminal: text that is safe to print, tables, colours, and a status line that is written over.

What was found goes to standard output, progress and warnings to standard error. Nothing that a file or a model says
can be a command to the terminal.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import time
from collections.abc import Callable
from typing import Any, TextIO

import click

from clonediff.reports.markup import one_line, visible

_SOON = 2.0
"""A command that is over sooner says nothing of its progress."""
_ON_A_TERMINAL, _PIPED = 0.3, 15.0
"""The seconds between two status lines."""


def lines(text: str) -> str:
    """Text from elsewhere with its line ends, and nothing else in it that a terminal obeys."""
    return "\n".join(visible(line) for line in text.splitlines())


def cut(line: str) -> str:
    """A line of text as wide as the terminal at most."""
    width = shutil.get_terminal_size((120, 24)).columns
    text = visible(" ".join(line.splitlines()))
    return text if len(text) <= width else f"{text[: width - 3]}..."


def coloured(stream: TextIO) -> bool:
    """Whether a stream is a terminal whose user wants colours."""
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def json_text(value: Any) -> str:
    """A record, or plain data with records in it, as `--json` prints it."""
    import msgspec

    return json.dumps(msgspec.to_builtins(value), indent=2)


class StatusLine:
    """Where a command is, on standard error: a line that is written over on a terminal, now and then one elsewhere.

    Everything that is printed meanwhile goes through `say`, so that the status never stands in the middle of it.
    """

    def __init__(self, *, quiet: bool = False, soon: float = _SOON, piped: float | None = _PIPED) -> None:
        """`quiet` says nothing but errors; `piped` is how often a line is due off a terminal, None for never."""
        self.terminal = sys.stderr.isatty()
        self._quiet = quiet
        self._every = _ON_A_TERMINAL if self.terminal else piped
        self._began = time.monotonic()
        self._last = self._began + soon - (self._every or 0.0)
        self._shown = ""

    @property
    def seconds(self) -> float:
        """How long the command has run."""
        return time.monotonic() - self._began

    def show(self, status: str | Callable[[], str], *, now: bool = False) -> None:
        """Show where it is, if that is due; with `now` on a terminal at once. A function is called only then."""
        at = time.monotonic()
        if self._quiet or self._every is None:
            return
        if at - self._last < self._every and not (now and self.terminal):
            return
        self._last = at
        text = one_line(status() if callable(status) else status)
        if not self.terminal:
            click.echo(text, err=True)
            return
        self.clear()
        self._shown = text[: shutil.get_terminal_size().columns - 1]
        click.echo(self._shown, nl=False, err=True)

    def say(self, text: str, *, error: bool = False) -> None:
        """Print lines of their own: to standard output, or as an `error` to standard error."""
        self.clear()
        click.echo(text, err=error)

    def note(self, text: str) -> None:
        """Print a line on standard error that only a person wants to read."""
        if not self._quiet:
            self.say(lines(text), error=True)

    def clear(self) -> None:
        """Take the status away."""
        if self._shown:
            click.echo("\r" + " " * len(self._shown) + "\r", nl=False, err=True)
            self._shown = ""


def about_left(seconds: float) -> str:
    """An estimate as the end of a status line; "" where nothing is left."""
    whole = round(seconds + 0.5) if seconds > 0 else 0
    return f", about {whole} s left" if whole else ""
