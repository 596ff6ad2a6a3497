"""A trial of a model in the user's own process, which leaves the model unchanged.

Unknown sizes of inputs are found by calling the model, which raises if a size does not fit.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from msgspec.structs import replace

from clonediff.harness.inside.context import Context
from clonediff.harness.inside.description import Description
from clonediff.harness.inside.frameworks.interface import Framework
from clonediff.harness.inside.original import LiveModel, VariableValues
from clonediff.harness.inside.structure import leaves
from clonediff.harness.inside.trial import run_trial
from clonediff.harness.inside.values import DEFAULT_BATCH, input_arrays
from clonediff.harness.inside.warning_recorder import ignored_warnings
from clonediff.harness.observation import Answer, Case, Endpoint, Request

_SEED = 0
FIRST_SIZE = 32
"""The first size to try: large enough for an image that is halved five times."""
INTEGER_BOUND = 10
"""Drawn integers are smaller, and in the vocabulary of the model."""

_COMMON_SIZES = (16, 8, 4, 2, 1, 64, 128, 224, 256, 512)
_MAX_TABLE_SIZES = 8
_MAX_SIZE = 4096
_SIZE_NAMES = re.compile(r"length|position|input_dim|target_shape")
_MASK_NAME = re.compile(r"(?i:(?:^|[^a-z])masks?[\W_\d]*)$|[a-z]Masks?\d*$")


def try_live_model(
    model: Any, cloners: Mapping[str, Any], framework: Framework, inputs: Any = None, costly: bool = True
) -> tuple[Answer, list[dict[str, Any]]]:
    """Run a trial of an existing model; return the answer and the input specs."""
    context = Context(framework, _SEED)
    if not isinstance(model, framework.keras.models.Model):
        raise TypeError(f"expected a model, found {type(model).__name__}")
    if not framework.is_graph(model):
        reason = f"{type(model).__name__} is subclassed, so it has no graph of layers to compare"
        advice = "pass keras.Model(inputs, model(inputs)). clonediff.clone_model can clone such a model"
        raise TypeError(f"{reason}: {advice}")
    with ignored_warnings() as filters, framework.isolated(), _restore_at_end(model, context):
        if not framework.endpoints(model)[0]:
            raise ValueError(f"the model {model.name!r} is not built: call it on data, or start it with an Input")
        description = Description(model, Context(framework, 0), reads_values=False)
        ends = description.structure.inputs
        specs = _find_specs(description, framework) if inputs is None else _specs_of_arrays(ends, inputs)
        request = Request(Case("", tuple(specs), seed=_SEED), costly=costly)
        return run_trial(request, framework, cloners=cloners, live=LiveModel(model, filters)), specs


def _specs_of_arrays(ends: Sequence[Endpoint], inputs: Any) -> list[dict[str, Any]]:
    """Specs of the user's arrays: one array, a list, or a dict by name."""
    names = [end.name for end in ends]
    if isinstance(inputs, Mapping):
        if set(inputs) != set(names):
            raise ValueError(f"inputs: has {_quote(inputs)}, expected {_quote(names)}")
        arrays = [inputs[name] for name in names]
    else:
        arrays = list(inputs) if isinstance(inputs, (list, tuple)) else [inputs]
    if len(arrays) != len(ends):
        raise ValueError(f"inputs: has {len(arrays)} arrays, expected one for each of {_quote(names)}")
    specs = []
    for end, array in zip(ends, map(np.asarray, arrays), strict=False):
        shape = array.shape if end.shape is None else end.shape  # a declared shape of None means any rank
        sizes = zip(shape, array.shape, strict=False)
        if len(shape) != array.ndim or any(size not in (None, found) for size, found in sizes):
            message = "inputs: the array for %r has the shape %s, expected %s"
            raise ValueError(message % (end.name, array.shape, tuple(shape)))
        batch, *dimensions = array.shape or (1,)
        specs.append({"name": end.name, "shape": dimensions, "dtype": end.dtype, "batch": batch, "array": array})
    return specs


def _quote(names: Sequence[str] | Mapping[str, Any]) -> str:
    return ", ".join(repr(name) for name in names) or "none"


@contextlib.contextmanager
def _restore_at_end(model: Any, context: Context) -> Iterator[None]:
    framework, values = context.framework, VariableValues(context)
    states = [state for state, _ in framework.states(model)]
    for variable in [*framework.weights(model)[0], *states, *framework.training_variables(model)]:
        values.add(variable, framework.read(variable))
    try:
        yield
    finally:
        values.restore()


# -- inputs that a model accepts


