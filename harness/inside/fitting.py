"""One step by `fit` itself, of a compiled model and of its compiled clones: what it gives, and the weights after it.

A model that was fitted is of no use to anything else: its optimizer and its metrics have moved on. So this comes after
all that is observed otherwise. Inputs and targets go by the names of the model where it has names for them.

Each clone is also compiled by hand, as by a user who makes an optimizer, a loss and metrics of the model's configs.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .description import Description
from .failures import failure
from .kept_clones import KeptClone, KeptOriginal
from .observer import Observer
from .structure import is_nested
from .training import leaf
from .variable_values import VariableValues

STEPS_MADE = "its optimizer has made steps before, which no clone has"
UNSTEADY = "the model itself gives something else when it is built again and fitted from the same weights"
NOT_RUN = "the model does not run in training mode"


def tell_fitted(observer: Observer, original: KeptOriginal, kept: list[KeptClone]) -> None:
    """Fit the original, then each clone; where one is unlike it, the original built again says if it repeats that.

    A clone is fitted with the form of data that the original takes, by names if it takes those.
    """
    framework, told, model = observer.framework, original.told, original.description.model
    tells = framework.tells_compiling(model)
    compiled = [framework.compile_alike(clone.description.model, model) for clone in kept]
    if not any(compiled) and not (kept and tells):
        return
    ran = told["training"]
    if framework.steps_made(model):
        told["fitted"] = {"why": STEPS_MADE}
        return
    if "failure" in ran:
        told["fitted"] = {"why": NOT_RUN}
        return
    arrays = original.arrays
    form: tuple[Any, Any] = (None, None)
    wanted: dict[str, Any] = {}
    for form in _forms(original.description, framework.feed(original.packing, arrays), ran, observer.seed):
        wanted = _fitted(observer, original.description, original.values, form, arrays)
        if "failure" not in wanted:
            break
    found = [
        _fitted(observer, clone.description, clone.values, form, arrays) if each else None
        for clone, each in zip(kept, compiled)
    ]
    by_hand: list[dict[str, Any] | None] = [None for _ in kept]
    if tells:
        by_hand = [_fitted(observer, each.description, each.values, form, arrays, model) for each in kept]
    if any(each not in (None, wanted) for each in (*found, *by_hand)):
        again = original.built_again(observer)
        if _fitted(observer, *again, form, arrays) != wanted:
            told["fitted"] = {"why": UNSTEADY}
            return
        if any(each not in (None, wanted) for each in by_hand):
            # What the configs of an optimizer, a loss or a metric do not tell, is lost without any clone.
            told["fitted_by_hand"] = _fitted(observer, *again, form, arrays, model)
    told["fitted"] = wanted
    for clone, *each in zip(kept, found, by_hand):
        clone.told.update((name, what) for name, what in zip(("fitted", "fitted_by_hand"), each) if what is not None)


def _forms(original: Description, inputs: Any, ran: dict[str, Any], seed: int) -> list[tuple[Any, Any]]:
    """The data in each form: by the names of inputs and outputs where these have some, and nested as they are."""
    targets = _targets(ran["outputs"], seed)
    packed = inputs, _nested_as(ran["structure"], targets)
    data = _named([end["name"] for end in original.shape["inputs"]], inputs)
    names = list(getattr(original.model, "output_names", None) or ())
    named = _named(names, packed[1]) if len(targets) > 1 else None
    if data is None and named is None:
        return [packed]
    return [(packed[0] if data is None else data, packed[1] if named is None else named), packed]


def _fitted(
    observer: Observer,
    description: Description,
    values: VariableValues,
    form: tuple[Any, Any],
    arrays: list[Any],
    compiled_like: Any = None,
) -> dict[str, Any]:
    """What `Fitted` declares on the wire, of a model that is compiled by hand where it is to be like another."""
    framework, model = observer.framework, description.model
    values.restore()
    with observer.clock.keras("fit"):
        try:
            if compiled_like is not None:
                model.compile(**framework.compile_arguments(compiled_like))
            framework.reseed(observer.seed, observer.backend_draws)
            batch = max(array.shape[0] for array in arrays if array is not None and array.ndim)
            given = framework.fit(model, form[0], form[1], batch)
            after = [framework.read(weight) for weight in framework.weights(model)[0]]
        except Exception as error:  # whatever a model raises is an observation
            return {"failure": failure(error, below="_fitted")}
    with observer.clock.ours("digest"):
        results = {name: observer.digests.digest(np.asarray(values_of)) for name, values_of in given.items()}
        return {"results": results, "weights": [leaf(value, observer) for value in after]}


def _named(names: list[str], values: Any) -> dict[str, Any] | None:
    """Values by name; None where they are nested, one is missing, or two have one name."""
    flat = list(values) if isinstance(values, (list, tuple)) else [values]
    nested = any(each is None or is_nested(each) for each in flat)
    return None if nested or len(set(names)) != len(flat) or len(names) != len(flat) else dict(zip(names, flat))


def _nested_as(written: Any, values: list[Any]) -> Any:
    """The values in a nesting as `structure.skeleton` has written it, with numbers for leaves."""
    if isinstance(written, list):
        return [_nested_as(each, values) for each in written]
    if isinstance(written, dict):
        if "tuple" in written:
            return tuple(_nested_as(each, values) for each in written["tuple"])
        return {key: _nested_as(each, values) for key, each in written["dict"]}
    return None if written is None else values[written]


def _targets(outputs: list[dict[str, Any]], seed: int) -> list[Any]:
    """A target for each output: numbers between 0 and 1, which every loss takes."""
    random = np.random.default_rng((seed + 2) % (1 << 63))
    return [random.random(tuple(each["shape"]), dtype=np.float32) for each in outputs]
