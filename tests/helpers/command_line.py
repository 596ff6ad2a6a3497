"""Run the command line in the process of a test or in a new process, and interrupt it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from clonediff.harness.cli import main
from tests.helpers.waiting import PATIENCE

CLONEDIFF = [sys.executable, "-c", "from clonediff.harness.cli import main; main()"]
"""The command that starts `clonediff` in a new process."""

Command = Callable[..., tuple[int, str, str]]
"""A function that takes arguments and `cwd`, and returns the exit code, stdout and stderr."""


def make_command(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], folder: Path) -> Command:
    """Return a function that runs the command line in the process of a test."""

    def run(*arguments: str, cwd: Path = folder) -> tuple[int, str, str]:
        monkeypatch.chdir(cwd)
        monkeypatch.setattr(sys, "argv", ["clonediff", *arguments])
        with pytest.raises(SystemExit) as ended:
            main()
        out, err = capsys.readouterr()
        assert "Traceback" not in err, err
        return int(ended.value.code or 0), out, err

    return run


def run_clonediff(*arguments: str, cwd: Path | None = None, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run the command line to its end in a new process."""
    return _run([*CLONEDIFF, *arguments], cwd, environment)


def imported_modules(*arguments: str, code: str = CLONEDIFF[-1], **environment: str) -> set[str]:
    """Return the modules that a new process imports for a command, or for other code."""
    result = _run([sys.executable, "-X", "importtime", "-c", code, *arguments], None, environment)
    assert "Traceback" not in result.stderr, result.stderr[-2000:]
    return {line.rpartition("|")[2].strip() for line in result.stderr.splitlines()}


def _run(command: list[str], cwd: Path | None, environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, **environment}
    return subprocess.run(command, cwd=cwd, env=env, capture_output=True, text=True, timeout=PATIENCE, check=False)


@contextmanager
def start_clonediff(*arguments: str, cwd: Path, **environment: str) -> Iterator[subprocess.Popen[str]]:
    """Start `clonediff` in a new process; kill it at the end if it still runs."""
    with subprocess.Popen(
        [*CLONEDIFF, *arguments],
        cwd=cwd,
        env={**os.environ, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=_handle_interrupts,
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def _handle_interrupts() -> None:
    """Handle SIGINT, which tests in the background, and processes that they start, would ignore."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def interrupt(process: subprocess.Popen[str]) -> tuple[str, str]:
    """Interrupt a process as Ctrl-C does; return its stdout and stderr."""
    os.kill(process.pid, signal.SIGINT)
    return process.communicate(timeout=PATIENCE)
