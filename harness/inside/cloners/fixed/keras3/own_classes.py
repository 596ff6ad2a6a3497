"""Models whose class has a constructor of its own: held against what that constructor makes, and what they hold."""

from __future__ import annotations

import inspect
from typing import Any

import keras
import numpy as np

from ....structure import leaves
from ..graph_match import View
from ..options import said
from .attributes import comparison
from .graphs import graph_nodes
from .release import Function, Functional, functional_like_constructor, policy_of
from .states import own_variables


def has_own_constructor(model: Any) -> bool:
    """Whether a class is not constructed from a graph, or from a list of layers."""
    return not isinstance(model, keras.Sequential) and not functional_like_constructor(type(model))


class Keras3View(View):
    """A model of Keras 3, to be held against another."""

    def __init__(self) -> None:
        self.comparison = comparison()

    def graph_of(self, operation: Any) -> Any:
        if isinstance(operation, keras.Sequential):
            return operation._functional
        return operation if isinstance(operation, Function) else None

    def is_layer(self, operation: Any) -> bool:
        return isinstance(operation, keras.Layer)

    def is_tensor(self, value: Any) -> bool:
        return isinstance(value, keras.KerasTensor)

    def constant(self, value: Any) -> Any:
        return np.asarray(keras.ops.convert_to_numpy(value)) if keras.ops.is_tensor(value) else None

    def held(self, layer: Any) -> list[Any]:
        return list(layer._layers)

    def nature(self, layer: Any) -> Any:
        shapes = [(tuple(each.shape), str(each.dtype)) for each in own_variables(layer)]
        return getattr(policy_of(layer), "name", None), shapes

    def operations(self, graph: Any) -> list[Any]:
        return list(graph.operations)

    def calls(self, graph: Any) -> list[tuple[str, Any]]:
        own = {id(node) for node in graph_nodes(graph)}
        return [(each.name, node) for each in graph.operations for node in each._inbound_nodes if id(node) in own]

    def arguments(self, node: Any) -> Any:
        return node.arguments.args, node.arguments.kwargs

    def outputs(self, node: Any) -> list[Any]:
        return list(node.outputs)

    def ends(self, graph: Any) -> Any:
        return graph._inputs_struct, graph._outputs_struct


def made_of_graph(model: Any, inputs: Any, outputs: Any, faithful: bool, reasons: list[str]) -> Any:
    """What the class of a model, which takes a graph, makes of another one; None where it makes something else."""
    try:
        clone = type(model)(inputs, outputs, name=model.name, **_further_arguments(model))
    except Exception as failure:  # noqa: BLE001 - whatever the user's own constructor raises
        reasons.append(f"its constructor refuses its graph ({said(failure)})")
        return None
    if faithful and list(map(id, leaves(clone._outputs_struct))) != list(map(id, leaves(outputs))):
        reasons.append("its constructor makes a graph of its own")
        return None
    return clone


def _further_arguments(model: Any) -> dict[str, Any]:
    """Arguments that a subclass adds to its config beside the graph."""
    if inspect.getattr_static(type(model), "get_config") is inspect.getattr_static(Functional, "get_config"):
        return {}
    graph = ("name", "trainable", "dtype", "layers", "input_layers", "output_layers")
    try:
        config = model.get_config()
    except Exception:  # noqa: BLE001 - whatever the user's own method raises
        return {}
    return {key: value for key, value in config.items() if key not in graph}


def put_together(model: Any, base: Any, *parts: Any) -> Any:
    """A model of the same class around other parts, past the constructor of that class."""
    kind: Any = type(model)
    clone = kind.__new__(kind)
    base.__init__(clone, *parts, name=model.name)
    vars(clone)["_auto_config"] = getattr(model, "_auto_config", None)
    return clone
