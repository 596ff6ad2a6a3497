"""The smallest state for a question is pinned, exactly, whichever graph and steps the reduction begins with."""

from __future__ import annotations

from collections.abc import Callable

from clonediff.harness.search.reducing import reduce
from clonediff.harness.search.sampling import sample_graphs
from clonediff.strategies import FEATURES, Graph
from clonediff.strategies.graph import Function, Items, Seq, Step, leaves
from tests.asked import graphs_of
from tests.effort import examples

Question = Callable[[Graph], bool]
INPUTS = "inputs = keras.Input(shape=(1,))"
NOTHING = f"{INPUTS}\nmodel = keras.Model(inputs, inputs)\n"
DENSE = f"{INPUTS}\ndense_layer = layers.Dense(1)\ndense = dense_layer(inputs)\nmodel = keras.Model(inputs, dense)\n"
PLAIN_DENSE = f"{INPUTS}\ndense = layers.Dense(1)(inputs)\nmodel = keras.Model(inputs, dense)\n"
DOUBLE = "def double(x):\n    return x * 2.0\n"
RELU = f"""\
{INPUTS}
activation_layer = layers.Activation("relu")
activation = activation_layer(inputs)
model = keras.Model(inputs, activation)
"""


def does(name: str, holds: Callable[[Step], bool] = lambda step: True) -> Question:
    return lambda graph: any(step.does == name and holds(step) for step in graph.state)


def given(name: str) -> Callable[[Step], bool]:
    return lambda step: name in dict(step.args)


def _of_a_lambda(step: Step) -> bool:
    loss = dict(step.args).get("loss")
    return any(isinstance(leaf, Function) and leaf.form == "error lambda" for leaf in leaves(loss))


def _by_output(step: Step) -> bool:
    return isinstance(dict(step.args).get("loss"), Seq)


def _by_name(step: Step) -> bool:
    loss = dict(step.args).get("loss")
    return isinstance(loss, Items) and len(loss.items) > 1


MINIMA: dict[str, tuple[Question, str, str]] = {
    "compiled": (does("compile"), NOTHING, "model.compile()\n"),
    "an optimizer": (does("compile", given("optimizer")), NOTHING, 'model.compile(optimizer="sgd")\n'),
    "a loss that is a lambda": (
        does("compile", _of_a_lambda),
        NOTHING,
        "model.compile(loss=lambda y_true, y_pred: ops.mean(ops.abs(y_true - y_pred), axis=-1))\n",
    ),
    "a loss for each output": (
        does("compile", _by_output),
        f"{INPUTS}\nmodel = keras.Model(inputs, [inputs, inputs])\n",
        'model.compile(loss=["mse", "mse"])\n',
    ),
    "a loss for each output of a dict": (
        does("compile", _by_name),
        f'{INPUTS}\nmodel = keras.Model(inputs, {{"out_0": inputs, "out_1": inputs}})\n',
        'model.compile(loss={"out_0": "mse", "out_1": "mse"})\n',
    ),
    "metrics": (does("compile", given("metrics")), NOTHING, 'model.compile(metrics=["mae"])\n'),
    "frozen": (does("trainable"), NOTHING, "model.trainable = False\n"),
    "a frozen layer": (
        does("trainable", lambda step: step.kind is not None),
        RELU,
        "activation_layer.trainable = False\n",
    ),
    "a frozen weight": (does("weight trainable"), DENSE, "dense_layer.kernel.trainable = False\n"),
    "called again": (does("call"), NOTHING, "model(model.input)\n"),
    "run": (does("run"), NOTHING, 'model(np.ones((2, 1), "float32"))\n'),
    "a low rank": (does("lora"), DENSE, "dense_layer.enable_lora(rank=1)\n"),
    "quantized": (does("quantize"), PLAIN_DENSE, 'model.quantize("int8")\n'),
    "built under another policy": (
        does("built policy"),
        f'keras.config.set_dtype_policy("mixed_bfloat16")\n{NOTHING}',
        "",
    ),
    "a function found in a scope": (
        does("objects"),
        f"{DOUBLE}\n\n{DENSE.replace('Dense(1', 'Dense(1, activation=double')}",
        "",
    ),
    "another policy": (does("policy"), NOTHING, 'keras.config.set_dtype_policy("mixed_bfloat16")\n'),
}


SORTS = (
    "compile",
    "trainable",
    "weight trainable",
    "call",
    "run",
    "lora",
    "quantize",
    "policy",
    "built policy",
    "objects",
)


KINDS = ("Dense", "LSTM", "Conv1D", "Flatten", "Dropout", "Add", "Lambda", "BatchNormalization")


def _drawn(draws: int, kinds: tuple[str, ...], features: frozenset[str]) -> list[Graph]:
    graphs = graphs_of("keras", kinds=kinds, features=features, max_instructions=8)  # type: ignore[arg-type]  # the names of features
    return [graph for graph in sample_graphs(graphs, draws, 5) if graph.state]


def test_a_state_is_as_small_as_what_shows_it() -> None:
    """One step on a model of a call or two; more of the graphs are compiled, which has most forms."""
    count, plain = examples(120, 1500), frozenset({"arrangements"})
    drawn = [
        *_drawn(count, KINDS, FEATURES.union(SORTS)),
        *_drawn(count, ("Dense", "Add"), plain.union({"compile"})),
    ]
    begun = {name: graph for name, (question, *_) in MINIMA.items() for graph in drawn if question(graph)}
    assert len(begun) >= len(MINIMA) // 2
    for name, graph in begun.items():
        smallest = reduce(graph, MINIMA[name][0]).graph
        assert len(smallest.state) == 1, name
        assert len(smallest.calls) <= 3, name
