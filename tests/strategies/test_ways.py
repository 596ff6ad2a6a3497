"""Ways to clone: which suit a graph, which are drawn, and that they change nothing of the graphs that are drawn."""

from __future__ import annotations

import collections
import random
from typing import Literal, get_args

import pytest
from msgspec import structs

from harness.search.even_draws import evenly
from strategies import FEATURES, Graph, MalformedGraph, from_json, functional_graphs, to_json
from strategies.drawn_ways import DIGITS, chosen, cloned, sorts_of
from strategies.graph import (
    Call,
    CallFunction,
    CloneChange,
    CloneFunction,
    Function,
    Input,
    Items,
    Layer,
    Made,
    NewInputs,
    Ref,
    Seq,
    Step,
    Way,
    Wrong,
)
from strategies.graphs import WAYS
from strategies.kinds import Generation
from strategies.kinds.recurrent import chained
from strategies.way_inputs import inputs_of
from strategies.ways import read_example, unsuited, well_typed

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
    Way(inputs="fresh", clone_function=CloneFunction("nested", "Dense")),
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
        (Way(clone_function=CloneFunction("nested", "Dense")), "numbered otherwise"),
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
        (GRAPH, "have other numbers"),
    ],
)
def test_what_a_layer_of_the_model_gives_stands_for_its_input_where_it_is_alike(graph: Graph, wrong: str) -> None:
    graph = structs.replace(graph, generation=graph.generation or "keras")
    said = unsuited(structs.replace(graph, way=Way(inputs="inner")))
    assert wrong in said if wrong else said == ""


@pytest.mark.parametrize("change", [CloneFunction("replaced", "Masking"), CloneFunction("wrapped", "Masking")])
@pytest.mark.parametrize(("beside", "suits"), [("Masking", True), ("MakeMask", False)])
def test_nothing_stands_in_the_place_of_what_numbers_the_masks_of_others(
    beside: str, suits: bool, change: CloneFunction
) -> None:
    layers, calls = (Layer("Masking"), Layer(beside)), (Call(0, (Ref(0),)), Call(1, (Ref(1),)))
    graph = Graph((Input((3, 4)),), layers, calls, Ref(0), Ref(2), generation="keras", way=Way(clone_function=change))
    assert ("is numbered after" not in unsuited(graph)) is suits


@pytest.mark.parametrize(("key", "value"), [("mask_zero", True), ("mask_zero", False)])
@pytest.mark.parametrize("kind", ["Masking", "Dense"])
def test_whether_a_mask_is_made_is_not_set_beside_others(key: str, value: bool, kind: str) -> None:
    embedding = Layer("Embedding", (("input_dim", 6), ("output_dim", 4), ("mask_zero", not value)))
    layers, calls = (
        (embedding, Layer(kind, (("units", 4),) * (kind == "Dense"))),
        (Call(0, (Ref(0),)), Call(1, (Ref(1),))),
    )
    way = Way(clone_function=CloneFunction("set", "Embedding", key, value))
    inputs = (Input((3,), "int32", fill="ids", high=6),)
    graph = Graph(inputs, layers, calls, Ref(0), Ref(2), generation="keras", way=way)
    assert ("is numbered after" in unsuited(graph)) is (kind == "Masking")


@pytest.mark.parametrize(("name", "suits"), [(None, False), ("added", True)])
@pytest.mark.parametrize("way", [Way(clone_function=CloneFunction()), Way(inputs="fresh")], ids=["remade", "inputs"])
def test_no_operation_takes_the_name_that_a_layer_has_from_its_config(name: str | None, suits: bool, way: Way) -> None:
    layers = (Layer("Add", name=name), Layer("ops.add", (("x2", 1.0),)))
    calls = (Call(0, (Seq((Ref(0), Ref(0))),)), Call(1, (Ref(1),)))
    graph = Graph((Input((4,)),), layers, calls, Ref(0), Ref(2), generation="keras", way=way)
    assert (unsuited(graph) == "") == (suits or way.inputs == "fresh")


@pytest.mark.parametrize(("change", "suits"), [("kept", False), ("remade", True)])
def test_no_layer_is_kept_beside_a_mask_that_is_computed_anew(change: CloneChange, suits: bool) -> None:
    layers = (Layer("Masking"), Layer("LSTM", (("units", 2),)))
    calls = (Call(0, (Ref(0),)), Call(1, (Ref(1),)))
    way = Way(clone_function=CloneFunction(change))
    graph = Graph((Input((3, 4)),), layers, calls, Ref(0), Ref(2), generation="keras", way=way)
    assert (unsuited(graph) == "") is suits


