"""Preparations: which are drawn, that Keras is asked whether each can be done, and what nobody says anything of."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest
from msgspec import structs

from clonediff.harness.source import written
from clonediff.strategies import MalformedGraph, to_json
from clonediff.strategies.asking import Question, asking
from clonediff.strategies.drawn_preparations import DIGITS, TRIES, preparations_of
from clonediff.strategies.graph import (
    Call,
    Function,
    Graph,
    Input,
    Items,
    Layer,
    Named,
    Preparation,
    Ref,
    Seq,
    Value,
)
from clonediff.strategies.kinds import LEFT_OUT, Spec, Specs
from clonediff.strategies.preparations import PREPARATIONS
from clonediff.strategies.targets import targets
from tests.strategies.models import GRAPH, INNER, WRAPPED


class Refusing:
    """A Keras that refuses some models and no call, and keeps what it is asked."""

    def __init__(self, refused: Callable[[Graph], bool] = lambda graph: False) -> None:
        self.refused = refused
        self.asked: list[Graph] = []

    def gives(self, question: Question) -> Specs | None:
        return (Spec((3, 4)),) * question.calls[-1].outputs

    def refuses(self, graph: Graph) -> str:
        self.asked.append(graph)
        return "refused" if self.refused(graph) else ""


def drawn(graph: Graph, keras: Refusing, count: int, missing: frozenset[str] = frozenset()) -> list[Graph]:
    draw = random.Random(0)
    with asking(keras):
        prepared = [preparations_of(graph, [draw.randrange(256) for _ in range(DIGITS)], missing) for _ in range(count)]
    return [structs.replace(graph, preparations=preparations) for preparations in prepared]


@pytest.mark.parametrize("does", PREPARATIONS)
def test_every_preparation_is_drawn_with_each_value(does: str) -> None:
    layers = (*GRAPH.layers, Layer("IntegerLookup", (("vocabulary", Seq((1, 2))),)), Layer("LSTM", (("units", 2),)))
    calls = (*GRAPH.calls, Call(len(layers) - 2, (Ref(0),)), Call(len(layers) - 1, (Ref(0),)))
    whole = structs.replace(GRAPH, layers=layers, calls=calls)
    seen = set[tuple[str | None, str, Value]]()
    kinds = set[str | None]()
    for graph in drawn(whole, Refusing(), 1500, frozenset(PREPARATIONS) - {does}):
        kinds.update(preparation.kind for preparation in graph.preparations)
        seen.update(
            (preparation.kind, name, value) for preparation in graph.preparations for name, value in preparation.args
        )
    assert kinds == set(PREPARATIONS[does].on(whole)) != set()
    for kind in kinds:
        for name, values in PREPARATIONS[does].args(whole, kind).items():
            missing = [value for value in values if value != LEFT_OUT and (kind, name, value) not in seen]
            assert not missing, (name, missing)


def test_what_keras_refuses_is_not_done() -> None:
    keras = Refusing(lambda graph: any(preparation.does != "trainable" for preparation in graph.preparations))
    prepared = [graph.preparations for graph in drawn(GRAPH, keras, 200)]
    assert {preparation.does for preparations in prepared for preparation in preparations} == {"trainable"}


def test_few_preparations_are_tried_for_one() -> None:
    keras = Refusing(lambda graph: True)
    assert all(not graph.preparations for graph in drawn(GRAPH, keras, 50))
    assert len(keras.asked) <= 50 * 3 * TRIES


def test_the_same_digits_mean_the_same_preparations() -> None:
    keras = Refusing(lambda graph: len(to_json(graph)) % 2 == 0)
    assert drawn(GRAPH, keras, 50) == drawn(GRAPH, keras, 50)


def test_something_costly_is_done_to_one_in_three() -> None:
    costly = {name for name, sort in PREPARATIONS.items() if sort.costly}
    graphs = drawn(GRAPH, Refusing(), 300)
    assert 70 < sum(any(each.does in costly for each in graph.preparations) for graph in graphs) < 130


def test_a_value_for_each_output() -> None:
    def losses(gives: Value) -> tuple[Value, ...]:
        return PREPARATIONS["compile"].args(structs.replace(GRAPH, gives=gives), None)["loss"]

    assert Seq(("mse", "mse")) in losses(Seq((Ref(4), Ref(1))))
    assert not any(isinstance(each, Seq) for each in losses(Seq((Ref(4),))))
    nested = Items((("a", Seq((Ref(4), Seq((Ref(1),), "tuple")))), ("b", Ref(2))))
    assert Items((("a", Seq(("mse", Seq(("mse",), "tuple")))), ("b", "mse"))) in losses(nested)
    assert Items((("a", "mse"),)) in losses(Items((("a", Ref(4)), ("b", Ref(1)))))
    error = Function("error lambda", ("y_true - y_pred",))
    assert Seq((error, "mse")) in losses(Seq((Ref(4), Ref(1))))
    assert Named("losses.mean_absolute_error") in losses(Ref(4))


def test_what_a_preparation_is_done_to() -> None:
    assert list(targets(GRAPH)) == ["Dense", "Dropout", "Model"]
    held = targets(WRAPPED)["Dense"]
    assert (held.place, held.attributes) == ((0,), ("layer",))
    nested = structs.replace(
        INNER, layers=(Layer("Model", graph=INNER),), calls=(Call(0, (Ref(0),)),), generation="keras"
    )
    assert targets(nested)["Dense"].place == (0, 0)
    never_called = Graph((Input((3, 4)),), (Layer("Flatten"), *INNER.layers), (Call(1, (Ref(0),)),), Ref(0), Ref(1))
    assert list(targets(never_called)) == ["Dense"]


OBJECTS = Preparation("objects", "Dense", (("takes", "activation"), ("within", "clone")))


@pytest.mark.parametrize(
    ("preparation", "wrong"),
    [
        (Preparation("melt"), "'melt'"),
        (Preparation("policy"), "no 'name'"),
        (Preparation("trainable", "LSTM"), "no layer of the kind 'LSTM'"),
        (Preparation("objects", "Dense", (("takes", "class"), ("within", "clone"))), "no class of one's own"),
    ],
)
def test_a_preparation_that_cannot_be_written(preparation: Preparation, wrong: str) -> None:
    with pytest.raises(MalformedGraph, match=wrong):
        written(structs.replace(GRAPH, generation="keras", preparations=(preparation,)), "keras")
    with pytest.raises(MalformedGraph, match="a wrapper is given"):
        written(structs.replace(WRAPPED, preparations=(OBJECTS,)), "keras")
