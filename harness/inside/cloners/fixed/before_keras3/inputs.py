"""The tensors that a clone is to be built upon."""

from __future__ import annotations

from typing import Any

from .release import Release


def given_tensors(release: Release, model: Any, given: list[Any]) -> list[Any]:
    """The tensors given for the first inputs of a model, each from a layer: for a Sequential, from an input layer."""
    sequential = release.is_sequential(model)
    layers = [None] if sequential else model._input_layers
    if len(given) > len(layers) or (sequential and not given):
        raise ValueError(
            "Expected %d `input_tensors`, one for each input of model %r; received %d: %s"
            % (len(layers), model.name, len(given), given)
        )
    tensors = []
    for layer, tensor in zip(layers, given):
        tensor = tensor.output if release.is_input(tensor) else tensor
        if not release.is_symbolic(tensor):
            name = "input_wrapper_for_" + str(getattr(layer or tensor, "name", "tensor"))
            tensor = release.keras.layers.Input(tensor=tensor, name=name)
        tensors.append(tensor)
    if sequential and not release.is_input(tensors[0]._keras_history[0]):
        raise ValueError(
            "Cannot clone the Sequential model %r on top of a tensor that comes from a Keras layer other than an "
            "`InputLayer`. Use the functional API instead. Received: input_tensors=%s" % (model.name, given)
        )
    return tensors
