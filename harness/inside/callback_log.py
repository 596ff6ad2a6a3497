"""What a clone function is asked and what it gives."""

from __future__ import annotations

from typing import Any, Callable

from .frameworks.interface import Framework
from .layers import Layers


class CallbackLog:
    """The clone function that `clone_model` is given: `asked` has each layer with what was given for it.

    `watches` says whether there is a clone function at all.
    """

    def __init__(self) -> None:
        self.asked: list[tuple[Any, Any]] = []
        self.watches = self.recursive = False

    def around(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """The arguments, with a clone function that is logged."""
        logged = dict(arguments)
        self.recursive = bool(arguments.get("recursive"))
        if callable(arguments.get("clone_function")):
            self.watches = True
            logged["clone_function"] = self._clone_function(arguments["clone_function"])
        return logged

    def _clone_function(self, function: Callable[[Any], Any]) -> Callable[[Any], Any]:
        def clone_function(layer: Any) -> Any:
            self.asked.append((layer, None))
            given = function(layer)
            self.asked[-1] = (layer, given)
            return given

        return clone_function


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
