"""Graph to source: what a person would have typed to build the model.

One dialect a module; `written` is the way in.
"""

from __future__ import annotations

from collections.abc import Mapping

from clonediff.harness.source.dialect import Dialect
from clonediff.harness.source.keras3 import KERAS3
from clonediff.harness.source.tf_keras import TF_KERAS
from clonediff.harness.source.writer import WrittenGraph, write
from clonediff.strategies.graph import Graph

DIALECTS: Mapping[str, Dialect] = {each.name: each for each in (KERAS3, TF_KERAS)}

__all__ = ["DIALECTS", "Dialect", "WrittenGraph", "write_source", "written"]


def written(graph: Graph, dialect: str, *, called: bool = False) -> WrittenGraph:
    """The graph's model and how it is cloned, as one dialect spells it; one that is `called` is called at the end."""
    return write(graph, DIALECTS[dialect], called=called)


def write_source(graph: Graph, dialect: str) -> str:
    """The script that builds the graph's model, and leaves it in `model`."""
    return written(graph, dialect).source
