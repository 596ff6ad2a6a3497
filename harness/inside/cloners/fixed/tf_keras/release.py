"""What the Keras 2 generation calls its parts: the one place to change when another release is to be served.

Everything that has no public name is reached from here, so that the other modules read as plain Keras.
"""

from __future__ import annotations

import contextlib
import inspect
import sys
from collections.abc import Iterator
from types import BuiltinFunctionType, FunctionType, MethodType
from typing import Any

import tensorflow as tf

if "tf_keras" in sys.modules or tuple(map(int, tf.__version__.split(".")[:2])) >= (2, 16):
    import tf_keras as keras
else:
    keras = tf.keras

__all__ = ["keras", "tf"]

_OWN_MODULES = ("tf_keras.", "keras.", "tensorflow.", "tensorflow_core.")
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
    if getattr(model.get_config, "_is_default", False):
        return True
    # Before 2.11 nothing marks the one of Functional models.
    owner = next(kind for kind in type(model).__mro__ if "get_config" in vars(kind))
    return owner.__name__ in ("Functional", "Network") and is_own(owner)


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
    if hasattr(layer, "_flatten_layers"):
        return list(layer._flatten_layers())
    found, waiting = [], [layer]
    while waiting:
        found.append(waiting.pop(0))
        waiting = direct_layers(found[-1]) + waiting
    return found


def direct_layers(layer: Any) -> list[Any]:
    """The layers that Keras tracks directly below `layer`; of a Sequential model, its `InputLayer` too."""
    if hasattr(layer, "_flatten_layers"):
        return list(layer._flatten_layers(include_self=False, recursive=False))
    # Before 2.3. Lists and dicts of layers stand there as such.
    return [each for each in tf.nest.flatten(_opened(getattr(layer, "_layers", None) or [])) if is_layer(each)]


def _opened(tracked: Any) -> Any:
    return [_opened(each.layers) if hasattr(each, "layers") and not is_layer(each) else each for each in tracked]


def layer_of(node: Any) -> Any:
    """The layer that was called."""
    return node.layer if hasattr(node, "layer") else node.outbound_layer


def arguments_of(node: Any) -> tuple[Any, dict[str, Any]]:
    """What a layer was called with, by position and by name."""
    if hasattr(node, "call_args"):
        return node.call_args, node.call_kwargs
    # Before 2.3 a node keeps the first argument, and all others by their names.
    return (node.input_tensors,) if node.inbound_layers else (), node.arguments or {}


def inputs_of(node: Any) -> list[Any]:
    """The tensors among the arguments of a call that other calls made."""
    if hasattr(node, "keras_inputs"):
        return list(node.keras_inputs)
    return [leaf for leaf in tf.nest.flatten(arguments_of(node)) if is_symbolic(leaf)]


def outputs_of(node: Any) -> list[Any]:
    """The tensors that a call made."""
    return list(tf.nest.flatten(node.outputs if hasattr(node, "outputs") else node.output_tensors))


def call_again(layer: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    """Call a layer with the arguments that a call was noted with, so that this one is noted likewise."""
    if is_own(type(layer)) and any(map(is_symbolic, tf.nest.flatten(kwargs.get("initial_state")))):
        # A recurrent layer puts states that come from layers into its first argument. Before 2.4 it does not know those
        # of an operation as such when the model is made, but does here: its own call is passed over.
        return keras.layers.Layer.__call__(layer, *args, **kwargs)
    return layer(*args, **kwargs)


def begins_with_input(model: Any) -> bool:
    """Whether a Sequential was told its input, and did not take it from its first call."""
    if hasattr(model, "_has_explicit_input_shape"):
        return bool(model._has_explicit_input_shape)
    return isinstance((direct_layers(model) or [None])[0], keras.layers.InputLayer)


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
    if not hasattr(mixed_precision, "global_policy"):
        mixed_precision = mixed_precision.experimental
    set_policy = getattr(mixed_precision, "set_global_policy", None) or mixed_precision.set_policy
    current, wanted = mixed_precision.global_policy(), getattr(model, "_dtype_policy", None)
    if wanted is None or wanted.name == current.name:
        yield
        return
    set_policy(wanted)
    try:
        yield
    finally:
        set_policy(current)
