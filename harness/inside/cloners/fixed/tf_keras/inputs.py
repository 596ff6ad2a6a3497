"""The `input_tensors` of `clone_model`, in the order of the model's own inputs."""

from __future__ import annotations

from typing import Any

from ..matched_inputs import by_input
from .release import RELEASE, keras, tf


def given_tensors(model: Any, given: Any) -> list[Any]:
    """The tensors given for the inputs of a model, in their order; for a Sequential model, from an input layer."""
    sequential = RELEASE.is_sequential(model)
    reference = None if sequential else getattr(model, "_nested_inputs", model.inputs)
    pairs = by_input(given, reference)
    if pairs is None and not sequential:
        pairs = by_input(given, list(model.inputs))  # as documented: a list
    if pairs is None:
        raise ValueError(
            "`input_tensors` must be a list of tensors, one for each input of model %r, or nested as these are: %s. "
            "Received: input_tensors=%s" % (model.name, "one tensor" if sequential else reference, given)
        )
    tensors = {id(own): _tensor(own, value, given) for own, value in pairs}
    inside = [each for each in tensors.values() if not RELEASE.is_input(each._keras_history[0])]
    if inside and sequential:
        raise ValueError(
            "Cannot clone the Sequential model %r on top of a tensor that comes from a Keras layer other than an "
            "`InputLayer`. Call the clone on that tensor instead. Received: input_tensors=%s" % (model.name, given)
        )
    return [tensors[id(own)] for own in ([None] if sequential else model.inputs)]


def _tensor(own: Any, value: Any, given: Any) -> Any:
    tensor = value.output if RELEASE.is_input(value) else value
    if RELEASE.is_symbolic(tensor):
        return tensor
    if not tf.is_tensor(tensor):
        raise ValueError(
            "All entries in `input_tensors` must be tensors or InputLayers. Received: input_tensors=%s" % (given,)
        )
    source = tensor if own is None else own._keras_history[0]
    try:
        name = str(source.name)
    except AttributeError:  # of an eager tensor
        name = "tensor"
    return keras.Input(tensor=tensor, name="input_wrapper_for_" + name)
