"""How models are given their tensors, and Sequentials without an input: what is typed, refused, read from JSON."""

from __future__ import annotations

import pytest
from msgspec import structs

from clonediff.strategies import FEATURES, Graph, infer
from clonediff.strategies.calling import packed, packings
from clonediff.strategies.graph import Call, Input, Items, Layer, Ref, Seq
from clonediff.strategies.programs import Again, Apply, Nest, Program
from tests.warm_keras import lowered

DENSE = Apply("Dense", options=(("units", 4),))
LAYER = Layer("Dense", (("units", 4),))
TWO = Graph(
    inputs=(Input((4,), name="in_0"), Input((4,), name="in_1")),
    layers=(Layer("Add"),),
    calls=(Call(0, (Seq((Ref(0), Ref(1))),)),),
    takes=Seq((Ref(0), Ref(1))),
    gives=Ref(2),
)
CHAIN = Graph(
    inputs=(Input((4,)),),
    layers=(LAYER,),
    calls=(Call(0, (Ref(0),)), Call(0, (Ref(1),))),
    takes=Ref(0),
    gives=Ref(2),
    sequential=True,
)


def around(inner: Graph, call: Call, *inputs: Input) -> Graph:
    """A model of that one alone."""
    return Graph(
        inputs=inputs or tuple(structs.replace(each, name=None) for each in inner.inputs),
        layers=(Layer("Model", graph=inner),),
        calls=(call,),
        takes=Ref(0) if len(inner.inputs) == 1 else Seq((Ref(0), Ref(1))),
        gives=Ref(len(inner.inputs)),
    )


def one(shape: tuple[int, ...] = (4,), dtype: str = "float32", name: str | None = None) -> Graph:
    return Graph((Input(shape, dtype, name),), (LAYER,), (Call(0, (Ref(0),)),), Ref(0), Ref(1))


ON_BOTH = Call(0, (Seq((Ref(0), Ref(1))),))


def test_what_a_call_is_given() -> None:
    names = structs.replace(ON_BOTH, packing="turned")
    assert packed(names, TWO) == (Items((("in_1", Ref(1)), ("in_0", Ref(0)))),)
    further = packed(structs.replace(ON_BOTH, packing="further"), TWO)[0]
    assert isinstance(further, Items)
    assert [key for key, _ in further.items] == ["in_0", "in_1", "not_taken"]


NAMELESS = structs.replace(TWO, inputs=tuple(structs.replace(each, name=None) for each in TWO.inputs))
UNSORTED = structs.replace(
    TWO, inputs=tuple(structs.replace(each, name=f"in_{2 - n}") for n, each in enumerate(TWO.inputs))
)


@pytest.mark.parametrize(
    ("inner", "expected"),
    [
        pytest.param(TWO, ["tuple", "keyword", "names", "turned", "further"], id="named"),
        pytest.param(NAMELESS, ["tuple", "keyword"], id="nameless"),
        pytest.param(UNSORTED, ["tuple", "keyword"], id="names-in-no-order"),
        pytest.param(CHAIN, ["list", "keyword"], id="sequential"),
        pytest.param(structs.replace(CHAIN, built="later"), [], id="built-by-the-call"),
    ],
)
def test_the_structures_that_suit_a_model(inner: Graph, expected: list[str]) -> None:
    assert list(packings(inner)) == expected


def less(**changes: object) -> Call:
    return structs.replace(Call(0, (Ref(0),)), **changes)


@pytest.mark.parametrize(
    ("inner", "given", "call"),
    [
        pytest.param(one(), Input((4, 1)), less(axis="more"), id="an-axis-more"),
        pytest.param(one((4, 1)), Input((4,)), less(axis="less"), id="an-axis-less"),
        pytest.param(one(dtype="float64"), Input((4,)), less(), id="cast"),
    ],
)
def test_a_model_takes_tensors_of_another_rank_or_dtype(inner: Graph, given: Input, call: Call) -> None:
    graph = around(inner, call, given)
    infer(graph)


def test_a_program_says_how_its_models_are_called() -> None:
    nest = Nest((DENSE,), names=True, takes="dict", packing=2)
    graph = lowered(Program((Input((4,)),), (nest, Again(packing=3))))
    assert graph.layers[0].graph is not None
    assert graph.layers[0].graph.takes == Items((("in_0", Ref(0)),))
    assert [call.packing for call in graph.calls] == ["names", "further"]
    infer(graph)


def test_an_axis_is_given_where_layers_of_any_rank_take_it() -> None:
    nest = Nest((DENSE,), axis="less")
    graph = lowered(Program((Input((4,)),), (nest, DENSE), ends=3))
    assert graph.calls[0].axis == "less"
    assert {ref.node for call in graph.calls[1:] for ref in (Ref(0),)} == {0}
    infer(graph)


def test_a_chain_calls_a_layer_again() -> None:
    graph = lowered(Program((Input((4,)),), (DENSE, Again()), ends=3, sequential=True), features=FEATURES)
    assert [call.layer for call in graph.calls] == [0, 0]
    assert graph.built == "later"
