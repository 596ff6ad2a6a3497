"""Clone arguments: what they ask for, which are drawn, and that they change nothing of the graphs that are drawn."""

from __future__ import annotations

import collections
import random
from collections.abc import Collection
from typing import Literal, get_args

import pytest
from msgspec import structs

from clonediff.harness.trials.remembered_answers import asked
from clonediff.strategies import Graph
from clonediff.strategies.asking import asking
from clonediff.strategies.clone_arguments import INPUTS, LATER, features_of, inner_layer, inputs_of
from clonediff.strategies.drawn_clone_arguments import DIGITS, cloned, sorts_of
from clonediff.strategies.drawn_clone_arguments import SORTS as ALL_SORTS
from clonediff.strategies.graph import (
    Call,
    CallFunction,
    CloneArguments,
    CloneFunction,
    Function,
    Input,
    Items,
    Layer,
    Made,
    NewInputs,
    Ref,
    Seq,
    Wrong,
)
from clonediff.strategies.graphs import CLONE_ARGUMENT_FEATURES
from tests.example_counts import examples
from tests.warm_keras import kinds_of, process_of

INNER = Graph((Input((3, 4)),), (Layer("Dense", (("units", 4),)),), (Call(0, (Ref(0),)),), Ref(0), Ref(1))

GRAPH = Graph(
    (Input((3, 4)),),
    (
        Layer("Dense", (("units", 4), ("activation", "relu"))),
        Layer("Dropout", (("rate", 0.5),)),
        Layer("Model", graph=INNER),
        Layer("operator.half"),
    ),
    (Call(0, (Ref(0),)), Call(1, (Ref(1),)), Call(2, (Ref(2),)), Call(3, (Ref(3),))),
    Ref(0),
    Ref(4),
    generation="keras",
)
"""A layer with a setting, one that takes `training`, a model within the model, an operation."""

PAIR = Graph(
    (Input((4,), name="a"), Input((4,), name="b")),
    (Layer("Add"),),
    (Call(0, (Seq((Ref(0), Ref(1))),)),),
    Items((("a", Ref(0)), ("b", Ref(1)))),
    Ref(2),
    generation="keras",
)
"""Two inputs with names, which may be given in another order."""

SUITED = (
    CloneArguments(inputs="fresh"),
    CloneArguments(inputs="listed"),
    CloneArguments(inputs="layers"),
    CloneArguments(inputs="batch"),
    CloneArguments(inputs="own"),
    CloneArguments(inputs="made"),
    CloneArguments(recursive=True),
    CloneArguments(clone_function=CloneFunction()),
    CloneArguments(clone_function=CloneFunction("renamed")),
    CloneArguments(clone_function=CloneFunction("kept", "Dense")),
    CloneArguments(clone_function=CloneFunction("set", "Dense", "activation", "tanh", others="kept")),
    CloneArguments(clone_function=CloneFunction("set", "Dense", "use_bias", False), recursive=True),
    CloneArguments(clone_function=CloneFunction("channels first")),
    CloneArguments(clone_function=CloneFunction(recurses=True)),
    CloneArguments(clone_function=CloneFunction("renamed", "Dense", recurses=True), recursive=True),
    CloneArguments(clone_function=CloneFunction("replaced", "Dropout")),
    CloneArguments(clone_function=CloneFunction("wrapped", "Dense")),
    CloneArguments(clone_function=CloneFunction("nested", "Dense")),
    CloneArguments(clone_function=CloneFunction("dense", "Dropout", value=4)),
    CloneArguments(clone_function=CloneFunction("recurrent", "Dense", value=4), recursive=True),
    CloneArguments(clone_function=CloneFunction("model", "Dense")),
    CloneArguments(clone_function=CloneFunction("raises", "Dense")),
    *(CloneArguments(wrong=wrong) for wrong in get_args(Wrong)[1:]),
    CloneArguments(call_function=CallFunction()),
    CloneArguments(call_function=CallFunction("after", "Dense"), recursive=True),
    CloneArguments(call_function=CallFunction("before", "Dropout")),
    CloneArguments(call_function=CallFunction("training", "Dropout")),
)


