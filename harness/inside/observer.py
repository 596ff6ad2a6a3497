"""What a trial observes models with: the framework, the digests, and the numbers that objects go by."""

from __future__ import annotations

from typing import Any

from .digests import Digests
from .frameworks.interface import Framework


class Observer:
    """What one trial observes with. Holds on to every object it has numbered, so that no number is given twice."""

    def __init__(self, framework: Framework, seed: int) -> None:
        self.framework = framework
        self.seed = seed
        self.backend_draws = False
        self.values_by_chance = False
        """Whether the values that variables begin with say nothing: the model was run before."""
        self.private = False
        """Whether private attributes are looked at."""
        self.digests = Digests()
        self._numbers: dict[int, int] = {}
        self._held: list[Any] = []
        self._next = 0

    def ident(self, thing: Any) -> int:
        """The number of an object, the same for as long as the trial lasts."""
        key = id(thing)
        number = self._numbers.get(key)
        if number is None:
            number = self._numbers[key] = self._next
            self._next += 1
            self._held.append(thing)
        return number

    def release(self) -> None:
        """Let go of the trial's objects; what is left is its digests and the arrays behind them."""
        self._held = []
        self._numbers = {}
