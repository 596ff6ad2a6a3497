"""From a graph to the case that a subject is asked to try."""

from __future__ import annotations

import zlib
from typing import Any

from harness.source import write_source
from harness.subjects.case import Case
from strategies.graph import Graph, Input, refs, to_json


def case_of(graph: Graph, dialect: str) -> Case:
    """The case of a graph: its script, its inputs in the order of the model's, a seed that follows from the graph."""
    return Case(
        write_source(graph, dialect),
        tuple(_input(graph.inputs[ref.node]) for ref in refs(graph.takes)),
        batch=graph.batch,
        seed=number_of(graph),
    )


def number_of(graph: Graph) -> int:
    """A number that is the graph's own, the same in every process."""
    return zlib.crc32(to_json(graph))


def _input(given: Input) -> dict[str, Any]:
    return {
        "shape": list(given.shape),
        "dtype": given.dtype,
        "fill": given.fill,
        "batch": given.batch,
        "optional": given.optional,
        "high": given.high,
    }
