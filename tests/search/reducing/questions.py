"""Graphs to make smaller, and questions to them that stand in for a failure."""

from __future__ import annotations

import zlib
from collections.abc import Callable

from clonediff.harness.search.reducing.measure import size
from clonediff.harness.source import write_source
from clonediff.strategies import Graph, infer, to_json
from clonediff.strategies.graph import Function, levels, refs
from tests.strategies.features import FEATURES, lambdas, made_of, shared

Question = Callable[[Graph], bool]


def masked_output(graph: Graph) -> bool:
    specs = infer(graph)
    return any(specs[ref.node][ref.output].mask for ref in refs(graph.gives))


def inner_lambda(graph: Graph) -> bool:
    """In a functional one: a Sequential stays one, and has fewer lines."""
    return any(True for each in levels(graph) if each is not graph and not each.sequential for _ in lambdas(each))


def wide(graph: Graph) -> bool:
    return any((length or 0) > 2 for each in graph.inputs for length in each.shape)


QUESTIONS: dict[str, Question] = {
    **FEATURES,
    **{
        f"a layer of kind {kind}": lambda graph, kind=kind: kind in set(made_of(graph))
        for kind in (  # type: ignore[misc]  # bound early
            "LSTM",
            "LSTMCell",
            "Conv2D",
            "MultiHeadAttention",
            "Reshape",
            "Embedding",
            "BatchNormalization",
            "Fork",
        )
    },
    "a masked output": masked_output,
    "a Lambda in an inner model": inner_lambda,
    "a dimension of more than two": wide,
    "a shared layer and an inner model": lambda graph: bool(shared(graph)) and any(each.graph for each in graph.layers),
    "a fixed mask": lambda graph: any(not isinstance(each.arg("mask"), Function | None) for each in lambdas(graph)),
    "two of three": lambda graph: zlib.crc32(to_json(graph)) % 3 != 0,
    "one of five": lambda graph: zlib.crc32(to_json(graph)) % 5 == 0,
    "anything": lambda graph: True,
}


def held(graph: Graph, count: int) -> list[tuple[str, Question]]:
    """So many of the questions that hold for a graph, which ones follows from it."""
    holding = [(name, question) for name, question in QUESTIONS.items() if question(graph)]
    start = zlib.crc32(to_json(graph)) % len(holding)
    return (holding[start:] + holding[:start])[:count]


class Asked:
    """A question that is held against what a reduction promises of each candidate."""

    def __init__(self, question: Question, graph: Graph) -> None:
        self.question = question
        self.graphs: list[Graph] = []
        self._smallest = graph

    def __call__(self, graph: Graph) -> bool:
        infer(graph)
        write_source(graph, graph.generation or "keras")
        assert size(graph) < size(self._smallest)
        assert graph not in self.graphs
        self.graphs.append(graph)
        holds = self.question(graph)
        if holds:
            self._smallest = graph
        return holds
