"""Ways to clone: which suit a graph, which are drawn, and that they change nothing of the graphs that are drawn."""

from __future__ import annotations

import collections
import random
from typing import Literal, get_args

import pytest
from msgspec import structs

from harness.search.even_draws import evenly
from strategies import FEATURES, Graph, MalformedGraph, from_json, to_json
from strategies.drawn_ways import DIGITS, chosen, sorts_of
from strategies.graph import (
    Call,
    CallFunction,
    CloneChange,
    CloneFunction,
    Function,
    Input,
    Items,
    Layer,
    Ref,
    Seq,
    Way,
    Wrong,
)
from strategies.graphs import WAYS
from strategies.kinds.recurrent import chained
from strategies.ways import INPUTS, LATER, features_of, read_example, unsuited, well_typed
from tests.asked import graphs_of

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
    Way(inputs="fresh"),
    Way(inputs="listed"),
    Way(inputs="layers"),
    Way(inputs="batch"),
    Way(inputs="own"),
    Way(inputs="made"),
    Way(recursive=True),
    Way(clone_function=CloneFunction()),
    Way(clone_function=CloneFunction("renamed")),
    Way(clone_function=CloneFunction("kept", "Dense")),
    Way(clone_function=CloneFunction("set", "Dense", "activation", "tanh", others="kept")),
    Way(clone_function=CloneFunction("set", "Dense", "use_bias", False), recursive=True),
    Way(clone_function=CloneFunction("replaced", "Dropout")),
    Way(clone_function=CloneFunction("wrapped", "Dense")),
    Way(clone_function=CloneFunction("nested", "Dense")),
    Way(clone_function=CloneFunction("dense", "Dropout", value=4)),
    Way(clone_function=CloneFunction("recurrent", "Dense", value=4), recursive=True),
    Way(clone_function=CloneFunction("model", "Dense")),
    Way(clone_function=CloneFunction("raises", "Dense")),
    *(Way(wrong=wrong) for wrong in get_args(Wrong)[1:]),
    Way(call_function=CallFunction()),
    Way(call_function=CallFunction("after", "Dense"), recursive=True),
    Way(call_function=CallFunction("before", "Dropout")),
    Way(call_function=CallFunction("training", "Dropout")),
)


@pytest.mark.parametrize("way", SUITED)
def test_a_way_that_suits(way: Way) -> None:
    graph = structs.replace(GRAPH, way=way)
    assert unsuited(graph) == ""
    assert read_example(to_json(graph).decode(), "here") == graph


@pytest.mark.parametrize(
    ("way", "wrong"),
    [
        (Way(), "expected an argument"),
        (Way(inputs="closed"), "no open dimension"),
        (Way(clone_function=CloneFunction("set", "Dense", "units", 5)), "nothing is known of 'units'"),
        (Way(clone_function=CloneFunction("set", "Dropout", "activation", "tanh")), "has no 'activation'"),
        (Way(clone_function=CloneFunction("replaced")), "expected a kind"),
        (Way(clone_function=CloneFunction("replaced", "LSTM")), "no layer of the kind"),
        (Way(clone_function=CloneFunction("dense", "Dense", value=4)), "is one already"),
        (Way(clone_function=CloneFunction("dense", "Dropout", value=5)), "nothing of 5 units"),
        (Way(clone_function=CloneFunction("dense", "Dropout")), "a number of units"),
        (Way(clone_function=CloneFunction("raises", "Dense"), inputs="fresh"), "looked at alone"),
        (Way(inputs="wider"), "a width of its own"),
        (Way(inputs="turned"), "no dict"),
        (Way(wrong="function", recursive=True), "nothing beside it"),
        (Way(call_function=CallFunction("after")), "expected a kind"),
        (Way(call_function=CallFunction("after", "LSTM")), "no layer of the kind"),
        (Way(call_function=CallFunction("training", "Dense")), "takes no `training`"),
    ],
)
def test_a_way_that_does_not_suit(way: Way, wrong: str) -> None:
    with pytest.raises(MalformedGraph, match=wrong):
        well_typed(structs.replace(GRAPH, way=way))


