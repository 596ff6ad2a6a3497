"""The smallest graph for a question is pinned, exactly, whichever graph the reduction begins with."""

from __future__ import annotations

from functools import cache

import pytest

from harness.search.even_draws import evenly
from harness.search.reducing import reduce
from harness.source import write_source
from strategies import Graph
from strategies.kinds import Generation
from tests.asked import graphs_of
from tests.effort import examples

from .questions import QUESTIONS, drawn

INPUTS = "inputs = keras.Input(shape=(1,))"
SEQUENCE = "inputs = keras.Input(shape=(1, 1))"
RELU = 'layers.Activation("relu")'

MINIMA: dict[str, str] = {
    "anything": f"{INPUTS}\nmodel = keras.Model(inputs, inputs)\n",
    "an output twice": f"{INPUTS}\nmodel = keras.Model(inputs, [inputs, inputs])\n",
    "a dimension of more than two": "inputs = keras.Input(shape=(3,))\nmodel = keras.Model(inputs, inputs)\n",
    "an open dimension": "inputs = keras.Input(shape=(None,))\nmodel = keras.Model(inputs, inputs)\n",
    "a frozen layer": f"""\
{INPUTS}
activation = layers.Activation("relu", trainable=False)(inputs)
model = keras.Model(inputs, activation)
""",
    "a layer named": f"""\
{INPUTS}
my_activation = layers.Activation("relu", name="my_activation")(inputs)
model = keras.Model(inputs, my_activation)
""",
    "a layer of kind LSTM": f"{SEQUENCE}\nlstm = layers.LSTM(1)(inputs)\nmodel = keras.Model(inputs, lstm)\n",
    "a layer of kind Conv2D": """\
inputs = keras.Input(shape=(2, 2, 1))
conv_2d = layers.Conv2D(1, kernel_size=2)(inputs)
model = keras.Model(inputs, conv_2d)
""",
    "a layer of kind Reshape": f"""\
{INPUTS}
reshape = layers.Reshape((1,))(inputs)
model = keras.Model(inputs, reshape)
""",
    "a tensor twice in a call": f"{INPUTS}\nadd = layers.Add()([inputs, inputs])\nmodel = keras.Model(inputs, add)\n",
    "a Lambda with 3 outputs": f"""\
{INPUTS}
lambda_a, lambda_b, lambda_c = layers.Lambda(lambda x: [x, x, x])(inputs)
model = keras.Model(inputs, lambda_a)
""",
    "a fixed mask": f"""\
{SEQUENCE}
lambda_2 = layers.Lambda(lambda x: x * 2.0, mask=ops.convert_to_tensor(np.arange(2).reshape(2, 1) % 3 != 2))(inputs)
model = keras.Model(inputs, lambda_2)
""",
    "a Lambda in an inner model": f"""\
{INPUTS}
inner_inputs = keras.Input(shape=(1,))
lambda_2 = layers.Lambda(lambda x: x)(inner_inputs)
inner_model = keras.Model(inner_inputs, lambda_2)
model_2 = inner_model(inputs)
model = keras.Model(inputs, model_2)
""",
    "shared at several depths": f"""\
{INPUTS}
activation_layer = {RELU}
activation = activation_layer(inputs)
activation_2 = activation_layer(activation)
model = keras.Model(inputs, activation_2)
""",
    "calls that lead nowhere": f"""\
{INPUTS}
activation = {RELU}(inputs)
model = keras.Model(inputs, inputs)
""",
    "a model cut out": f"""\
{INPUTS}
activation = {RELU}(inputs)
base = keras.Model(inputs, inputs)
model = keras.Model(inputs, activation)
""",
    "a model cut out of a Sequential": f"""\
base = keras.Sequential([keras.Input(shape=(1,)), {RELU}])
model = keras.Model(base.inputs[0], base.layers[0].output)
""",
}

