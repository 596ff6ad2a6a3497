"""`clone_model` for the Keras 2 generation on TensorFlow 2, as it would have to be to keep its promise.

Standard library, NumPy, TensorFlow and `tf_keras`, or the `tf.keras` before it, only.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from . import states
from .cloning import Cloning
from .release import RELEASE, has_default_config, tf

__all__ = ["clone_model"]


def clone_model(model: Any, input_tensors: Any = None, clone_function: Callable[[Any], Any] | None = None) -> Any:
    """Clone a Functional or Sequential `Model`: the same function, on fresh layers with fresh weights.

    A drop-in for `keras.models.clone_model`. The graph is replayed call by call, with the arguments that each call
    was given, so the clone has the same calls in the same order on layers with the same names, flags and configs.
    Layers and models that are shared in the original, at whatever depth, are shared in the clone in the same places.
    Functions of the original, such as those of `Lambda` layers, are used by the clone as they are, and never
    serialized; what such a function closes over is therefore used by both models.

    Args:
        model: A Functional or Sequential model. Any other model is rebuilt with `from_config(get_config())`, and so
            is a Functional model whose class has a `get_config()` of its own.
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
    by_graph = RELEASE.is_sequential(model) or (RELEASE.is_functional(model) and (has_default_config(model) or changed))
    if not by_graph:
        if changed:
            raise ValueError(
                "Arguments clone_function and input_tensors are only supported for Sequential models or Functional "
                f"models. Received model of type '{type(model).__name__}', with clone_function={clone_function} and "
                f"input_tensors={input_tensors}"
            )
        clone = type(model).from_config(model.get_config())
        if RELEASE.is_layer(model):
            states.restore(model, clone)
        return clone
    if clone_function is not None and not callable(clone_function):
        raise ValueError(
            f"Expected `clone_function` argument to be a callable. Received: clone_function={clone_function}"
        )
    cloning = Cloning(model, clone_function)
    if input_tensors is not None:
        _use_inputs(cloning, model, input_tensors)
    return cloning.clone()


def _use_inputs(cloning: Cloning, model: Any, input_tensors: Any) -> None:
    given = [_tensor(each) for each in tf.nest.flatten(input_tensors)]
    if RELEASE.is_sequential(model):
        if len(given) != 1:
            raise ValueError(
                "To clone a `Sequential` model, we expect at most one tensor as part of `input_tensors`. "
                f"Received: input_tensors={input_tensors}"
            )
        cloning.start_from(_sequential_input(given[0], input_tensors))
        return
    if len(given) > len(model._input_layers):
        raise ValueError(
            f"Expected at most {len(model._input_layers)} tensors as `input_tensors`, one for each input of the "
            f"model. Received {len(given)}: {input_tensors}"
        )
    for layer, tensor in zip(model._input_layers, given):
        cloning.replace_tensor(layer, RELEASE.symbolic(tensor, "input_wrapper_for_" + layer.name))


def _tensor(given: Any) -> Any:
    return given.output if RELEASE.is_input(given) else given


def _sequential_input(tensor: Any, input_tensors: Any) -> Any:
    layer = RELEASE.symbolic(tensor, "input_wrapper_for_" + str(getattr(tensor, "name", "tensor")))._keras_history.layer
    if not RELEASE.is_input(layer):
        raise ValueError(
            "Cannot clone a `Sequential` model on top of a tensor that comes from a Keras layer other than an "
            f"`InputLayer`. Use the Functional API instead. Received: input_tensors={input_tensors}"
        )
    return layer
