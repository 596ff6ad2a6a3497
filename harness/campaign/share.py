"""How the workers' time is shared: while there is more to draw, at most a third of it goes to making findings smaller.

Pure: it is told what took how long.
"""

from __future__ import annotations

from dataclasses import dataclass

SHARE = 1 / 3
"""As much of the time goes to making findings smaller."""
LEAST, MOST = 10.0, 30.0
"""The seconds of trials in the first piece of making a finding smaller, enough for most, and in the longest."""
SCRIPT = 5.0
"""The seconds that running a script alone is thought to take, at the end of a piece."""


@dataclass(slots=True)
class TimeShare:
    """The seconds of workers' time that went into drawing and trying graphs, and into making findings smaller."""

    drawing: float = 0.0
    shrinking: float = 0.0

    def allows(self, seconds: float, *, drawing: float = 0.0, shrinking: float = 0.0) -> bool:
        """Whether a piece of so many seconds can begin. `drawing` and `shrinking` are what runs now takes of each."""
        shrunk = self.shrinking + shrinking + seconds + SCRIPT
        return shrunk <= SHARE * (shrunk + self.drawing + drawing)


def piece(spent: float) -> float:
    """How many seconds of trials the next piece has, for a finding that was given `spent` seconds by now.

    As many again, so that all findings are soon proven, and few scripts are run for one that takes long.
    """
    return min(MOST, max(LEAST, spent))
