"""The fixed cloner for Keras 2.2 and 2.3: `clone_model`, with the signature of `keras.models.clone_model`."""

from __future__ import annotations

from typing import Any

from ..before_keras3.inputs import given_tensors
from . import carried_over
from .cloning import Keras2Cloning
from .release import RELEASE
from .session import floats_as_in

__all__ = ["clone_model"]


def clone_model(model: Any, input_tensors: Any = None) -> Any:
    """Clone a Functional or Sequential `Model`: the same function, on fresh layers with fresh weights.

    A drop-in for `keras.models.clone_model`, which does for Keras 2.2 and 2.3 what that of `tf_keras` beside this one
    does for later releases: see its promises there. What becomes of a model that is neither Functional nor Sequential
    is for `keras.models.clone_model` to say.

    Args:
        model: A Functional or Sequential model.
        input_tensors: Optional list of tensors to build the clone upon, one for each input of the model and in their
            order. If not given, placeholders are created. The other arguments came with later releases.

    Raises:
        ValueError: If `input_tensors` do not fit the model.
    """
    if RELEASE.is_sequential(model) and not RELEASE.is_graph(model):
        with floats_as_in(_all_layers(model), input_tensors):
            return _clone_unbuilt(model, input_tensors)
    if not RELEASE.is_graph(model):
        return RELEASE.keras.models.clone_model(model, input_tensors)
    with floats_as_in(_all_layers(model), input_tensors):
        cloning = Keras2Cloning([model])
        if input_tensors is not None:
            for layer, tensor in zip(model._input_layers, given_tensors(RELEASE, model, input_tensors)):
                cloning.replace_input(layer, tensor)
        cloning.run()
        cloning.restore()
        return cloning.clone_of(model)


def _all_layers(model: Any) -> list[Any]:
    """The layers of a model, and of the models in it."""
    found: list[Any] = []
    for layer in model.layers:
        found.extend(_all_layers(layer) if RELEASE.is_model(layer) else [layer])
    return found


def _clone_unbuilt(model: Any, input_tensors: Any) -> Any:
    """A Sequential model that has yet to see an input: its layers have not been called."""
    cloning = Keras2Cloning(model.layers)
    cloning.run()
    own = RELEASE.has_custom_constructor(model)
    clone = RELEASE.put_together(model, None, None) if own else type(model)(name=model.name)
    if input_tensors is not None:
        clone.add(given_tensors(RELEASE, model, input_tensors)[0]._keras_history[0])
    for layer in model.layers:
        clone.add(cloning.clone_of(layer))
    cloning.restore()
    carried_over.restore(model, clone)
    return clone
