"""Choices among what is there: numbers that follow from a seed, or that Hypothesis draws and shrinks."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple, TypeVar

T = TypeVar("T")

BITS = 16
"""A number has this many bits."""


class Choices:
    """Makes one choice after the other, each of the next number. A zero is the first choice, which is the simplest.

    No number is read twice. Where they end, the simplest choices are made.
    """

    def __init__(self, numbers: Iterable[int] = ()) -> None:
        self._numbers = iter(numbers)

    def number(self, below: int) -> int:
        """A number from 0 on."""
        return next(self._numbers, 0) * below >> BITS

    def pick(self, choices: Sequence[T]) -> T:
        """One of several."""
        return choices[self.number(len(choices))]

    def chance(self, count: int) -> bool:
        """True in one case of `count`."""
        return self.number(count) == count - 1


class Source(NamedTuple):
    """The choices of a model: those of its frame, then those of each instruction, which shares none with another."""

    frame: Choices
    parts: Iterator[Choices]


def of_seed(seed: int) -> Source:
    """Choices without an end, which follow from a seed."""
    source = random.Random(seed)

    def choices() -> Choices:
        own = random.Random(source.getrandbits(64))
        return Choices(own.getrandbits(BITS) for _ in itertools.count())

    return Source(choices(), (choices() for _ in itertools.count()))


def of_numbers(frame: Iterable[int], *parts: Iterable[int]) -> Source:
    """The choices that lists of numbers mean. There are no more instructions than parts."""
    return Source(Choices(frame), map(Choices, parts))
