"""Nested arguments: how a leaf is changed with every container around it kept as it is.

`keras.tree` is not used here: it sorts the keys of a dictionary in some releases, and a clone has to keep the order
that the user gave.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import Any


def _never(_: Any) -> bool:
    return False


def map_leaves(change: Callable[[Any], Any], structure: Any, whole: Callable[[Any], bool] = _never) -> Any:
    """The same nesting of lists, tuples and dictionaries around changed leaves; `whole` ones are left as they are."""
    if whole(structure) or not isinstance(structure, (tuple, list, dict)):
        return structure if whole(structure) else change(structure)
    if isinstance(structure, dict):
        return _like(structure, [(key, map_leaves(change, value, whole)) for key, value in structure.items()])
    return _like(structure, [map_leaves(change, value, whole) for value in structure])


def _like(container: Any, values: list[Any]) -> Any:
    kind = type(container)
    if isinstance(container, defaultdict):
        return kind(container.default_factory, values)
    if hasattr(container, "_fields"):
        return kind(*values)
    try:
        return kind(values)
    except Exception:  # noqa: BLE001 - a container with a constructor of its own
        return next(plain for plain in (dict, tuple, list) if isinstance(container, plain))(values)


def leaves(structure: Any) -> Iterator[Any]:
    """The leaves, containers left out, in the order they were given."""
    if isinstance(structure, (list, tuple)):
        for value in structure:
            for leaf in leaves(value):
                yield leaf
    elif isinstance(structure, dict):
        for value in structure.values():
            for leaf in leaves(value):
                yield leaf
    else:
        yield structure


def replace_leaves(change: Callable[[Any], Any], structure: Any) -> Any:
    """Like `map_leaves`, but a structure in which nothing changes is given back itself, containers and all."""
    if not isinstance(structure, (list, tuple, dict)):
        return change(structure)
    changed = map_leaves(change, structure)
    if all(before is after for before, after in zip(leaves(structure), leaves(changed))):
        return structure
    return changed
