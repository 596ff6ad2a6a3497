"""The parts of the Keras of TensorFlow 2: the place to change for another release.

Everything that has no public name is reached from here and from `carried_over`, so that the other modules read as plain
Keras.
"""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np
import tensorflow as tf
import tf_keras as keras

from ..adapter import Adapter

__all__ = ["RELEASE", "keras", "tf"]

# Of a graph, and what `compile` and `fit` leave behind; the rest of Keras's own attributes is asked of Keras.
_GRAPH = frozenset(
    ("_compile_config", "_pss_evaluation_shards", "loss", "loss_weights", "metrics", "history", "optimizer", "states")
    + ("_created_nodes", "_enable_dict_to_input_mapping", "_feed_input_names", "_feed_input_shapes", "_feed_inputs")
    + ("_input_coordinates", "_input_layers", "_layer_call_argspecs", "_nested_inputs", "_nested_outputs", "inputs")
    + ("_network_nodes", "_nodes_by_depth", "_output_coordinates", "_output_layers", "_output_mask_cache", "outputs")
    + ("_output_shape_cache", "_output_tensor_cache", "_tensor_usage_count", "_layers", "_build_input_shape")
    + ("_manual_input_spec", "input_spec", "_input_names", "_output_names", "_container_nodes", "supports_masking")
    + ("_obj_reference_counts_dict",)
)


class TfKerasRelease(Adapter):
    """The Keras of TensorFlow 2, where a graph is a model of layers alone."""

    keras = keras
    keras_modules = ("tf_keras.", "keras.", "tensorflow.")

    def keras_attributes(self) -> frozenset[str]:
        return _keras_attributes()

    def is_model(self, thing: Any) -> bool:
        return isinstance(thing, keras.Model)

    def is_graph(self, thing: Any) -> bool:
        """Whether `thing` is a model made of calls on tensors: Functional, or a Sequential that knows its input."""
        return self.is_model(thing) and bool(getattr(thing, "_is_graph_network", False))

    def is_sequential(self, thing: Any) -> bool:
        return isinstance(thing, keras.Sequential)

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

    def functional_class(self, model: Any) -> Any:
        """The class to give the clone: the model's own when its constructor is that of `keras.Model`."""
        own = _parameters(type(model)) == ["inputs", "outputs", "name", "trainable"]
        return type(model) if own else keras.Model

    def sequential_class(self, model: Any) -> Any:
        """The class to give the clone: the model's own when its constructor is that of `keras.Sequential`."""
        return type(model) if _parameters(type(model)) == ["layers", "name"] else keras.Sequential

    def has_custom_constructor(self, model: Any) -> bool:
        """Whether the class of a model is not constructed from a graph, or from a list of layers."""
        kind = self.sequential_class(model) if self.is_sequential(model) else self.functional_class(model)
        return kind is not type(model)

    def put_together(self, model: Any, *parts: Any) -> Any:
        """A model of the same class around other parts, past the constructor of that class."""
        kind: Any = type(model)
        clone = kind.__new__(kind)
        if self.is_sequential(model):
            keras.Sequential.__init__(clone, name=model.name)
        else:
            functional = [
                each for each in kind.__mro__ if each.__name__ == "Functional" and self.comes_with_keras(each)
            ]
            (functional or [keras.Model])[0].__init__(clone, *parts, name=model.name)
        for name in ("_auto_config", "_auto_get_config"):
            if name in vars(model):
                vars(clone)[name] = vars(model)[name]
        return clone

    def is_variable(self, value: Any) -> bool:
        return isinstance(value, tf.Variable)

    def is_symbolic(self, value: Any) -> bool:
        return hasattr(value, "_keras_history")

    def is_part(self, value: Any) -> bool:
        return self.is_layer(value) or self.is_symbolic(value) or self.is_variable(value)

    def is_state(self, value: Any) -> bool:
        is_random = type(value).__name__ == "RandomGenerator" or isinstance(value, tf.random.Generator)
        of_training = isinstance(value, keras.optimizers.Optimizer)
        return is_random or of_training or isinstance(value, tf.Tensor) or self.is_part(value)

    def constant(self, value: Any) -> Any:
        """Without eager execution a tensor has no numbers yet."""
        if self.is_part(value) or not tf.is_tensor(value):
            return None
        numbers = getattr(value, "numpy", None)
        return None if numbers is None else np.asarray(numbers())

    def graph_of(self, operation: Any) -> Any:
        return operation if self.is_graph(operation) else None

    def sublayers(self, layer: Any) -> list[Any]:
        """The layers that Keras tracks directly below `layer`; of a Sequential model, its `InputLayer` too."""
        return list(layer._flatten_layers(include_self=False, recursive=False))

    def nested_layers(self, layer: Any) -> list[Any]:
        """Every layer that Keras tracks below `layer`, at any depth, itself first."""
        return list(layer._flatten_layers())

    def traits(self, layer: Any) -> Any:
        own = [*layer._trainable_weights, *layer._non_trainable_weights]
        shapes = [(tuple(each.shape), str(each.dtype)) for each in own if hasattr(each, "shape")]
        return getattr(getattr(layer, "_dtype_policy", None), "name", None), shapes

    def operations(self, graph: Any) -> list[Any]:
        return list({id(each): each for each in map(self.operation, self.graph_nodes(graph))}.values())

    def operation(self, node: Any) -> Any:
        return node.layer

    def arguments(self, node: Any) -> tuple[Any, dict[str, Any]]:
        """What a layer was called with, by position and by name."""
        return node.call_args, node.call_kwargs

    def inputs(self, node: Any) -> list[Any]:
        return list(node.keras_inputs)

    def outputs(self, node: Any) -> list[Any]:
        return list(tf.nest.flatten(node.outputs))

    def ends(self, graph: Any) -> Any:
        return getattr(graph, "_nested_inputs", graph.inputs), getattr(graph, "_nested_outputs", graph.outputs)

    def weight_shapes(self, layer: Any) -> list[Any]:
        return [str(weight.shape) for weight in layer.weights if hasattr(weight, "shape")]


