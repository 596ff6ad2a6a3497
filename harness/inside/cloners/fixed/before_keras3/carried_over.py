"""What a clone takes from its original because no config has it: flags, regularizers."""

from __future__ import annotations

from typing import Any, Iterator

from ....structure import leaves, map_leaves
from ..options import config_of
from .release import Release


def restore_flags(original: Any, clone: Any, flags: tuple[str, ...]) -> None:
    """Set attributes of this layer alone: the `trainable` property would set it for everything below as well."""
    for flag in flags:
        if flag in vars(original) and vars(clone).get(flag) != vars(original)[flag]:
            vars(clone)[flag] = vars(original)[flag]


def restore_activity_regularizer(original: Any, clone: Any, attribute: str) -> None:
    """Give the clone a regularizer like the original's, where no config told it."""
    regularizer = vars(original).get(attribute)
    if regularizer is None or vars(clone).get(attribute) is not None:
        return
    if hasattr(regularizer, "get_config") and hasattr(type(regularizer), "from_config"):
        # In containers of its own: a class may keep what its config holds.
        config = map_leaves(lambda leaf: leaf, config_of(regularizer))
        regularizer = type(regularizer).from_config(config)
    setattr(clone, attribute, regularizer)


def shape_taken(layer: Any) -> Any:
    """As much of the shape that a layer takes as its `input_spec` tells; None where that tells nothing."""
    specs = list(leaves(layer.input_spec))
    if len(specs) != 1 or not hasattr(specs[0], "axes"):
        return None
    (spec,) = specs
    rank = spec.ndim or spec.min_ndim
    if spec.shape is not None or rank is None:
        return spec.shape
    return tuple(spec.axes.get(axis, spec.axes.get(axis - rank)) for axis in range(rank))


def side_by_side(original: Any, clone: Any, release: Release, into_graphs: bool) -> Iterator[tuple[Any, Any, bool]]:
    """The layer and what is inside, each with its counterpart, found by the attribute that holds it.

    The flag says whether they are inside a graph, which refers to its layers by their names.
    """
    seen: dict[int, Any] = {}
    waiting = [(original, clone, False)]
    while waiting:
        one, other, in_graph = waiting.pop()
        if id(one) in seen or one is other:
            continue
        seen[id(one)] = one
        yield one, other, in_graph
        in_graph = in_graph or release.is_graph(one) or release.is_graph(other)
        if in_graph and not into_graphs:
            continue
        for key, value in vars(one).items():
            waiting.extend((*pair, in_graph) for pair in _held(value, vars(other).get(key), release))


def _held(value: Any, counterpart: Any, release: Release) -> Iterator[tuple[Any, Any]]:
    if release.is_layer(value):
        if release.is_layer(counterpart):
            yield value, counterpart
    elif isinstance(value, (list, tuple)):
        if isinstance(counterpart, (list, tuple)) and len(value) == len(counterpart):
            for one, other in zip(value, counterpart):
                yield from _held(one, other, release)
    elif isinstance(value, dict) and isinstance(counterpart, dict):
        for key in value:
            if isinstance(key, (str, int)) and key in counterpart:
                yield from _held(value[key], counterpart[key], release)
