"""Graph to source: what a person would have typed to build the model.

Must not import Keras. One dialect a module; `write_source` is the way in.
"""

from __future__ import annotations

from collections.abc import Mapping

from harness.source.dialect import Dialect
from harness.source.keras3 import KERAS3
from harness.source.tf_keras import TF_KERAS
from harness.source.writer import write
from strategies.graph import Graph
from strategies.kinds import Generation

DIALECTS: Mapping[Generation, Dialect] = {"keras": KERAS3, "tf_keras": TF_KERAS}

__all__ = ["DIALECTS", "Dialect", "write_source"]


def write_source(graph: Graph, generation: Generation) -> str:
    """The script that builds the graph's model in one generation of Keras, and leaves it in `model`."""
    return write(graph, DIALECTS[generation])
