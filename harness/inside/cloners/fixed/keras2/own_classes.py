"""Models whose class makes them otherwise than from a graph: held against what their class makes of their config."""

from __future__ import annotations

from typing import Any

from ....structure import leaves
from ..before_keras3.view import OlderView
from .release import RELEASE


class Keras2View(OlderView):
    """A model of Keras 2.2 or 2.3, to be held against another."""

    def __init__(self) -> None:
        super().__init__(RELEASE)

    def held(self, layer: Any) -> list[Any]:
        if RELEASE.is_graph(layer):
            return []
        parts = [value for key, value in vars(layer).items() if not key.endswith("bound_nodes")]
        return [leaf for leaf in leaves(parts) if RELEASE.is_layer(leaf)]

    def nature(self, layer: Any) -> Any:
        shape_of = RELEASE.keras.backend.int_shape
        # The name, since variables are named after it, once and for all.
        return layer.name, [] if RELEASE.is_graph(layer) else [shape_of(weight) for weight in layer.weights]

    def operations(self, graph: Any) -> list[Any]:
        return list(graph.layers)

    def arguments(self, node: Any) -> Any:
        return node.input_tensors, node.arguments

    def outputs(self, node: Any) -> list[Any]:
        return list(node.output_tensors)

    def ends(self, graph: Any) -> Any:
        return graph.inputs, graph.outputs


def put_together(model: Any, inputs: Any, outputs: Any) -> Any:
    """A model of the same class around another graph, past the constructor of that class."""
    kind: Any = type(model)
    clone = kind.__new__(kind)
    if RELEASE.is_sequential(model):
        RELEASE.keras.models.Sequential.__init__(clone, name=model.name)
    else:
        RELEASE.keras.models.Model.__init__(clone, inputs, outputs, name=model.name)
    return clone
