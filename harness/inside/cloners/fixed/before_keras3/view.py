"""What the two older generations have in common of a model that is held against another."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..graph_match import View
from .release import Release


class OlderView(View):
    """A model that is a graph itself, of layers that know the nodes they were called by."""

    def __init__(self, release: Release) -> None:
        self.comparison = release.comparison()
        self._release = release

    def graph_of(self, operation: Any) -> Any:
        return operation if self._release.is_graph(operation) else None

    def is_layer(self, operation: Any) -> bool:
        return True

    def is_tensor(self, value: Any) -> bool:
        return self._release.is_symbolic(value)

    def constant(self, value: Any) -> Any:
        """Without eager execution a tensor has no numbers yet."""
        if self._release.is_part(value) or not self._release.is_tensor(value):
            return None
        numbers = getattr(value, "numpy", None)
        return None if numbers is None else np.asarray(numbers())

    def calls(self, graph: Any) -> list[tuple[str, Any]]:
        own = {id(node) for node in self._release.graph_nodes(graph)}
        return [(each.name, node) for each in self.operations(graph) for node in each._inbound_nodes if id(node) in own]
