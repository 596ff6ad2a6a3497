"""Preparations become as few and small as what shows them, whichever graph the reducer begins with."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from clonediff.harness.search.reducing import reduce
from clonediff.harness.search.sampling import sample_graphs
from clonediff.harness.source import write_source
from clonediff.strategies import Graph, infer
from clonediff.strategies.graph import Call, Function, Input, Items, Layer, Preparation, Ref, Seq, leaves
from tests.example_counts import examples
from tests.warm_keras import at_hand, graphs_of

Question = Callable[[Graph], bool]


def does(name: str, holds: Callable[[Preparation], bool] = lambda preparation: True) -> Question:
    return lambda graph: any(preparation.does == name and holds(preparation) for preparation in graph.preparations)


def given(name: str) -> Callable[[Preparation], bool]:
    return lambda preparation: name in dict(preparation.args)


def _of_a_lambda(preparation: Preparation) -> bool:
    loss = dict(preparation.args).get("loss")
    return any(isinstance(leaf, Function) and leaf.form == "error lambda" for leaf in leaves(loss))


def _by_output(preparation: Preparation) -> bool:
    return isinstance(dict(preparation.args).get("loss"), Seq)


def _by_name(preparation: Preparation) -> bool:
    loss = dict(preparation.args).get("loss")
    return isinstance(loss, Items) and len(loss.items) > 1


QUESTIONS: dict[str, Question] = {
    "compiled": does("compile"),
    "an optimizer": does("compile", given("optimizer")),
    "a loss that is a lambda": does("compile", _of_a_lambda),
    "a loss for each output": does("compile", _by_output),
    "a loss for each output of a dict": does("compile", _by_name),
    "metrics": does("compile", given("metrics")),
    "frozen": does("trainable"),
    "a frozen layer": does("trainable", lambda preparation: preparation.kind is not None),
    "a frozen weight": does("weight trainable"),
    "a low rank": does("lora"),
    "quantized": does("quantize"),
    "a function found in a scope": does("objects"),
    "another policy": does("policy"),
}
KINDS = ("Dense", "LSTM", "Conv1D", "Flatten", "Dropout", "Add", "Lambda", "BatchNormalization")


def _drawn(draws: int, kinds: tuple[str, ...]) -> list[Graph]:
    graphs = graphs_of("keras", kinds=kinds, preparations=True, max_instructions=8)
    return [graph for graph in sample_graphs(graphs, draws, 5) if graph.preparations]


def test_preparations_are_as_small_as_what_shows_them() -> None:
    """One preparation on a model of a call or two; more of the graphs are compiled, which has most forms."""
    count = examples(50, 1500)
    drawn = [*_drawn(count, KINDS), *_drawn(count, ("Dense", "Add"))]
    begun = {name: graph for name, question in QUESTIONS.items() for graph in drawn if question(graph)}
    assert len(begun) >= len(QUESTIONS) // 2
    for name, graph in begun.items():
        smallest = reduce(graph, QUESTIONS[name]).graph
        assert len(smallest.preparations) == 1, name
        assert len(smallest.calls) <= 3, name


LARGE = Graph(
    (Input((3, 4)), Input((3, 4))),
    (
        Layer("Dense", (("units", 4), ("activation", "tanh"), ("use_bias", False))),
        Layer("Add"),
        Layer("Dropout", (("rate", 0.5),)),
        Layer("LSTM", (("units", 3), ("return_sequences", True))),
    ),
    (Call(0, (Ref(0),)), Call(1, (Seq((Ref(2), Ref(1))),)), Call(2, (Ref(3),)), Call(3, (Ref(4),))),
    Seq((Ref(0), Ref(1))),
    Seq((Ref(5), Ref(3))),
    generation="keras",
    preparations=(
        Preparation("trainable", "LSTM", (("trainable", False),)),
        Preparation("weight trainable", "Dense", (("kernel.trainable", False),)),
        Preparation("compile", None, (("optimizer", "adam"), ("loss", "mae"), ("run_eagerly", True))),
        Preparation("quantize", None, (("mode", "float8"),)),
    ),
)
SCRIPTS: dict[str, tuple[Question, str]] = {
    "an optimizer": (
        QUESTIONS["an optimizer"],
        """\
import keras

inputs = keras.Input(shape=(1,))
model = keras.Model(inputs, inputs)
model.compile(optimizer="sgd")
""",
    ),
    "quantized": (
        QUESTIONS["quantized"],
        """\
import keras

inputs = keras.Input(shape=(1,))
model = keras.Model(inputs, inputs)
model.quantize("int8")
""",
    ),
    "a frozen layer": (
        QUESTIONS["a frozen layer"],
        """\
import keras
from keras import layers

inputs = keras.Input(shape=(1,))
activation_layer = layers.Activation("relu")
activation = activation_layer(inputs)
model = keras.Model(inputs, activation)
activation_layer.trainable = False
""",
    ),
    "a frozen kernel": (
        does("weight trainable", lambda preparation: preparation.kind == "Dense"),
        """\
import keras
from keras import layers

inputs = keras.Input(shape=(1,))
dense_layer = layers.Dense(1)
dense = dense_layer(inputs)
model = keras.Model(inputs, dense)
dense_layer.kernel.trainable = False
""",
    ),
}


@pytest.mark.parametrize("name", SCRIPTS)
def test_the_smallest_script_for_a_step(name: str) -> None:
    with at_hand("keras"):
        infer(LARGE)
        question, script = SCRIPTS[name]
        assert question(LARGE)
        assert write_source(reduce(LARGE, question).graph, "keras") == script
