"""Faulty cloners: each breaks one property of a clone that `fixed` makes.

The docstring of a fault begins with the check that must catch it, followed by a part of the model if only that differs.
A subject imports this module like a user's cloner, so a fault takes a model and the clone arguments.
"""

from __future__ import annotations

import functools
import os
import sys
import warnings
import weakref
from collections.abc import Callable
from typing import Any

import clonediff

_FIRST_CLONES: Any = weakref.WeakKeyDictionary()
"""By model: its first clone."""
_CLONED_MODELS: Any = weakref.WeakSet()
"""Models that have been cloned."""


def _as_cloner(fault: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    """Return a cloner that calls `fault` on a clone by `fixed`, which it changes or replaces."""

    def clone(model: Any, **arguments: Any) -> Any:
        faithful = clonediff.clone_model(model, **arguments)
        other = fault(model, faithful)
        return faithful if other is None else other

    clone.__name__, clone.__doc__ = fault.__name__, fault.__doc__
    return clone


def _keras(model: Any) -> Any:
    """Return the Keras package of a model."""
    return sys.modules[
        "tf_keras" if any(base.__module__.startswith("tf_keras") for base in type(model).__mro__) else "keras"
    ]


def _layers(model: Any) -> list[Any]:
    """Return the layers of a model and of its nested models."""
    return list(model._flatten_layers(include_self=False))


def _is_model(layer: Any) -> bool:
    return isinstance(layer, _keras(layer).Model)


def _last_weighted_layer(model: Any) -> Any:
    return [layer for layer in model.layers if layer.weights and not _is_model(layer)][-1]


def _rebuild(layer: Any) -> Any:
    return type(layer).from_config(layer.get_config())


def _change_outputs(layer: Any, change: Callable[[Any], Any]) -> None:
    """Change the outputs of a layer."""
    call = layer.call
    layer.call = functools.wraps(call)(lambda *args, **kwargs: change(call(*args, **kwargs)))


@_as_cloner
def crash_on_outputs(model: Any, clone: Any) -> None:
    """made: raises on a Lambda with several outputs, as Keras 2.2.4 did."""
    for layer in _layers(model):
        if type(layer).__name__ == "Lambda" and isinstance(layer.output, (list, tuple)):
            raise AssertionError(f"Could not compute output {layer.name}")


@_as_cloner
def aborts(model: Any, clone: Any) -> None:
    """made: crashes its process on a pooling layer."""
    if any("Pooling" in type(layer).__name__ for layer in _layers(model)):
        os.abort()


@_as_cloner
def trainable_forgotten(model: Any, clone: Any) -> None:
    """weights: unfreezes every layer of the clone."""
    for layer in [clone, *_layers(clone)]:
        layer.trainable = True


@_as_cloner
def weights_copied(model: Any, clone: Any) -> None:
    """own: starts with the original's weights instead of fresh ones."""
    clone.set_weights(model.get_weights())


def layer_shared_with_original(model: Any, **arguments: Any) -> Any:
    """own: uses the original's last layer with weights instead of a clone of it."""
    last = _last_weighted_layer(model)
    return clonediff.clone_model(model, clone_function=lambda layer: layer if layer is last else _rebuild(layer))


def layer_unshared(model: Any) -> Any:
    """sharing: puts a copy in the place of a layer that is shared with a nested model."""
    return clonediff.clone_model(
        model, clone_function=lambda layer: clonediff.clone_model(layer) if _is_model(layer) else _rebuild(layer)
    )


@_as_cloner
def outputs_reversed(model: Any, clone: Any) -> Any:
    """outputs: reverses the outputs of the model."""
    return _keras(model).Model(clone.inputs, clone.outputs[::-1], name=clone.name)


@_as_cloner
def always_inference(model: Any, clone: Any) -> None:
    """outputs: disables every Dropout in training."""
    for layer in _layers(clone):
        if type(layer).__name__ == "Dropout":
            layer.call = functools.wraps(layer.call)(lambda x, training=False, call=layer.call: call(x, training=False))


@_as_cloner
def mask_function_dropped(model: Any, clone: Any) -> None:
    """masks: drops the mask function of a Lambda, as the config of Keras 2.2.5 did."""
    for layer in _layers(clone):
        if type(layer).__name__ == "Lambda" and layer.mask is not None:
            layer.mask = None
            layer.supports_masking = False


@_as_cloner
def layer_renamed(model: Any, clone: Any) -> None:
    """structure: renames the last layer."""
    layer = clone.layers[-1]
    setattr(layer, "_name" if "_name" in vars(layer) else "name", layer.name + "_clone")


@_as_cloner
def original_frozen(model: Any, clone: Any) -> None:
    """untouched: freezes the last layer with weights in the original."""
    layer = _last_weighted_layer(model)
    layer.trainable = not layer.trainable


@_as_cloner
def original_reset(model: Any, clone: Any) -> None:
    """untouched: sets the weights of the original to zero."""
    model.set_weights([weight * 0 for weight in model.get_weights()])


@_as_cloner
def second_clone_broken(model: Any, clone: Any) -> None:
    """again: negates the outputs of the last layer from the second clone on."""
    if model in _CLONED_MODELS:
        _change_outputs(_last_weighted_layer(clone), lambda result: -result)
    _CLONED_MODELS.update((model, clone))


@_as_cloner
def layer_shared_between_clones(model: Any, clone: Any) -> Any:
    """again: shares the last layer with weights between all clones."""
    first = _FIRST_CLONES.setdefault(model, clone)
    return None if first is clone else layer_shared_with_original(first)


@_as_cloner
def gradients_reversed(model: Any, clone: Any) -> None:
    """training weight: reverses the gradients of the clone's optimizer."""
    clone.optimizer._clip_gradients = lambda gradients: [-gradient for gradient in gradients]


@_as_cloner
def loss_doubled(model: Any, clone: Any) -> None:
    """training loss: doubles the loss."""
    compute = clone.compute_metrics
    clone.compute_metrics = lambda *args, **rest: {name: 2 * value for name, value in compute(*args, **rest).items()}


@_as_cloner
def activity_regularizer_lost(model: Any, clone: Any) -> None:
    """training losses: drops the activity regularizer of a layer."""
    for layer in _layers(clone):
        layer.activity_regularizer = None


@_as_cloner
def cloning_warns(model: Any, clone: Any) -> None:
    """warned: gives a warning while cloning."""
    warnings.warn(f"the layer {model.layers[-1].name} has no name of its own", UserWarning, stacklevel=1)


CHECKS_BY_FAULT = {
    name: (fault.__doc__ or "").partition(":")[0]
    for name, fault in list(globals().items())
    if not name.startswith("_") and getattr(fault, "__module__", "") == __name__
}
"""By fault: the check, and the part, that must catch it."""