WIDE = Graph(
    (Input((4,)), Input((4,)), Input((3,), "int32", fill="ids", high=6)),
    (
        Layer("Dense", (("units", 4),)),
        Layer("Dense", (("units", 4),)),
        Layer("Add"),
        Layer("Embedding", (("input_dim", 6), ("output_dim", 4))),
    ),
    (Call(0, (Ref(0),)), Call(1, (Ref(1),)), Call(2, (Seq((Ref(3), Ref(4))),)), Call(3, (Ref(2),))),
    Seq((Ref(0), Ref(1), Ref(2))),
    Seq((Ref(5), Ref(6))),
)
"""Two inputs for a Dense, and ids."""

SORTS = {
    "half": [("float16", False), ("float16", False), ("int32", False)],
    "double": [("float64", False), ("float64", False), ("int64", False)],
    "sparse": [("float32", True), ("float32", True), ("int32", False)],
    "whole": [("int32", False), ("int32", False), ("int32", False)],
    "float": [("float32", False), ("float32", False), ("float32", False)],
}


@pytest.mark.parametrize("how", SORTS)
def test_inputs_of_another_sort(how: NewInputs) -> None:
    graph = structs.replace(WIDE, clone_arguments=CloneArguments(inputs=how))
    assert [(each.dtype, each.sparse) for each in inputs_of(graph)] == SORTS[how]


def test_inputs_that_are_given() -> None:
    graph = structs.replace(
        INNER, inputs=(Input((None, 4), name="x"),), clone_arguments=CloneArguments(inputs="closed")
    )
    assert inputs_of(graph) == (Input((3, 4), name="given_1"),)
    assert inputs_of(structs.replace(graph, clone_arguments=CloneArguments(inputs="wider"))) == (
        Input((None, 5), name="given_1"),
    )
    assert inputs_of(structs.replace(graph, clone_arguments=CloneArguments(inputs="transposed"))) == (
        Input((4, None), name="given_1"),
    )
    assert inputs_of(structs.replace(graph, clone_arguments=CloneArguments(inputs="own"))) == graph.inputs
    assert inputs_of(structs.replace(graph, clone_arguments=CloneArguments(inputs="batch")))[0].batch == 2


@pytest.mark.parametrize(
    ("graph", "there"),
    [
        (INNER, True),
        (structs.replace(INNER, layers=(Layer("Dense", (("units", 5),)),)), False),
        (structs.replace(INNER, takes=Seq((Ref(0), Ref(0)))), False),
        (structs.replace(INNER, calls=(Call(0, (Ref(0),)), Call(0, (Ref(1),))), gives=Ref(2)), False),
    ],
)
def test_a_layer_that_gives_what_is_as_the_input_is(graph: Graph, there: bool) -> None:
    assert (inner_layer(graph) == 0) is there


def _drawn(
    graph: Graph, features: Collection[str] = CLONE_ARGUMENT_FEATURES | {LATER}, times: int = 300, seed: int = 0
) -> list[Graph]:
    """Clone arguments for a graph, as the Keras of its generation can build what they ask for."""
    draw, generation = random.Random(seed), graph.generation or "keras"
    kinds = kinds_of(generation)
    with asking(asked(process_of(generation))):
        return [cloned(graph, [draw.randrange(256) for _ in range(DIGITS)], features, kinds) for _ in range(times)]


def test_a_release_that_makes_no_inputs_of_what_layers_gave_is_given_none_of_that() -> None:
    met = {
        graph.clone_arguments.inputs
        for graph in _drawn(GRAPH, CLONE_ARGUMENT_FEATURES, examples(50, 150))
        if graph.clone_arguments is not None
    }
    assert "fresh" in met
    assert "made" not in met
    assert list(features_of(CloneArguments(inputs="made"))) == [INPUTS, LATER]


def test_only_what_is_asked_for_is_drawn() -> None:
    met = {graph.clone_arguments for graph in _drawn(GRAPH, {"call functions"}, 60)}
    assert CloneArguments(wrong="call") in met
    assert all(
        clone_arguments
        in (
            CloneArguments(wrong="call"),
            CloneArguments(call_function=clone_arguments and clone_arguments.call_function),
        )
        for clone_arguments in met
    )