RELEASE = TfKerasRelease()


@cache
def _keras_attributes() -> frozenset[str]:
    bare = keras.layers.Layer(name="bare"), keras.Sequential(name="bare")
    return _GRAPH.union(*map(vars, bare))


def _parameters(kind: Any) -> list[str]:
    try:
        found = list(inspect.signature(kind.__init__).parameters.values())[1:]
    except (TypeError, ValueError):
        return []
    return [each.name for each in found if each.kind not in (each.KEYWORD_ONLY, each.VAR_KEYWORD)]


def has_default_config(model: Any) -> bool:
    """Whether `model.get_config` is the one Keras gives, so that the graph is all there is to the model."""
    return bool(getattr(model.get_config, "_is_default", False))


def is_op_layer(layer: Any, name: str) -> bool:
    """Whether `layer` is one of the layers that Keras inserts for TensorFlow operations on its tensors."""
    return any(kind.__name__ == name and RELEASE.comes_with_keras(kind) for kind in type(layer).__mro__)


def links(model: Any) -> list[Any]:
    """The layers of a Sequential in the order of their calls; `layers` has one that stands there twice once."""
    tracked = getattr(model, "_self_tracked_trackables", None) or []
    return [each for each in tracked if RELEASE.is_layer(each) and not RELEASE.is_input(each)]


def begins_with_input(model: Any) -> bool:
    """Whether a Sequential was told its input, and did not take it from its first call."""
    return bool(model._has_explicit_input_shape)


def ancillary_nodes(model: Any) -> list[Any]:
    """The calls that no output depends on: `add_loss`, `add_metric`, and what leads to them."""
    by_depth = model._nodes_by_depth
    return [node for depth in sorted(by_depth, reverse=True) if depth < 0 for node in by_depth[depth]]


@contextlib.contextmanager
def building_policy(model: Any) -> Iterator[None]:
    """The dtype policy that was in force where `model` was built, for layers that create layers of their own."""
    current, wanted = keras.mixed_precision.global_policy(), getattr(model, "_dtype_policy", None)
    if wanted is None or wanted.name == current.name:
        yield
        return
    keras.mixed_precision.set_global_policy(wanted)
    try:
        yield
    finally:
        keras.mixed_precision.set_global_policy(current)