def test_what_does_not_suit_a_model() -> None:
    function = Way(clone_function=CloneFunction("renamed"))
    frozen = structs.replace(GRAPH, trainable=False, way=function)
    assert "frozen" in unsuited(frozen)
    doubled = Layer("Lambda", (("function", Function("lambda", ("x * 2.0",))),))
    of_a_lambda = structs.replace(INNER, layers=(doubled,), generation="keras", way=function)
    assert "from its config" in unsuited(of_a_lambda)
    chain = structs.replace(INNER, sequential=True, generation="keras", way=Way(call_function=CallFunction()))
    assert "not called layer by layer" in unsuited(chain)
    twice = structs.replace(
        INNER,
        calls=(Call(0, (Ref(0),)), Call(0, (Ref(1),))),
        generation="keras",
        way=Way(call_function=CallFunction("after", "Dense")),
    )
    assert "called twice" in unsuited(twice)
    pooled = Graph(
        (Input((4, 4)),),
        (Layer("MaxPooling1D", (("pool_size", 2),)),),
        (Call(0, (Ref(0),)), Call(0, (Ref(1),))),
        Ref(0),
        Ref(2),
        generation="keras",
        way=Way(inputs="fresh", clone_function=CloneFunction("nested", "MaxPooling1D")),
    )
    assert "two shapes" in unsuited(pooled)
    in_keras_2 = structs.replace(GRAPH, generation="tf_keras", way=function)
    assert "operations are layers" in unsuited(in_keras_2)


def test_a_model_within_a_model_has_no_way() -> None:
    inner = structs.replace(INNER, way=Way(inputs="fresh"))
    with pytest.raises(MalformedGraph, match="within another"):
        structs.replace(GRAPH, layers=(*GRAPH.layers[:2], Layer("Model", graph=inner), GRAPH.layers[3]))


def test_a_release_that_makes_no_inputs_of_what_layers_gave_is_given_none_of_that() -> None:
    draw = random.Random(0)
    met = {chosen(GRAPH, [draw.randrange(256) for _ in range(DIGITS)], WAYS) for _ in range(400)}
    assert "fresh" in {way.inputs for way in met if way is not None}
    assert "made" not in {way.inputs for way in met if way is not None}
    assert list(features_of(Way(inputs="made"))) == [INPUTS, LATER]


def test_every_way_is_drawn_for_a_graph_that_it_suits() -> None:
    draw = random.Random(0)
    met = {chosen(GRAPH, [draw.randrange(256) for _ in range(DIGITS)], WAYS | {LATER}) for _ in range(800)}
    ways = [way for way in met if way is not None]
    assert {way.inputs for way in ways} == {"", "fresh", "listed", "layers", "batch", "own", "made", "inner"}
    assert {way.wrong for way in ways} == set(get_args(Wrong))
    assert {way.recursive for way in ways} == {True, False}
    clones = [way.clone_function for way in ways if way.clone_function is not None]
    assert {each.change for each in clones} == set(get_args(CloneChange))
    calls = [way.call_function for way in ways if way.call_function is not None]
    assert {each.change for each in calls} == {"plain", "training", "after", "before"}
    assert all(unsuited(structs.replace(GRAPH, way=way)) == "" for way in ways)


def test_only_what_is_asked_for_is_drawn() -> None:
    draw = random.Random(1)
    features = {"call functions"}
    met = {chosen(GRAPH, [draw.randrange(256) for _ in range(DIGITS)], features) for _ in range(100)}
    assert Way(wrong="call") in met
    assert all(way in (Way(wrong="call"), Way(call_function=way and way.call_function)) for way in met)


