"""What an edit leaves to be derived: fitting finds it, and changes nothing that fits already."""

from __future__ import annotations

import pytest
from msgspec import structs

from clonediff.harness.search.reducing.fitting import fitted
from clonediff.harness.source import write_source
from clonediff.strategies import Graph, MalformedGraph, infer
from clonediff.strategies.graph import Array, Call, Function, Input, Items, Layer, Ref, Seq
from clonediff.strategies.kinds import GENERATIONS, Generation
from tests.warm_keras import at_hand, hold


@pytest.mark.parametrize("generation", GENERATIONS)
def test_a_drawn_graph_fits(generation: Generation) -> None:
    def holds(graph: Graph) -> None:
        with at_hand(generation):
            assert fitted(graph) == graph

    hold(holds, generation, 20, 150)


MASKED = Layer(
    "Lambda",
    (
        ("function", Function("lambda", ("x * 2.0", "x + 1.0"), "list")),
        ("output_shape", Seq((Seq((3, 4), "tuple"), Seq((3, 4), "tuple")))),
        ("mask", Seq((Array((2, 3), "bool", tensor=True),) * 2)),
    ),
)


def test_arguments_that_follow_from_the_tensors_follow_them() -> None:
    graph = Graph(
        inputs=(Input((3, 4)),),
        layers=(
            MASKED,
            Layer("Reshape", (("target_shape", Seq((4, 3), "tuple")),)),
        ),
        calls=(Call(0, (Ref(0),), outputs=2), Call(1, (Ref(1, 1),))),
        takes=Ref(0),
        gives=Seq((Ref(1), Ref(2))),
        generation="keras",
    )
    infer(graph)
    narrow = structs.replace(graph, inputs=(Input((5, 1)),))
    with pytest.raises(MalformedGraph):
        infer(narrow)
    assert "Lambda(lambda x: [x * 2.0, x + 1.0], output_shape=[(5, 1), (5, 1)]" in write_source(fitted(narrow), "keras")
    assert "np.arange(10).reshape(2, 5)" in write_source(fitted(narrow), "keras")
    infer(fitted(narrow))


def test_an_inner_model_takes_what_it_is_given() -> None:
    inner = Graph((Input((4,)),), (Layer("Dense", (("units", 3),)),), (Call(0, (Ref(0),)),), Ref(0), Ref(1))
    graph = Graph((Input((7,)),), (Layer("Model", graph=inner),), (Call(0, (Ref(0),)),), Ref(0), Ref(1))
    fit = fitted(graph).layers[0].graph
    assert fit is not None and fit.inputs == (Input((7,)),)


def test_a_layer_in_the_place_of_one_that_takes_a_dict_takes_a_tensor() -> None:
    nested = Items((("main", Ref(0)), ("rest", Seq((), "tuple"))))
    graph = Graph((Input((4,)),), (Layer("ReLU"),), (Call(0, (nested,)),), Ref(0), Ref(1))
    assert fitted(graph).calls[0].args == (Ref(0),)