TF_KERAS_LATER = pytest.mark.slow(reason="some hundred models that tf_keras builds; the same is drawn of Keras 3")
EACH = pytest.mark.parametrize("generation", ["keras", pytest.param("tf_keras", marks=TF_KERAS_LATER)])

_OTHERS = ("turned", "closed", "float", "sparse", "wider", "transposed", "half", "double", "whole")
_ELSEWHERE = {
    *(("inputs", how) for how in _OTHERS),
    *(("clone_function", change) for change in ("unwrapped", "channels first")),
}
"""What this graph has nothing for: no layer has an axis or a layer, and a model has a width and a dtype of its own."""


@pytest.mark.slow(reason="500 draws; what is drawn for a graph that has something for it is looked at below")
@pytest.mark.parametrize("generation", ["keras", "tf_keras"])
def test_every_sort_of_argument_is_drawn_about_as_often_as_the_next(generation: Literal["keras", "tf_keras"]) -> None:
    features = CLONE_ARGUMENT_FEATURES | {LATER} if generation == "keras" else {"new inputs", "clone functions"}
    given = [
        each.clone_arguments for each in _drawn(structs.replace(GRAPH, generation=generation), features, 500, seed=1)
    ]
    met = collections.Counter(sort for arguments in given if arguments is not None for sort in sorts_of(arguments))
    endless = {("inputs", "made"), ("clone_function", "model")} if generation == "tf_keras" else set()
    share = len(given) / len(met)
    # What is wrong is drawn half as often on purpose; the rest is left to chance.
    rare = {sort for sort, count in met.items() if count < (0.2 if sort.part == "wrong" else 0.4) * share}
    assert rare <= endless | _ELSEWHERE
    assert sum(sort.part == "wrong" for sort in met.elements()) < 0.3 * len(given)
    if generation == "keras":
        assert {sort.does for sort in met if sort.part == "wrong"} == set(get_args(Wrong)[1:])
        assert {sort for sort in ALL_SORTS if sort not in met} <= _ELSEWHERE


def test_inputs_of_every_sort_are_drawn_for_a_graph_that_has_something_for_them() -> None:
    graph = Graph(
        (Input((None, 4)), Input((4,))),
        (Layer("Dense", (("units", 4),)), Layer("Dense", (("units", 2),))),
        (Call(0, (Ref(0),)), Call(1, (Ref(1),))),
        Items((("a", Ref(0)), ("b", Ref(1)))),
        Seq((Ref(2), Ref(3))),
        generation="keras",
    )
    met = {
        each.clone_arguments.inputs
        for each in _drawn(graph, {"new inputs", "sparse inputs"}, examples(100, 300))
        if each.clone_arguments is not None
    }
    assert {"half", "double", "wider", "closed", "turned", "sparse", "whole"} <= met


WRAPPER = Layer("Dampen", (("layer", Made(Layer("Dense", (("units", 4),)))),))
OF_AXES = Layer("BatchNormalization")
_OF_INPUTS = ("new inputs", "clone functions")


@EACH
def test_what_users_write_is_drawn_for_a_graph_that_has_something_for_it(
    generation: Literal["keras", "tf_keras"],
) -> None:
    layers = (WRAPPER, OF_AXES, Layer("Model", graph=INNER), Layer("Permute", (("dims", Seq((2, 1), "tuple")),)))
    calls = (Call(0, (Ref(0),)), Call(1, (Ref(1),)), Call(2, (Ref(2),)), Call(3, (Ref(1),)))
    gives = Seq((Ref(3), Ref(4)))
    graph = Graph((Input((3, 4)),), layers, calls, Ref(0), gives, generation=generation)
    met = [
        each.clone_arguments for each in _drawn(graph, {"new inputs", "clone functions"}, 200) if each.clone_arguments
    ]
    functions = {each.clone_function for each in met if each.clone_function is not None}
    assert {each.others for each in functions if each.change == "unwrapped"} == {"remade", "kept"}
    assert {each.kind for each in functions if each.change == "unwrapped"} == {"Dampen"}
    assert {each.kind for each in functions if each.change == "channels first"} == {None, "BatchNormalization"}
    assert len({each.change for each in functions if each.recurses}) > 3
    alone = structs.replace(INNER, layers=(OF_AXES,), generation=generation)
    given = [each.clone_arguments for each in _drawn(alone, _OF_INPUTS, 60) if each.clone_arguments]
    moved = {each.inputs for each in given if each.clone_function == CloneFunction("channels first")}
    assert "transposed" in moved
    assert not any(each.clone_function.recurses for each in given if each.clone_function is not None)


