"""What the Keras before Keras 3 calls its parts; each generation adds what it alone has, or calls otherwise.

Everything that has no public name is reached from here and from there, so that the other modules read as plain Keras.
"""

from __future__ import annotations

import inspect
from types import BuiltinFunctionType, FunctionType, MethodType
from typing import Any


class Release:
    """The parts of a release."""

    own_modules: tuple[str, ...]
    """Where the classes and functions of Keras and TensorFlow come from."""
    graph_parameters: tuple[list[str], ...]
    """The parameters of the constructor of `keras.Model`."""

    def __init__(self, keras: Any, network: Any) -> None:
        self.keras = keras
        self._network = network

    def is_own(self, thing: Any) -> bool:
        """Whether a class or function comes with Keras or TensorFlow rather than from the user."""
        return (str(getattr(thing, "__module__", "")) + ".").startswith(self.own_modules)

    def is_found_by_name(self, function: Any) -> bool:
        """Whether Keras finds the function by its name alone."""
        return self.is_own(function)

    @staticmethod
    def is_function(thing: Any) -> bool:
        """Whether `thing` is plain code: callable, and without a config that it could be rebuilt from."""
        if isinstance(thing, (FunctionType, BuiltinFunctionType, MethodType)):
            return True
        return callable(thing) and not isinstance(thing, type) and not hasattr(thing, "get_config")

    def is_layer(self, thing: Any) -> bool:
        return isinstance(thing, self.keras.layers.Layer)

    def is_input(self, layer: Any) -> bool:
        return isinstance(layer, self.keras.layers.InputLayer)

    def is_model(self, thing: Any) -> bool:
        return isinstance(thing, self._network)

    def is_graph(self, thing: Any) -> bool:
        """Whether `thing` is a model made of calls on tensors: Functional, or a Sequential that knows its input."""
        return self.is_model(thing) and bool(getattr(thing, "_is_graph_network", False))

    def is_sequential(self, thing: Any) -> bool:
        return isinstance(thing, self.keras.models.Sequential)

    @staticmethod
    def is_symbolic(thing: Any) -> bool:
        """Whether `thing` is a tensor that a Keras layer or `Input` made."""
        return hasattr(thing, "_keras_history")

    def functional_class(self, model: Any) -> Any:
        """The class to give the clone: the model's own when its constructor is that of `keras.Model`."""
        return type(model) if _parameters(type(model)) in self.graph_parameters else self.keras.models.Model

    def sequential_class(self, model: Any) -> Any:
        """The class to give the clone: the model's own when its constructor is that of `keras.Sequential`."""
        return type(model) if _parameters(type(model)) == ["layers", "name"] else self.keras.models.Sequential

    def graph_nodes(self, model: Any) -> list[Any]:
        """The calls that make up a graph, from inputs to outputs; what no output depends on comes last."""
        by_depth = model._nodes_by_depth
        return [node for depth in sorted(by_depth, reverse=True) for node in by_depth[depth]]

    def nested_layers(self, layer: Any) -> list[Any]:
        """A layer and every layer below it, at any depth."""
        raise NotImplementedError


def _parameters(kind: Any) -> list[str]:
    try:
        found = list(inspect.signature(kind.__init__).parameters.values())[1:]
    except (TypeError, ValueError):
        return []
    return [each.name for each in found if each.kind not in (each.KEYWORD_ONLY, each.VAR_KEYWORD)]
