"""What Keras 2.2 and 2.3 call their parts: the one place to change when another release is to be served.

Everything that has no public name is reached from here, so that the other modules read as plain Keras.
"""

from __future__ import annotations

import importlib
import inspect
from types import BuiltinFunctionType, FunctionType, MethodType
from typing import Any, Iterator

keras: Any = importlib.import_module("keras")
_network: Any = importlib.import_module("keras.engine.network").Network
_base_layer: Any = importlib.import_module("keras.engine.base_layer").Layer

_OWN_MODULES = ("keras.", "tensorflow.")
_GRAPH_PARAMETERS = (["inputs", "outputs", "name"], ["args", "kwargs"])
_SEQUENTIAL_PARAMETERS = ["layers", "name"]


def is_own(thing: Any) -> bool:
    """Whether a class or function comes with Keras or TensorFlow rather than from the user."""
    return (str(getattr(thing, "__module__", "")) + ".").startswith(_OWN_MODULES)


def is_found_by_name(function: Any) -> bool:
    """Whether Keras finds the function by its name alone: its own, and not one made inside another function."""
    return is_own(function) and "<" not in getattr(function, "__qualname__", "<")


def is_function(thing: Any) -> bool:
    """Whether `thing` is plain code: callable, and without a config that it could be rebuilt from."""
    if isinstance(thing, (FunctionType, BuiltinFunctionType, MethodType)):
        return True
    return callable(thing) and not isinstance(thing, type) and not hasattr(thing, "get_config")


def is_layer(thing: Any) -> bool:
    return isinstance(thing, _base_layer)


def is_model(thing: Any) -> bool:
    return isinstance(thing, _network)


def is_graph(thing: Any) -> bool:
    """Whether `thing` is a model made of calls on tensors: Functional, or a Sequential that knows its input."""
    return is_model(thing) and bool(getattr(thing, "_is_graph_network", False))


def is_sequential(thing: Any) -> bool:
    return isinstance(thing, keras.models.Sequential)


def is_cloned_by_graph(thing: Any) -> bool:
    """Whether the graph is all there is to a model; one whose class has a config of its own is a layer like others."""
    own_config = type(thing).get_config if is_model(thing) else None
    return is_graph(thing) and own_config in (_network.get_config, keras.models.Sequential.get_config)


def is_input(layer: Any) -> bool:
    return isinstance(layer, keras.layers.InputLayer)


def is_symbolic(thing: Any) -> bool:
    """Whether `thing` is a tensor that a Keras layer or `Input` made."""
    return hasattr(thing, "_keras_history")


def is_tensor(thing: Any) -> bool:
    """Whether `thing` is a tensor of the graph that TensorFlow draws."""
    return hasattr(thing, "op") and hasattr(thing, "graph")


def maker(tensor: Any) -> Any:
    """The call that made a tensor, the latest where several give the same one."""
    layer, index, _ = tensor._keras_history
    return layer._inbound_nodes[index]


def givers(node: Any) -> list[Any]:
    """The calls that gave a call its inputs, input by input, whatever was called since."""
    return [layer._inbound_nodes[index] for layer, index in zip(node.inbound_layers, node.node_indices)]


def graph_nodes(model: Any) -> list[Any]:
    """The calls that make up a graph, and those of its inputs, which no output may depend on."""
    by_depth = model._nodes_by_depth
    nodes = [node for depth in sorted(by_depth, reverse=True) for node in by_depth[depth]]
    known = {id(node) for node in nodes}
    inputs = [layer._inbound_nodes[index] for layer, index, _ in model._input_coordinates]
    return [node for node in inputs if id(node) not in known] + nodes


def ends(model: Any, side: str) -> list[tuple[Any, int]]:
    """The inputs or outputs of a graph, each as the call that gives it and its place among what that call gives."""
    coordinates = model._input_coordinates if side == "inputs" else model._output_coordinates
    return [(layer._inbound_nodes[node], tensor) for layer, node, tensor in coordinates]


def made_at(node: Any) -> int:
    """When a call was made, by the numbers that TensorFlow gives to operations."""
    tensor = node.output_tensors[0]
    tensor = getattr(tensor, "indices", tensor)  # of a sparse one
    return int(getattr(getattr(tensor, "op", None), "_id", 0))


def went_into(tensor: Any, node: Any) -> bool:
    """Whether `tensor` had a part in what a call computed; else it was put to the call's arguments later on."""
    ends_here = {id(each) for each in node.input_tensors}
    seen: set[int] = set()
    waiting = [each for each in node.output_tensors if is_tensor(each)]
    while waiting:
        each = waiting.pop()
        if each is tensor:
            return True
        if id(each) in ends_here or id(each.op) in seen:
            continue
        seen.add(id(each.op))
        waiting.extend(each.op.inputs)
        waiting.extend(output for op in each.op.control_inputs for output in op.outputs)
    return False


def held_layers(thing: Any) -> Iterator[Any]:
    """The layers in an attribute of a layer: itself, or in lists, tuples and dicts."""
    if is_layer(thing):
        yield thing
    elif isinstance(thing, (list, tuple)):
        for item in thing:
            for layer in held_layers(item):
                yield layer
    elif isinstance(thing, dict):
        for item in thing.values():
            for layer in held_layers(item):
                yield layer


def nested_layers(layer: Any) -> list[Any]:
    """A layer and every layer that it holds in its attributes, at any depth; the layers of a graph are its own."""
    found: dict[int, Any] = {}
    waiting = [layer]
    while waiting:
        each = waiting.pop()
        if id(each) in found:
            continue
        found[id(each)] = each
        if not is_graph(each):
            # Calls lead to other layers of the graph, which a layer does not hold.
            parts = [value for key, value in vars(each).items() if key not in ("_inbound_nodes", "_outbound_nodes")]
            waiting.extend(held_layers(parts))
    return list(found.values())


def takes(kind: Any, parameters: list[str]) -> bool:
    found = list(inspect.signature(kind.__init__).parameters.values())[1:]
    return [each.name for each in found] == parameters


def functional_class(model: Any) -> Any:
    """The class to give the clone: the model's own when its constructor is that of `keras.Model`."""
    kind = type(model)
    return kind if any(takes(kind, parameters) for parameters in _GRAPH_PARAMETERS) else keras.models.Model


def sequential_class(model: Any) -> Any:
    """The class to give the clone: the model's own when its constructor is that of `keras.Sequential`."""
    return type(model) if takes(type(model), _SEQUENTIAL_PARAMETERS) else keras.models.Sequential
