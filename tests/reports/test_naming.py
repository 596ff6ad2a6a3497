"""The names of layers in Keras, told from the graph alone: held against those that Keras gives."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Literal

import pytest
from msgspec.structs import replace

from harness.search.even_draws import evenly
from harness.trials.cases import case_of
from reports.naming import Names
from reports.records import Place
from strategies import FEATURES, Graph, from_json, functional_graphs
from tests.effort import examples
from tests.waiting import PATIENCE

_NAMES = """
import json, sys
import {module} as keras

def layers(model):
    for layer in model.layers:
        yield layer.name, type(layer).__name__
        if hasattr(layer, "layers"):
            yield from layers(layer)

for source in json.load(sys.stdin):
    keras.backend.clear_session()
    space = {{}}
    exec(source, space)
    print(json.dumps(list(layers(space["model"]))))
"""
NAMED = from_json(
    """{
    "inputs": [{"shape": [4]}],
    "layers": [
        {"kind": "Sequential", "name": "tower", "graph": {
            "inputs": [{"shape": [4]}],
            "layers": [{"kind": "Dense", "args": [["units", 4]]}],
            "calls": [{"layer": 0, "args": [{"is": "ref", "node": 0}]}],
            "takes": {"is": "ref", "node": 0}, "gives": {"is": "ref", "node": 1}, "sequential": true}},
        {"kind": "Model", "graph": {
            "inputs": [{"shape": [4]}],
            "layers": [{"kind": "Dense", "args": [["units", 4]]}],
            "calls": [{"layer": 0, "args": [{"is": "ref", "node": 0}]}],
            "takes": {"is": "ref", "node": 0}, "gives": {"is": "ref", "node": 1}}}
    ],
    "calls": [
        {"layer": 0, "args": [{"is": "ref", "node": 0}]},
        {"layer": 1, "args": [{"is": "ref", "node": 1}]}
    ],
    "takes": {"is": "ref", "node": 0}, "gives": {"is": "ref", "node": 2}
    }"""
)
"""A Sequential with a name of its own, and a model without one behind it."""
_SAME = {"Functional": "Model", "GroupedQueryAttention": "GroupQueryAttention", "TFOpLambda": "", "SlicingOpLambda": ""}


@pytest.mark.parametrize(
    "generation",
    [
        "keras",
        pytest.param("tf_keras", marks=pytest.mark.slow(reason="a Keras more, which names layers by the same rule")),
    ],
)
def test_each_name_that_keras_gives_is_the_layer_that_has_it(generation: Literal["keras", "tf_keras"]) -> None:
    graphs = [replace(NAMED, generation=generation), *_drawn(generation)]
    sources = json.dumps([case_of(graph, generation).source for graph in graphs])
    command = [sys.executable, "-c", _NAMES.format(module=generation)]
    done = subprocess.run(command, input=sources, capture_output=True, text=True, timeout=PATIENCE, check=True)
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(lines) == len(graphs)
    told = 0
    for graph, named in zip(graphs, lines, strict=True):
        names = Names(graph)
        for name, cls in named:
            if name.endswith("CLONE"):
                continue  # a copy that Keras makes of a tensor where a model begins at it, which stands in no graph
            key = names.key(Place(f"outer/{name}", "", 1))
            assert key is not None, (name, cls)
            kind = _kind(graph, key)
            assert "." in kind or kind == _SAME.get(cls, cls), (name, cls, kind)
            told += 1
    assert told > examples(30, 100)
    named = Names(graphs[0])
    inside = [named.key(Place(name, "", 1)) for name, cls in lines[0] if cls != "InputLayer"]
    assert inside == [(0,), (0, 0), (1,), (1, 0)]


def test_a_place_without_a_name_of_the_graph_is_its_only_layer_of_that_kind() -> None:
    graph = _drawn("keras")[0]
    names = Names(graph)
    assert names.key(Place("gone", "NoSuchKind", 3)) is None
    assert names.key(Place("functional", "Functional", -1)) == ()
    only = [key for key in names._by_kind.values() if len(key) == 1]
    kind = next(kind for kind, keys in names._by_kind.items() if len(keys) == 1)
    assert names.key(Place("gone", kind, 3)) == only[0][0]


def _kind(graph: Graph, key: tuple[int, ...]) -> str:
    for number in key[:-1]:
        inner = graph.layers[number].graph
        assert inner is not None
        graph = inner
    return "InputLayer" if key[-1] < 0 else graph.layers[key[-1]].kind


def _drawn(generation: Literal["keras", "tf_keras"]) -> list[Graph]:
    """Graphs that depend on nothing but their seed; models of classes of one's own are named after those."""
    graphs = functional_graphs(generation=generation, features=FEATURES - {"own classes"})
    return [each.graph for each in evenly(graphs, examples(12, 40), 1)]
