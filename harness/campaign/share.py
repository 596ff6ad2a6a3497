"""How the workers' time is shared: while there is more to draw, a quarter at most makes findings smaller.

Pure: it is told what took how long.
"""

from __future__ import annotations

from dataclasses import dataclass

SHARE = 1 / 4
"""The share of the time for making findings smaller."""
LEAST, MOST = 5.0, 30.0
"""The seconds of the first piece, which is enough for most findings, and of the longest."""
SCRIPT = 1.0
"""The seconds that it takes, about, to run a script at the end of a piece."""


@dataclass(slots=True)
class TimeShare:
    """The seconds of workers' time that went into drawing and trying graphs, and into making findings smaller."""

    drawing: float = 0.0
    reducing: float = 0.0

    def allows(self, seconds: float, *, drawing: float = 0.0, reducing: float = 0.0) -> bool:
        """Whether a piece of `seconds` can begin. `drawing` and `reducing` are the seconds of tasks that run now."""
        reduced = self.reducing + reducing + seconds + SCRIPT
        return reduced <= SHARE * (reduced + self.drawing + drawing)


def piece(spent: float) -> float:
    """The seconds of the next piece for a finding that had `spent` seconds so far.

    They are as many again: all findings are soon proven, and few scripts are run for one that takes long.
    """
    return min(MOST, max(LEAST, spent))
