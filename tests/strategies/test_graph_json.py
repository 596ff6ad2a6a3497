"""Graphs as data: what is well formed, and what a file that is not gets told."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from msgspec import structs

from clonediff.strategies import Graph, MalformedGraph, from_json, infer, read_graph, to_json
from clonediff.strategies.clone_arguments import RECIPES
from clonediff.strategies.graph import Call, CloneArguments, Input, Layer, Preparation, Ref, Seq
from tests.strategies.models import GRAPH, INNER
from tests.warm_keras import hold

DENSE = Graph(
    inputs=(Input((4,)),),
    layers=(Layer("Dense", (("units", 3),)),),
    calls=(Call(0, (Ref(0),)),),
    takes=Ref(0),
    gives=Ref(1),
)


def test_json_gives_the_same_graph_back_and_keras_takes_it() -> None:
    def holds(graph: Graph) -> None:
        assert from_json(to_json(graph)) == graph
        infer(graph)

    hold(holds, "keras", 20, 150)


@pytest.mark.parametrize("arguments", RECIPES)
def test_a_graph_comes_back_from_its_json(arguments: CloneArguments) -> None:
    graph = structs.replace(GRAPH, clone_arguments=arguments)
    assert from_json(to_json(graph).decode(), "here") == graph


def test_what_a_graph_has_not_is_not_said() -> None:
    assert not any(word in to_json(GRAPH) for word in (b"way", b"state", b"own"))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"clone_arguments": CloneArguments()}, "expected an argument"),
        (
            {"clone_arguments": CloneArguments("own"), "preparations": (Preparation("compile"),)},
            "cloned with arguments",
        ),
        ({"takes": Seq(())}, "takes: expected each of 1 inputs"),
    ],
)
def test_what_makes_no_sense_together_is_refused(change: dict[str, object], said: str) -> None:
    with pytest.raises(MalformedGraph, match=said):
        structs.replace(GRAPH, **change)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (
            {"clone_arguments": CloneArguments(inputs="fresh")},
            "clone_arguments: expected none",
        ),
        ({"preparations": (Preparation("compile"),)}, "preparations: expected none"),
    ],
)
def test_what_a_model_within_another_cannot_have(change: dict[str, object], said: str) -> None:
    inner = structs.replace(INNER, **change)
    with pytest.raises(MalformedGraph, match=said):
        structs.replace(INNER, layers=(Layer("Model", graph=inner),))


def test_a_file_of_json_that_is_no_text_is_told_by_its_name(tmp_path: Path) -> None:
    path = tmp_path / "graph.json"
    path.write_bytes(to_json(DENSE).replace(b"Dense", b"D\xffnse"))
    with pytest.raises(MalformedGraph, match=rf"^{path}: not a graph of version 1: .*byte 0xff"):
        read_graph(path)


def changed(**paths: object) -> str:
    data = json.loads(to_json(DENSE))
    for path, value in paths.items():
        target, parts = data, path.split("__")
        for part in parts[:-1]:
            target = target[int(part)] if part.isdigit() else target[part]
        target[parts[-1]] = value
    return json.dumps(data)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        pytest.param("{", "not a graph of version 1", id="not-json"),
        pytest.param(changed(version=9), "version: expected 1, found 9", id="another-version"),
        pytest.param(changed(inputs="none"), r"Expected `array`, got `str` - at `\$.inputs`", id="wrong-type"),
        pytest.param(changed(inputs=[]), "expected at least one input", id="no-inputs"),
        pytest.param(changed(calls__0__layer=4), r"calls\[0\].layer: expected a number below 1", id="no-such-layer"),
        pytest.param(changed(calls__0__layer=-1), r"calls\[0\].layer", id="negative-layer"),
        pytest.param(
            changed(calls__0__args=[{"is": "ref", "node": 1}]),
            "expected a node before 1, found node 1",
            id="own-output",
        ),
        pytest.param(changed(gives={"is": "ref", "node": 1, "output": 3}), "node 1 has 1 outputs", id="no-such-output"),
        pytest.param(changed(calls__0__args=[4]), "at least one tensor", id="no-tensor"),
        pytest.param(changed(takes={"is": "ref", "node": 1}), "takes: expected inputs only", id="takes-a-call"),
    ],
)
def test_a_bad_graph_is_refused_with_its_place(text: str, said: str) -> None:
    with pytest.raises(MalformedGraph, match=said) as caught:
        from_json(text, "graph.json")
    assert "graph.json" in str(caught.value)


def test_a_truncated_file_is_named(tmp_path: Path) -> None:
    path = tmp_path / "half.json"
    path.write_bytes(to_json(DENSE)[:-20])
    with pytest.raises(MalformedGraph, match=r"half\.json: not a graph"):
        read_graph(path)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(MalformedGraph, match=r"none\.json: cannot be read: No such file"):
        read_graph(tmp_path / "none.json")


def test_a_name_twice_is_refused() -> None:
    layer = Layer("Dense", (("units", 3),), name="same")
    calls = (Call(0, (Ref(0),)), Call(1, (Ref(1),)))
    with pytest.raises(MalformedGraph, match="'same'"):
        Graph(inputs=(Input((4,)),), layers=(layer, layer), calls=calls, takes=Ref(0), gives=Ref(2))
