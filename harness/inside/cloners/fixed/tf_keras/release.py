"""What the Keras 2 generation calls its parts: the one place to change when another release is to be served.

Everything that has no public name is reached from here, so that the other modules read as plain Keras.
"""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Iterator
from types import BuiltinFunctionType, FunctionType, MethodType
from typing import Any

import tensorflow as tf
import tf_keras as keras

__all__ = ["keras", "tf"]

_OWN_MODULES = ("tf_keras.", "keras.", "tensorflow.")
_FUNCTIONAL_PARAMETERS = ["inputs", "outputs", "name", "trainable"]
_SEQUENTIAL_PARAMETERS = ["layers", "name"]


def is_own(thing: Any) -> bool:
    """Whether a class or function comes with Keras or TensorFlow rather than from the user."""
    return (str(getattr(thing, "__module__", "")) + ".").startswith(_OWN_MODULES)


def is_function(thing: Any) -> bool:
    """Whether `thing` is plain code: callable, and without a config that it could be rebuilt from."""
    if isinstance(thing, (FunctionType, BuiltinFunctionType, MethodType)):
        return True
    return callable(thing) and not isinstance(thing, type) and not hasattr(thing, "get_config")


def is_own_name(name: str) -> bool:
    """Whether Keras itself finds something under `name`, which a user's thing of that name must not hide."""
    places = (keras.layers, keras.activations, keras.initializers, keras.regularizers, keras.constraints)
    return any(hasattr(place, name) for place in places)


def is_layer(thing: Any) -> bool:
    return isinstance(thing, keras.layers.Layer)


def is_graph(thing: Any) -> bool:
    """Whether `thing` is a Functional model, or a Sequential one that knows its graph."""
    return isinstance(thing, keras.Model) and bool(getattr(thing, "_is_graph_network", False))


def is_sequential(thing: Any) -> bool:
    return isinstance(thing, keras.Sequential)


def is_functional(thing: Any) -> bool:
    return is_graph(thing) and not is_sequential(thing)


def has_default_config(model: Any) -> bool:
    """Whether `model.get_config` is the one Keras gives, so that the graph is all there is to the model."""
    return bool(getattr(model.get_config, "_is_default", False))


def is_structural(thing: Any) -> bool:
    """Whether a model is cloned by its graph rather than through its config."""
    return is_sequential(thing) or (is_functional(thing) and has_default_config(thing))


def keeps_its_class(model: Any) -> bool:
    """Whether a clone made from the graph has the class of `model`, as it must inside another model."""
    kind = sequential_class(model) if is_sequential(model) else functional_class(model)
    return kind is type(model) and (not is_sequential(model) or type(model).get_config is keras.Sequential.get_config)


def is_op_layer(layer: Any, name: str) -> bool:
    """Whether `layer` is one of the layers that Keras inserts for TensorFlow operations on its tensors."""
    return any(kind.__name__ == name and is_own(kind) for kind in type(layer).__mro__)


def is_symbolic(thing: Any) -> bool:
    """Whether `thing` is a tensor that a Keras layer or `Input` made."""
    return hasattr(thing, "_keras_history")


def takes(kind: type, parameters: list[str]) -> bool:
    try:
        found = list(inspect.signature(kind.__init__).parameters.values())[1:]  # type: ignore[misc]
    except (TypeError, ValueError):
        return False
    named = [p.name for p in found if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    return named == parameters


def functional_class(model: Any) -> Any:
    """The class to give the clone: the model's own when its constructor is that of `keras.Model`."""
    return type(model) if takes(type(model), _FUNCTIONAL_PARAMETERS) else keras.Model


def sequential_class(model: Any) -> Any:
    """The class to give the clone: the model's own when its constructor is that of `keras.Sequential`."""
    return type(model) if takes(type(model), _SEQUENTIAL_PARAMETERS) else keras.Sequential


def nested_layers(layer: Any) -> list[Any]:
    """Every layer that Keras tracks below `layer`, at any depth, itself first."""
    return list(layer._flatten_layers())


def direct_layers(layer: Any) -> list[Any]:
    """The layers that Keras tracks directly below `layer`; of a Sequential model, its `InputLayer` too."""
    return list(layer._flatten_layers(include_self=False, recursive=False))


def graph_nodes(model: Any) -> list[Any]:
    """The calls that make up a graph, from inputs to outputs, those behind `add_loss` and `add_metric` last."""
    by_depth = model._nodes_by_depth
    return [node for depth in sorted(by_depth, reverse=True) for node in by_depth[depth]]


def ancillary_nodes(model: Any) -> list[Any]:
    """The calls that no output depends on: `add_loss`, `add_metric`, and what leads to them."""
    by_depth = model._nodes_by_depth
    return [node for depth in sorted(by_depth, reverse=True) if depth < 0 for node in by_depth[depth]]


@contextlib.contextmanager
def building_policy(model: Any) -> Iterator[None]:
    """The dtype policy that was in force where `model` was built, for layers that create layers of their own."""
    mixed_precision = keras.mixed_precision
    current, wanted = mixed_precision.global_policy(), getattr(model, "_dtype_policy", None)
    if wanted is None or wanted.name == current.name:
        yield
        return
    mixed_precision.set_global_policy(wanted)
    try:
        yield
    finally:
        mixed_precision.set_global_policy(current)
