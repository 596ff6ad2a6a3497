"""The parts of the Keras before Keras 3. Each of the two generations adds what it alone has.

Everything that has no public name is reached from here and from there, so that the other modules read as plain Keras.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from functools import lru_cache
from typing import Any

import numpy as np

from ..adapter import Adapter

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


class Release(Adapter):
    """The Keras before Keras 3, where a graph is a model of layers alone."""

    graph_parameters: tuple[list[str], ...]
    """The parameters of the constructor of `keras.Model`."""

    def __init__(self, keras: Any, network: Any) -> None:
        self.keras = keras
        self._network = network

    def keras_attributes(self) -> frozenset[str]:
        return _attributes_of(self.keras)

    def is_part(self, value: Any) -> bool:
        return self.is_layer(value) or self.is_symbolic(value) or self.is_variable(value)

    def is_variable(self, value: Any) -> bool:
        raise NotImplementedError

    def begins_anywhere(self, model: Any) -> bool:
        """Whether a model can be made on a tensor that is not of an input layer."""
        raise NotImplementedError

    def is_tensor(self, value: Any) -> bool:
        """Whether a value is a tensor of TensorFlow."""
        raise NotImplementedError

    def is_state(self, value: Any) -> bool:
        return self.is_part(value) or isinstance(value, self.keras.optimizers.Optimizer)

    def graph_of(self, operation: Any) -> Any:
        return operation if self.is_graph(operation) else None

    def constant(self, value: Any) -> Any:
        """Without eager execution a tensor has no numbers yet."""
        if self.is_part(value) or not self.is_tensor(value):
            return None
        numbers = getattr(value, "numpy", None)
        return None if numbers is None else np.asarray(numbers())

    def is_model(self, thing: Any) -> bool:
        return isinstance(thing, self._network)

    def is_graph(self, thing: Any) -> bool:
        """Whether `thing` is a model made of calls on tensors: Functional, or a Sequential that knows its input."""
        return self.is_model(thing) and bool(getattr(thing, "_is_graph_network", False))

    def is_sequential(self, thing: Any) -> bool:
        return isinstance(thing, self.keras.models.Sequential)

    def is_symbolic(self, value: Any) -> bool:
        return hasattr(value, "_keras_history")

    def functional_class(self, model: Any) -> Any:
        """The class to give the clone: the model's own when its constructor is that of `keras.Model`."""
        return type(model) if _parameters(type(model)) in self.graph_parameters else self.keras.models.Model

    def sequential_class(self, model: Any) -> Any:
        """The class to give the clone: the model's own when its constructor is that of `keras.Sequential`."""
        return type(model) if _parameters(type(model)) == ["layers", "name"] else self.keras.models.Sequential

    def has_custom_constructor(self, model: Any) -> bool:
        """Whether the class of a model is not constructed from a graph, or from a list of layers."""
        kind = self.sequential_class(model) if self.is_sequential(model) else self.functional_class(model)
        return kind is not type(model)

    def put_together(self, model: Any, *parts: Any) -> Any:
        """A model of the same class around other parts, past the constructor of that class."""
        kind: Any = type(model)
        clone = kind.__new__(kind)
        if self.is_sequential(model):
            self.keras.models.Sequential.__init__(clone, name=model.name)
        else:
            functional = [
                each for each in kind.__mro__ if each.__name__ == "Functional" and self.comes_with_keras(each)
            ]
            (functional or [self.keras.models.Model])[0].__init__(clone, *parts, name=model.name)
        for name in ("_auto_config", "_auto_get_config"):
            if name in vars(model):
                vars(clone)[name] = vars(model)[name]
        return clone


@lru_cache(maxsize=2)
def _attributes_of(keras: Any) -> frozenset[str]:
    bare = keras.layers.Layer(name="bare"), keras.models.Sequential(name="bare")
    return _GRAPH.union(*map(vars, bare))


@lru_cache(maxsize=None)
def set_by(kind: Any) -> frozenset[str]:
    """The names of the attributes that a class sets in its own methods, such as `compile` and `fit` of a model."""
    code = ast.parse(textwrap.dedent(inspect.getsource(kind)))
    stored = [each for each in ast.walk(code) if isinstance(each, ast.Attribute) and isinstance(each.ctx, ast.Store)]
    return frozenset(each.attr for each in stored if isinstance(each.value, ast.Name) and each.value.id == "self")


def _parameters(kind: Any) -> list[str]:
    try:
        found = list(inspect.signature(kind.__init__).parameters.values())[1:]
    except (TypeError, ValueError):
        return []
    return [each.name for each in found if each.kind not in (each.KEYWORD_ONLY, each.VAR_KEYWORD)]
