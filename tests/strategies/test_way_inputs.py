"""The inputs that `clone_model` is given: what they are, and which suit a graph, so that the model can be built."""

from __future__ import annotations

import random

import pytest
from msgspec import structs

from strategies import Graph
from strategies.drawn_ways import DIGITS, cloned
from strategies.graph import (
    Call,
    CloneChange,
    CloneFunction,
    Input,
    Layer,
    NewInputs,
    Ref,
    Seq,
    Step,
    Way,
)
from strategies.graphs import WAYS
from strategies.kinds import Generation
from strategies.way_inputs import inputs_of
from strategies.ways import unsuited
from tests.strategies.test_ways import GRAPH, INNER, PAIR


@pytest.mark.parametrize(
    ("graph", "wrong"),
    [
        (INNER, ""),
        (structs.replace(INNER, generation="keras2"), "follows such a tensor back"),
        (structs.replace(INNER, state=(Step("trainable", None, (("trainable", False),)),)), "something is done"),
        (structs.replace(INNER, layers=(Layer("Dense", (("units", 5),)),)), "no tensor that a layer gives"),
        (structs.replace(INNER, takes=Seq((Ref(0), Ref(0)))), "no tensor that a layer gives"),
        (structs.replace(INNER, calls=(Call(0, (Ref(0),)), Call(0, (Ref(1),))), gives=Ref(2)), "no tensor that"),
        (
            structs.replace(GRAPH, layers=(GRAPH.layers[2],), calls=(Call(0, (Ref(0),)),), gives=Ref(1)),
            "no tensor that",
        ),
    ],
)
def test_what_a_layer_of_the_model_gives_stands_for_its_input_where_it_is_alike(graph: Graph, wrong: str) -> None:
    graph = structs.replace(graph, generation=graph.generation or "keras")
    said = unsuited(structs.replace(graph, way=Way(inputs="inner")))
    assert wrong in said if wrong else said == ""


def test_inputs_that_are_given() -> None:
    graph = structs.replace(INNER, inputs=(Input((None, 4), name="x"),), way=Way(inputs="closed"))
    assert inputs_of(graph) == (Input((3, 4), name="given_1"),)
    assert inputs_of(structs.replace(graph, way=Way(inputs="own"))) == graph.inputs
    assert inputs_of(structs.replace(graph, way=Way(inputs="batch")))[0].batch == 2


def test_inputs_of_another_width_and_in_another_order() -> None:
    graph = structs.replace(INNER, generation="keras", inputs=(Input((3, 4), name="x"),), way=Way(inputs="wider"))
    assert unsuited(graph) == ""
    assert inputs_of(graph) == (Input((3, 5), name="given_1"),)
    turned = structs.replace(PAIR, way=Way(inputs="turned"))
    assert unsuited(turned) == ""
    assert "no dict" in unsuited(structs.replace(turned, generation="tf_keras"))


def test_no_initial_state_gets_a_wider_input() -> None:
    state = Graph(
        (Input((3, 4)), Input((2,))),
        (Layer("SimpleRNN", (("units", 2),)),),
        (Call(0, (Ref(0),), (("initial_state", Ref(1)),)),),
        Seq((Ref(0), Ref(1))),
        Ref(2),
        generation="keras",
        way=Way(inputs="wider"),
    )
    assert "initial state" in unsuited(state)
    alone = structs.replace(state, inputs=state.inputs[:1], calls=(Call(0, (Ref(0),)),), takes=Ref(0), gives=Ref(1))
    assert unsuited(alone) == ""


WIDE = Graph(
    (Input((4,)), Input((4,)), Input((3,), "int32", fill="ids", high=6)),
    (
        Layer("Dense", (("units", 4),)),
        Layer("Add"),
        Layer("Embedding", (("input_dim", 6), ("output_dim", 4))),
        Layer("Dense", (("units", 2),)),
    ),
    (Call(0, (Ref(0),)), Call(1, (Seq((Ref(3), Ref(1))),)), Call(2, (Ref(2),)), Call(3, (Ref(5),))),
    Seq((Ref(0), Ref(1), Ref(2))),
    Seq((Ref(4), Ref(6))),
)
"""An input for a Dense, one that is added to what that gives, ids."""


