"""Models cut out of other models: which there are, what is said of a file that has another, what one is by itself."""

from __future__ import annotations

import pytest
from msgspec import structs

from clonediff.strategies import Graph, MalformedGraph, infer
from clonediff.strategies.asking import taken
from clonediff.strategies.cutting import apart
from clonediff.strategies.graph import Base, Call, Input, Layer, Ref, Seq
from clonediff.strategies.programs import Again, Apply, Program
from tests.warm_keras import PLAINLY, lowered

DENSE = Layer("Dense", (("units", 4),))
WHOLE = Graph(
    inputs=(Input((3, 4)), Input((3, 4))),
    layers=(Layer("Masking"), DENSE, Layer("Add"), Layer("Fork"), Layer("UseMask")),
    calls=(
        Call(0, (Ref(0),)),  # node 2
        Call(1, (Ref(1),)),
        Call(2, (Seq((Ref(3), Ref(0))),)),
        Call(1, (Ref(4),)),
        Call(3, (Ref(5),), outputs=2),  # node 6
        Call(2, (Seq((Ref(6), Ref(6, 1))),)),
        Call(4, (Ref(2),)),  # node 8
    ),
    takes=Seq((Ref(0), Ref(1))),
    gives=Ref(7),
)
BASE = Base(WHOLE.takes, WHOLE.gives)


def cut(takes: Ref | Seq, gives: Ref | Seq, base: Base = BASE, **changes: object) -> Graph:
    return structs.replace(WHOLE, takes=takes, gives=gives, base=base, **changes)


BOTH = Seq((Ref(0), Ref(1)))
FORKED = Seq((Ref(6), Ref(6, 1)))


def test_one_inside_another_is_called_on_what_it_takes() -> None:
    inner = Layer("Model", graph=cut(BOTH, Ref(7)))
    infer(Graph(WHOLE.inputs, (inner,), (Call(0, (BOTH,)),), BOTH, Ref(2)))
    with pytest.raises(MalformedGraph):
        infer(Graph(WHOLE.inputs, (inner,), (Call(0, (Ref(0),)),), BOTH, Ref(2)))


def test_by_itself_it_begins_with_inputs() -> None:
    graph = cut(Seq((Ref(5), Ref(0))), Seq((Ref(7), Ref(8))))
    assert taken(graph) == (Input((3, 4)), Input((3, 4)))
    alone = apart(graph, infer(graph))
    assert alone is not None
    assert [alone.layers[call.layer].kind for call in alone.calls] == ["Masking", "Fork", "Add", "UseMask"]
    assert (alone.base, list(alone.inputs)) == (None, [Input((3, 4)), Input((3, 4))])


RELU = Apply("ReLU", (1,), 0)
BODY = (RELU, Again(0, (1,)), Apply("Dense", (1,), 0, (("units", 4),)))


@pytest.mark.parametrize(
    ("digits", "later", "takes", "gives"),
    [
        pytest.param((0, 0, 0), True, Ref(0), Ref(3), id="all-of-it"),
        pytest.param((2, 0, 1), True, Ref(0), Ref(1), id="nowhere-later-to-begin"),
        pytest.param((1, 3, 0), True, Ref(0), Seq((Ref(2), Ref(3))), id="two-outputs"),
        pytest.param((0, 0, 1), True, Ref(2), Ref(3), id="past-a-layer-called-again"),
        pytest.param((0, 0, 1), False, Ref(0), Ref(3), id="from-inputs-only"),
    ],
)
def test_digits_say_what_is_cut_out(digits: tuple[int, ...], later: bool, takes: Ref, gives: Ref | Seq) -> None:
    features = PLAINLY if later else PLAINLY - {"later inputs"}
    graph = lowered(Program((Input((4,)),), BODY, (1,), cut=digits), features=features)
    assert graph.base == Base(Ref(0), Ref(3))
    assert (graph.takes, graph.gives) == (takes, gives)


def test_what_the_base_does_not_need_can_be_cut_out_if_they_share_a_layer() -> None:
    inputs, dense = (Input((4,)), Input((4,))), Apply("Dense", (2,), 1, (("units", 4),))
    graph = lowered(Program(inputs, (dense, Again(0, (1,), 1)), (3,), cut=(0, 0, 0)))
    assert graph.base == Base(Ref(1), Ref(2))
    assert (graph.takes, graph.gives) == (Ref(0), Ref(3))
    other = lowered(Program(inputs, (dense, Apply("ReLU", (1,), 1)), (3,), cut=(0, 0, 0)))
    assert [layer.kind for layer in other.layers] == ["Dense"]
    assert (other.takes, other.gives) == (Ref(0), Ref(1))
