"""From a graph to the case that a subject is asked to try."""

from __future__ import annotations

import zlib
from typing import Any

from msgspec import structs

from clonediff.harness.source import DIALECTS, written
from clonediff.harness.subjects.case import Case
from clonediff.harness.subjects.observation import Keeps
from clonediff.strategies.clone_arguments import inputs_of
from clonediff.strategies.graph import Graph, Input, refs, to_json


def case_of(graph: Graph, dialect: str) -> Case:
    """The case of a graph: its script, its inputs in the order of the model's, a seed that follows from the graph."""
    script, inputs = written(graph, dialect), inputs_of(graph)
    compiled = any(each.does == "compile" for each in graph.preparations)
    case = Case(
        script.source,
        tuple(_input(inputs[ref.node]) for ref in refs(graph.takes)),
        batch=graph.batch,
        seed=number_of(graph),
        promises="not compiled" if compiled and not DIALECTS[dialect].compiles else "",
        within=script.within,
    )
    arguments = graph.clone_arguments
    if arguments is None:
        return case
    keeps: Keeps = "inputs" if arguments.inputs == "own" else ""
    return structs.replace(case, arguments=dict(script.arguments), asked=script.asked, repeats=True, keeps=keeps)


def number_of(graph: Graph) -> int:
    """A number that is the graph's own, the same in every process."""
    return zlib.crc32(to_json(graph))


def _input(given: Input) -> dict[str, Any]:
    fields = {name: getattr(given, name) for name in ("dtype", "fill", "optional", "high")}
    return {"shape": list(given.shape), **fields}
