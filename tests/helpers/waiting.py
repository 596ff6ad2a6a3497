"""Wait for a condition or a process, however busy the machine is."""

from __future__ import annotations

import subprocess
import threading
import time
from collections.abc import Callable
from typing import Any

import psutil

PATIENCE = 1800.0
"""Seconds after which a process is assumed to hang, even on a busy machine."""
PAUSE = 0.05


def has_ended(pid: int) -> bool:
    """Whether a process has ended, even if its parent has not collected it yet."""
    try:
        return bool(psutil.Process(pid).status() == psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return True


def wait_until(ready: Callable[[], object], process: subprocess.Popen[Any] | None = None) -> None:
    """Wait for a condition; fail if `process`, which should fulfil it, ends first."""
    pause = threading.Event()
    deadline = time.monotonic() + PATIENCE
    while not ready():
        assert time.monotonic() < deadline, f"still waiting after {PATIENCE} s"
        if process is None:
            pause.wait(PAUSE)
            continue
        try:
            process.wait(PAUSE)
        except subprocess.TimeoutExpired:
            continue
        assert ready(), f"the process ended with {process.returncode} before the condition was met"
