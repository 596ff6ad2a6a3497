"""Faults in what the layers of a clone do when they are called."""

from __future__ import annotations

import functools
from typing import Any, Callable

from .. import TrialContext
from .rewiring import layers_of


def outputs_of_layer_swapped(model: Any, clone: Any, context: TrialContext) -> Any:
    """outputs: gives the tensors of a layer with several outputs in the other order."""

    def swapped(result: Any) -> Any:
        return type(result)(result[::-1]) if type(result) in (list, tuple) else result

    for layer in layers_of(clone, context):
        nodes = context.framework.layer_nodes(layer)
        if not context.framework.is_graph(layer) and any(len(context.framework.outputs(node)) > 1 for node in nodes):
            _after(layer, swapped)


def inner_model_gives_a_list(model: Any, clone: Any, context: TrialContext) -> None:
    """outputs: gives a list of one where a model within the original gives the tensor itself."""
    for layer in layers_of(clone, context):
        if context.framework.is_graph(layer):
            _after(layer, _in_a_list)


def mask_function_dropped(model: Any, clone: Any, context: TrialContext) -> None:
    """masks: drops the mask function of a Lambda, as the config of Keras 2.2.5 did."""
    for layer in layers_of(clone, context):
        if type(layer).__name__ == "Lambda" and layer.mask is not None:
            layer.mask = None
            layer.supports_masking = False


def arguments_forgotten(model: Any, clone: Any, context: TrialContext) -> None:
    """structure: calls a Lambda's function with its defaults in place of the Lambda's `arguments`."""
    for layer in layers_of(clone, context):
        if type(layer).__name__ == "Lambda":
            layer.arguments = {}


def always_inference(model: Any, clone: Any, context: TrialContext) -> None:
    """outputs: runs every Dropout and noise layer as in inference, in training too."""
    for layer in layers_of(clone, context):
        if any(word in type(layer).__name__ for word in ("Dropout", "Noise")):
            call = layer.call
            layer.call = functools.partial(_in_inference, call)


def gradient_stopped(model: Any, clone: Any, context: TrialContext) -> None:
    """training: lets no gradient through the first layer with weights."""
    stop = context.framework.stop_gradient
    for layer in layers_of(clone, context):
        if getattr(layer, "weights", None) and not context.framework.is_graph(layer):
            _after(layer, stop)
            break


def context_lost(model: Any, clone: Any, context: TrialContext) -> None:
    """outputs: hands on to no layer within another what that registers for its calls."""
    for layer in layers_of(clone, context):
        if "gain" in getattr(layer, "_call_context_args", ()):
            layer._call_context_args = {"training"}


def weights_untied(model: Any, clone: Any, context: TrialContext) -> None:
    """outputs: a layer that computes with the kernel of a layer within has numbers of its own in its place."""
    for layer in layers_of(clone, context):
        if hasattr(layer, "encode"):
            vars(layer)["encode"] = _Untied(layer.encode, context)


def noted_lost(model: Any, clone: Any, context: TrialContext) -> None:
    """structure: what a layer noted in its call is not there."""
    for layer in layers_of(clone, context):
        if getattr(layer, "width", None):
            layer.width = None


def activity_regularizer_lost(model: Any, clone: Any, context: TrialContext) -> None:
    """training: adds no loss for what a layer gives."""
    for layer in layers_of(clone, context):
        if getattr(layer, "activity_regularizer", None) is not None:
            layer.activity_regularizer = None


def second_clone_broken(model: Any, clone: Any, context: TrialContext) -> None:
    """again: is faithful once, and negates what the model's last layer gives from then on."""
    if context.made:
        last = [layer for layer in context.framework.members(clone) if not context.framework.is_graph(layer)][-1]
        _after(last, _negative)
        last.supports_masking = not getattr(last, "supports_masking", False)


def loaded_clone_broken(model: Any, clone: Any, context: TrialContext) -> None:
    """again: is faithful but where a clone that was saved and loaded is cloned, and negates what that gives."""
    if context.made > 2:  # a clone, a second one and the clone of the first were made before
        _after(context.framework.members(clone)[-1], _negative)


def original_trained_along(model: Any, clone: Any, context: TrialContext) -> None:
    """together: adds a weight of the original and takes it away again, so that it is trained beside the clone."""
    for weight in model.trainable_weights[:1]:
        last = [layer for layer in context.framework.members(clone) if not context.framework.is_graph(layer)][-1]
        _after(last, functools.partial(_along, weight, context))


def saving_broken(model: Any, clone: Any, context: TrialContext) -> None:
    """saved: gives a clone that cannot be saved."""
    clone.get_config = functools.wraps(clone.get_config)(lambda: _refuse())


def _after(layer: Any, change: Callable[[Any], Any]) -> None:
    call = layer.call
    layer.call = functools.partial(_changed, call, change)


def _changed(call: Callable[..., Any], change: Callable[[Any], Any], *args: Any, **kwargs: Any) -> Any:
    return change(call(*args, **kwargs))


class _Untied:
    """A layer that is called as it was, with a kernel that is none of its weights."""

    def __init__(self, layer: Any, context: TrialContext) -> None:
        self._layer = layer
        self.kernel = context.framework.read(layer.kernel)

    def __call__(self, *args: Any) -> Any:
        return self._layer(*args)


def _in_inference(call: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    kwargs["training"] = False
    return call(*args, **kwargs)


def _negative(result: Any) -> Any:
    if isinstance(result, (list, tuple)):
        return type(result)(_negative(item) for item in result)
    return -result if hasattr(result, "dtype") and "float" in str(result.dtype) else result


def _in_a_list(result: Any) -> Any:
    return result if isinstance(result, (list, tuple, dict)) else [result]


def _along(weight: Any, context: TrialContext, result: Any) -> Any:
    if isinstance(result, (list, tuple)):
        return type(result)(_along(weight, context, item) for item in result)
    if "float" not in str(getattr(result, "dtype", "")):
        return result
    while len(weight.shape):
        weight = weight[0]
    return result + (weight - context.framework.stop_gradient(weight))


def _refuse() -> Any:
    raise NotImplementedError("this clone does not tell its config")