@pytest.mark.parametrize("generation", ["keras", "tf_keras"])
def test_every_sort_of_way_that_suits_a_graph_is_drawn_at_least_half_as_often_as_if_all_were_drawn_alike(
    generation: Literal["keras", "tf_keras"],
) -> None:
    draw, features = random.Random(0), WAYS if generation == "keras" else {"new inputs", "clone functions"}
    graph = structs.replace(GRAPH, generation=generation)
    ways = [chosen(graph, [draw.randrange(256) for _ in range(DIGITS)], features) for _ in range(1500)]
    met = collections.Counter(sort for way in ways if way is not None for sort in sorts_of(way))
    endless = {("inputs", "made"), ("clone_function", "model")} if generation == "tf_keras" else set()
    share = len(ways) / len(met)
    # What is wrong is drawn half as often on purpose; the rest is left to chance.
    assert {sort for sort, count in met.items() if count < (0.2 if sort.part == "wrong" else 0.4) * share} <= endless
    assert sum(sort.part == "wrong" for sort in met.elements()) < 0.3 * len(ways)
    parts = {"inputs", "clone_function", "wrong"} | ({"call_function", "recursive"} if generation == "keras" else set())
    assert {sort.part for sort in met} == parts


def test_what_does_not_suit_tf_keras() -> None:
    wrapped = Way(clone_function=CloneFunction("wrapped", "BatchNormalization"))
    normal = structs.replace(INNER, layers=(Layer("BatchNormalization"),), way=wrapped)
    assert unsuited(structs.replace(normal, generation="keras")) == ""
    assert "cannot be distributed" in unsuited(structs.replace(normal, generation="tf_keras"))


def test_the_models_that_are_drawn_are_the_same_with_ways_and_without() -> None:
    plain = [each.graph for each in evenly(graphs_of("keras"), 60, 4)]
    graphs = graphs_of("keras", features=FEATURES | WAYS)
    with_ways = [each.graph for each in evenly(graphs, 60, 4)]
    assert [structs.replace(graph, way=None, built="") for graph in with_ways] == [
        structs.replace(graph, built="") for graph in plain
    ]
    assert any(graph.way is not None for graph in with_ways)
    assert all(graph.way is None for graph in plain)


def test_a_graph_that_is_cloned_plainly_says_nothing_of_it() -> None:
    assert b"way" not in to_json(GRAPH)
    assert from_json(to_json(GRAPH)) == GRAPH


LATENT = Seq((Ref(0), Ref(0)))

IDLE_INSIDE = Graph(
    (Input((3, 4)), Input((3, 4))), (Layer("ReLU"),), (Call(0, (Ref(0),)),), Seq((Ref(0), Ref(1))), Ref(2)
)

NOT_ASKED_FOR = {
    "a layer that leads to no output": (
        Graph((Input((3,)),), (Layer("ReLU"),), (Call(0, (Ref(0),)),), Ref(0), Ref(0)),
        Way(wrong="call"),
        "no layer to ask for",
    ),
    "an input that leads nowhere in a model within": (
        Graph((Input((3, 4)),), (Layer("Model", graph=IDLE_INSIDE),), (Call(0, (LATENT,)),), Ref(0), Ref(1)),
        Way(inputs="made"),
        "leads nowhere",
    ),
    "a model on a tensor of another rank": (
        Graph((Input((3, 4, 1)),), (Layer("Model", graph=INNER),), (Call(0, (Ref(0),), axis="more"),), Ref(0), Ref(1)),
        Way(inputs="made"),
        "another rank",
    ),
    "an initial state": (
        Graph(
            (Input((3, 4)), Input((4,))),
            (Layer("SimpleRNN", (("units", 4),)),),
            (Call(0, (Ref(0),), (("initial_state", Ref(1)),)),),
            Seq((Ref(0), Ref(1))),
            Ref(2),
        ),
        Way(inputs="half"),
        "beside it",
    ),
    "a Sequential that is built over time": (
        Graph(
            (Input((3, 4)),),
            (
                Layer(
                    "TimeDistributed",
                    (("layer", chained(Layer("Dense", (("units", 3),)), Layer("Dropout", (("rate", 0.5),)))),),
                ),
            ),
            (Call(0, (Ref(0),)),),
            Ref(0),
            Ref(1),
        ),
        Way(inputs="batch"),
        "built by what comes of them",
    ),
}


@pytest.mark.parametrize("name", NOT_ASKED_FOR)
def test_what_nobody_could_build_is_not_asked_for(name: str) -> None:
    graph, way, why = NOT_ASKED_FOR[name]
    asked = structs.replace(graph, generation="keras", way=way)
    well_typed(structs.replace(asked, way=None))
    assert why in unsuited(asked)
