"""Models whose class makes them otherwise than from a graph: held against what their class makes of their config."""

from __future__ import annotations

from typing import Any

from ..before_keras3.view import OlderView
from .release import RELEASE, arguments_of, direct_layers, keras, layer_of, outputs_of


class TfKerasView(OlderView):
    """A model of the Keras of TensorFlow 2, to be held against another."""

    def __init__(self) -> None:
        super().__init__(RELEASE)

    def held(self, layer: Any) -> list[Any]:
        return direct_layers(layer)

    def nature(self, layer: Any) -> Any:
        own = [*layer._trainable_weights, *layer._non_trainable_weights]
        shapes = [(tuple(each.shape), str(each.dtype)) for each in own if hasattr(each, "shape")]
        return getattr(getattr(layer, "_dtype_policy", None), "name", None), shapes

    def operations(self, graph: Any) -> list[Any]:
        return list({id(layer_of(node)): layer_of(node) for node in RELEASE.graph_nodes(graph)}.values())

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


def name_alike(pairs: list[tuple[Any, Any]]) -> None:
    """Give layers that were numbered anew the names of their originals; a graph goes by the names of its layers."""
    for one, other in pairs:
        if RELEASE.is_graph(other):
            names = {its.name: mine.name for mine, its in zip(direct_layers(one), direct_layers(other))}
            keys = [key.rsplit("_ib-", 1) for key in other._network_nodes]
            other._network_nodes = {"%s_ib-%s" % (names.get(name, name), call) for name, call in keys}
    for one, other in pairs:
        other._name = one.name
        for name in ("input_names", "output_names", "_feed_input_names"):
            if RELEASE.is_graph(other) and hasattr(one, name):
                setattr(other, name, list(getattr(one, name)))