@pytest.mark.parametrize(
    ("generation", "there"), [("keras", False), pytest.param("tf_keras", True, marks=TF_KERAS_LATER)]
)
def test_a_wrapper_that_has_no_such_layer_is_left(generation: Literal["keras", "tf_keras"], there: bool) -> None:
    both = Layer("Bidirectional", (("layer", Made(Layer("LSTM", (("units", 4),)))),))
    graph = structs.replace(INNER, layers=(both,), generation=generation)
    arguments = [each.clone_arguments for each in _drawn(graph, {"clone functions"}, 60)]
    functions = [each.clone_function for each in arguments if each is not None]
    assert any(each.change == "unwrapped" for each in functions if each is not None) is there


def test_a_wrapper_around_a_model_is_left_where_that_would_be_cloned_for_ever() -> None:
    for generation, there in (("keras", True), ("tf_keras", False)):
        model = Layer("Sequential", (("layers", Seq((Made(Layer("Dense", (("units", 3),))),))),))
        layer = Layer("Dampen", (("layer", Made(model)),))
        graph = structs.replace(INNER, layers=(layer,), generation=generation)
        drawn = [
            each.clone_arguments.clone_function
            for each in _drawn(graph, {"clone functions"}, 60)
            if each.clone_arguments
        ]
        assert any(each.change == "unwrapped" for each in drawn if each is not None) is there


def test_a_model_that_a_function_clones_by_itself_has_no_sequential_that_is_built_by_what_it_is_called_on() -> None:
    inner = structs.replace(INNER, sequential=True, built="later")
    layers, calls = (Layer("Sequential", graph=inner),), (Call(0, (Ref(0),)),)
    graph = Graph((Input((3, 4)),), layers, calls, Ref(0), Ref(1), generation="tf_keras")
    drawn = [each for each in _drawn(graph, {"clone functions"}, 60) if each.clone_arguments is not None]
    built = {(sorts_of(each.clone_arguments)[-1].does, each.layers[0].graph.built) for each in drawn}
    assert ("recurses", "") in built
    assert ("recurses", "later") not in built
    assert any(when == "later" for _, when in built)


def test_what_keras_cannot_build_is_not_asked_for() -> None:
    doubled = Layer("Lambda", (("function", Function("lambda", ("x * 2.0",))),))
    graph = structs.replace(INNER, layers=(doubled,), generation="keras")
    drawn = _drawn(graph, times=examples(100, 300))
    met = [each.clone_arguments.clone_function for each in drawn if each.clone_arguments is not None]
    assert {function.change for function in met if function is not None} <= {
        "kept",
        "dense",
        "replaced",
        "recurrent",
        "raises",
    }


def test_a_model_that_is_cloned_on_another_batch_has_no_sequential_that_is_built_by_it() -> None:
    inner = structs.replace(INNER, sequential=True, built="later")
    layers, calls = (Layer("Sequential", graph=inner),), (Call(0, (Ref(0),)),)
    graph = Graph((Input((3, 4)),), layers, calls, Ref(0), Ref(1), generation="keras")
    built = {
        (each.clone_arguments.inputs, inner.built)
        for each in _drawn(graph, times=examples(100, 300))
        if each.clone_arguments and (inner := each.layers[0].graph)
    }
    assert {("batch", ""), ("fresh", "later")} <= built
    assert not {("batch", "later"), ("fresh", "")} & built
