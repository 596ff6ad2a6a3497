"""What to try: graphs as data, the catalogue of kinds, and the strategies that draw from it.

A name is looked up in its module when it is asked for: whoever only reads graphs does not wait for Hypothesis.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if __name__ == "strategies":
    raise ImportError("this is `clonediff.strategies`: by a second name, each of its modules would be there twice")

__all__ = [
    "Graph",
    "MalformedGraph",
    "from_json",
    "functional_graphs",
    "infer",
    "read_graph",
    "to_json",
]

if TYPE_CHECKING:
    from clonediff.strategies.asking import infer
    from clonediff.strategies.graph import Graph, MalformedGraph, from_json, read_graph, to_json
    from clonediff.strategies.graphs import functional_graphs
else:  # so that a type checker still knows which names there are
    _MODULES = {"functional_graphs": "graphs", "infer": "asking"}

    def __getattr__(name: str) -> object:
        """A public name, from the module that has it."""
        if name not in __all__:
            raise AttributeError(f"module 'clonediff.strategies' has no attribute {name!r}")
        module = importlib.import_module(f"{__name__}.{_MODULES.get(name, 'graph')}")
        found = globals()[name] = getattr(module, name)
        return found

    def __dir__() -> list[str]:
        return sorted({*globals(), *__all__})
