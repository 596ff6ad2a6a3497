"""A trial of a model that lives in the process of a user: cloned and observed there, and afterwards as it was.

A size that the shape of an input leaves open is found by trying: a position table, an embedding or a reshape knows what
it takes, and says so when it is called. Few sizes are tried, likely ones first.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from msgspec.structs import replace

from clonediff.harness.inside.description import Description
from clonediff.harness.inside.frameworks.interface import Framework
from clonediff.harness.inside.observer import Observer
from clonediff.harness.inside.original import Live, VariableValues
from clonediff.harness.inside.structure import leaves
from clonediff.harness.inside.trial import run_trial
from clonediff.harness.inside.values import DEFAULT_BATCH, input_arrays
from clonediff.harness.inside.warned import unheard
from clonediff.harness.observation import Answer, Case, End, Request

_SEED = 0
SIZE = 32
"""What is tried first: large enough for an image that is halved five times."""
NUMBERS = 10
"""Whole numbers are drawn below this, or below the smallest vocabulary of the model."""

_POWERS = (16, 8, 4, 2, 1, 64, 128, 224, 256, 512)
_MOST_OF_TABLES = 8
_LARGEST = 4096
_TABLE = re.compile(r"length|position|input_dim|target_shape")
_MASK = re.compile(r"(?i:(?:^|[^a-z])masks?[\W_\d]*)$|[a-z]Masks?\d*$")


def try_live(
    model: Any, cloners: Mapping[str, Any], framework: Framework, inputs: Any = None, costly: bool = True
) -> tuple[Answer, list[dict[str, Any]]]:
    """A trial of a model that is there, on `inputs` or on numbers that suit it; and how the inputs were drawn."""
    observer = Observer(framework, _SEED)
    if not isinstance(model, framework.keras.models.Model):
        raise TypeError(f"expected a model, found {type(model).__name__}")
    if not framework.is_graph(model):
        reason = f"{type(model).__name__} is subclassed: Keras knows no graph of its layers to compare"
        advice = "give keras.Model(inputs, model(inputs)) instead. clonediff.clone_model clones it as it is"
        raise TypeError(f"{reason}: {advice}")
    with unheard() as filters, framework.beside(), _as_they_were(model, observer):
        if not framework.ends(model)[0]:
            raise ValueError(f"the model {model.name!r} is not built: call it on data, or let it begin with an Input")
        description = Description(model, Observer(framework, 0), values=False)
        specs = _working_inputs(description, framework) if inputs is None else _specs(description.shape.inputs, inputs)
        request = Request(Case("", tuple(specs), seed=_SEED), costly=costly)
        return run_trial(request, framework, cloners=cloners, live=Live(model, filters)), specs


def _specs(ends: Sequence[End], inputs: Any) -> list[dict[str, Any]]:
    """The specs of arrays of the user's own: one, a list in the order of the model's inputs, or by their names."""
    names = [end.name for end in ends]
    if isinstance(inputs, Mapping):
        if set(inputs) != set(names):
            raise ValueError(f"inputs: has {_listed(inputs)}, expected {_listed(names)}")
        arrays = [inputs[name] for name in names]
    else:
        arrays = list(inputs) if isinstance(inputs, (list, tuple)) else [inputs]
    if len(arrays) != len(ends):
        raise ValueError(f"inputs: has {len(arrays)} arrays, expected one for each of {_listed(names)}")
    specs = []
    for end, array in zip(ends, map(np.asarray, arrays), strict=False):
        shape = array.shape if end.shape is None else end.shape  # None is any rank
        both = zip(shape, array.shape, strict=False)
        if len(shape) != array.ndim or any(size not in (None, have) for size, have in both):
            message = "inputs: the array for %r has the shape %s, expected %s"
            raise ValueError(message % (end.name, array.shape, tuple(shape)))
        batch, *sizes = array.shape or (1,)
        specs.append({"name": end.name, "shape": sizes, "dtype": end.dtype, "batch": batch, "array": array})
    return specs


def _listed(names: Sequence[str] | Mapping[str, Any]) -> str:
    return ", ".join(repr(name) for name in names) or "none"


@contextlib.contextmanager
def _as_they_were(model: Any, observer: Observer) -> Iterator[None]:
    """A scope after which the weights of a model, its states, and what training has left have the values they had."""
    framework, values = observer.framework, VariableValues(observer)
    states = [state for state, _ in framework.states(model)]
    for variable in [*framework.weights(model)[0], *states, *framework.learned(model)]:
        values.keep(variable, framework.read(variable))
    try:
        yield
    finally:
        values.restore()


# -- the numbers that a model takes


def _working_inputs(description: Description, framework: Framework) -> list[dict[str, Any]]:
    """How to draw each input, as `values` reads it. Where no size will do, they are of the first that is tried."""
    # Of what may have any number of dimensions, rows are as good as any.
    ends = [end if end.shape is not None else replace(end, shape=(None, None)) for end in description.shape.inputs]
    batch = next((end.shape[0] for end in ends if end.shape and end.shape[0]), DEFAULT_BATCH)
    names = [end.name for end in ends if end.shape and None in end.shape[1:]]
    known = [size for size in map(_vocabulary, description.layers.objects()) if size]
    below = min([NUMBERS, *known])
    whole = bool(known) and not any("int" in end.dtype for end in ends)
    for sizes in _attempts(names, description, framework):
        # Numbers to look up may be declared as float32, which is the default of an input.
        specs = _specs_of_sizes(ends, sizes, batch, below, whole)
        if _takes(description.model, specs, batch, framework):
            return specs
    return _specs_of_sizes(ends, dict.fromkeys(names, SIZE), batch, below, whole)


def _specs_of_sizes(
    ends: Sequence[End], sizes: dict[str, int], batch: int, below: int = NUMBERS, whole: bool = False
) -> list[dict[str, Any]]:
    """How to draw each input where what is open in its shape has these sizes, by name; `whole`: floats are whole."""
    below = min(below, max(min(sizes.values(), default=below), 2))  # they may be places in another input
    specs = []
    for end in ends:
        shape = [sizes.get(end.name, SIZE) if size is None else size for size in (end.shape or ())[1:]]
        spec: dict[str, Any] = {"name": end.name, "shape": shape, "dtype": end.dtype, "batch": batch}
        if "int" in end.dtype and _MASK.search(end.name) and below > 1:
            spec["fill"] = "mask"
        elif "int" in end.dtype or (whole and "float" in end.dtype):
            spec.update(fill="ids", high=below)
        specs.append(spec)
    return specs


def _vocabulary(layer: Any) -> int:
    """How many numbers from 0 on a layer knows; 0 where it looks nothing up."""
    names = {base.__name__ for base in type(layer).__mro__}
    attribute = "input_dim" if "Embedding" in names else "num_tokens" if "CategoryEncoding" in names else ""
    size = getattr(layer, attribute, None) if attribute else None
    return size if isinstance(size, int) and size > 0 else 0


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
    for weight in description.shape.weights:
        if "position" in weight.name.lower():
            sizes.update(weight.shape[:-1])
    return sorted(size for size in sizes if type(size) is int and 1 < size <= _LARGEST)[:_MOST_OF_TABLES]


def _takes(model: Any, specs: list[dict[str, Any]], batch: int, framework: Framework) -> bool:
    """Whether a model takes these inputs: whatever it raises says that it does not."""
    tensors = framework.tensors
    try:
        result = model(framework.feed(model, input_arrays(specs, batch, 0)), training=False)
        outputs = [tensors.array(leaf) for leaf in leaves(result) if leaf is not None and tensors.concrete(leaf)]
    except Exception:
        return False
    # On some backends what lies beyond a table is no error, but NaN.
    return all(np.isfinite(output).all() for output in outputs if output.dtype.kind == "f")