CALLED: dict[str, str] = {
    "a layer twice in a Sequential": f"""\
activation_layer = {RELU}
model = keras.Sequential([keras.Input(shape=(1,)), activation_layer, activation_layer])
""",
    "a Sequential that is built once it is made": f"model = keras.Sequential([{RELU}])\nmodel.build((None, 1))\n",
    "a Sequential that is not built": f"model = keras.Sequential([{RELU}])\n",
    "a Sequential that is built by its call": f"""\
{INPUTS}
inner_model = keras.Sequential([{RELU}])
sequential = inner_model(inputs)
model = keras.Model(inputs, sequential)
""",
    "a model that is given tensors by their names": f"""\
{INPUTS}
inner_inputs = keras.Input(shape=(1,), name="in_0")
activation = {RELU}(inner_inputs)
inner_model = keras.Model(inner_inputs, activation)
model_2 = inner_model({{"in_0": inputs}})
model = keras.Model(inputs, model_2)
""",
    "a model that is given a tuple": f"""\
{INPUTS}
inner_inputs = keras.Input(shape=(1,))
activation = {RELU}(inner_inputs)
inner_model = keras.Model(inner_inputs, activation)
model_2 = inner_model((inputs,))
model = keras.Model(inputs, model_2)
""",
    "a model inside that takes a dict": f"""\
{INPUTS}
inner_inputs = keras.Input(shape=(1,), name="in_0")
activation = {RELU}(inner_inputs)
inner_model = keras.Model({{"in_0": inner_inputs}}, activation)
model_2 = inner_model(inputs)
model = keras.Model(inputs, model_2)
""",
}

OWN: dict[str, str] = {
    "a model of a class that inherits its constructor": f"{INPUTS}\nmodel = OwnModel(inputs, inputs)\n",
    "a model of a class that takes an option": f"{INPUTS}\nmodel = OwnModel(inputs, inputs, factor=2.0)\n",
    "a model of a class that makes its layers": "model = OwnModel(factor=2.0)\n",
}

BEGUN_INSIDE = f"""\
{INPUTS}
activation = {RELU}(inputs)
activation_2 = {RELU}(activation)
base = keras.Model(inputs, activation)
model = keras.Model(activation, activation_2)
"""

EARLY: dict[str, str] = {
    "anything": f"{INPUTS}\nactivation = {RELU}(inputs)\nmodel = keras.Model(inputs, activation)\n",
    "an output twice": f"""\
{INPUTS}
activation = {RELU}(inputs)
model = keras.Model(inputs, [activation, activation])
""",
    "a frozen model": f"""\
{INPUTS}
activation = {RELU}(inputs)
model = keras.Model(inputs, activation)
model.trainable = False
""",
    "a Lambda with 3 outputs": MINIMA["a Lambda with 3 outputs"],
}

CASES: list[tuple[Generation, str, str]] = [
    *(("keras", name, text) for name, text in {**MINIMA, **CALLED, **OWN}.items()),
    *(("tf_keras", name, MINIMA[name]) for name in ("anything", "an output twice", "a layer of kind LSTM")),
    ("tf_keras", "a model that begins inside another", BEGUN_INSIDE),
    *(("keras2", name, text) for name, text in EARLY.items()),
]
MANY = examples(3, 8)
"""The graphs that each reduction begins with: a different one each time."""


def kinds_for(name: str) -> tuple[str, ...] | None:
    """For a kind that is seldom drawn, it and few others."""
    kind = name.removeprefix("a layer of kind ")
    return None if kind == name else (kind, "Dense", "Add", "Lambda")


@cache
def evenly_drawn(generation: Generation) -> tuple[Graph, ...]:
    return tuple(each.graph for each in evenly(graphs_of(generation), 600, 0))


@pytest.mark.parametrize(
    ("generation", "name", "smallest"), CASES, ids=[f"{generation}-{name}" for generation, name, _ in CASES]
)
def test_the_smallest_graph_is_found(generation: Generation, name: str, smallest: str) -> None:
    question = QUESTIONS[name]
    kinds = kinds_for(name)
    count = examples(60, 500) if kinds else examples(300, 500)
    holding = [graph for graph in drawn(generation, count, kinds) if question(graph)][:MANY]
    if not holding:  # Hypothesis draws the same sorts again and again
        holding = [graph for graph in evenly_drawn(generation) if question(graph)][:MANY]
    assert holding
    for graph in holding:
        reduced = reduce(graph, question)
        assert write_source(reduced.graph, generation).endswith(f"\n\n{smallest}"), graph
        assert reduced.tried < 100, graph
