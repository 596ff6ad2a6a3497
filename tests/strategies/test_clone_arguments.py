"""Clone arguments: which are drawn, for what Keras and the model can take."""

from __future__ import annotations

import pytest
from msgspec import structs

from clonediff.harness.source import written
from clonediff.harness.trials.cases import case_of
from clonediff.strategies import Graph
from clonediff.strategies.asking import asking
from clonediff.strategies.clone_arguments import RECIPES, with_clone_arguments
from clonediff.strategies.graph import CloneArguments
from tests.strategies.models import CHAIN, GRAPH, INNER, PAIR

from .test_preparations import Refusing


def drawn(graph: Graph, *missing: str) -> set[CloneArguments | None]:
    with asking(Refusing()):
        return {with_clone_arguments(graph, digit, frozenset(missing)).clone_arguments for digit in range(96)}


def test_every_recipe_is_drawn_where_a_model_can_take_it() -> None:
    assert drawn(GRAPH) == set(RECIPES)


@pytest.mark.parametrize(
    ("graph", "missing", "left"),
    [
        pytest.param(structs.replace(INNER, generation="keras"), (), {1, 2, 3, 4, 5}, id="no model within"),
        pytest.param(PAIR, (), {1, 3, 4, 5}, id="several inputs"),
        pytest.param(CHAIN, (), {1, 2, 3, 4}, id="a Sequential"),
        pytest.param(
            structs.replace(GRAPH, generation="tf_keras"),
            ("call functions", "recursive cloning"),
            {1, 3, 4},
            id="tf_keras",
        ),
    ],
)
def test_what_a_model_cannot_take_is_not_drawn(graph: Graph, missing: tuple[str, ...], left: set[int]) -> None:
    assert drawn(graph, *missing) == {RECIPES[number - 1] for number in left}


def test_what_keras_refuses_is_not_drawn() -> None:
    with asking(Refusing(lambda graph: True)):
        assert with_clone_arguments(GRAPH, 0, frozenset()) == GRAPH


@pytest.mark.parametrize(
    ("arguments", "expressions"),
    [
        (CloneArguments("fresh"), {"input_tensors": 'keras.Input(shape=(3, 4), name="given_1")'}),
        (CloneArguments("listed"), {"input_tensors": '[keras.Input(shape=(3, 4), name="given_1")]'}),
        (CloneArguments("layers"), {"input_tensors": 'layers.InputLayer(shape=(3, 4), name="given_1")'}),
        (CloneArguments("own"), {"input_tensors": "model.input"}),
        (CloneArguments(recursive=True), {"recursive": "True"}),
        (CloneArguments(call_function=True), {"call_function": "call_function"}),
    ],
)
def test_what_is_written(arguments: CloneArguments, expressions: dict[str, str]) -> None:
    named = tuple(structs.replace(each, name="x") for each in GRAPH.inputs)
    script = written(structs.replace(GRAPH, inputs=named, clone_arguments=arguments), "keras")
    assert dict(script.arguments) == expressions
    assert ("def call_function(layer, *args, **kwargs):" in script.source) is arguments.call_function
    assert script.asked.splitlines()[-1] == "model = keras.Model(inputs, half)"


def test_what_stands_in_the_clone() -> None:
    own, fresh = (
        case_of(structs.replace(GRAPH, clone_arguments=CloneArguments(inputs)), "keras") for inputs in ("own", "fresh")
    )
    assert (own.keeps, fresh.keeps) == ("inputs", "")
