"""The parts of Keras 2.2 and 2.3: the place to change for another release."""

from __future__ import annotations

import importlib
from typing import Any

from ....left_masks import is_tensor
from ....structure import leaves
from ..before_keras3.release import Release, set_by


class Keras2Release(Release):
    """Keras 2.2 and 2.3, on a TensorFlow in graph mode."""

    keras_modules = ("keras.", "tensorflow.")
    graph_parameters = (["inputs", "outputs", "name"], ["args"])

    def __init__(self) -> None:
        network = importlib.import_module("keras.engine.network").Network
        super(Keras2Release, self).__init__(importlib.import_module("keras"), network)

    def keras_attributes(self) -> frozenset[str]:
        return super(Keras2Release, self).keras_attributes() | set_by(self.keras.models.Model)

    def is_variable(self, value: Any) -> bool:
        return hasattr(value, "assign") and hasattr(value, "initializer")

    def begins_anywhere(self, model: Any) -> bool:
        return False

    def is_tensor(self, value: Any) -> bool:
        return is_tensor(value) or self.is_variable(value)

    def is_state(self, value: Any) -> bool:
        return is_tensor(value) or super(Keras2Release, self).is_state(value)

    def takes(self, function: Any, argument: str) -> bool:
        return bool(self.keras.utils.generic_utils.has_arg(function, argument))

    def is_cloned_by_graph(self, thing: Any) -> bool:
        """Whether the graph is all there is to a model; one whose class has a config of its own is as other layers."""
        own_config = type(thing).get_config if self.is_model(thing) else None
        return self.is_graph(thing) and own_config in (
            self._network.get_config,
            self.keras.models.Sequential.get_config,
        )

    def graph_nodes(self, model: Any) -> list[Any]:
        """The calls of the graph, and those of its inputs, which no output may depend on."""
        nodes = super(Keras2Release, self).graph_nodes(model)
        known = {id(node) for node in nodes}
        inputs = [layer._inbound_nodes[index] for layer, index, _ in model._input_coordinates]
        return [node for node in inputs if id(node) not in known] + nodes

    def sublayers(self, layer: Any) -> list[Any]:
        if self.is_graph(layer):
            return []
        # Calls lead to other layers of the graph, which a layer does not hold.
        parts = [value for key, value in vars(layer).items() if not key.endswith("bound_nodes")]
        return [leaf for leaf in leaves(parts) if self.is_layer(leaf)]

    def traits(self, layer: Any) -> Any:
        # The name, since variables are named after it, once and for all.
        return layer.name, [] if self.is_graph(layer) else self.weight_shapes(layer)

    def operations(self, graph: Any) -> list[Any]:
        return list(graph.layers)

    def operation(self, node: Any) -> Any:
        return node.outbound_layer

    def inputs(self, node: Any) -> list[Any]:
        return list(node.input_tensors)

    def arguments(self, node: Any) -> Any:
        return node.input_tensors, node.arguments

    def outputs(self, node: Any) -> list[Any]:
        return list(node.output_tensors)

    def ends(self, graph: Any) -> Any:
        return graph.inputs, graph.outputs

    def weight_shapes(self, layer: Any) -> list[Any]:
        return [self.keras.backend.int_shape(weight) for weight in layer.weights]

    def nested_layers(self, layer: Any) -> list[Any]:
        """A layer and every layer in its attributes, at any depth; the layers of a graph are the graph's."""
        found: dict[int, Any] = {}
        waiting = [layer]
        while waiting:
            each = waiting.pop()
            if id(each) in found:
                continue
            found[id(each)] = each
            waiting.extend(self.sublayers(each))
        return list(found.values())


RELEASE = Keras2Release()


def maker(tensor: Any) -> Any:
    """The call that made a tensor, the latest where several give the same one."""
    layer, index, _ = tensor._keras_history
    return layer._inbound_nodes[index]


def givers(node: Any) -> list[Any]:
    """The calls that gave a call its inputs, input by input, whatever was called since."""
    return [layer._inbound_nodes[index] for layer, index in zip(node.inbound_layers, node.node_indices)]


def ends(model: Any, side: str) -> list[tuple[Any, int]]:
    """The inputs or outputs of a graph, each as the call that gives it and its place among what that call gives."""
    coordinates = model._input_coordinates if side == "inputs" else model._output_coordinates
    return [(layer._inbound_nodes[node], tensor) for layer, node, tensor in coordinates]


def made_at(node: Any) -> int:
    """When a call was made, by the numbers that TensorFlow gives to operations."""
    tensor = node.output_tensors[0]
    tensor = getattr(tensor, "indices", tensor)  # of a sparse one
    return int(getattr(getattr(tensor, "op", None), "_id", 0))
