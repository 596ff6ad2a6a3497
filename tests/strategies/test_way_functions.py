"""The functions that `clone_model` is given: which suit a graph, so that what they ask for can be built."""

from __future__ import annotations

from typing import Literal

import pytest
from msgspec import structs

from strategies import Graph
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
)
from strategies.kinds import Generation
from strategies.ways import unsuited
from tests.strategies.test_ways import INNER


@pytest.mark.parametrize(
    ("generation", "kind", "suits"),
    [("tf_keras", "Rescaling", False), ("tf_keras", "Activation", True), ("keras", "Rescaling", True)],
)
def test_a_layer_that_knows_no_masks_is_not_distributed_over_time_under_one(
    generation: Generation, kind: str, suits: bool
) -> None:
    args = (("scale", 2.0),) if kind == "Rescaling" else (("activation", "tanh"),)
    layers, calls = (Layer("Masking"), Layer(kind, args)), (Call(0, (Ref(0),)), Call(1, (Ref(1),)))
    way = Way(clone_function=CloneFunction("wrapped", kind, others="kept" if generation == "tf_keras" else "remade"))
    graph = Graph((Input((3, 4)),), layers, calls, Ref(0), Ref(2), generation=generation, way=way)
    assert (unsuited(graph) == "") is suits


@pytest.mark.parametrize("way", [Way(clone_function=CloneFunction()), Way(call_function=CallFunction())])
def test_no_function_is_asked_about_an_operation_of_ones_own(way: Way) -> None:
    graph = structs.replace(INNER, layers=(Layer("Amplify"),), generation="keras")
    assert unsuited(structs.replace(graph, way=way)).endswith("Amplify is no layer")
    assert unsuited(structs.replace(graph, way=Way(inputs="fresh"))) == ""


@pytest.mark.parametrize(("gives", "suits"), [(Ref(2), True), (Ref(1), False)])
def test_a_function_raises_about_what_some_output_needs(gives: Ref, suits: bool) -> None:
    layers = (Layer("Dense", (("units", 4),)), Layer("Dropout", (("rate", 0.5),)))
    calls = (Call(0, (Ref(0),)), Call(1, (Ref(1),)))
    way = Way(clone_function=CloneFunction("raises", "Dropout"))
    graph = Graph((Input((3, 4)),), layers, calls, Ref(0), gives, generation="keras", way=way)
    assert ("which no output needs" not in unsuited(graph)) is suits


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


def test_a_layer_that_takes_its_tensor_in_a_dict_is_replaced_by_none_that_takes_a_tensor() -> None:
    graph = structs.replace(INNER, generation="keras", layers=(Layer("Assemble"),))
    graph = structs.replace(graph, calls=(Call(0, (Items((("main", Ref(0)), ("rest", Seq((), "tuple")))),)),))
    assert "nothing of 4 units" in unsuited(
        structs.replace(graph, way=Way(clone_function=CloneFunction("recurrent", "Assemble", value=4)))
    )


TANH = (("activation", "tanh"),)


@pytest.mark.parametrize("times", [1, 2])
@pytest.mark.parametrize(
    ("change", "there"), [("dense", Layer("Dense", (("units", 4),))), ("replaced", Layer("Activation", TANH))]
)
def test_what_becomes_of_the_kind_before_which_something_is_inserted_is_called_once(
    change: CloneChange, there: Layer, times: int
) -> None:
    """What is inserted is named after the layer, also where another stands in that one's place."""
    layers = (Layer("BatchNormalization"), there)
    calls = (*(Call(0, (Ref(number),)) for number in range(times)), Call(1, (Ref(times),)))
    way = Way(
        clone_function=CloneFunction(change, "BatchNormalization", value=4 if change == "dense" else None),
        call_function=CallFunction("before", there.kind),
    )
    graph = Graph((Input((4,)),), layers, calls, Ref(0), Ref(times + 1), generation="keras", way=way)
    assert ("is called twice" in unsuited(graph)) is (times == 2)
    alone = structs.replace(graph, way=structs.replace(way, clone_function=None))
    assert "is called twice" not in unsuited(alone)
