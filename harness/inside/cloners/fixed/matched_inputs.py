"""Matches the tensors that a user gives for the inputs of a model with these inputs."""

from __future__ import annotations

from typing import Any

from ...structure import leaves


def by_input(given: Any, reference: Any) -> list[tuple[Any, Any]] | None:
    """Each input of a model with what was given for it, in the order of the model; None if the nesting differs.

    A list or tuple of one stands for what is in it, and the other way round; a tuple stands for a list.
    """
    several = isinstance(given, (list, tuple))
    if isinstance(reference, (list, tuple)) and len(reference) == 1 and not several and not isinstance(given, dict):
        given = [given]
    elif not isinstance(reference, (list, tuple, dict)) and several and len(given) == 1:
        given = given[0]
    found: list[Any] = []
    return list(zip(leaves(reference), found)) if _match(given, reference, found) else None


def _match(given: Any, reference: Any, found: list[Any]) -> bool:
    if isinstance(reference, dict):
        same = isinstance(given, dict) and set(given) == set(reference)
        return same and all(_match(given[key], reference[key], found) for key in reference)
    if isinstance(reference, (list, tuple)):
        same = isinstance(given, (list, tuple)) and len(given) == len(reference)
        return same and all(_match(one, other, found) for one, other in zip(given, reference))
    found.append(given)
    return not isinstance(given, (list, tuple, dict))