@pytest.mark.parametrize(
    ("generation", "change", "suits"),
    [("keras", "kept", False), ("keras", "remade", False), ("tf_keras", "kept", False), ("tf_keras", "remade", True)],
)
def test_no_operation_is_numbered_as_if_a_model_within_had_none(
    generation: Literal["keras", "tf_keras"], change: CloneChange, suits: bool
) -> None:
    inner = Graph((Input((4,)),), (Layer("operator.half"),), (Call(0, (Ref(0),)),), Ref(0), Ref(1))
    layers, calls = (Layer("Model", graph=inner), Layer("operator.half")), (Call(0, (Ref(0),)), Call(1, (Ref(1),)))
    way = Way(clone_function=CloneFunction(change))
    graph = Graph((Input((4,)),), layers, calls, Ref(0), Ref(2), generation=generation, way=way)
    assert (unsuited(graph) == "") is suits
    assert "numbered" not in unsuited(structs.replace(graph, way=structs.replace(way, recursive=True)))


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


@pytest.mark.parametrize("way", [Way(clone_function=CloneFunction()), Way(call_function=CallFunction())])
def test_no_function_is_asked_about_an_operation_of_ones_own(way: Way) -> None:
    graph = structs.replace(INNER, layers=(Layer("Amplify"),), generation="keras")
    assert unsuited(structs.replace(graph, way=way)).endswith("Amplify is no layer")
    assert unsuited(structs.replace(graph, way=Way(inputs="fresh"))) == ""


def test_a_model_within_a_model_has_no_way() -> None:
    inner = structs.replace(INNER, way=Way(inputs="fresh"))
    with pytest.raises(MalformedGraph, match="within another"):
        structs.replace(GRAPH, layers=(*GRAPH.layers[:2], Layer("Model", graph=inner), GRAPH.layers[3]))


def test_inputs_that_are_given() -> None:
    graph = structs.replace(INNER, inputs=(Input((None, 4), name="x"),), way=Way(inputs="closed"))
    assert inputs_of(graph) == (Input((3, 4), name="given_1"),)
    assert inputs_of(structs.replace(graph, way=Way(inputs="own"))) == graph.inputs
    assert inputs_of(structs.replace(graph, way=Way(inputs="batch")))[0].batch == 2


def test_inputs_of_another_width_and_in_another_order() -> None:
    graph = structs.replace(INNER, generation="keras", inputs=(Input((3, 4), name="x"),), way=Way(inputs="wider"))
    assert unsuited(graph) == ""
    assert inputs_of(graph) == (Input((3, 5), name="given_1"),)
    pair = Graph(
        (Input((4,), name="a"), Input((4,), name="b")),
        (Layer("Add"),),
        (Call(0, (Seq((Ref(0), Ref(1))),)),),
        Items((("a", Ref(0)), ("b", Ref(1)))),
        Ref(2),
        generation="keras",
        way=Way(inputs="turned"),
    )
    assert unsuited(pair) == ""
    assert "no dict" in unsuited(structs.replace(pair, generation="tf_keras"))


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


@pytest.mark.parametrize(("beside", "suits"), [("SpatialDropout1D", False), ("GaussianDropout", True)])
@pytest.mark.parametrize("calls", [True, False])
def test_no_function_is_given_for_a_kind_that_another_inherits_from(beside: str, suits: bool, calls: bool) -> None:
    layers = (Layer("Dropout", (("rate", 0.5),)), Layer(beside, (("rate", 0.5),)))
    way = Way(call_function=CallFunction("after", "Dropout"))
    if not calls:
        way = Way(clone_function=CloneFunction("set", "Dropout", "rate", 0.25))
    twice = (Call(0, (Ref(0),)), Call(1, (Ref(1),)))
    graph = Graph((Input((3, 4)),), layers, twice, Ref(0), Ref(2), generation="keras", way=way)
    assert ("more than one kind" not in unsuited(graph)) is suits


@pytest.mark.parametrize(("gives", "suits"), [(Ref(2), True), (Ref(1), False)])
def test_a_function_raises_about_what_some_output_needs(gives: Ref, suits: bool) -> None:
    layers = (Layer("Dense", (("units", 4),)), Layer("Dropout", (("rate", 0.5),)))
    calls = (Call(0, (Ref(0),)), Call(1, (Ref(1),)))
    way = Way(clone_function=CloneFunction("raises", "Dropout"))
    graph = Graph((Input((3, 4)),), layers, calls, Ref(0), gives, generation="keras", way=way)
    assert ("which no output needs" not in unsuited(graph)) is suits


def test_no_model_in_a_wrapper_is_numbered_where_no_input_is_made() -> None:
    inner = chained(Layer("Dense", (("units", 4),)), Layer("Dropout", (("rate", 0.5),)))
    for layer, suits in ((inner, False), (Made(Layer("Dense", (("units", 4),))), True)):
        layers = (*INNER.layers, Layer("TimeDistributed", (("layer", layer),)))
        calls = (*INNER.calls, Call(1, (Ref(1),)))
        graph = structs.replace(INNER, layers=layers, calls=calls, gives=Ref(2), generation="keras")
        assert ("have other numbers" not in unsuited(structs.replace(graph, way=Way(inputs="inner")))) is suits


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


