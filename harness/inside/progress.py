"""How far a trial has come, in units of what it takes to build its model.

The units were measured on models of 100 to 800 layers; on small ones nobody waits.
"""

from __future__ import annotations

from typing import Any, Callable

_UNITS = {"build": 1.0, "observe": 0.8, "training_step": 0.8, "clone": 1.0, "again": 1.2, "twice": 1.6}

Tell = Callable[["dict[str, Any]"], None]


def units(cloners: int, costly: bool) -> float:
    """What a trial takes, in builds of its model."""
    observed = _UNITS["observe"] + (_UNITS["training_step"] if costly else 0.0)
    twice = _UNITS["again"] + _UNITS["twice"] if costly else 0.0
    return _UNITS["build"] + observed + cloners * (_UNITS["clone"] + observed + twice)


class Progress:
    """Tells how much of a trial is done, as each of its parts begins."""

    def __init__(self, cloners: int, costly: bool, tell: Tell | None) -> None:
        self._all = units(cloners, costly)
        self._tell = tell
        self._done = 0.0
        self._doing = ""

    def begin(self, part: str, what: str) -> None:
        """Say that a part begins, for a person in the words of `what`; the one before it is over."""
        self.end()
        self._doing = part
        if self._tell is not None:
            self._tell({"done": min(self._done / self._all, 1.0), "doing": what})

    def end(self) -> None:
        """Say that the part that runs is over."""
        self._done += _UNITS.get(self._doing, 0.0)
        self._doing = ""
