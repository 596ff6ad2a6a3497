"""What to try: graphs as data, the catalogue of kinds, and the strategies that draw from it. Imports no Keras."""

from __future__ import annotations

from strategies.graph import Graph, MalformedGraph, from_json, read_graph, to_json
from strategies.graphs import FEATURES, functional_graphs
from strategies.typing import infer

__all__ = [
    "FEATURES",
    "Graph",
    "MalformedGraph",
    "from_json",
    "functional_graphs",
    "infer",
    "read_example",
    "read_graph",
    "to_json",
]


def read_example(text: str, where: str) -> Graph:
    """A graph from text that may come from anywhere: read, and held against the catalogue."""
    graph = from_json(text, where)
    infer(graph, where)
    return graph
