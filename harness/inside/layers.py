"""The layers of a model, numbered depth-first, each with its calls."""

from __future__ import annotations

from typing import Any

from .arguments import Arguments
from .configs import settings
from .observer import Observer


class LayerPlace:
    """A layer in a model: who holds it, and under which name. `first` is the first place of the same object."""

    __slots__ = ("first", "inside", "layer", "role")

    def __init__(self, layer: Any, inside: int, role: str, first: int) -> None:
        self.layer = layer
        self.inside = inside
        self.role = role
        self.first = first


class Layers:
    """Every place of a model, in order; `index` has the first place of each object by its id."""

    def __init__(self, model: Any, observer: Observer) -> None:
        self.model = model
        self.places: list[LayerPlace] = []
        self.index: dict[int, int] = {}
        self.members: dict[int, dict[int, int]] = {}
        self._observer = observer
        self._framework = observer.framework
        self._visit(model, -1)
        # The use that each node is of its layer, by graph and node id; and the nodes of each place.
        self.uses: dict[int, dict[int, int]] = {}
        self.nodes: dict[int, list[Any]] = {}
        for number, inside in self.members.items():
            holder = model if number < 0 else self.places[number].layer
            if self._framework.is_graph(holder):
                self._uses(number, holder, inside)

    def objects(self) -> list[Any]:
        """The model and each layer."""
        return [self.model, *(place.layer for place in self.places)]

    def _visit(self, holder: Any, number: int) -> None:
        framework = self._framework
        inside: dict[int, int] = {}
        graph = framework.is_graph(holder)
        if graph:
            for layer in framework.members(holder):
                self._place(layer, number, "layers", inside)
        for layer in framework.held(holder):
            if id(layer) not in inside:
                self._place(layer, number, role(holder, layer), inside)
        if inside or graph:
            self.members[number] = inside

    def _place(self, layer: Any, holder: int, name: str, inside: dict[int, int]) -> None:
        number = len(self.places)
        first = self.index.setdefault(id(layer), number)
        inside[id(layer)] = number
        self.places.append(LayerPlace(layer, holder, name, first))
        if first == number and layer is not self.model:
            self._visit(layer, number)

    def _uses(self, number: int, graph: Any, inside: dict[int, int]) -> None:
        framework = self._framework
        mine = {id(node) for node in framework.graph_nodes(graph)}
        uses = self.uses[number] = {}
        for place in inside.values():
            nodes = framework.layer_nodes(self.places[place].layer)
            if len(nodes) != 1 or id(nodes[0]) not in mine:
                nodes = [node for node in nodes if id(node) in mine]
            self.nodes[place] = nodes
            for use, node in enumerate(nodes):
                uses[id(node)] = use

    def describe(self, arguments: Arguments) -> list[dict[str, Any]]:
        """Every place as it is declared on the wire."""
        framework, ident = self._framework, self._observer.ident
        calls: dict[int, list[dict[str, Any]]] = {}
        for holder, inside in self.members.items():
            if holder in self.uses:
                graph = self.model if holder < 0 else self.places[holder].layer
                arguments.enter(inside, self.uses[holder], self.nodes, framework.begins_inside(graph))
                for member in inside.values():
                    its = self.places[member].layer
                    calls[member] = [arguments.call(node, its) for node in self.nodes[member]]
        seen: list[dict[str, Any]] = []
        for number, place in enumerate(self.places):
            layer = place.layer
            seen.append(
                {
                    "name": str(getattr(layer, "name", "")),
                    "kind": type(layer).__name__,
                    "ident": ident(layer),
                    "inside": place.inside,
                    "role": place.role,
                    "config": settings(layer, framework) if place.first == number else seen[place.first]["config"],
                    "trainable": bool(getattr(layer, "trainable", False)),
                    "nodes": framework.node_counts(layer),
                    "own": is_own_class(type(layer)),
                    "model": framework.is_graph(layer),
                }
            )
            if calls.get(number):
                seen[-1]["calls"] = calls[number]
        return seen


def is_own_class(kind: type) -> bool:
    """Whether a class is the user's, and none of Keras."""
    return kind.__module__.partition(".")[0] not in ("keras", "tf_keras")


def role(holder: Any, layer: Any) -> str:
    """The attribute of `holder` under which it has `layer`: "cell", "layers[1]", "" where none is seen."""
    private = ""
    for name, value in vars(holder).items():
        found = ""
        if value is layer:
            found = name
        elif isinstance(value, (list, tuple, dict)):
            for key, item in value.items() if isinstance(value, dict) else enumerate(value):
                if item is layer:
                    found = "%s[%r]" % (name, key)
        if found and not found.startswith("_"):
            return found
        if found and not found.startswith(("_layers", "_self_tracked", "_obj_reference", "_self_unconditional")):
            private = private or found
    return private
