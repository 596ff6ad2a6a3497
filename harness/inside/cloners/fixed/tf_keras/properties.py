"""What a layer is beyond its config: flags set later, names, the dtype policy, the place in a random stream."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .release import is_graph, is_layer

_FLAGS = ("_trainable", "_supports_masking", "supports_masking", "_autocast", "_dynamic")
"""The attributes behind what can be set on a layer; `supports_masking` is one itself before 2.3."""


def restore(original: Any, clone: Any, inside: bool = True) -> None:
    """Give `clone`, and with `inside` every layer in it, what the config of `original` did not carry.

    Attributes are set one layer at a time: the `trainable` property would set it for everything below as well.
    """
    for one, other, named in _pairs(original, clone) if inside else [(original, clone, False)]:
        if type(one) is not type(other):
            continue
        for flag in _FLAGS:
            if flag in vars(one) and getattr(other, flag, None) != vars(one)[flag]:
                setattr(other, flag, vars(one)[flag])
        if named and other._name != one._name:
            other._name = one._name
        _restore_policy(one, other)
        _restore_activity_regularizer(one, other)
        if vars(one).get("seed") is not None and vars(other).get("seed", 0) is None:
            other.seed = one.seed  # AlphaDropout, of which no config told it before 2.7.
        _restore_random_stream(one, other)


def restore_weight_names(original: Any, clone: Any) -> None:
    """Name the weights as in the original, where a layer was built in another scope or names its parts by a count."""
    if not (original.built and clone.built) or len(original.weights) != len(clone.weights):
        return
    for one, other in zip(original.weights, clone.weights):
        other = getattr(other, "_variable", other)
        if not hasattr(one, "name") or not hasattr(other, "name"):
            continue  # The table of a lookup layer poses as a weight.
        if one.name != other.name and one.shape == other.shape and hasattr(other, "_handle_name"):
            other._handle_name = one.name


def _restore_policy(one: Any, other: Any) -> None:
    policy = getattr(one, "_dtype_policy", None)
    if policy is not None and other._dtype_policy.name != policy.name:
        other._set_dtype_policy(policy)


def _restore_activity_regularizer(one: Any, other: Any) -> None:
    regularizer = vars(one).get("_activity_regularizer")
    if regularizer is None or vars(other).get("_activity_regularizer") is not None:
        return
    if hasattr(regularizer, "get_config") and hasattr(type(regularizer), "from_config"):
        regularizer = type(regularizer).from_config(regularizer.get_config())
    other._activity_regularizer = regularizer


def _restore_random_stream(one: Any, other: Any) -> None:
    """Continue a seeded stream where the original is; one without a seed stays the clone's own."""
    source, target = vars(one).get("_random_generator"), vars(other).get("_random_generator")
    if source is None or target is None or getattr(source, "_seed", None) is None:
        return
    target._seed = source._seed
    generator = getattr(source, "_generator", None)
    if generator is not None and getattr(target, "_generator", None) is not None:
        target._generator.state.assign(generator.state)


def _pairs(original: Any, clone: Any) -> Iterator[tuple[Any, Any, bool]]:
    """The layer and what is inside, each with its counterpart, found by the attribute that holds it.

    The flag says whether the counterpart may be renamed: a graph refers to its layers by their names.
    """
    seen: dict[int, Any] = {}
    waiting = [(original, clone, True)]
    while waiting:
        one, other, named = waiting.pop()
        if id(one) in seen or one is other:
            continue
        seen[id(one)] = one
        yield one, other, named
        inner_named = named and not is_graph(other)
        for key, value in vars(one).items():
            waiting.extend((*pair, inner_named) for pair in _held(value, vars(other).get(key)))


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
