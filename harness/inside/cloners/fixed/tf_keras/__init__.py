"""`clone_model` for the Keras 2 generation on TensorFlow 2, as it would have to be to keep its promise."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..before_keras3.inputs import given_tensors
from .cloning import Cloning
from .release import RELEASE, tf

__all__ = ["clone_model"]


def clone_model(model: Any, input_tensors: Any = None, clone_function: Callable[[Any], Any] | None = None) -> Any:
    """Clone a Functional or Sequential `Model`: the same function, on fresh layers with fresh weights.

    A drop-in for `keras.models.clone_model`. The graph is replayed call by call, with the arguments that each call
    was given, so the clone has the same calls in the same order on layers with the same names, flags and configs.
    Layers and models that are shared in the original, at whatever depth, are shared in the clone in the same places.
    Functions of the original, such as those of `Lambda` layers, are used by the clone as they are, and never
    serialized; what such a function closes over is therefore used by both models.

    Args:
        model: A Functional or Sequential model. Any other model is rebuilt with `from_config(get_config())`. So is one
            whose class has a constructor or a `get_config()` of its own, if that makes the same graph; where it does
            not, the graph is made again, and what the original holds is taken over.
        input_tensors: Optional tensors, or `InputLayer` objects, to build the clone upon, one for each input of the
            model and in their order. If not given, new `Input` objects are created.
        clone_function: Optional callable, given each layer of the model that is not an `InputLayer` (a model inside
            the model is such a layer) and returning the layer to use in the clone. If not given, each layer is
            rebuilt from its config, and models inside the model are cloned in the same way.

    Returns:
        A model with the same behaviour and newly created weights. It is not compiled. It may behave differently if
        `clone_function` changes layers.

    Raises:
        ValueError: If `input_tensors` or `clone_function` are given for a model that is neither Functional nor
            Sequential, if `clone_function` is not callable, or if `input_tensors` do not fit the model.
    """
    changed = bool(clone_function) or input_tensors is not None
    if not (RELEASE.is_sequential(model) or RELEASE.is_functional(model)):
        if changed:
            raise ValueError(
                "Arguments clone_function and input_tensors are only supported for Sequential models or Functional "
                f"models. Received model of type '{type(model).__name__}', with clone_function={clone_function} and "
                f"input_tensors={input_tensors}"
            )
        return (
            Cloning(model, None).clone_layer()
            if RELEASE.is_layer(model)
            else type(model).from_config(model.get_config())
        )
    if clone_function is not None and not callable(clone_function):
        raise ValueError(
            f"Expected `clone_function` argument to be a callable. Received: clone_function={clone_function}"
        )
    cloning = Cloning(model, clone_function)
    if input_tensors is not None:
        tensors = given_tensors(RELEASE, model, tf.nest.flatten(input_tensors))
        if RELEASE.is_sequential(model):
            cloning.start_from(tensors[0]._keras_history[0])
        else:
            for layer, tensor in zip(model._input_layers, tensors):
                cloning.replace_tensor(layer, tensor)
    return cloning.clone()
