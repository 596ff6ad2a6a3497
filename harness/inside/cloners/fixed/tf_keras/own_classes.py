"""Models whose class makes them otherwise than from a graph: held against what their class makes of their config."""

from __future__ import annotations

from typing import Any

from ..twins import View
from .release import RELEASE, arguments_of, direct_layers, keras, layer_of, outputs_of


class TfKerasView(View):
    """A model of the Keras of TensorFlow 2, to be held against another."""

    def __init__(self) -> None:
        self.comparison = RELEASE.comparison()

    def graph_of(self, operation: Any) -> Any:
        return operation if RELEASE.is_graph(operation) else None

    def is_layer(self, operation: Any) -> bool:
        return True

    def is_tensor(self, value: Any) -> bool:
        return RELEASE.is_symbolic(value)

    def held(self, layer: Any) -> list[Any]:
        return direct_layers(layer)

    def nature(self, layer: Any) -> Any:
        own = [*layer._trainable_weights, *layer._non_trainable_weights]
        shapes = [(tuple(each.shape), str(each.dtype)) for each in own if hasattr(each, "shape")]
        return getattr(getattr(layer, "_dtype_policy", None), "name", None), shapes

    def operations(self, graph: Any) -> list[Any]:
        return list({id(layer_of(node)): layer_of(node) for node in RELEASE.graph_nodes(graph)}.values())

    def calls(self, graph: Any) -> list[tuple[str, Any]]:
        own = {id(node) for node in RELEASE.graph_nodes(graph)}
        return [(each.name, node) for each in self.operations(graph) for node in each._inbound_nodes if id(node) in own]

    def arguments(self, node: Any) -> Any:
        return arguments_of(node)

    def outputs(self, node: Any) -> list[Any]:
        return outputs_of(node)

    def ends(self, graph: Any) -> Any:
        return getattr(graph, "_nested_inputs", graph.inputs), getattr(graph, "_nested_outputs", graph.outputs)


def put_together(model: Any, *parts: Any) -> Any:
    """A model of the same class around other parts, past the constructor of that class."""
    kind: Any = type(model)
    clone = kind.__new__(kind)
    if RELEASE.is_sequential(model):
        keras.Sequential.__init__(clone, name=model.name)
    else:
        functional = [each for each in kind.__mro__ if each.__name__ == "Functional" and RELEASE.is_own(each)]
        (functional or [keras.Model])[0].__init__(clone, *parts, name=model.name)
    for name in ("_auto_config", "_auto_get_config"):
        if name in vars(model):
            vars(clone)[name] = vars(model)[name]
    return clone
