"""Makes choices from numbers that a seed determines, or Hypothesis draws and shrinks."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple, TypeVar

T = TypeVar("T")

BITS = 16
"""How many bits each number has."""


class Choices:
    """Makes each choice from the next number; 0 chooses the first option, the simplest.

    When the numbers run out, all choices are the simplest.
    """

    def __init__(self, numbers: Iterable[int] = ()) -> None:
        self._numbers = iter(numbers)

    def number(self, bound: int) -> int:
        """Choose a number from 0 to `bound` - 1."""
        return next(self._numbers, 0) * bound >> BITS

    def pick(self, options: Sequence[T]) -> T:
        return options[self.number(len(options))]

    def chance(self, count: int) -> bool:
        """Return True with the probability 1 / `count`."""
        return self.number(count) == count - 1


class ModelChoices(NamedTuple):
    """The choices for the whole model (`frame`), and for each instruction."""

    frame: Choices
    instructions: Iterator[Choices]


def from_seed(seed: int) -> ModelChoices:
    """Endless choices that a seed determines."""
    source = random.Random(seed)

    def choices() -> Choices:
        generator = random.Random(source.getrandbits(64))
        return Choices(generator.getrandbits(BITS) for _ in itertools.count())

    return ModelChoices(choices(), (choices() for _ in itertools.count()))


def from_numbers(frame: Iterable[int], *instructions: Iterable[int]) -> ModelChoices:
    """Choices from lists of numbers, one for the frame and one per instruction."""
    return ModelChoices(Choices(frame), map(Choices, instructions))
