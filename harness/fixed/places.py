"""The variables under a layer by where they are, and which of them answer to each other in two layers."""

from __future__ import annotations

import collections
from collections.abc import Callable
from typing import Any

Place = tuple[Any, ...]


def variables_under(root: Any, variable: Any, leading: Any, left_out: tuple[str, ...]) -> dict[Place, Any]:
    """The variables under a layer, each by its shortest place, then by the first in alphabetical order."""
    found: dict[Place, Any] = {}
    seen = {id(root)}
    waiting: collections.deque[tuple[Place, Any]] = collections.deque([((), root)])
    while waiting:
        place, thing = waiting.popleft()
        for name, value in _named(thing):
            if id(value) in seen:
                continue
            if isinstance(value, variable) and value_of(value) is not None:
                found[(*place, name)] = value
                seen.add(id(value))
            elif isinstance(value, leading) and name not in left_out:
                seen.add(id(value))
                waiting.append(((*place, name), value))
    return found


def value_of(variable: Any) -> Any:
    """What the value of a variable is kept in: a tensor in Keras 3, a handle in tf_keras.

    A variable of tf_keras that holds another one, for mixed precision or for replicas, has none of its own.
    """
    return variable._value if hasattr(variable, "_value") else vars(variable).get("_handle")


def _named(thing: Any) -> list[tuple[Any, Any]]:
    if isinstance(thing, dict):
        return [(str(key), value) for key, value in thing.items()]
    if isinstance(thing, list | tuple):
        return [(str(number), value) for number, value in enumerate(tuple(thing))]
    return sorted(vars(thing).items(), key=lambda pair: pair[0])


def matched(variables: dict[Place, Any], others: dict[Place, Any]) -> dict[int, Any]:
    """The other of each variable, by its `id`: of the same place and name, of the same name, or of the same place."""

    def name(variable: Any) -> Any:
        return variable.name.rpartition("/")[2]

    left = {id(other): (place, other) for place, other in others.items()}
    found: dict[int, Any] = {}
    alike: list[Callable[[Place, Any, Place, Any], bool]] = [
        lambda place, variable, at, other: place == at and name(variable) == name(other),
        lambda place, variable, at, other: name(variable) == name(other),
        lambda place, variable, at, other: place == at,
    ]
    for is_alike in alike:
        for place, variable in variables.items():
            if id(variable) in found:
                continue
            for key, (at, other) in left.items():
                if variable.shape == other.shape and is_alike(place, variable, at, other):
                    found[id(variable)] = other
                    del left[key]
                    break
    return found
