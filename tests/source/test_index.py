"""Which layer of the graph each layer of the model is, by the index that the writer of the script keeps."""

from __future__ import annotations

from collections import Counter
from typing import Literal

import pytest
from msgspec.structs import replace

from clonediff.harness.subjects.observation import Answer
from clonediff.harness.subjects.process import SubjectProcess
from clonediff.harness.trials.cases import case_of
from clonediff.strategies import Graph, from_json
from clonediff.strategies.graph import made_layers
from clonediff.strategies.kinds.operations import is_operation
from tests.example_counts import examples
from tests.warm_keras import drawn, process_of

NAMED = from_json(
    """{
    "inputs": [{"shape": [4]}],
    "layers": [
        {"kind": "Sequential", "name": "tower", "graph": {
            "inputs": [{"shape": [4]}],
            "layers": [{"kind": "Dense", "args": [["units", 4]]}, {"kind": "Dense", "args": [["units", 4]]}],
            "calls": [
                {"layer": 0, "args": [{"is": "ref", "node": 0}]}, {"layer": 1, "args": [{"is": "ref", "node": 1}]}
            ],
            "takes": {"is": "ref", "node": 0}, "gives": {"is": "ref", "node": 2}, "sequential": true}},
        {"kind": "Model", "graph": {
            "inputs": [{"shape": [4]}],
            "layers": [
                {"kind": "Dense", "args": [["units", 4]]}, {"kind": "operator.of_batch", "args": [["key", "[0]"]]}
            ],
            "calls": [
                {"layer": 0, "args": [{"is": "ref", "node": 0}]}, {"layer": 1, "args": [{"is": "ref", "node": 1}]}
            ],
            "takes": {"is": "ref", "node": 0}, "gives": {"is": "ref", "node": 2}}}
    ],
    "calls": [
        {"layer": 0, "args": [{"is": "ref", "node": 0}]},
        {"layer": 1, "args": [{"is": "ref", "node": 1}]},
        {"layer": 1, "args": [{"is": "ref", "node": 2}]}
    ],
    "takes": {"is": "ref", "node": 0}, "gives": {"is": "ref", "node": 3}
    }"""
)
"""A Sequential with a name of its own, and a model without one behind it, called twice, in which there are two steps of
one operation."""
MADE_FIRST = ("Any", "NotEqual")
"""What Keras makes of a tensor for its mask, before the layer that is called on it."""
_SAME = {"Functional": "Model", "GroupedQueryAttention": "GroupQueryAttention"}


@pytest.mark.parametrize(
    "generation", ["keras", pytest.param("tf_keras", marks=pytest.mark.slow(reason="a Keras more, by the same rule"))]
)
def test_each_layer_of_the_model_is_that_of_the_graph(generation: Literal["keras", "tf_keras"]) -> None:
    graphs = [replace(NAMED, generation=generation), *drawn(generation, examples(12, 40))]
    told = untold = 0
    process = process_of(generation)
    its = Counter(_told(graphs[0], process))
    first = Counter([((0, -1), "InputLayer")] if generation == "keras" else [])  # which a Sequential has there
    assert its == first + Counter(
        [
            *(((-1,), "InputLayer"), ((0,), "Sequential"), ((0, 0), "Dense"), ((0, 1), "Dense")),
            *(((1,), "Model"), ((1, -1), "InputLayer"), ((1, 0), "Dense")),
            *(((1, 1), "an operation"), ((1, 1), "an operation")),
        ]
    )
    for graph in graphs[1:]:
        for key, kind in _told(graph, process):
            if key is None:
                untold += 1
                continue
            told += 1
            kinds = _kinds(graph, key)
            made_first = kind in MADE_FIRST
            operation = kind == "an operation" and "Add" in kinds  # the layer has the name of the operation
            assert kind in kinds or made_first or operation or any(map(is_operation, kinds)), (key, kind, kinds)
    assert told > examples(30, 100)
    assert untold < 0.1 * told


def _told(graph: Graph, process: SubjectProcess) -> list[tuple[tuple[int, ...] | None, str]]:
    """Each layer of the model that stands in a model, with its place in the graph; none where it cannot be built."""
    case = case_of(graph, process.subject.generation)
    answer = process.trial(case, cloners=())
    if not isinstance(answer, Answer) or answer.original is None:
        return []
    at = {number: case.index[text] for text, its in answer.original.index.items() for number in its}
    layers = answer.original.shape.layers
    models = {-1, *(number for number, each in enumerate(layers) if each.kind in ("Functional", "Sequential"))}
    return [(at.get(number), _kind(each.kind)) for number, each in enumerate(layers) if each.inside in models]


def _kind(kind: str) -> str:
    if kind in ("GetItem", "Add", "SlicingOpLambda", "TFOpLambda"):
        return "an operation"
    return _SAME.get(kind, kind.removeprefix("Own"))


def _kinds(graph: Graph, key: tuple[int, ...]) -> set[str]:
    """The kinds of what is shown as this layer: it, and what it holds."""
    for number in key[:-1]:
        inner = graph.layers[number].graph
        assert inner is not None
        graph = inner
    if key[-1] < 0:
        return {"InputLayer"}
    layer = graph.layers[key[-1]]
    return {layer.kind, *(each.kind for each in made_layers(layer))}
