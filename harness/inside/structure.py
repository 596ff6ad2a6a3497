"""Nested lists, tuples and dicts: their leaves, read or changed, and the nesting as JSON that keeps them apart.

In JSON, a list is a list, a tuple {"tuple": [...]}, a dict {"dict": [[key, value], ...]} in its own order; another type
of these adds {"type": name}. Leaves are written by the caller. `keras.tree` is not used to change leaves: it sorts the
keys of a dictionary in some releases, and a clone has to keep the order that the user gave.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Any, Callable, Iterator

_PLAIN = frozenset(["dict", "list", "tuple", "_DictWrapper", "ListWrapper", "List", "_TupleWrapper"])


def is_nested(value: Any) -> bool:
    """Whether the value holds others."""
    return isinstance(value, (list, tuple, dict))


def skeleton(value: Any, leaf: Callable[[Any], Any]) -> Any:
    """The nesting of `value`, its leaves written by `leaf`."""
    if isinstance(value, list):
        return [skeleton(item, leaf) for item in value]
    if isinstance(value, tuple):
        return _typed({"tuple": [skeleton(item, leaf) for item in value]}, value)
    if isinstance(value, dict):
        return _typed({"dict": [[_key(key), skeleton(item, leaf)] for key, item in value.items()]}, value)
    return leaf(value)


def leaves(value: Any) -> Iterator[Any]:
    """The leaves of `value`, in the order in which `skeleton` meets them."""
    if isinstance(value, (list, tuple)):
        for item in value:
            yield from leaves(item)
    elif isinstance(value, dict):
        for item in value.values():
            yield from leaves(item)
    else:
        yield value


def _never(_: Any) -> bool:
    return False


def map_leaves(change: Callable[[Any], Any], structure: Any, is_leaf: Callable[[Any], bool] = _never) -> Any:
    """The same nesting of lists, tuples and dictionaries around changed leaves; `is_leaf` says what else is one."""
    if is_leaf(structure) or not isinstance(structure, (tuple, list, dict)):
        return change(structure)
    if isinstance(structure, dict):
        return _like(structure, [(key, map_leaves(change, value, is_leaf)) for key, value in structure.items()])
    return _like(structure, [map_leaves(change, value, is_leaf) for value in structure])


def _like(container: Any, values: list[Any]) -> Any:
    kind = type(container)
    if isinstance(container, defaultdict):
        return kind(container.default_factory, values)
    if hasattr(container, "_fields"):
        return kind(*values)
    if kind.__name__ not in _PLAIN:  # those of TensorFlow that are in there track what they are made of
        try:
            return kind(values)
        except Exception:  # noqa: BLE001 - a container with a constructor of its own
            pass
    return next(plain for plain in (dict, tuple, list) if isinstance(container, plain))(values)


def numbered(value: Any) -> tuple[Any, list[Any]]:
    """The nesting with its leaves numbered, and the leaves. None stays None, and is no leaf."""
    found: list[Any] = []

    def number(leaf: Any) -> int | None:
        if leaf is None:
            return None
        found.append(leaf)
        return len(found) - 1

    return skeleton(value, number), found


def _typed(written: dict[str, Any], value: Any) -> dict[str, Any]:
    name = type(value).__name__
    if name not in _PLAIN:
        written["type"] = name
    return written


def _key(key: Any) -> Any:
    return key if isinstance(key, (str, int, bool)) else str(key)
