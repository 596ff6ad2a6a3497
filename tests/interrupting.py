"""Processes that a test interrupts, started so that they heed it."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.command_line import CLONEDIFF
from tests.waiting import PATIENCE


@contextmanager
def under_way(*arguments: str, cwd: Path, **environment: str) -> Iterator[subprocess.Popen[str]]:
    """`clonediff` in a process of its own; what is left of it afterwards is ended."""
    with subprocess.Popen(
        [*CLONEDIFF, *arguments],
        cwd=cwd,
        env={**os.environ, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=_heed_interrupts,
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def _heed_interrupts() -> None:
    """A test run in the background ignores SIGINT, and so would all that it starts."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def interrupt(process: subprocess.Popen[str]) -> tuple[str, str]:
    """Interrupt it as Ctrl-C does, and what it had printed by its end."""
    os.kill(process.pid, signal.SIGINT)
    return process.communicate(timeout=PATIENCE)
