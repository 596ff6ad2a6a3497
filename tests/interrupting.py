"""Processes that a test interrupts, started so that they heed it."""

from __future__ import annotations

import signal


def heed_interrupts() -> None:
    """For `preexec_fn`. A test run in the background ignores SIGINT, and so would all that it starts."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
