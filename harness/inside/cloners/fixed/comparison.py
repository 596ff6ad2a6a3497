"""Compares what two objects hold, and finds what a value leads to."""

from __future__ import annotations

import gc
import weakref
from functools import partial
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any, Callable

import numpy as np

from .options import config_of

PLAIN = (bool, int, float, complex, str, bytes, type(None))
_DEEP = 4
_FAR = 10000


class Comparison:
    """Compares the attributes of an original and its clone, except layers and state, such as variables."""

    def __init__(
        self, is_state: Callable[[Any], bool], is_of_keras: Callable[[str], bool], is_layer: Callable[[Any], bool]
    ) -> None:
        """`is_of_keras` says of the name of an attribute whether Keras itself gives it to layers."""
        self.is_state = is_state
        self.is_of_keras = is_of_keras
        self.is_layer = is_layer

    def differing(self, one: Any, other: Any) -> list[str]:
        """The attributes that two objects of one class both have, and that differ."""
        held, others = vars(one), vars(other)
        names = [name for name in held if name in others and not self.is_of_keras(name)]
        return [name for name in names if not self.alike(held[name], others[name])]

    def alike(self, one: Any, other: Any, depth: int = 0) -> bool:
        """Whether two values are the same as far as they can be compared."""
        if one is other or depth > _DEEP:
            return True
        if self.is_state(one) or self.is_state(other):
            return True
        deeper = partial(self._all_alike, depth=depth + 1)
        if isinstance(one, PLAIN) or isinstance(other, PLAIN):
            return type(one) is type(other) and (one == other or one != one)
        if isinstance(one, (list, tuple)) and isinstance(other, (list, tuple)):
            return deeper(one, other)
        if isinstance(one, dict) and isinstance(other, dict):
            return list(map(str, one)) == list(map(str, other)) and deeper(list(one.values()), list(other.values()))
        if type(one) is not type(other):
            return False
        if isinstance(one, (set, frozenset)):  # of numbers, they may be those of objects
            return len(one) == len(other) and (one == other or not all(isinstance(each, str) for each in one))
        if isinstance(one, MethodType):
            return one.__func__ is other.__func__
        if isinstance(one, FunctionType):
            return one.__code__ is other.__code__ and deeper(_captured(one), _captured(other))
        if isinstance(one, partial):
            return deeper([one.func, one.args, one.keywords], [other.func, other.args, other.keywords])
        if isinstance(one, (type, BuiltinFunctionType)):
            return False
        if isinstance(one, np.ndarray):
            return one.shape == other.shape and bool(np.array_equal(one, other))
        return self._objects_alike(one, other, depth)

    def _all_alike(self, ones: Any, others: Any, depth: int) -> bool:
        return len(ones) == len(others) and all(self.alike(a, b, depth) for a, b in zip(ones, others))

    def _objects_alike(self, one: Any, other: Any, depth: int) -> bool:
        if hasattr(one, "get_config") and hasattr(type(one), "from_config"):
            try:
                return self.alike(config_of(one), config_of(other), depth + 1)
            except Exception:
                return True
        try:
            if bool(one == other):
                return True
        except Exception:
            return True
        if not hasattr(one, "__dict__"):
            return _compares_by_identity(one)
        held, others = vars(one), vars(other)
        return list(held) == list(others) and self._all_alike(list(held.values()), list(others.values()), depth + 1)


def _compares_by_identity(value: Any) -> bool:
    return bool(getattr(type(value), "__eq__", None) is getattr(object, "__eq__", None))


def _captured(function: Any) -> list[Any]:
    values = [cell.cell_contents for cell in function.__closure__ or () if _is_filled(cell)]
    return values + list(function.__defaults__ or ()) + list((function.__kwdefaults__ or {}).values())


def _is_filled(cell: Any) -> bool:
    try:
        cell.cell_contents  # noqa: B018 - an empty one raises
    except ValueError:
        return False
    return True


def leads_to(value: Any, wanted: Callable[[Any], bool]) -> bool:
    """Whether a value is of a sort, or leads to one: by a container, what a function captured, or an attribute."""
    seen: dict[int, Any] = {}
    waiting = [value]
    while waiting and len(seen) < _FAR:
        each = waiting.pop()
        if id(each) in seen or isinstance(each, PLAIN + (type, BuiltinFunctionType, ModuleType)):
            continue
        seen[id(each)] = each
        if wanted(each):
            return True
        waiting.extend(_next_to(each))
    return False


def _next_to(value: Any) -> list[Any]:
    if isinstance(value, np.ndarray):
        return list(value.ravel()) if value.dtype == object else []
    if isinstance(value, weakref.ref):
        return [value()]
    if isinstance(value, MethodType):
        return [value.__self__, value.__func__]
    if isinstance(value, FunctionType):
        return _captured(value)
    # What containers hold, whichever they are; beside attributes a class may have slots, or be a container.
    return gc.get_referents(value) + list(vars(value).values() if hasattr(value, "__dict__") else ())
