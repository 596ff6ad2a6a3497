"""Waiting for something to come true, however busy the machine is."""

from __future__ import annotations

import subprocess
import threading
import time
from collections.abc import Callable
from typing import Any

import psutil

PATIENCE = 1800.0
"""The seconds after which nothing more is expected: only what hangs takes that long, on whatever machine."""
OFTEN = 0.05


def has_ended(pid: int) -> bool:
    """Whether a process has ended, though its parent may not have asked."""
    try:
        return bool(psutil.Process(pid).status() == psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return True


def until(ready: Callable[[], object], process: subprocess.Popen[Any] | None = None) -> None:
    """Wait until it is so. The end of the process that was to make it so is an end of the waiting, too."""
    pause = threading.Event()
    deadline = time.monotonic() + PATIENCE
    while not ready():
        assert time.monotonic() < deadline, "it did not come true"
        if process is None:
            pause.wait(OFTEN)
            continue
        try:
            process.wait(OFTEN)
        except subprocess.TimeoutExpired:
            continue
        assert ready(), f"the process ended with {process.returncode} before it came true"