@pytest.mark.parametrize(("generation", "suits"), [("tf_keras", False), ("keras", True)])
def test_no_model_that_compares_is_made_again_from_its_config_by_tf_keras(
    generation: Literal["keras", "tf_keras"], suits: bool
) -> None:
    compared = structs.replace(INNER, layers=(Layer("operator.not_equal", (("other", 0.5),)),))
    layers, calls = (Layer("Model", graph=compared),), (Call(0, (Ref(0),)),)
    way = Way(clone_function=CloneFunction())
    graph = Graph((Input((3, 4)),), layers, calls, Ref(0), Ref(1), generation=generation, way=way)
    assert ("cannot be made again" not in unsuited(graph)) is suits


@pytest.mark.parametrize(("text", "suits"), [("ops.map", False), ("ops.relu", True)])
def test_no_model_with_an_operation_of_a_function_is_made_again_from_its_config(text: str, suits: bool) -> None:
    args = (("f", Function("lambda", ("x * 2.0",))),) if text == "ops.map" else ()
    layers = (Layer("Model", graph=structs.replace(INNER, layers=(Layer(text, args),))),)
    way = Way(clone_function=CloneFunction())
    graph = Graph((Input((3, 4)),), layers, (Call(0, (Ref(0),)),), Ref(0), Ref(1), generation="keras", way=way)
    assert ("cannot be made again" not in unsuited(graph)) is suits


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


@pytest.mark.parametrize("kind", ["ops.cast", "ops.ctc_loss"])
def test_a_model_that_casts_gets_no_inputs_of_another_dtype(kind: str) -> None:
    layers = (Layer("ReLU"), Layer(kind, (("dtype", "float64"),) if kind == "ops.cast" else ()))
    calls = (Call(0, (Ref(0),)), Call(1, (Ref(1),) * (1 if kind == "ops.cast" else 4)))
    graph = Graph((Input((3, 4)),), layers, calls, Ref(0), Ref(2), generation="keras")
    assert unsuited(structs.replace(graph, way=Way(inputs="fresh"))) == ""
    assert "casts" in unsuited(structs.replace(graph, way=Way(inputs="half")))


def test_a_model_on_sparse_inputs_is_cloned_on_dense_ones_and_nothing_in_it_replaced() -> None:
    sparse = tuple(structs.replace(each, sparse=number == 0) for number, each in enumerate(WIDE.inputs))
    graph = structs.replace(WIDE, inputs=sparse, way=Way(inputs="sparse"))
    assert unsuited(graph) == ""
    assert not any(each.sparse for each in inputs_of(graph))
    assert "takes dense tensors" in unsuited(structs.replace(graph, way=Way(clone_function=CloneFunction())))


def test_every_way_is_drawn_for_a_graph_that_it_suits() -> None:
    draw = random.Random(0)
    met = {chosen(GRAPH, [draw.randrange(256) for _ in range(DIGITS)], WAYS) for _ in range(800)}
    ways = [way for way in met if way is not None]
    assert {way.inputs for way in ways} == {"", "fresh", "listed", "layers", "batch", "own", "made"}
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


def test_what_does_not_suit_tf_keras() -> None:
    nested = structs.replace(GRAPH, generation="tf_keras", way=Way(inputs="made"))
    assert "another number" in unsuited(nested)
    wrapped = Way(clone_function=CloneFunction("wrapped", "BatchNormalization"))
    normal = structs.replace(INNER, layers=(Layer("BatchNormalization"),), way=wrapped)
    assert unsuited(structs.replace(normal, generation="keras")) == ""
    assert "cannot be distributed" in unsuited(structs.replace(normal, generation="tf_keras"))


def test_a_layer_that_takes_its_tensor_in_a_dict_is_replaced_by_none_that_takes_a_tensor() -> None:
    graph = structs.replace(INNER, generation="keras", layers=(Layer("Assemble"),))
    graph = structs.replace(graph, calls=(Call(0, (Items((("main", Ref(0)), ("rest", Seq((), "tuple")))),)),))
    assert "nothing of 4 units" in unsuited(
        structs.replace(graph, way=Way(clone_function=CloneFunction("recurrent", "Assemble", value=4)))
    )


def test_the_models_that_are_drawn_are_the_same_with_ways_and_without() -> None:
    plain = [each.graph for each in evenly(functional_graphs(generation="keras"), 60, 4)]
    graphs = functional_graphs(generation="keras", features=FEATURES | WAYS)
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
    "what a layer numbers beside operations": (
        Graph(
            (Input((3, 4)),),
            (Layer("MultiHeadAttention", (("num_heads", 1), ("key_dim", 2))), Layer("operator.half")),
            (Call(0, (Ref(0), Ref(0))), Call(1, (Ref(1),))),
            Ref(0),
            Ref(2),
        ),
        Way(clone_function=CloneFunction()),
        "numbered in the order",
    ),
    "what another layer numbers beside operations": (
        Graph(
            (Input((3, 4)),),
            (
                Layer("GroupQueryAttention", (("head_dim", 2), ("num_query_heads", 2), ("num_key_value_heads", 1))),
                Layer("operator.half"),
            ),
            (Call(0, (Ref(0), Ref(0))), Call(1, (Ref(1),))),
            Ref(0),
            Ref(2),
        ),
        Way(clone_function=CloneFunction()),
        "numbered in the order",
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
