"""What a clone function is asked and what it gives, and what a graph computes with the layers that it gave."""

from __future__ import annotations

from typing import Any, Callable

from .frameworks.interface import Framework
from .layers import Layers
from .structure import leaves, map_leaves

COMPARED = "what the clone computes was held against the model's own graph, with these layers on these inputs"
NOT_COMPARED = "what the clone computes is held against nothing: of the model's own graph it cannot be told (%s)"
ARRIVED = "a function that clone_model was given raised %s, which arrived, and there is no clone: %s"


class CallbackLog:
    """The functions that `clone_model` is given: `asked` has each layer with what was given for it.

    `raised` is the last exception that one of them ended in; `watches` and `calls` say whether there is a
    clone function, and a call function, at all.
    """

    def __init__(self) -> None:
        self.asked: list[tuple[Any, Any]] = []
        self.raised: BaseException | None = None
        self.watches = self.calls = self.recursive = False

    def around(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """The arguments, with functions that are logged."""
        logged = dict(arguments)
        self.recursive = bool(arguments.get("recursive"))
        if callable(arguments.get("clone_function")):
            self.watches = True
            logged["clone_function"] = self._clone_function(arguments["clone_function"])
        if callable(arguments.get("call_function")):
            self.calls = True
            logged["call_function"] = self._call_function(arguments["call_function"])
        return logged

    def _clone_function(self, function: Callable[[Any], Any]) -> Callable[[Any], Any]:
        def clone_function(layer: Any) -> Any:
            self.asked.append((layer, None))
            try:
                given = function(layer)
            except Exception as error:
                self.raised = error
                raise
            self.asked[-1] = (layer, given)
            return given

        return clone_function

    def _call_function(self, function: Callable[..., Any]) -> Callable[..., Any]:
        def call_function(layer: Any, *args: Any, **kwargs: Any) -> Any:
            try:
                return function(layer, *args, **kwargs)
            except Exception as error:
                self.raised = error
                raise

        return call_function


def asked_for(callbacks: CallbackLog, layers: Layers, framework: Framework, clone: Layers | None) -> dict[str, Any]:
    """What `FunctionCalls` declares on the wire. `clone` has the layers of the clone, where there is one."""
    found: list[dict[str, Any]] = []
    for layer, given in callbacks.asked:
        what = "layer" if framework.is_layer(layer) else "operation"
        if isinstance(layer, framework.keras.layers.InputLayer):
            what = "input"
        there = clone is None or id(given) in clone.index
        found.append({"layer": layers.index.get(id(layer), -1), "what": what, "there": there})
    wanted = sorted(_wanted(layers, framework, -1, callbacks.recursive)) if clone is not None else []
    return {"calls": found, "wanted": wanted}


def _wanted(layers: Layers, framework: Framework, holder: int, recursive: bool) -> set[int]:
    """The layers that it is to be asked for, by their numbers."""
    found: set[int] = set()
    for place in layers.places:
        layer = place.layer
        if place.inside != holder or place.role != "layers":
            continue
        if not framework.is_layer(layer) or isinstance(layer, framework.keras.layers.InputLayer):
            continue
        if recursive and framework.is_graph(layer):
            found |= _wanted(layers, framework, place.first, recursive)
        else:
            found.add(place.first)
    return found


def by_hand(model: Any, callbacks: CallbackLog, inputs: list[Any], framework: Framework) -> list[Any]:
    """What the graph of a model computes on numbers, with the layers that were given in the places of its own.

    Raises `LookupError` where that cannot be told of its graph.
    """
    if callbacks.calls:
        raise LookupError("a call_function may call anything")
    if callbacks.recursive and any(map(framework.is_graph, framework.members(model))):
        raise LookupError("layers of a model within it are others, too")
    instead = {id(layer): given for layer, given in callbacks.asked}
    numbers = {id(tensor): value for tensor, value in zip(framework.ends(model)[0], inputs)}
    waiting = [
        (layer, node)
        for layer in framework.members(model)
        for node in framework.layer_nodes(layer)
        if id(node) in {id(each) for each in framework.graph_nodes(model)} and any(framework.arguments(node))
    ]
    waiting = [each for each in waiting if any(id(output) not in numbers for output in framework.outputs(each[1]))]
    while waiting:
        ready = [each for each in waiting if _known(framework.arguments(each[1]), numbers, framework)]
        if not ready:
            raise LookupError("its graph does not begin at its inputs")
        for layer, node in ready:
            args, kwargs = framework.arguments(node)
            if any(value is not None for key, value in kwargs.items() if _written_by_keras(key)):
                raise LookupError("it hands on masks, or the argument `training`")
            if any(framework.has_mask(output) for output in framework.outputs(node)):
                raise LookupError("it hands on masks")
            kwargs = {key: value for key, value in kwargs.items() if not _written_by_keras(key)}
            args, kwargs = (
                map_leaves(lambda leaf: numbers[id(leaf)] if framework.is_symbolic(leaf) else leaf, part)
                for part in (args, kwargs)
            )
            called = instead.get(id(layer), layer)
            result = called(*args, **kwargs, **({"training": False} if framework.trains(called) else {}))
            if isinstance(result, dict):
                raise LookupError("a layer of it gives a dict")
            numbers.update(zip(map(id, framework.outputs(node)), leaves(result)))
        done = {id(node) for _, node in ready}
        waiting = [each for each in waiting if id(each[1]) not in done]
    return [numbers[id(output)] for output in framework.ends(model)[1]]


def _written_by_keras(argument: str) -> bool:
    """Whether Keras itself may have written an argument down, as it does with masks and with `training`."""
    return argument == "training" or argument.endswith("mask")


def _known(arguments: Any, numbers: dict[int, Any], framework: Framework) -> bool:
    return all(id(leaf) in numbers for leaf in leaves(arguments) if framework.is_symbolic(leaf))
