"""Objects that several layers share, or one has in several places: the clone's places share one of its own, too.

A config says what an object is, and not that it is one: what is made of configs has an object for each place. So each
layer that was made is walked beside its original, before it is built and hands on what it holds. A user's object, a
list or a dict that was met before, in whatever layer, gives way to what the clone has for it there.
"""

from __future__ import annotations

import functools
from typing import Any, Callable, Iterator

from .adapter import Adapter
from .comparison import PLAIN, leads_to

_CONTAINERS = (list, dict, set)
_DEEPEST = 5
_ELSEWHERE = frozenset(["tensorflow", "jax", "jaxlib", "torch", "numpy", "builtins", "threading", "wrapt", "google"])
"""Packages whose objects are no user's."""


class SharedObjects:
    """What the clone has for each object of the original that can change, by where it was met first."""

    def __init__(self, adapter: Adapter) -> None:
        self._adapter = adapter
        self._met: dict[int, tuple[Any, Any]] = {}

    def share_alike(self, original: Any, clone: Any) -> None:
        """Let a layer that was just made share what its original shares with layers that were made before."""
        self._attributes(original, clone, 0)

    def _attributes(self, original: Any, clone: Any, depth: int) -> None:
        held = vars(clone)
        for name, value in list(vars(original).items()):
            if name in held and not (depth == 0 and self._adapter.is_of_keras(name)):
                self._place(value, held[name], functools.partial(held.__setitem__, name), depth + 1)

    def _place(self, value: Any, counterpart: Any, put: Callable[[Any], None], depth: int) -> None:
        if depth > _DEEPEST or type(value) is not type(counterpart) or value is counterpart:
            return
        is_container = type(value) in _CONTAINERS
        if not is_container and not self._is_users(value):
            return
        if id(value) in self._met:
            shared = self._met[id(value)][1]
            if not is_container or shared == counterpart:
                put(shared)
            return
        self._met[id(value)] = value, counterpart
        if not is_container:
            self._attributes(value, counterpart, depth)
        elif not leads_to(value, self._adapter.is_part):
            for item, its, put_item in _items(value, counterpart):
                self._place(item, its, put_item, depth + 1)

    def _is_users(self, value: Any) -> bool:
        adapter, kind = self._adapter, type(value)
        if not hasattr(value, "__dict__") or isinstance(value, PLAIN + (type,)):
            return False
        if adapter.is_part(value) or adapter.is_function(value) or adapter.comes_with_keras(kind):
            return False
        return str(kind.__module__).split(".")[0] not in _ELSEWHERE


def _items(value: Any, counterpart: Any) -> Iterator[tuple[Any, Any, Callable[[Any], None]]]:
    keys: Any = value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    for key in list(keys):
        if key in counterpart if isinstance(value, dict) else key < len(counterpart):
            yield value[key], counterpart[key], functools.partial(counterpart.__setitem__, key)
