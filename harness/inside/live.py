"""A trial of a model that lives in the process of a user: cloned and observed there, and afterwards as it was."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ..observation import Answer, Case, End, Request
from .frameworks.interface import Framework
from .layers import is_own_class
from .observer import Observer
from .original import Live
from .trial import run_trial
from .user_model import described, working_inputs
from .variable_values import VariableValues
from .warned import unheard

_SEED = 0


def try_live(
    model: Any, cloners: Mapping[str, Any], framework: Framework, inputs: Any = None, costly: bool = True
) -> tuple[Answer, list[dict[str, Any]]]:
    """A trial of a model that is there, on `inputs`; without these, on numbers that suit it.

    Beside its answer, how the inputs were drawn.
    """
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
        description = described(model, framework)
        specs = working_inputs(description, framework) if inputs is None else _specs(description.shape.inputs, inputs)
        classes = [kind for kind in {type(thing) for thing in description.layers.objects()} if is_own_class(kind)]
        known = {kind.__name__: kind for kind in classes}  # a file of the model is loaded with them
        request = Request(Case("", tuple(specs), seed=_SEED), costly=costly)
        return run_trial(request, framework, cloners=cloners, live=Live(model, known, filters)), specs


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
