"""Compares two models layer by layer and call by call, to see whether a model made of a config has the same graph."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...structure import leaves, numbered
from .adapter import Adapter


class GraphMatch:
    """The matching parts of two models. `difference` says where the models differ, or is None."""

    def __init__(self, model: Any, other: Any, adapter: Adapter) -> None:
        self.layers: list[tuple[Any, Any]] = []
        self.others: list[tuple[Any, Any]] = []  # operations that are no layers
        self.calls: list[tuple[Any, Any]] = []
        self.tensors: list[tuple[Any, Any]] = []
        self._adapter = adapter
        self._comparison = adapter.comparison()
        self._seen: dict[int, Any] = {}
        self.difference: str | None = self._operations(model, other, top=True)

    def _operations(self, one: Any, other: Any, top: bool = False) -> str | None:
        if type(one) is not type(other):
            return "makes a `%s` where '%s' is a `%s`" % (type(other).__qualname__, one.name, type(one).__qualname__)
        if id(one) in self._seen:
            return None if self._seen[id(one)] is other else "makes several of '%s', which is shared" % one.name
        self._seen[id(one)] = other
        names = [] if top else self._comparison.differing(one, other)
        if names:
            return "makes '%s' with another `%s`" % (one.name, names[0])
        found = None
        if self._adapter.is_layer(one):
            found = self._layers(one, other)
        else:
            self.others.append((one, other))
        graphs = [self._adapter.graph_of(one), self._adapter.graph_of(other)]
        if found is None and (graphs[0] is not None or graphs[1] is not None):
            found = self._graphs(*graphs) if None not in graphs else "leaves '%s' without a graph" % one.name
        return found

    def _layers(self, one: Any, other: Any) -> str | None:
        self.layers.append((one, other))
        if self._adapter.traits(one) != self._adapter.traits(other) and one.built and other.built:
            return "makes '%s' with other weights, or of another dtype" % one.name
        held, others = self._adapter.sublayers(one), self._adapter.sublayers(other)
        # The original model may hold more layers: those that were set on it later are copied afterwards.
        if len(held) != len(others) and self._adapter.graph_of(one) is None:
            return "gives '%s' %d layers where it has %d" % (one.name, len(others), len(held))
        return next((found for found in map(self._operations, held, others) if found is not None), None)

    def _graphs(self, one: Any, other: Any) -> str | None:
        operations, others = self._adapter.operations(one), self._adapter.operations(other)
        if len(operations) != len(others):
            return "makes a graph of %d operations where '%s' has %d" % (len(others), one.name, len(operations))
        found = next((found for found in map(self._operations, operations, others) if found is not None), None)
        if found is not None:
            return found
        places, others_places = self._places(one), self._places(other)
        calls, others_calls = self._adapter.calls(one), self._adapter.calls(other)
        for (name, node), (_, again) in zip(calls, others_calls):
            self.calls.append((node, again))
            self.tensors.extend(zip(self._adapter.outputs(node), self._adapter.outputs(again)))
            arguments, others_arguments = self._adapter.arguments(node), self._adapter.arguments(again)
            if not self._same(arguments, others_arguments, places, others_places):
                return "calls '%s' with other arguments" % name
        ends = self._same(self._adapter.ends(one), self._adapter.ends(other), places, others_places)
        return None if ends and len(calls) == len(others_calls) else "connects '%s' otherwise" % one.name

    def _places(self, graph: Any) -> dict[int, Any]:
        """The place of each tensor of a graph."""
        return {
            id(tensor): (call, place)
            for call, (_, node) in enumerate(self._adapter.calls(graph))
            for place, tensor in enumerate(self._adapter.outputs(node))
        }

    def _same(self, one: Any, other: Any, places: dict[int, Any], others: dict[int, Any]) -> bool:
        if numbered(one)[0] != numbered(other)[0]:
            return False
        return all(
            places.get(id(a), 0) == others.get(id(b), 1) if self._adapter.is_symbolic(a) else self._values_alike(a, b)
            for a, b in zip(leaves(one), leaves(other))
        )

    def _values_alike(self, one: Any, other: Any) -> bool:
        """A constant may be what a weight was when the graph was made, which is another number each time."""
        constant, others = self._adapter.constant(one), self._adapter.constant(other)
        if constant is None or others is None:
            return self._comparison.alike(one, other)
        if constant.dtype == object:
            return bool(np.array_equal(constant, others))
        alike = constant.dtype == others.dtype and constant.shape == others.shape
        return bool(alike and constant.tobytes() == others.tobytes())
