"""Seconds by phase, on either side: inside Keras, or in our own code.

Exactly one phase runs at any moment; an inner phase stops the outer one, so that the phases add up to the whole.
"""

from __future__ import annotations

from time import perf_counter
from typing import Any


class Phase:
    """A `with` block whose seconds count under one name."""

    __slots__ = ("_seconds", "_clock", "_name")

    def __init__(self, clock: Clock, seconds: dict[str, float], name: str) -> None:
        self._clock = clock
        self._seconds = seconds
        self._name = name

    def __enter__(self) -> None:
        clock = self._clock
        clock.charge()
        clock.running.append((self._seconds, self._name))

    def __exit__(self, *raised: Any) -> None:
        self._clock.charge()
        self._clock.running.pop()


class Clock:
    """The seconds of one trial, by phase."""

    def __init__(self) -> None:
        self.keras_seconds: dict[str, float] = {}
        self.our_seconds: dict[str, float] = {}
        self.running: list[tuple[dict[str, float], str]] = []
        self._since = perf_counter()

    def keras(self, name: str) -> Phase:
        """Seconds inside Keras or its backend."""
        return Phase(self, self.keras_seconds, name)

    def ours(self, name: str) -> Phase:
        """Seconds in our own code."""
        return Phase(self, self.our_seconds, name)

    def charge(self) -> None:
        """Count the time since the last change of phase for the phase that is running."""
        now = perf_counter()
        if self.running:
            seconds, name = self.running[-1]
            seconds[name] = seconds.get(name, 0.0) + now - self._since
        self._since = now

    def ours_within(self, keras: str, ours: str, seconds: float) -> None:
        """Move seconds that our hooks took inside a Keras phase to our side."""
        self.keras_seconds[keras] = self.keras_seconds.get(keras, 0.0) - seconds
        self.our_seconds[ours] = self.our_seconds.get(ours, 0.0) + seconds
