"""The limit of a cloner's CPU time: so many times what building and calling the model took.

CPU time is the process's own, so it does not matter how busy the machine is. What waits without end, or
loops outside Python, is not stopped here: the parent does that.
"""

from __future__ import annotations

import signal
from time import process_time
from typing import Any

from .failures import Frames, plain_frames, stack

_BETWEEN = 0.004
_LOOKS = 250
"""Once its time is over, a cloner is looked at so many times, with so many seconds between: where it always is.

So often that what it does for a twentieth of the time is seen as well.
"""
_AGAIN = 1.0


class TooLong(BaseException):
    """The cloner is not done; not an `Exception`, so that Keras lets it through. `frames` is where it always was."""

    def __init__(self, seconds: float, frames: Frames) -> None:
        super().__init__(seconds)
        self.seconds = seconds
        self.frames = frames

    def told(self) -> dict[str, Any]:
        """What `Late` declares on the wire."""
        return {"seconds": self.seconds, "frames": plain_frames(self.frames, below="call_cloner")}


class CloneTime:
    """What a cloner has, begun when the model was: `times` what was taken until then, and at least so many seconds.

    Within it, a cloner that is not done in time ends in `TooLong`. With no `least` there is no limit.
    """

    def __init__(self, least: float, times: float) -> None:
        self._least = least
        self._times = times
        self._began = process_time()
        self._limit = 0.0
        self._runs = False
        self._seen: list[Frames] = []

    def model_is_there(self) -> None:
        """The model was built and called."""
        self._limit = max(self._least, self._times * (process_time() - self._began)) if self._least else 0.0

    def __enter__(self) -> None:
        """Begin to count."""
        if self._limit:
            self._seen, self._runs = [], True
            self._before = signal.signal(signal.SIGPROF, self._look)
            signal.siginterrupt(signal.SIGPROF, False)
            signal.setitimer(signal.ITIMER_PROF, self._limit, _BETWEEN)

    def __exit__(self, *error: Any) -> None:
        """It ended."""
        if self._runs:
            self._runs = False
            signal.setitimer(signal.ITIMER_PROF, 0.0)
            signal.signal(signal.SIGPROF, self._before)

    def _look(self, number: int, frame: Any) -> None:
        if not self._runs:
            return
        self._seen.append(stack(frame))
        if len(self._seen) >= _LOOKS:
            signal.setitimer(signal.ITIMER_PROF, _AGAIN, _AGAIN)  # something may have caught it
            raise TooLong(self._limit, _common(self._seen))


def _common(stacks: list[Frames]) -> Frames:
    """What all of them begin with, lines aside."""
    first = min(stacks, key=len)
    for number, (file, name, _) in enumerate(first):
        if any(each[number][:2] != (file, name) for each in stacks):
            return first[:number]
    return first
