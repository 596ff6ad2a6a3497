"""What a value leads to: by which ways a part of a model is found in what the model holds."""

from __future__ import annotations

import collections
import functools
import types
import weakref
from collections.abc import Callable

import numpy as np
import pytest

from clonediff.harness.inside.cloners.fixed.comparison import leads_to
from clonediff.harness.inside.cloners.fixed.copied_attributes import NotUnderstood, copied_value


class Part:
    pass


class Slotted:
    __slots__ = ("held",)

    def __init__(self, part: Part) -> None:
        self.held = part


class Queue(collections.deque[Part]):
    """Has attributes, besides being a container."""


PART = Part()
WAYS: dict[str, Callable[[Part], object]] = {
    "deque": lambda part: collections.deque([part]),
    "deque with attributes": lambda part: Queue([part]),
    "mapping proxy": lambda part: types.MappingProxyType({"held": part}),
    "weak reference": weakref.ref,
    "weak values": lambda part: weakref.WeakValueDictionary({"held": part}),
    "weak set": lambda part: weakref.WeakSet([part]),
    "array": lambda part: np.array([None, part], dtype=object),
    "key": lambda part: {part: 1},
    "key within": lambda part: [{"names": {part: 1}}],
    "slots": Slotted,
    "namespace": lambda part: types.SimpleNamespace(held=[part]),
    "closure": lambda part: lambda: part,
    "partial": lambda part: functools.partial(print, part),
    "cached": lambda part: functools.lru_cache(lambda: part),
}


def is_part(value: object) -> bool:
    return isinstance(value, Part)


@pytest.mark.parametrize("way", WAYS)
def test_a_part_is_found(way: str) -> None:
    assert leads_to(WAYS[way](PART), is_part)
    assert not leads_to(WAYS[way](Part()), lambda value: value is PART)


@pytest.mark.parametrize("way", WAYS)
def test_what_leads_to_a_part_and_cannot_be_made_again_is_not_handed_on(way: str) -> None:
    with pytest.raises(NotUnderstood):
        copied_value(WAYS[way](PART), is_part, lambda part: Part(), lambda number: None, Part(), Part())
