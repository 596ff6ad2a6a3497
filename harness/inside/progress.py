"""How far a trial has come, in units of what it takes to build its model.

The units were measured on models of 100 to 800 layers; on small ones nobody waits.
"""

from __future__ import annotations

from time import perf_counter
from typing import Any, Callable, Collection

_UNITS = {"build": 1.0, "observe": 0.8, "training_step": 0.8, "saving": 0.6, "clone": 1.0, "again": 1.2, "twice": 1.6}
_UNITS.update({"together": 1.5, "reloading": 2.5, "often": 6.0})  # for each cloner

Tell = Callable[["dict[str, Any]"], None]


def units(cloners: int, checks: Collection[str]) -> float:
    """What a trial takes, in builds of its model."""
    parts = sum(_UNITS[name] for name in ("training_step", "saving") if name in checks)
    twice = _UNITS["again"] + _UNITS["twice"] if "again" in checks else 0.0
    twice += sum(_UNITS[name] for name in ("together", "reloading", "often") if name in checks)
    observed = _UNITS["observe"] + parts
    return _UNITS["build"] + observed + cloners * (_UNITS["clone"] + observed + twice)


class Progress:
    """Tells how much of a trial is done, as each of its parts begins. `seconds` has what each has taken so far."""

    def __init__(self, cloners: int, checks: Collection[str], tell: Tell | None) -> None:
        self._all = units(cloners, checks)
        self._tell = tell
        self._done = 0.0
        self._doing = ""
        self._since = perf_counter()
        self.seconds: dict[str, float] = {}

    def begin(self, part: str, what: str) -> None:
        """Say that a part begins, for a person in the words of `what`; the one before it is over."""
        self.end()
        self._doing = part
        if self._tell is not None:
            self._tell({"done": min(self._done / self._all, 1.0), "doing": what})

    def end(self) -> None:
        """Say that the part that runs is over."""
        now = perf_counter()
        if self._doing:
            self.seconds[self._doing] = self.seconds.get(self._doing, 0.0) + now - self._since
        self._done += _UNITS.get(self._doing, 0.0)
        self._doing, self._since = "", now