def _find_specs(description: Description, framework: Framework) -> list[dict[str, Any]]:
    """Input specs that the model accepts, or else the first specs tried."""
    # An input of any rank gets two dimensions.
    ends = [end if end.shape is not None else replace(end, shape=(None, None)) for end in description.structure.inputs]
    batch = next((end.shape[0] for end in ends if end.shape and end.shape[0]), DEFAULT_BATCH)
    names = [end.name for end in ends if end.shape and None in end.shape[1:]]
    vocabularies = [size for size in map(_vocabulary_size, description.layers.model_and_layers()) if size]
    bound = min([INTEGER_BOUND, *vocabularies])
    draws_integers = bool(vocabularies) and not any("int" in end.dtype for end in ends)
    for sizes in _sizes_to_try(names, description, framework):
        # Indices to look up may be declared as float32, the default dtype.
        specs = _specs_of_sizes(ends, sizes, batch, bound, draws_integers)
        if _accepts(description.model, specs, batch, framework):
            return specs
    return _specs_of_sizes(ends, dict.fromkeys(names, FIRST_SIZE), batch, bound, draws_integers)


def _specs_of_sizes(
    ends: Sequence[Endpoint], sizes: dict[str, int], batch: int, bound: int, draws_integers: bool
) -> list[dict[str, Any]]:
    """Specs with `sizes` for unknown ones and, if `draws_integers`, integers for floats."""
    bound = min(bound, max(min(sizes.values(), default=bound), 2))  # integers may be indices into another input
    specs = []
    for end in ends:
        shape = [sizes.get(end.name, FIRST_SIZE) if size is None else size for size in (end.shape or ())[1:]]
        spec: dict[str, Any] = {"name": end.name, "shape": shape, "dtype": end.dtype, "batch": batch}
        if "int" in end.dtype and _MASK_NAME.search(end.name) and bound > 1:
            spec["fill"] = "mask"
        elif "int" in end.dtype or (draws_integers and "float" in end.dtype):
            spec.update(fill="ids", high=bound)
        specs.append(spec)
    return specs


def _vocabulary_size(layer: Any) -> int:
    """The vocabulary size of an embedding or encoding layer, or 0."""
    names = {base.__name__ for base in type(layer).__mro__}
    attribute = "input_dim" if "Embedding" in names else "num_tokens" if "CategoryEncoding" in names else ""
    size = getattr(layer, attribute, None) if attribute else None
    return size if isinstance(size, int) and size > 0 else 0


def _sizes_to_try(names: list[str], description: Description, framework: Framework) -> Iterator[dict[str, int]]:
    """Sizes to try, by input: one for all inputs, then another for one input."""
    if not names:
        return
    yield dict.fromkeys(names, FIRST_SIZE)
    sizes = _table_sizes(description, framework)
    smaller = [size for size in sizes if size < FIRST_SIZE]
    larger = [size for size in sizes if size > FIRST_SIZE]
    other_sizes = list(dict.fromkeys([*reversed(smaller), *larger, *_COMMON_SIZES]))
    for size in other_sizes:
        yield dict.fromkeys(names, size)
    for name in names if len(names) > 1 else ():
        for size in other_sizes:
            yield {**dict.fromkeys(names, FIRST_SIZE), name: size}


def _table_sizes(description: Description, framework: Framework) -> list[int]:
    """The smallest sizes of position tables, embeddings and target shapes."""
    sizes: set[int] = set()
    for place in description.layers.places:
        config: dict[str, Any] = {}
        with contextlib.suppress(Exception):  # a layer may have no config
            config = framework.config(place.layer)
        sizes.update(size for key, value in config.items() if _SIZE_NAMES.search(str(key)) for size in leaves(value))
    for weight in description.structure.weights:
        if "position" in weight.name.lower():
            sizes.update(weight.shape[:-1])
    return sorted(size for size in sizes if type(size) is int and 1 < size <= _MAX_SIZE)[:_MAX_TABLE_SIZES]


def _accepts(model: Any, specs: list[dict[str, Any]], batch: int, framework: Framework) -> bool:
    """Whether a model runs on these inputs without an exception or NaN."""
    tensors = framework.tensors
    try:
        result = model(framework.inputs(model, input_arrays(specs, batch, 0)), training=False)
        outputs = [tensors.array(leaf) for leaf in leaves(result) if leaf is not None and tensors.is_concrete(leaf)]
    except Exception:
        return False
    # On some backends, a lookup out of range gives NaN.
    return all(np.isfinite(output).all() for output in outputs if output.dtype.kind == "f")
