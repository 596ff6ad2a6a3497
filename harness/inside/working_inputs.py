"""Inputs that a user's model can be called with: what each is filled with, and a size for what its shape leaves open.

A size is found by trying: a position table, an embedding or a reshape knows what it takes, and says so when it is
called. Few sizes are tried, likely ones first.
"""

from __future__ import annotations

import contextlib
import re
from typing import Any, Iterator

import numpy as np

from .description import Description
from .frameworks.interface import Framework
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
_NODE = re.compile(r"^\{\{.*?\}\} ")
"""Where TensorFlow says that an exception was raised."""
_MASK = re.compile(r"(?i:(?:^|[^a-z])masks?[\W_\d]*)$|[a-z]Masks?\d*$")


def working_inputs(description: Description, ends: list[dict[str, Any]], framework: Framework) -> Any:
    """How to draw each input, and, where a size was found by trying, the refusals before it.

    Where no size will do, the inputs are those of the first.
    """
    # Of what may have any number of dimensions, rows are as good as any.
    ends = [dict(end, shape=[None, None]) if end["shape"] is None else end for end in ends]
    batch = next((end["shape"][0] for end in ends if end["shape"] and end["shape"][0]), DEFAULT_BATCH)
    names = [end["name"] for end in ends if None in end["shape"][1:]]
    if not names:
        return {"inputs": specs(ends, {}, batch)}
    refusals: list[dict[str, Any]] = []
    for sizes in _attempts(names, SIZE, lambda: _tables(description, framework)):
        found = specs(ends, sizes, batch)
        why = _refusal(description.model, found, batch, framework)
        if not why:
            return {"inputs": found, "sizes": sizes, "refusals": refusals}
        refusals.append({"sizes": sizes, "why": why})
    return {"inputs": specs(ends, dict.fromkeys(names, SIZE), batch), "refusals": refusals}


def specs(ends: list[dict[str, Any]], sizes: dict[str, int], batch: int) -> list[dict[str, Any]]:
    """How to draw each input, as `values` reads it."""
    smallest = min(sizes.values()) if sizes else NUMBERS
    found = []
    for end in ends:
        shape = [sizes.get(end["name"], SIZE) if each is None else each for each in end["shape"][1:]]
        spec: dict[str, Any] = {"name": end["name"], "shape": shape, "dtype": end["dtype"], "batch": batch}
        vocabulary = end["vocabulary"]
        if "int" in end["dtype"] and _MASK.search(end["name"]) and (vocabulary is None or vocabulary > 1):
            spec["fill"] = "mask"
        elif vocabulary is not None:
            # Numbers to look up may be declared as float32: that is what an input is where nobody says otherwise.
            spec.update(fill="ids", high=vocabulary)
        elif "int" in end["dtype"]:
            # They may be places in what else the model is given.
            spec.update(fill="ids", high=min(NUMBERS, max(smallest, 2)))
        found.append(spec)
    return found


def _attempts(names: list[str], first: int, tables: Any) -> Iterator[dict[str, int]]:
    """Sizes for the inputs that are open: the same for all, and then another for one of them."""
    yield dict.fromkeys(names, first)
    known = tables()
    likely = sorted((size for size in known if size < first), reverse=True) + sorted(
        size for size in known if size > first
    )
    others = [size for size in dict.fromkeys([*likely, *_POWERS]) if size != first]
    for size in others:
        yield dict.fromkeys(names, size)
    if len(names) > 1:
        for name in names:
            for size in others:
                yield dict(dict.fromkeys(names, first), **{name: size})


def _tables(description: Description, framework: Framework) -> list[int]:
    """The sizes that a model's own embeddings, positions and shapes speak of, the smallest of them."""
    found: set[int] = set()
    for place in description.layers.places:
        config: dict[str, Any] = {}
        with contextlib.suppress(Exception):  # a layer may have no config
            config = framework.config(place.layer)
        for key, value in config.items():
            if _TABLE.search(str(key)):
                found.update(each for each in _numbers(value) if 1 < each <= _LARGEST)
    for weight in description.shape["weights"]:
        if "position" in weight["name"].lower():
            found.update(size for size in weight["shape"][:-1] if 1 < size <= _LARGEST)
    return sorted(found)[:_MOST_OF_TABLES]


def _numbers(value: Any) -> list[int]:
    if isinstance(value, (list, tuple)):
        return [number for item in value for number in _numbers(item)]
    return [value] if type(value) is int else []


def _refusal(model: Any, given: list[dict[str, Any]], batch: int, framework: Framework) -> str:
    """Why a model does not take these inputs, "" where it does."""
    try:
        arrays = input_arrays(given, batch, 0)
        result, tensors = model(framework.feed(model, arrays), training=False), framework.tensors
        outputs = [tensors.array(leaf)[0] for leaf in leaves(result) if leaf is not None and tensors.concrete(leaf)]
    except Exception as error:  # whatever a model raises says that it does not take them
        said = " ".join(_NODE.sub("", str(error)).split())
        return "%s: %s" % (type(error).__name__, said) if said else type(error).__name__
    # On some backends what lies beyond a table is no error, but NaN.
    numbers = [each for each in outputs if each.dtype.kind == "f"]
    return "" if all(np.isfinite(each).all() for each in numbers) else "what it gives is not finite"
