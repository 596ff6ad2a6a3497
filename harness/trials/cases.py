"""Turns a graph into a case."""

from __future__ import annotations

from msgspec.structs import asdict

from clonediff.harness.observation import Case
from clonediff.strategies.program import Graph, stable_hash

BATCH_SIZE = 2


def case_of(graph: Graph) -> Case:
    """A graph's case; its seed is a hash of the program."""
    program = graph.program
    is_compiled = any(preparation.does == "compile" for preparation in program.preparations)
    return Case(
        graph.source,
        tuple({**asdict(spec), "shape": list(spec.shape)} for spec in program.inputs),
        batch=BATCH_SIZE,
        seed=stable_hash(program),
        # `clone_model` of tf_keras does not promise a compiled clone.
        must_compile=not is_compiled or graph.generation == "keras",
        arguments=graph.arguments,
        keeps_inputs="own" in program.clone_arguments,
        scopes=graph.scopes,
    )
