"""The `input_tensors` of `clone_model`, in the structure of the model's own inputs."""

from __future__ import annotations

from typing import Any

import keras

from ....structure import map_leaves
from ..matched_inputs import by_input


def single_tensor(model: Any, given: Any) -> Any:
    """The tensor for the one input of a Sequential model."""
    if isinstance(given, (list, tuple)):
        if len(given) != 1:
            raise ValueError(
                f"Argument `input_tensors` must contain a single tensor: '{model.name}' is a Sequential model. "
                f"Received: input_tensors={given}"
            )
        given = given[0]
    given = _tensor(given)
    if not isinstance(given, keras.KerasTensor):
        raise ValueError(  # noqa: TRY004 - the type that Keras documents
            "Argument `input_tensors` must be a KerasTensor or an InputLayer. Received invalid value: "
            f"input_tensors={given}"
        )
    return given


def tensors_like_inputs(model: Any, given: Any) -> Any:
    """The tensors for the inputs of a Functional model, in containers like those of the model, keys in their order.

    A list or tuple of one stands for its tensor, and the other way round; a tuple stands for a list.
    """
    reference = model._inputs_struct
    pairs = by_input(given, reference)
    if pairs is None:
        raise ValueError(
            f"`input_tensors` must have the same structure as model.input\nReference structure: {reference}\n"
            f"Received structure: {given}"
        )
    pairs = [(own, _tensor(tensor)) for own, tensor in pairs]
    if not all(isinstance(tensor, keras.KerasTensor) for _, tensor in pairs):
        raise ValueError(
            "All entries in `input_tensors` must be KerasTensors or InputLayers. Received invalid values: "
            f"input_tensors={given}"
        )
    stands_for: dict[int, Any] = {}
    for own, tensor in pairs:
        if getattr(tensor, "_keras_history", None) is None:
            raise ValueError(f"In `input_tensors`, {tensor} was made by no `Input` and by no layer.")
        if stands_for.setdefault(id(own), tensor) is not tensor:
            raise ValueError(
                f"'{model.name}' has the tensor '{own.name}' for several of its inputs: `input_tensors` must have one "
                f"tensor for all of them. Received: input_tensors={given}"
            )
    return map_leaves(lambda own: stands_for[id(own)], reference)


def _tensor(value: Any) -> Any:
    return value.output if isinstance(value, keras.layers.InputLayer) else value
