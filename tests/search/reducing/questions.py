"""Graphs to make smaller, and questions to them that stand in for a failure."""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Callable, Iterator

from clonediff.harness.search.reducing.measure import size
from clonediff.harness.source import write_source
from clonediff.strategies import Graph, infer, to_json
from clonediff.strategies.graph import Function, Items, Layer, all_layers, call_refs, levels, refs
from clonediff.strategies.pruning import idle

Question = Callable[[Graph], bool]


def lambdas(graph: Graph) -> Iterator[Layer]:
    return (layer for each in levels(graph) for layer in each.layers if layer.kind == "Lambda")


def functions(graph: Graph) -> Iterator[Function]:
    for layer in lambdas(graph):
        function = layer.arg("function")
        assert isinstance(function, Function)
        yield function


def shared(graph: Graph) -> list[int]:
    uses = Counter(call.layer for call in graph.calls)
    return [layer for layer, count in uses.items() if count > 1]


def shared_at_depths(graph: Graph) -> bool:
    depths = [0] * len(graph.inputs)
    found: dict[int, set[int]] = {}
    for call in graph.calls:
        depths.append(1 + max(depths[ref.node] for ref in call_refs(call)))
        found.setdefault(call.layer, set()).add(depths[-1])
    return any(len(each) > 1 for each in found.values())


def masked_output(graph: Graph) -> bool:
    specs = infer(graph)
    return any(specs[ref.node][ref.output].mask for ref in refs(graph.gives))


def inner_lambda(graph: Graph) -> bool:
    """In a functional one: a Sequential stays one, and has fewer lines."""
    return any(True for each in levels(graph) if each is not graph and not each.sequential for _ in lambdas(each))


def wide(graph: Graph) -> bool:
    return any((length or 0) > 2 for each in graph.inputs for length in each.shape)


def a_lambda_of(outputs: int) -> Question:
    return lambda graph: any(len(function.gives) == outputs for function in functions(graph))


def of_kind(kind: str) -> Question:
    return lambda graph: kind in {layer.kind for layer in all_layers(graph)}


QUESTIONS: dict[str, Question] = {
    **{
        f"a layer of kind {kind}": of_kind(kind)
        for kind in (
            *("LSTM", "LSTMCell", "Conv2D", "MultiHeadAttention", "Reshape", "Embedding", "BatchNormalization"),
            *("Dense", "Lambda", "Add", "UseMask"),
        )
    },
    **{f"a Lambda with {outputs} outputs": a_lambda_of(outputs) for outputs in (1, 2, 3, 4)},
    "an output twice": lambda graph: max(Counter(refs(graph.gives)).values()) > 1,
    "several inputs": lambda graph: len(graph.inputs) > 1,
    "several outputs": lambda graph: len(list(refs(graph.gives))) > 1,
    "inputs in a dict": lambda graph: isinstance(graph.takes, Items),
    "an open dimension": lambda graph: any(None in given.shape for given in graph.inputs),
    "an optional input": lambda graph: any(given.optional for given in graph.inputs),
    "a frozen layer": lambda graph: any(not layer.trainable for layer in graph.layers),
    "a layer named": lambda graph: any(layer.name for layer in graph.layers if layer.graph is None),
    "a tensor twice in a call": lambda graph: any(max(Counter(call_refs(call)).values()) > 1 for call in graph.calls),
    "calls that lead nowhere": lambda graph: any(node >= len(graph.inputs) for node in idle(graph)),
    "shared at several depths": shared_at_depths,
    "a Sequential": lambda graph: graph.sequential,
    "a layer twice in a Sequential": lambda graph: any(
        each.sequential and len(each.layers) < len(each.calls) for each in levels(graph)
    ),
    "a model of a class that takes an option": lambda graph: any(
        each.custom_class is not None and each.custom_class.makes == "option" for each in levels(graph)
    ),
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
