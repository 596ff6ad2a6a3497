"""What the shared part of the fixed cloners needs to know of a generation of Keras."""

from __future__ import annotations

from types import BuiltinFunctionType, FunctionType, MethodType
from typing import Any

from .comparison import Comparison


class Adapter:
    """The parts of a generation of Keras, by one set of names. A node of a graph is a call of one of its operations."""

    keras: Any
    keras_modules: tuple[str, ...]
    """Where the classes and functions of Keras come from, rather than from the user."""

    def comparison(self) -> Comparison:
        return Comparison(self.is_state, self.is_of_keras, self.is_layer)

    def is_layer(self, value: Any) -> bool:
        return isinstance(value, self.keras.layers.Layer)

    def is_input(self, layer: Any) -> bool:
        return isinstance(layer, self.keras.layers.InputLayer)

    def is_symbolic(self, value: Any) -> bool:
        """Whether a value is a tensor of a graph."""
        raise NotImplementedError

    def is_part(self, value: Any) -> bool:
        """Whether a value is a part of a model that a clone has of its own."""
        raise NotImplementedError

    def is_state(self, value: Any) -> bool:
        """Whether a value is compared by other means than by itself, or not at all."""
        raise NotImplementedError

    def comes_with_keras(self, thing: Any) -> bool:
        """Whether a class or function comes with Keras rather than from the user."""
        return (str(getattr(thing, "__module__", "")) + ".").startswith(self.keras_modules)

    def is_function(self, thing: Any) -> bool:
        """Whether a value is plain code: callable, and without a config that it could be made again from."""
        if isinstance(thing, (FunctionType, BuiltinFunctionType, MethodType)):
            return True
        return callable(thing) and not isinstance(thing, type) and not hasattr(thing, "get_config")

    def is_found_by_name(self, function: Any) -> bool:
        """Whether Keras finds a function by its name alone: what a function has made, or a file, has none."""
        return self.comes_with_keras(function) and "<" not in getattr(function, "__qualname__", "<")

    def drawing_anew(self, value: Any) -> Any:
        """For an initializer of Keras without a seed another: it may have drawn one, and give the same each time."""
        if not isinstance(value, self.keras.initializers.Initializer) or not self.comes_with_keras(type(value)):
            return value
        config = value.get_config()
        return type(value).from_config(config) if config.get("seed", 0) is None else value

    def keras_attributes(self) -> frozenset[str]:
        """The names of the attributes that Keras itself gives to layers and models."""
        raise NotImplementedError

    def is_of_keras(self, attribute: str) -> bool:
        """Whether Keras gives layers such an attribute, or TensorFlow, for its record of what they hold."""
        return attribute in self.keras_attributes() or attribute.startswith("_self_")

    def constant(self, value: Any) -> Any:
        """The numbers of a tensor that belongs to no graph; None for anything else."""
        raise NotImplementedError

    def graph_of(self, operation: Any) -> Any:
        """The graph that an operation is, or has; None where it has none."""
        raise NotImplementedError

    def sublayers(self, layer: Any) -> list[Any]:
        """The layers that a layer holds itself."""
        raise NotImplementedError

    def nested_layers(self, layer: Any) -> list[Any]:
        """A layer and every layer below it, at any depth."""
        raise NotImplementedError

    def traits(self, layer: Any) -> Any:
        """What two matching layers have in common besides attributes: a dtype policy, the shapes of weights."""
        raise NotImplementedError

    def operations(self, graph: Any) -> list[Any]:
        raise NotImplementedError

    def graph_nodes(self, graph: Any) -> list[Any]:
        """The nodes of a graph from its inputs on, as the model runs through them."""
        by_depth = graph._nodes_by_depth
        return [node for depth in sorted(by_depth, reverse=True) for node in by_depth[depth]]

    def calls(self, graph: Any) -> list[tuple[str, Any]]:
        """The nodes of a graph with names: operation by operation, and each in the order in which it was called."""
        own = {id(node) for node in self.graph_nodes(graph)}
        return [(each.name, node) for each in self.operations(graph) for node in each._inbound_nodes if id(node) in own]

    def operation(self, node: Any) -> Any:
        """What was called."""
        raise NotImplementedError

    def inputs(self, node: Any) -> list[Any]:
        """The tensors of the graph among the arguments of a call."""
        raise NotImplementedError

    def arguments(self, node: Any) -> Any:
        raise NotImplementedError

    def outputs(self, node: Any) -> list[Any]:
        raise NotImplementedError

    def ends(self, graph: Any) -> Any:
        """The inputs and outputs of a graph, as they were given."""
        raise NotImplementedError

    def weight_shapes(self, layer: Any) -> list[Any]:
        raise NotImplementedError
