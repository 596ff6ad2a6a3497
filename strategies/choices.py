"""Makes choices from numbers that a seed determines, or that Hypothesis draws and shrinks."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple, TypeVar

T = TypeVar("T")

BITS = 16
"""The bits of a number."""


class Choices:
    """Makes each choice from the next number. Zero is the first, simplest option.

    No number is used twice. When the numbers run out, all choices are the simplest.
    """

    def __init__(self, numbers: Iterable[int] = ()) -> None:
        self._numbers = iter(numbers)

    def number(self, below: int) -> int:
        """Return a number from 0 up to, and without, `below`."""
        return next(self._numbers, 0) * below >> BITS

    def pick(self, options: Sequence[T]) -> T:
        return options[self.number(len(options))]

    def chance(self, count: int) -> bool:
        """Return True in one case of `count`."""
        return self.number(count) == count - 1


class ModelChoices(NamedTuple):
    """The choices of a model: those of its frame, and separate ones for each instruction."""

    frame: Choices
    instructions: Iterator[Choices]


def from_seed(seed: int) -> ModelChoices:
    """Return endless choices that a seed determines."""
    source = random.Random(seed)

    def choices() -> Choices:
        own = random.Random(source.getrandbits(64))
        return Choices(own.getrandbits(BITS) for _ in itertools.count())

    return ModelChoices(choices(), (choices() for _ in itertools.count()))


def from_numbers(frame: Iterable[int], *instructions: Iterable[int]) -> ModelChoices:
    """Return the choices of lists of numbers, for the frame and for each instruction."""
    return ModelChoices(Choices(frame), map(Choices, instructions))
