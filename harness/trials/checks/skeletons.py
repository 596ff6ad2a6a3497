"""Arguments of calls and structures of ends, as `inside/structure.py` writes them: compared, and searched for tensors.

A tensor is {"tensor": [layer, use, output]}, or {"tensor": name}.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from clonediff.harness.observation import Shape
from clonediff.reports.records import Change

MISSING = "nothing"
LOOKAHEAD = 8
"""How many calls ahead `users` looks."""

Call = tuple[int, int]
Tensor = tuple[int, int, int]
"""A tensor by the layer that gave it, the use of that, and the output."""
TensorName = Callable[[Tensor], str]

CHANGES: tuple[Change, ...] = "missing", "extra", "type", "order", "tensor", "value"
"""What can differ in skeletons."""


class Unlike(NamedTuple):
    """One leaf that differs, by the keys that lead to it; `digests` has two arrays that differ in their values."""

    keys: tuple[Any, ...]
    change: Change
    expected: Any
    actual: Any
    digests: tuple[str, str] | None = None

    @property
    def path(self) -> str:
        keys = "".join(f"[{key!r}]" for key in self.keys)
        return f"{keys}.{self.change}" if self.change in ("shape", "dtype") else keys


def unlike(expected: Any, actual: Any, keys: tuple[Any, ...] = ()) -> Iterator[Unlike]:
    """Everything in which two skeletons differ, in the order expected, what is extra last."""
    if expected == actual:
        return
    form = _form(expected)
    if form != _form(actual):
        yield Unlike(keys, "type", expected, actual)
    elif form in ("value", "tensor"):
        yield Unlike(keys, "tensor" if form == "tensor" else "value", expected, actual)
    else:
        yield from _unlike_items(dict(_items(expected)), dict(_items(actual)), keys)


def _unlike_items(mine: Mapping[Any, Any], theirs: Mapping[Any, Any], keys: tuple[Any, ...]) -> Iterator[Unlike]:
    for key, item in mine.items():
        if key in theirs:
            yield from unlike(item, theirs[key], (*keys, key))
        else:
            yield Unlike((*keys, key), "missing", item, MISSING)
    for key, item in theirs.items():
        if key not in mine:
            yield Unlike((*keys, key), "extra", MISSING, item)
    if list(mine) != list(theirs) and mine.keys() == theirs.keys():
        yield Unlike(keys, "order", list(mine), list(theirs))


def _form(value: Any) -> str:
    """What kind of node this is: where two differ in it, there is nothing further to compare."""
    if isinstance(value, list):
        return "list"
    if not isinstance(value, dict):
        return "value"
    for form in ("tuple", "dict"):
        if isinstance(value.get(form), list):
            return f"{form} {value.get('type', '')}"
    return "tensor" if set(value) == {"tensor"} else "object"


def _items(value: Any) -> Iterable[tuple[Any, Any]]:
    """What stands in a skeleton, each with its key or its number; nothing in a leaf."""
    if not isinstance(value, dict):
        return enumerate(value) if isinstance(value, list) else ()
    if isinstance(value.get("tuple"), list):
        return enumerate(value["tuple"])
    items: Iterable[tuple[Any, Any]] = value["dict"] if isinstance(value.get("dict"), list) else value.items()
    return items


def tensors(value: Any) -> Iterator[Tensor]:
    if isinstance(value, dict) and isinstance(value.get("tensor"), list):
        layer, use, output = value["tensor"]
        yield layer, use, output
    else:
        for _, item in _items(value):
            yield from tensors(item)


def map_tensors(value: Any, name: TensorName) -> Any:
    """A skeleton of arguments with each {"tensor": [layer, use, output]} given its name."""
    if isinstance(value, dict):
        if set(value) == {"tensor"} and isinstance(value["tensor"], list):
            layer, use, output = value["tensor"]
            return {"tensor": name((layer, use, output))}
        return {key: map_tensors(item, name) for key, item in value.items()}
    return [map_tensors(item, name) for item in value] if isinstance(value, list) else value


def users(shape: Shape, name: Callable[[int], str]) -> dict[Call, int]:
    """For each call, as layer and use, a number that is the same where layers of the same `name` use its results alike.

    Two calls of a shared layer on the same tensors differ in nothing else.
    """
    ends: dict[Call, list[tuple[int, int]]] = defaultdict(list)
    for place, end in enumerate(shape.outputs):
        ends[end.tensor[:2]].append((place, end.tensor[2]))
    uses: dict[Call, list[tuple[str, int, int, Call]]] = defaultdict(list)
    numbers: dict[Call, int] = {}
    for layer, user in enumerate(shape.layers):
        for use, call in enumerate(user.calls):
            numbers[layer, use] = 0
            for place, (giver, giver_use, output) in enumerate(tensors([call.args, call.kwargs])):
                uses[giver, giver_use].append((name(layer), place, output, (layer, use)))
    for _ in range(LOOKAHEAD):
        users_of = {call: sorted((*how, numbers.get(by, 0)) for *how, by in uses[call]) for call in numbers}
        numbers = {call: hash((*users_of[call], *ends[call])) for call in numbers}
    return numbers
