"""The names of layers in Keras, told from the graph alone: held against those that Keras gives."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Literal

import pytest
from msgspec.structs import replace

from clonediff.harness.search.even_draws import evenly
from clonediff.harness.trials.cases import case_of
from clonediff.reports.naming import Names
from clonediff.reports.records import Place
from clonediff.strategies import Graph, from_json
from clonediff.strategies.graph import made_layers
from tests.asked import graphs_of
from tests.effort import examples
from tests.waiting import PATIENCE

_NAMES = """
import json, sys
import {module} as keras
from tests.asked import graphs_of

def layers(model):
    for layer in model.layers:
        yield layer.name, type(layer).__name__
        if hasattr(layer, "layers"):
            yield from layers(layer)

for source in json.load(sys.stdin):
    keras.backend.clear_session()
    space = {{}}
    try:
        exec(source, space)
    except Exception:  # a release offers less than is drawn for one that nobody asked
        print("[]")
        continue
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
    assert sum(map(bool, lines)) > 0.8 * len(lines)
    told = untold = 0
    for graph, named in zip(graphs, lines, strict=True):
        names = Names(graph)
        for name, cls in named:
            if name.endswith("CLONE"):
                continue  # a copy that Keras makes of a tensor where a model begins at it, which stands in no graph
            key = names.key(Place(f"outer/{name}", "", 1))
            if key is None:
                untold += 1
                continue
            kinds = _kinds(graph, key)
            its = _SAME.get(cls, cls.removeprefix("Own"))
            assert its in kinds or any("." in kind for kind in kinds), (name, cls, kinds)
            told += 1
    assert told > examples(30, 100)
    assert untold <= (0.1 * told if generation == "tf_keras" else 0), (
        "of tf_keras not every name is told, but none wrong"
    )
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


def _kinds(graph: Graph, key: tuple[int, ...]) -> set[str]:
    """The kinds of what is shown as this layer: it, and what it holds."""
    for number in key[:-1]:
        inner = graph.layers[number].graph
        assert inner is not None
        graph = inner
    if key[-1] < 0:
        return {"InputLayer"}
    layer = graph.layers[key[-1]]
    cut = {"Model"} if layer.graph is not None and layer.graph.base is not None else set()
    return {layer.kind, *(each.kind for each in made_layers(layer)), *cut}


def _drawn(generation: Literal["keras", "tf_keras"]) -> list[Graph]:
    """Graphs that depend on nothing but their seed."""
    graphs = graphs_of(generation)
    return list(evenly(graphs, examples(12, 40), 1))
