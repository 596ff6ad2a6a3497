"""Compares the skeletons of `inside/structure.py`, and finds tensors in them.

A tensor is {"tensor": [layer, call, output]}, or {"tensor": name}.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from clonediff.harness.observation import Structure
from clonediff.reports.records import Change

MISSING = "nothing"

Consumers = dict[tuple[int, int], list[tuple[str, int, int]]]
Tensor = tuple[int, int, int]
"""A tensor by layer, number of the call, and output."""
TensorNamer = Callable[[Tensor], str]

CHANGES: tuple[Change, ...] = "missing", "extra", "type", "order", "tensor", "value"
"""The ways in which two skeletons can differ."""


class Mismatch(NamedTuple):
    """A difference between two skeletons at a path of keys; `digests` has the arrays."""

    keys: tuple[Any, ...]
    change: Change
    expected: Any
    found: Any
    digests: tuple[str, str] | None = None

    @property
    def path(self) -> str:
        keys = "".join(f"[{key!r}]" for key in self.keys)
        return f"{keys}.{self.change}" if self.change in ("shape", "dtype") else keys


def mismatches(expected: Any, found: Any, keys: tuple[Any, ...] = ()) -> Iterator[Mismatch]:
    """All differences of skeletons, in the order of `expected`; extra items are last."""
    if expected == found:
        return
    form = _form(expected)
    if form != _form(found):
        yield Mismatch(keys, "type", expected, found)
    elif form in ("value", "tensor"):
        yield Mismatch(keys, "tensor" if form == "tensor" else "value", expected, found)
    else:
        yield from _compare_items(dict(_items(expected)), dict(_items(found)), keys)


def _compare_items(expected: Mapping[Any, Any], found: Mapping[Any, Any], keys: tuple[Any, ...]) -> Iterator[Mismatch]:
    for key, item in expected.items():
        if key in found:
            yield from mismatches(item, found[key], (*keys, key))
        else:
            yield Mismatch((*keys, key), "missing", item, MISSING)
    for key, item in found.items():
        if key not in expected:
            yield Mismatch((*keys, key), "extra", MISSING, item)
    if list(expected) != list(found) and expected.keys() == found.keys():
        yield Mismatch(keys, "order", list(expected), list(found))


def _form(value: Any) -> str:
    """The form of a node; different forms are not compared further."""
    if isinstance(value, list):
        return "list"
    if not isinstance(value, dict):
        return "value"
    for form in ("tuple", "dict"):
        if isinstance(value.get(form), list):
            return f"{form} {value.get('type', '')}"
    return "tensor" if set(value) == {"tensor"} else "object"


def _items(value: Any) -> Iterable[tuple[Any, Any]]:
    """A skeleton's items with keys or indices; a leaf has none."""
    if not isinstance(value, dict):
        return enumerate(value) if isinstance(value, list) else ()
    if isinstance(value.get("tuple"), list):
        return enumerate(value["tuple"])
    items: Iterable[tuple[Any, Any]] = value["dict"] if isinstance(value.get("dict"), list) else value.items()
    return items


def tensors(value: Any) -> Iterator[Tensor]:
    if isinstance(value, dict) and isinstance(value.get("tensor"), list):
        layer, call, output = value["tensor"]
        yield layer, call, output
    else:
        for _, item in _items(value):
            yield from tensors(item)


def map_tensors(value: Any, name: TensorNamer) -> Any:
    """Replace {"tensor": [layer, call, output]} in a skeleton with {"tensor": name}."""
    if isinstance(value, dict):
        if set(value) == {"tensor"} and isinstance(value["tensor"], list):
            layer, call, output = value["tensor"]
            return {"tensor": name((layer, call, output))}
        return {key: map_tensors(item, name) for key, item in value.items()}
    return [map_tensors(item, name) for item in value] if isinstance(value, list) else value


def consumers_of(model: Structure, name: Callable[[int], str]) -> Consumers:
    """The consumers of each call's outputs: layer, input, output; "" is the model.

    Only consumers distinguish two calls of a shared layer on the same tensors.
    """
    consumers: Consumers = defaultdict(list)
    for index, end in enumerate(model.outputs):
        consumers[end.tensor[:2]].append(("", index, end.tensor[2]))
    for layer, consumer in enumerate(model.layers):
        for record in consumer.calls:
            for index, (source, call, output) in enumerate(tensors([record.args, record.kwargs])):
                consumers[source, call].append((name(layer), index, output))
    return consumers
