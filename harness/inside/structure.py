"""Nested lists, tuples and dicts: their leaves and their skeleton, as JSON.

In a skeleton, a list is a list, a tuple is {"tuple": [...]}, and a dict is {"dict": [[key, value], ...]}, its items
in order; a subclass adds {"type": name}. The caller passes the function that converts a leaf.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

_PLAIN_TYPES = frozenset(["dict", "list", "tuple", "_DictWrapper", "ListWrapper", "List", "_TupleWrapper"])


def skeleton(value: Any, convert: Callable[[Any], Any]) -> Any:
    if isinstance(value, list):
        return [skeleton(item, convert) for item in value]
    if isinstance(value, tuple):
        return _add_type({"tuple": [skeleton(item, convert) for item in value]}, value)
    if isinstance(value, dict):
        keys = [key if isinstance(key, (str, int, bool)) else str(key) for key in value]
        items = [skeleton(item, convert) for item in value.values()]
        return _add_type({"dict": [list(pair) for pair in zip(keys, items, strict=True)]}, value)
    return convert(value)


def items_of(value: Any) -> Iterable[tuple[Any, Any]]:
    return value.items() if isinstance(value, dict) else enumerate(value)


def leaves(value: Any) -> Iterator[Any]:
    if isinstance(value, (list, tuple, dict)):
        for _, item in items_of(value):
            yield from leaves(item)
    else:
        yield value


def number_leaves(value: Any) -> tuple[Any, list[Any]]:
    """The skeleton with numbers for leaves, and the leaves by number; None is not a leaf."""
    tensors: list[Any] = []

    def number(leaf: Any) -> int | None:
        if leaf is None:
            return None
        tensors.append(leaf)
        return len(tensors) - 1

    return skeleton(value, number), tensors


def _add_type(node: dict[str, Any], value: Any) -> dict[str, Any]:
    name = type(value).__name__
    if name not in _PLAIN_TYPES:
        node["type"] = name
    return node
