"""What a layer is beyond its config: flags set later, names of what it holds, where its seeds have got to."""

from __future__ import annotations

import inspect
from typing import Any, Iterator

from .release import is_graph, is_layer, is_own

_FLAGS = ("trainable", "_trainable", "supports_masking")


def restore(original: Any, clone: Any) -> None:
    """Give `clone`, and every layer that it holds, what the config of `original` did not carry.

    Attributes are set one layer at a time: the `trainable` property of a wrapper sets it for what it holds as well.
    """
    for one, other in _pairs(original, clone):
        if type(one) is not type(other):
            continue
        for flag in _FLAGS:
            if flag in vars(one) and vars(other).get(flag) != vars(one)[flag]:
                vars(other)[flag] = vars(one)[flag]
        if other.name != one.name:
            other.name = one.name
        _restore_activity_regularizer(one, other)
        _restore_arguments(one, other)


def restore_seeds(original: Any, clone: Any) -> None:
    """Let the seeds in the clone's initializers stand where the original's are: drawing moves them on."""
    for one, other in _pairs(original, clone):
        for key, value in vars(one).items():
            twin = vars(other).get(key)
            if type(twin) is not type(value) or twin is value or is_layer(value) or not hasattr(value, "get_config"):
                continue
            if isinstance(vars(value).get("seed"), int):
                twin.seed = value.seed


def _restore_activity_regularizer(one: Any, other: Any) -> None:
    regularizer = vars(one).get("activity_regularizer")
    if regularizer is None or vars(other).get("activity_regularizer") is not None:
        return
    if hasattr(regularizer, "get_config") and hasattr(type(regularizer), "from_config"):
        regularizer = type(regularizer).from_config(regularizer.get_config())
    other.activity_regularizer = regularizer


def _restore_arguments(one: Any, other: Any) -> None:
    """Keras's own layers keep their arguments by name, but not every one has all of them in its config."""
    if not is_own(type(one)):
        return
    for name in inspect.signature(type(one).__init__).parameters:
        mine, its = vars(one).get(name), vars(other).get(name)
        if _is_plain(mine) and _is_plain(its) and mine != its:
            vars(other)[name] = mine


def _is_plain(value: Any) -> bool:
    if isinstance(value, tuple):
        return all(_is_plain(item) for item in value)
    return value is None or isinstance(value, (bool, int, float, str))


def _pairs(original: Any, clone: Any) -> Iterator[tuple[Any, Any]]:
    """The layer and what it holds, each with its counterpart, found by the attribute that holds it."""
    seen: dict[int, Any] = {}
    waiting = [(original, clone)]
    while waiting:
        one, other = waiting.pop()
        if id(one) in seen or one is other:
            continue
        seen[id(one)] = one
        yield one, other
        if is_graph(one) or is_graph(other):
            continue  # The layers of a graph are cloned, and restored, one by one.
        for key, value in vars(one).items():
            if not key.endswith("bound_nodes"):
                waiting.extend(_held(value, vars(other).get(key)))


def _held(value: Any, counterpart: Any) -> Iterator[tuple[Any, Any]]:
    if is_layer(value):
        if is_layer(counterpart):
            yield value, counterpart
    elif isinstance(value, (list, tuple)):
        if isinstance(counterpart, (list, tuple)) and len(value) == len(counterpart):
            for one, other in zip(value, counterpart):
                for pair in _held(one, other):
                    yield pair
    elif isinstance(value, dict) and isinstance(counterpart, dict):
        for key in value:
            if isinstance(key, (str, int)) and key in counterpart:
                for pair in _held(value[key], counterpart[key]):
                    yield pair
