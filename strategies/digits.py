"""Choices read from bytes: random ones for a seed, or those that Hypothesis draws and shrinks."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")

SIZE = 64
"""The bytes of an instruction. Where they end, the simplest choices are made."""
_LENGTHS = (1, 1, 1, 2, 2, 2, 3, 3, 4, 5)


class Digits:
    """Reads one choice after the other. A zero is the first, which is the simplest."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    def number(self, below: int) -> int:
        """A number from 0 on."""
        size = 1 if below <= 64 else 2
        read = self._data[self._at : self._at + size].ljust(size, b"\0")
        self._at += size
        return int.from_bytes(read, "big") * below >> 8 * size

    def rest(self, size: int | None = None) -> bytes:
        """The bytes that were not read, or so many of them, which count as read."""
        if size is None:
            return self._data[self._at :]
        self._at += size
        return self._data[self._at - size : self._at]

    def again(self) -> Digits:
        """The same choices from the beginning."""
        return Digits(self._data)

    def pick(self, choices: Sequence[T]) -> T:
        """One of several."""
        return choices[self.number(len(choices))]

    def chance(self, count: int) -> bool:
        """Whether it is the last of so many cases."""
        return self.number(count) == count - 1


def random_bytes(seed: int) -> list[bytes]:
    """The bytes of the frame of a model, and of each instruction, which follow from a seed."""
    source = random.Random(seed)
    return [source.randbytes(SIZE) for _ in range(1 + source.choice(_LENGTHS))]
