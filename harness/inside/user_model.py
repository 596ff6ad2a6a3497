"""What a user's model takes: its inputs, and numbers that it can be called with.

A size that the shape of an input leaves open is found by trying: a position table, an embedding or a reshape knows what
it takes, and says so when it is called. Few sizes are tried, likely ones first.
"""

from __future__ import annotations

import contextlib
import re
from typing import Any, Iterator

import numpy as np

from .description import Description
from .frameworks.interface import Framework
from .observer import Observer
from .structure import leaves
from .values import DEFAULT_BATCH, input_arrays

SIZE = 32
"""What is tried first: large enough for an image that is halved five times."""
NUMBERS = 10
"""Whole numbers are drawn below this, or below the size of the vocabulary that they are looked up in."""

_POWERS = (16, 8, 4, 2, 1, 64, 128, 224, 256, 512)
_MOST_OF_TABLES = 8
_LARGEST = 4096
_TABLE = re.compile(r"length|position|input_dim|target_shape")
_MASK = re.compile(r"(?i:(?:^|[^a-z])masks?[\W_\d]*)$|[a-z]Masks?\d*$")

End = dict[str, Any]
"""An input of a model: its name, shape, dtype, and the size of the vocabulary that its numbers are looked up in."""


def inputs_of(description: Description) -> list[End]:
    """The inputs of a graph, none where it is not built."""
    shape = description.shape
    reach = vocabularies(shape["layers"], [_vocabulary(place.layer) for place in description.layers.places])
    return [
        {**{name: end[name] for name in ("name", "shape", "dtype")}, "vocabulary": reach.get(end["tensor"][0])}
        for end in shape["inputs"]
    ]


def described(model: Any, framework: Framework) -> Description:
    """A user's model, without the values of its weights."""
    return Description(model, Observer(framework, 0), values=False)


# -- vocabularies


def vocabularies(layers: list[dict[str, Any]], sizes: list[int | None]) -> dict[int, int]:
    """For each input layer, by its place, the smallest vocabulary that its numbers are looked up in.

    Goes backwards from every layer that looks something up to the inputs that reach it, not past another such layer.
    """
    smallest: dict[int, int] = {}
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
                smallest[number] = min(size, smallest.get(number, size))
            waiting.extend(_before(number, layers))
    return smallest


def _vocabulary(layer: Any) -> int | None:
    """How many numbers from 0 on a layer knows; None where it looks nothing up."""
    names = {base.__name__ for base in type(layer).__mro__}
    attribute = "input_dim" if "Embedding" in names else "num_tokens" if "CategoryEncoding" in names else ""
    size = getattr(layer, attribute, None) if attribute else None
    return size if isinstance(size, int) and size > 0 else None


def _before(number: int, layers: list[dict[str, Any]]) -> Iterator[int]:
    """The layers that give a layer what it takes; one that is called by its holder takes what that takes."""
    layer = layers[number]
    calls = layer.get("calls") or ()
    for call in calls:
        yield from _tensors([call["args"], call["kwargs"]])
    if (not calls or layer["kind"] == "InputLayer") and layer["inside"] >= 0:
        yield layer["inside"]


def _tensors(value: Any) -> Iterator[int]:
    """The layers that the tensors in the arguments of a call come from."""
    if isinstance(value, dict):
        if isinstance(value.get("tensor"), list):
            yield value["tensor"][0]
        value = list(value.values())
    for item in value if isinstance(value, list) else ():
        yield from _tensors(item)


# -- sizes


def working_inputs(description: Description, framework: Framework) -> list[dict[str, Any]]:
    """How to draw each input, as `values` reads it. Where no size will do, they are of the first that is tried."""
    # Of what may have any number of dimensions, rows are as good as any.
    ends = [{**end, "shape": [None, None] if end["shape"] is None else end["shape"]} for end in inputs_of(description)]
    batch = next((size for end in ends for size in end["shape"][:1] if size), DEFAULT_BATCH)
    names = [end["name"] for end in ends if None in end["shape"][1:]]
    for sizes in _attempts(names, description, framework):
        specs = specs_of_sizes(ends, sizes, batch)
        if _takes(description.model, specs, batch, framework):
            return specs
    return specs_of_sizes(ends, dict.fromkeys(names, SIZE), batch)


def specs_of_sizes(ends: list[End], sizes: dict[str, int], batch: int) -> list[dict[str, Any]]:
    """How to draw each input where what is open in its shape has these sizes, by name."""
    below = max(min(*sizes.values(), NUMBERS), 2) if sizes else NUMBERS  # they may be places in another input
    specs = []
    for end in ends:
        shape = [sizes.get(end["name"], SIZE) if size is None else size for size in end["shape"][1:]]
        spec: dict[str, Any] = {"name": end["name"], "shape": shape, "dtype": end["dtype"], "batch": batch}
        vocabulary = end["vocabulary"]
        if "int" in end["dtype"] and _MASK.search(end["name"]) and (vocabulary is None or vocabulary > 1):
            spec["fill"] = "mask"
        elif vocabulary is not None or "int" in end["dtype"]:
            # Numbers to look up may be declared as float32: that is what an input is where nobody says otherwise.
            spec.update(fill="ids", high=below if vocabulary is None else vocabulary)
        specs.append(spec)
    return specs


def _attempts(names: list[str], description: Description, framework: Framework) -> Iterator[dict[str, int]]:
    """Sizes for the inputs that are open: the same for all, and then another for one of them."""
    if not names:
        return
    yield dict.fromkeys(names, SIZE)
    known = _tables(description, framework)
    smaller, larger = [size for size in known if size < SIZE], [size for size in known if size > SIZE]
    others = list(dict.fromkeys([*reversed(smaller), *larger, *_POWERS]))
    for size in others:
        yield dict.fromkeys(names, size)
    for name in names if len(names) > 1 else ():
        for size in others:
            yield {**dict.fromkeys(names, SIZE), name: size}


def _tables(description: Description, framework: Framework) -> list[int]:
    """The sizes that a model's own embeddings, positions and shapes speak of, the smallest of them."""
    sizes: set[int] = set()
    for place in description.layers.places:
        config: dict[str, Any] = {}
        with contextlib.suppress(Exception):  # a layer may have no config
            config = framework.config(place.layer)
        sizes.update(size for key, value in config.items() if _TABLE.search(str(key)) for size in leaves(value))
    for weight in description.shape["weights"]:
        if "position" in weight["name"].lower():
            sizes.update(weight["shape"][:-1])
    return sorted(size for size in sizes if type(size) is int and 1 < size <= _LARGEST)[:_MOST_OF_TABLES]


def _takes(model: Any, specs: list[dict[str, Any]], batch: int, framework: Framework) -> bool:
    """Whether a model takes these inputs: whatever it raises says that it does not."""
    tensors = framework.tensors
    try:
        result = model(framework.feed(model, input_arrays(specs, batch, 0)), training=False)
        outputs = [tensors.array(leaf)[0] for leaf in leaves(result) if leaf is not None and tensors.concrete(leaf)]
    except Exception:
        return False
    # On some backends what lies beyond a table is no error, but NaN.
    return all(np.isfinite(output).all() for output in outputs if output.dtype.kind == "f")
