"""The fixed cloner for the Keras of TensorFlow 2: `clone_model`, with the signature of `keras.models.clone_model`."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

from ..rolled_back import calls_rolled_back_on_failure
from .cloning import TfKerasCloning
from .inputs import given_tensors
from .release import RELEASE

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
        input_tensors: Optional tensors, or `InputLayer` objects, to build the clone upon: a list, one for each input of
            the model and in their order, or nested as the inputs of the model are. A tensor that a layer made gives the
            clone a new input like it; the models that tensors come from stay as they are. If not given, new `Input`
            objects are created.
        clone_function: Optional callable, given each layer of the model that is not an `InputLayer` (a model inside
            the model is such a layer) once, and returning the layer, or model, to use in the clone. If not given, each
            layer is rebuilt from its config, and models inside the model are cloned in the same way.

    Returns:
        A model with the same behaviour and newly created weights. It is not compiled. It may behave differently if
        `clone_function` changes layers.

    Raises:
        ValueError: If `input_tensors` or `clone_function` are given for a model that is neither Functional nor
            Sequential, if `clone_function` is not callable or does not return layers that can be called in place of
            those it was given, or if `input_tensors` do not fit the model. The original is as it was before.
    """
    if not RELEASE.is_layer(model):
        raise ValueError(f"Expected `model` argument to be a model or layer of Keras. Received: model={model!r}")
    if clone_function is not None and not callable(clone_function):
        raise ValueError(
            f"Expected `clone_function` argument to be a callable. Received: clone_function={clone_function}"
        )
    changed = clone_function is not None or input_tensors is not None
    if not (RELEASE.is_sequential(model) or RELEASE.is_functional(model)):
        if changed:
            raise ValueError(
                "Arguments clone_function and input_tensors are only supported for Sequential models or Functional "
                f"models. Received model of type '{type(model).__name__}', with clone_function={clone_function} and "
                f"input_tensors={input_tensors}"
            )
        return TfKerasCloning(model, None).clone_layer()
    cloning = TfKerasCloning(model, clone_function)
    tensors = [] if input_tensors is None else given_tensors(model, input_tensors)
    if tensors:
        if RELEASE.is_sequential(model):
            cloning.start_from(tensors[0]._keras_history[0])
        else:
            for layer, tensor in zip(model._input_layers, tensors):
                cloning.replace_tensor(layer, tensor)
    called = [*RELEASE.nested_layers(model), *(tensor._keras_history[0] for tensor in tensors)]
    with calls_rolled_back_on_failure(called) if changed else nullcontext():
        return cloning.clone()
