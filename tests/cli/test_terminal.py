"""The one terminal: what is printed as it is, what is not, and the line that is written over."""

from __future__ import annotations

import io
import os

import pytest

from clonediff.harness.cli.terminal import StatusLine, about_left, coloured, lines
from clonediff.reports.markup import one_line


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The time, as the status line sees it."""
    now = [0.0]
    monkeypatch.setattr("clonediff.harness.cli.terminal.time.monotonic", lambda: now[0])
    return now


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        pytest.param("red \x1b[31mtext", "red \\x1b[31mtext", id="an ANSI sequence"),
        pytest.param("bell\x07 and \x9b2J", "bell\\x07 and \\x9b2J", id="control characters"),
        pytest.param("two\nlines\t here ", "two lines here", id="line ends"),
        pytest.param("x" * 2000, "x" * 997 + "...", id="without an end"),
    ],
)
def test_text_from_elsewhere_is_one_line_that_does_nothing(text: str, shown: str) -> None:
    assert one_line(text) == shown


def test_line_ends_are_kept_where_they_are_wanted() -> None:
    assert lines("one\n\x1b]0;title\x07two") == "one\n\\x1b]0;title\\x07two"


@pytest.mark.parametrize(
    ("variable", "value", "expected"),
    [("NO_COLOR", "1", False), ("NO_COLOR", "", True), ("TERM", "dumb", False), ("TERM", "xterm", True)],
)
def test_colours_are_for_terminals_whose_user_wants_them(
    monkeypatch: pytest.MonkeyPatch, variable: str, value: str, expected: bool
) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv(variable, value)
    assert coloured(Terminal()) is expected
    assert not coloured(io.StringIO())


def test_a_piped_status_is_a_line_now_and_then_and_not_at_once(
    capsys: pytest.CaptureFixture[str], clock: list[float]
) -> None:
    status = StatusLine()
    for number, clock[0] in enumerate((1.0, 3.0, 10.0, 17.0, 20.0, 40.0)):
        status.show(f"number {number}", now=True)
    assert capsys.readouterr().err == "number 1\nnumber 4\nnumber 5\n"


def test_a_terminal_has_one_status_that_is_written_over(monkeypatch: pytest.MonkeyPatch, clock: list[float]) -> None:
    stream = Terminal()
    monkeypatch.setattr("sys.stderr", stream)
    monkeypatch.setattr("shutil.get_terminal_size", lambda *_, **__: os.terminal_size((11, 24)))
    status = StatusLine(soon=0.0)
    clock[0] = 1.0
    status.show("a status that is long")
    status.show("too soon")
    status.show("at once", now=True)
    status.say("found", error=True)
    status.clear()
    assert stream.getvalue() == "a status t" + "\r" + " " * 10 + "\r" + "at once" + "\r" + " " * 7 + "\r" + "found\n"


def test_a_status_is_worked_out_only_when_it_is_due(clock: list[float]) -> None:
    asked: list[float] = []
    status = StatusLine(piped=5.0, soon=5.0)
    for clock[0] in (1.0, 4.0, 5.0, 6.0):
        status.show(lambda: asked.append(clock[0]) or "")
    assert asked == [5.0]


def test_a_quiet_status_line_says_errors_only(capsys: pytest.CaptureFixture[str], clock: list[float]) -> None:
    status = StatusLine(quiet=True, soon=0.0)
    clock[0] = 100.0
    status.show("where it is", now=True)
    status.note("by the way")
    status.say("wrong", error=True)
    assert capsys.readouterr().err == "wrong\n"


@pytest.mark.parametrize(
    ("seconds", "said"), [(0.0, ""), (-1.0, ""), (0.2, ", about 1 s left"), (49.5, ", about 50 s left")]
)
def test_an_estimate(seconds: float, said: str) -> None:
    assert about_left(seconds) == said
