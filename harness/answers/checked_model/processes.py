"""A model through several cloners: in one process, or, where that takes long, half of them in a second one beside it.

Owns that choice, and how far both have come.
"""

from __future__ import annotations

import contextlib
import os
import signal
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Self

from clonediff.harness.subjects.case import Case
from clonediff.harness.subjects.outcomes import SubjectError, TrialProgress
from clonediff.harness.subjects.process import SubjectProcess
from clonediff.harness.trials.graph_trials import GraphTrials
from clonediff.harness.trials.trial import Trial
from clonediff.reports.known import KnownIssues

_SOON = 5.0
"""What takes less is not announced."""
LONG = 15.0
"""From this many seconds on a second process is worth its start, which takes some five."""
SHARE = 0.6
"""Of the time that one process takes, what two take: half of the cloners, and each of them the model."""
_ROOM = 6
"""How many times what the first process holds once it has built the model there has to be for two that try it."""

Tell = Callable[[str], None]


class Second:
    """A second process for the subject of a first one, started behind what else goes on."""

    def __init__(self, first: SubjectProcess) -> None:
        """Start nothing yet."""
        limits = replace(first.limits, memory=first.limits.memory // 2)
        self._process = SubjectProcess(first.subject, limits=limits, place=first.place)
        self._starting: threading.Thread | None = None
        self._over = False

    def start(self, request: dict[str, Any] | None = None, seconds: float = 0.0) -> None:
        """Let it start, unless it does; and build the model of a request, which a trial can then begin with."""
        if self._starting is None:
            self._starting = threading.Thread(target=self._start, args=(request, seconds), daemon=True)
            self._starting.start()

    def started(self) -> SubjectProcess:
        """The process, once it has started; where it does not, it says so when it is asked for something."""
        self.start()
        if self._starting is not None:
            self._starting.join()
        return self._process

    @property
    def pid(self) -> int | None:
        """The process now, None where there is none."""
        return self._process.pid

    def _start(self, request: dict[str, Any] | None, seconds: float) -> None:
        with contextlib.suppress(SubjectError):  # it says so again when it is asked for more
            self._process.start()
            if request is not None and not self._over:
                self._process.describe_model(request, seconds)

    def __enter__(self) -> Self:
        """Give itself."""
        return self

    def __exit__(self, *raised: object) -> None:
        """End the process, if there is one."""
        self._over = True
        if self._starting is not None and self._starting.is_alive() and self.pid is not None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGKILL)  # whoever waits for its answer hears of it, and is done
            self._starting.join()
        self._process.close()


def second_process_pays(process: SubjectProcess, cloners: Sequence[str], seconds: float) -> bool:
    """Whether a second process is quicker, and there is a core and the memory for it."""
    room = process.resident() * _ROOM < process.limits.memory
    on_cpu = process.subject.device == "cpu"
    return seconds >= LONG and len(cloners) > 1 and len(os.sched_getaffinity(0)) > 1 and room and on_cpu


def try_cloners(
    case: Case,
    process: SubjectProcess,
    second: Second | None,
    cloners: Sequence[str],
    known: KnownIssues,
    costly: bool,
    *,
    timeout: float,
    seconds: float,
    tell: Tell | None,
) -> list[Trial]:
    """What became of the model, each cloner in exactly one of the cases. `seconds` is how long it may well take."""
    told, two = _Told(tell), second is not None and second_process_pays(process, cloners, seconds)
    if tell is not None and seconds >= _SOON:
        tell(f"about {seconds * (SHARE if two else 1.0):.0f} s")

    def try_in(where: SubjectProcess, names: Sequence[str]) -> Trial:
        where.told = told.by(names)
        try:
            return GraphTrials(where, known, cloners=names).try_case(case, costly=costly, timeout=timeout)
        finally:
            where.told = None

    if second is None or not two:
        return [try_in(process, cloners)]
    mine, theirs = cloners[0::2], cloners[1::2]
    found: list[Trial] = []

    def beside() -> None:
        with contextlib.suppress(SubjectError):  # what fails here is tried again where the first one was
            found.append(try_in(second.started(), theirs))

    # A daemon: whoever interrupts the check waits for nobody.
    thread = threading.Thread(target=beside, daemon=True)
    thread.start()
    first = try_in(process, mine)
    thread.join()
    return [first, *([each for each in found if each.built] or [try_in(process, theirs)])]


class _Told:
    """How far all processes have come: what the last to speak is at, and how long the slowest will be."""

    def __init__(self, tell: Tell | None) -> None:
        self._tell = tell
        self._lock = threading.Lock()
        self._left: dict[tuple[str, ...], tuple[float, float]] = {}

    def by(self, cloners: Sequence[str]) -> Callable[[TrialProgress], None] | None:
        """Who tells what a process says that tries these cloners."""
        tell, began, key = self._tell, time.monotonic(), tuple(cloners)
        if tell is None:
            return None

        def told(progress: TrialProgress) -> None:
            with self._lock:
                now = time.monotonic()
                left = (now - began) * (1 - progress.done) / progress.done if progress.done else 0.0
                self._left[key] = now + left, progress.done
                ends, done = max(end for end, _ in self._left.values()), min(at for _, at in self._left.values())
                about = f", about {round(ends - now)} s left" if done else ""
                tell(f"{progress.doing}: {done:.0%} done{about}")

        return told
