"""What a user's model takes: its inputs, and numbers that suit them."""

from __future__ import annotations

from typing import Any, Iterator

from .description import Description
from .frameworks.interface import Framework
from .observer import Observer
from .working_inputs import working_inputs


def described(model: Any, framework: Framework, *, suited: bool) -> dict[str, Any]:
    """The inputs of a graph, and, where they are wanted, how to draw numbers that are `suited` to them.

    A graph that is not built has no inputs.
    """
    seen: dict[str, Any] = {}
    if not framework.ends(model)[0]:
        return seen
    description = Description(model, Observer(framework, 0), values=False)
    shape = description.shape
    reach = vocabularies(shape["layers"], [vocabulary(place.layer) for place in description.layers.places])
    seen["inputs"] = [
        {**{name: end[name] for name in ("name", "shape", "dtype")}, "vocabulary": reach.get(end["tensor"][0])}
        for end in shape["inputs"]
    ]
    if suited:
        seen["suited"] = working_inputs(description, seen["inputs"], framework)
    return seen


def vocabularies(layers: list[dict[str, Any]], sizes: list[int | None]) -> dict[int, int]:
    """For each input layer, by its place, the smallest vocabulary that its numbers are looked up in.

    Goes backwards from every layer that looks something up to the inputs that reach it, not past another such layer.
    """
    found: dict[int, int] = {}
    for start, size in enumerate(sizes):
        if size is None:
            continue
        waiting, seen = list(_before(start, layers)), {start}
        while waiting:
            number = waiting.pop()
            if number in seen or sizes[number] is not None:
                continue
            seen.add(number)
            if layers[number]["inside"] < 0 and layers[number]["kind"] == "InputLayer":
                found[number] = min(size, found.get(number, size))
            waiting.extend(_before(number, layers))
    return found


def vocabulary(layer: Any) -> int | None:
    """How many numbers from 0 on a layer knows; None where it looks nothing up."""
    names = {base.__name__ for base in type(layer).__mro__}
    size = None
    if "Embedding" in names:
        size = getattr(layer, "input_dim", None)
    elif "CategoryEncoding" in names:
        size = getattr(layer, "num_tokens", None)
    return size if isinstance(size, int) and size > 0 else None


def _before(number: int, layers: list[dict[str, Any]]) -> Iterator[int]:
    """The layers that give a layer what it takes; one that is called by its holder takes what that takes."""
    layer = layers[number]
    calls = layer.get("calls") or ()
    for call in calls:
        for tensor in _tensors([call["args"], call["kwargs"]]):
            yield tensor[0]
    if (not calls or layer["kind"] == "InputLayer") and layer["inside"] >= 0:
        yield layer["inside"]


def _tensors(value: Any) -> Iterator[list[int]]:
    if isinstance(value, dict):
        if isinstance(value.get("tensor"), list):
            yield value["tensor"]
        for item in value.values():
            yield from _tensors(item)
    elif isinstance(value, list):
        for item in value:
            yield from _tensors(item)
