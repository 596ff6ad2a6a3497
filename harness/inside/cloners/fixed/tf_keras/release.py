"""The parts of the Keras of TensorFlow 2: the place to change for another release."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from typing import Any

import tensorflow as tf

from ..before_keras3.release import Release, set_by

if "tf_keras" in sys.modules or tuple(map(int, tf.__version__.split(".")[:2])) >= (2, 16):
    import tf_keras as keras
else:
    keras = tf.keras

__all__ = ["GENERATOR", "RELEASE", "keras", "tf"]

GENERATOR = tf.random.experimental.Generator  # `tf.random` itself has it since 2.2


class TfKerasRelease(Release):
    """The Keras of TensorFlow 2."""

    keras_modules = ("tf_keras.", "keras.", "tensorflow.", "tensorflow_core.")
    graph_parameters = (["inputs", "outputs", "name", "trainable"],)

    def keras_attributes(self) -> frozenset[str]:
        found = super().keras_attributes()
        # Before 2.2 `compile` and `fit` set attributes that a bare model does not have.
        return found if hasattr(keras.Model, "train_step") else found | set_by(keras.Model)

    def is_functional(self, thing: Any) -> bool:
        return self.is_graph(thing) and not self.is_sequential(thing)

    def is_structural(self, thing: Any) -> bool:
        """Whether a model is cloned by its graph rather than through its config."""
        return self.is_sequential(thing) or (self.is_functional(thing) and has_default_config(thing))

    def has_default_call(self, model: Any) -> bool:
        """Whether a model does what its graph says, and nothing else."""
        return self.comes_with_keras(next(kind for kind in type(model).__mro__ if "call" in vars(kind)))

    def keeps_its_class(self, model: Any) -> bool:
        """Whether a clone made from the graph has the class of `model`, as it must inside another model."""
        if not self.is_sequential(model):
            return self.functional_class(model) is type(model)
        own_config = type(model).get_config is not keras.Sequential.get_config
        return self.sequential_class(model) is type(model) and not own_config

    def is_variable(self, value: Any) -> bool:
        return isinstance(value, tf.Variable)

    def begins_anywhere(self, model: Any) -> bool:
        # The releases that can do it have a module for it, which that of Functional imports.
        return any(hasattr(sys.modules[kind.__module__], "functional_utils") for kind in type(model).__mro__)

    def is_tensor(self, value: Any) -> bool:
        return bool(tf.is_tensor(value))

    def is_state(self, value: Any) -> bool:
        is_random = type(value).__name__ == "RandomGenerator" or isinstance(value, GENERATOR)
        return is_random or isinstance(value, tf.Tensor) or super().is_state(value)

    def sublayers(self, layer: Any) -> list[Any]:
        """The layers that Keras tracks directly below `layer`; of a Sequential model, its `InputLayer` too."""
        if hasattr(layer, "_flatten_layers"):
            return list(layer._flatten_layers(include_self=False, recursive=False))
        # Before 2.3. Lists and dicts of layers stand there as such.
        return list(_opened(getattr(layer, "_layers", None) or []))

    def traits(self, layer: Any) -> Any:
        own = [*layer._trainable_weights, *layer._non_trainable_weights]
        shapes = [(tuple(each.shape), str(each.dtype)) for each in own if hasattr(each, "shape")]
        return getattr(getattr(layer, "_dtype_policy", None), "name", None), shapes

    def operations(self, graph: Any) -> list[Any]:
        return list({id(each): each for each in map(self.operation, self.graph_nodes(graph))}.values())

    def operation(self, node: Any) -> Any:
        return node.layer if hasattr(node, "layer") else node.outbound_layer

    def arguments(self, node: Any) -> tuple[Any, dict[str, Any]]:
        """What a layer was called with, by position and by name."""
        if hasattr(node, "call_args"):
            return node.call_args, node.call_kwargs
        # Before 2.3 a node keeps the first argument, and all others by their names.
        return (node.input_tensors,) if node.inbound_layers else (), node.arguments or {}

    def inputs(self, node: Any) -> list[Any]:
        if hasattr(node, "keras_inputs"):
            return list(node.keras_inputs)
        return [leaf for leaf in tf.nest.flatten(self.arguments(node)) if self.is_symbolic(leaf)]

    def outputs(self, node: Any) -> list[Any]:
        return list(tf.nest.flatten(node.outputs if hasattr(node, "outputs") else node.output_tensors))

    def ends(self, graph: Any) -> Any:
        return getattr(graph, "_nested_inputs", graph.inputs), getattr(graph, "_nested_outputs", graph.outputs)

    def weight_shapes(self, layer: Any) -> list[Any]:
        return [str(weight.shape) for weight in layer.weights if hasattr(weight, "shape")]

    def nested_layers(self, layer: Any) -> list[Any]:
        """Every layer that Keras tracks below `layer`, at any depth, itself first."""
        if hasattr(layer, "_flatten_layers"):
            return list(layer._flatten_layers())
        return [layer] + [below for each in self.sublayers(layer) for below in self.nested_layers(each)]


RELEASE = TfKerasRelease(keras, keras.Model)


def has_default_config(model: Any) -> bool:
    """Whether `model.get_config` is the one Keras gives, so that the graph is all there is to the model."""
    if getattr(model.get_config, "_is_default", False):
        return True
    # Before 2.11 nothing marks the one of Functional models.
    owner = next(kind for kind in type(model).__mro__ if "get_config" in vars(kind))
    return owner.__name__ in ("Functional", "Network") and RELEASE.comes_with_keras(owner)


def is_op_layer(layer: Any, name: str) -> bool:
    """Whether `layer` is one of the layers that Keras inserts for TensorFlow operations on its tensors."""
    return any(kind.__name__ == name and RELEASE.comes_with_keras(kind) for kind in type(layer).__mro__)


def links(model: Any) -> list[Any]:
    """The layers of a Sequential in the order of their calls; `layers` has one that stands there twice once."""
    tracked = getattr(model, "_self_tracked_trackables", None) or getattr(model, "_layers", None) or []
    return [each for each in tracked if RELEASE.is_layer(each) and not RELEASE.is_input(each)]


def _opened(tracked: Any) -> Iterator[Any]:
    for each in tracked:
        if RELEASE.is_layer(each):
            yield each
        elif hasattr(each, "layers"):
            yield from _opened(each.layers)


def as_called(nodes: list[Any]) -> list[Any]:
    """Calls in the order in which they were made, where their tensors tell.

    Before 2.4 a call with a mask leaves that on the tensors that it takes, for the calls that come after it.
    """
    return sorted(nodes, key=_made_at)


def _made_at(node: Any) -> int:
    tensor = RELEASE.outputs(node)[0]
    return int(getattr(tensor.op, "_id", 0)) if isinstance(tensor, tf.Tensor) else 0


def call_again(layer: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    """Call a layer with the arguments that a call was noted with, so that this one is noted likewise."""
    if RELEASE.comes_with_keras(type(layer)) and any(
        map(RELEASE.is_symbolic, tf.nest.flatten(kwargs.get("initial_state")))
    ):
        # A recurrent layer puts states that come from layers into its first argument. Before 2.4 it does not know those
        # of an operation as such when the model is made, but does here: its own call is passed over.
        return keras.layers.Layer.__call__(layer, *args, **kwargs)
    return layer(*args, **kwargs)


def begins_with_input(model: Any) -> bool:
    """Whether a Sequential was told its input, and did not take it from its first call."""
    if hasattr(model, "_has_explicit_input_shape"):
        return bool(model._has_explicit_input_shape)
    return isinstance((RELEASE.sublayers(model) or [None])[0], keras.layers.InputLayer)


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