def test_no_layer_that_is_kept_is_called_on_what_it_gave() -> None:
    way = Way(inputs="inner", clone_function=CloneFunction("kept"))
    assert "on what it gave" in unsuited(structs.replace(INNER, generation="keras", way=way))


@pytest.mark.parametrize(("change", "suits"), [("kept", False), ("remade", True)])
def test_no_layer_that_is_kept_is_called_on_another_width(change: CloneChange, suits: bool) -> None:
    way = Way(inputs="wider", clone_function=CloneFunction(change, "Dense" if change == "kept" else None))
    graph = structs.replace(INNER, generation="keras", way=way)
    assert ("is built for its width" not in unsuited(graph)) is suits


@pytest.mark.parametrize("generation", ["keras", "tf_keras", "keras2"])
def test_no_layer_that_is_called_on_its_own_output_gets_a_wider_input(generation: Generation) -> None:
    twice = structs.replace(INNER, calls=(*INNER.calls, Call(0, (Ref(1),))), gives=Ref(2), way=Way(inputs="wider"))
    assert "on a width that stays" in unsuited(structs.replace(twice, generation=generation))
    assert unsuited(structs.replace(INNER, generation=generation, way=Way(inputs="wider"))) == ""


SORTS = {
    "half": [("float16", False), ("float32", False), ("int32", False)],
    "double": [("float64", False), ("float32", False), ("int64", False)],
    "sparse": [("float32", True), ("float32", False), ("int32", False)],
    "whole": [("int32", False), ("float32", False), ("int32", False)],
    "float": [("float32", False), ("float32", False), ("float32", False)],
}


@pytest.mark.parametrize("how", SORTS)
def test_inputs_of_another_sort_where_that_suits(how: NewInputs) -> None:
    graph = structs.replace(WIDE, way=Way(inputs=how))
    assert unsuited(graph) == ""
    assert [(each.dtype, each.sparse) for each in inputs_of(graph)] == SORTS[how]
    assert "casts nothing" in unsuited(structs.replace(graph, generation="keras2"))
    assert "inputs of its own" in unsuited(structs.replace(GRAPH, way=Way(inputs=how))) or how in ("sparse", "float")


def test_a_model_on_sparse_inputs_is_cloned_on_dense_ones_and_nothing_in_it_replaced() -> None:
    sparse = tuple(structs.replace(each, sparse=number == 0) for number, each in enumerate(WIDE.inputs))
    graph = structs.replace(WIDE, inputs=sparse, way=Way(inputs="sparse"))
    assert unsuited(graph) == ""
    assert not any(each.sparse for each in inputs_of(graph))
    assert "takes dense tensors" in unsuited(structs.replace(graph, way=Way(clone_function=CloneFunction())))


def test_a_model_that_is_cloned_on_another_batch_has_no_sequential_that_is_built_by_it() -> None:
    inner = structs.replace(INNER, sequential=True, built="later")
    layers, calls = (Layer("Sequential", graph=inner),), (Call(0, (Ref(0),)),)
    graph = Graph((Input((3, 4)),), layers, calls, Ref(0), Ref(1), generation="keras")
    draw = random.Random(0)
    drawn = [cloned(graph, [draw.randrange(256) for _ in range(DIGITS)], WAYS) for _ in range(200)]
    built = {(each.way.inputs, inner.built) for each in drawn if each.way and (inner := each.layers[0].graph)}
    assert {("batch", ""), ("fresh", "later")} <= built
    assert not {("batch", "later"), ("fresh", "")} & built
    assert "is built by what comes of them" in unsuited(structs.replace(graph, way=Way(inputs="batch")))


def test_what_keras_may_have_written_into_a_call_is_not_cloned_on_another_dtype() -> None:
    layers = (*INNER.layers, Layer("Dropout", (("rate", 0.5),)))
    graph = structs.replace(
        INNER, generation="keras", layers=layers, calls=(*INNER.calls, Call(1, (Ref(1),))), gives=Ref(2)
    )
    said = structs.replace(graph, calls=(*INNER.calls, Call(1, (Ref(1),), (("training", False),))))
    for way in (Way(inputs="half"), Way(clone_function=CloneFunction("set", "Dense", "dtype", "float64"))):
        assert unsuited(structs.replace(graph, way=way)) == ""
        assert "the user's" in unsuited(structs.replace(said, way=way))
