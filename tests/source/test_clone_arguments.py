"""What `clone_model` is given, and the model that it then asks for, as a person would type them."""

from __future__ import annotations

import ast

import pytest
from msgspec import structs

from clonediff.harness.source import written
from clonediff.harness.source.clone_arguments import write_clone_function
from clonediff.strategies.clone_arguments import makes_none
from clonediff.strategies.graph import (
    Call,
    CallFunction,
    CloneArguments,
    CloneFunction,
    Function,
    Graph,
    Input,
    Layer,
    Made,
    Ref,
    Seq,
)
from tests.strategies.test_clone_arguments import GRAPH, INNER, PAIR, SUITED
from tests.warm_keras import well_typed

HEAD = "import keras\nfrom keras import layers\n"


def test_a_layer_that_is_made_of_another_config() -> None:
    clone_arguments = CloneArguments(clone_function=CloneFunction("set", "Dense", "activation", "tanh"))
    its = written(structs.replace(INNER, generation="keras", clone_arguments=clone_arguments), "keras")
    assert its.source == (
        HEAD
        + """

def clone_function(layer):
    config = layer.get_config()
    if type(layer) is layers.Dense:
        config["activation"] = "tanh"
    return layer.__class__.from_config(config)


inputs = keras.Input(shape=(3, 4))
dense_layer = layers.Dense(4)
dense = dense_layer(inputs)
model = keras.Model(inputs, dense)
"""
    )
    assert its.arguments == (("clone_function", "clone_function"),)
    assert its.asked == (
        "inputs = keras.Input(shape=(3, 4))\n"
        "dense = clone_function(dense_layer)(inputs)\n"
        "model = keras.Model(inputs, dense)\n"
    )


def test_the_layer_that_a_wrapper_holds() -> None:
    layer = Layer("Dampen", (("layer", Made(Layer("Dense", (("units", 4),)))),))
    function = CloneFunction("unwrapped", "Dampen")
    for others, gives in (
        ("remade", "layer.layer.__class__.from_config(layer.layer.get_config())"),
        ("kept", "layer.layer"),
    ):
        given = CloneArguments(clone_function=structs.replace(function, others=others))
        its = written(structs.replace(INNER, layers=(layer,), generation="keras", clone_arguments=given), "keras")
        assert f"    if type(layer) is Dampen:\n        return {gives}\n" in its.source
        assert "dampen = clone_function(dampen_layer)(inputs)\n" in its.asked


def test_another_axis_on_inputs_whose_channels_come_first() -> None:
    given = CloneArguments("transposed", CloneFunction("channels first"))
    graph = structs.replace(INNER, layers=(Layer("BatchNormalization"),), generation="keras", clone_arguments=given)
    its = written(graph, "keras")
    assert (
        """
def clone_function(layer):
    config = layer.get_config()
    if "data_format" in config:
        config["data_format"] = "channels_first"
    if "axis" in config:
        config["axis"] = 1
    return layer.__class__.from_config(config)
"""
        in its.source
    )
    assert dict(its.arguments)["input_tensors"] == "keras.Input(shape=(4, 3))"
    assert its.asked.startswith("inputs = keras.Input(shape=(4, 3))\n")


@pytest.mark.parametrize("dialect", ["keras", "tf_keras"])
def test_a_function_that_clones_models_by_itself(dialect: str) -> None:
    given = CloneArguments(clone_function=CloneFunction("renamed", recurses=True))
    graph = Graph((Input((3, 4)),), (Layer("Model", graph=INNER),), (Call(0, (Ref(0),)),), Ref(0), Ref(1))
    its = written(structs.replace(graph, clone_arguments=given), dialect)
    assert f"\nfrom {dialect}.models import clone_model\n" in its.source
    assert (
        """
def clone_function(layer):
    if isinstance(layer, keras.Model):
        return clone_model(layer, clone_function=clone_function)
    config = layer.get_config()
"""
        in its.source
    )
    assert "inner_inputs = keras.Input(shape=(3, 4))\ndense = clone_function(dense_layer)(inner_inputs)\n" in its.asked
    assert "clone_function(inner_model)" not in its.asked
    once = structs.replace(graph, clone_arguments=CloneArguments(clone_function=CloneFunction("renamed")))
    assert "clone_function(inner_model)" in written(once, dialect).asked


def test_a_value_is_written_once() -> None:
    asked: list[object] = []
    write_clone_function(CloneFunction("set", key="units", value=3), str, lambda value: asked.append(value) or "3")
    assert asked == [3]


def test_an_activation_after_a_layer_of_the_model_within() -> None:
    clone_arguments = CloneArguments(call_function=CallFunction("after", "Dense"), recursive=True)
    its = written(structs.replace(GRAPH, clone_arguments=clone_arguments), "keras")
    assert (
        """
def call_function(layer, *args, **kwargs):
    outputs = layer(*args, **kwargs)
    if type(layer) is layers.Dense:
        outputs = layers.Activation("tanh", name=f"after_{layer.name}")(outputs)
    return outputs
"""
        in its.source
    )
    assert dict(its.arguments) == {"call_function": "call_function", "recursive": "True"}
    assert "dense_2 = call_function(layers.Dense(4), inner_inputs)\n" in its.asked
    assert "model_2 = call_function(inner_model, dropout)\n" in its.asked
    plainly = written(
        structs.replace(GRAPH, clone_arguments=structs.replace(clone_arguments, recursive=False)), "keras"
    )
    assert "dense_2 = layers.Dense(4)(inner_inputs)\n" in plainly.asked


@pytest.mark.parametrize(
    ("inputs", "dialect", "expression"),
    [
        ("fresh", "keras", 'keras.Input(shape=(4,), name="given_1"), "b": keras.Input(shape=(4,), name="given_2")}'),
        ("own", "keras", "model.input"),
        ("layers", "keras", 'layers.InputLayer(shape=(4,), name="given_1")'),
        ("layers", "tf_keras", '[layers.InputLayer(input_shape=(4,), name="given_1")'),
        ("batch", "tf_keras", '[keras.Input(shape=(4,), batch_size=2, name="given_1")'),
        ("made", "keras", 'layers.Activation("linear", name="made_2")(keras.Input(shape=(4,), name="given_2"))}'),
    ],
)
def test_tensors_that_are_given(inputs: str, dialect: str, expression: str) -> None:
    graph = structs.replace(PAIR, generation=dialect, clone_arguments=structs.replace(CloneArguments(), inputs=inputs))
    assert expression in dict(written(graph, dialect).arguments)["input_tensors"]


def test_a_tensor_of_the_model_itself() -> None:
    its = written(structs.replace(INNER, generation="keras", clone_arguments=CloneArguments(inputs="inner")), "keras")
    assert its.arguments == (("input_tensors", "dense_layer.output"),)
    assert "dense = dense_layer(inputs)\n" in its.source
    assert its.asked.startswith("inputs = dense_layer.output\ndense_layer_2 = layers.Dense(4)\n")


def test_one_tensor_for_an_input_that_is_taken_twice() -> None:
    twice = structs.replace(
        INNER, generation="keras", takes=Seq((Ref(0), Ref(0))), clone_arguments=CloneArguments(inputs="fresh")
    )
    its = dict(written(twice, "keras").arguments)["input_tensors"]
    assert its == "(lambda given_0: [given_0, given_0])(keras.Input(shape=(3, 4)))"


def test_one_tensor_in_a_list() -> None:
    its = written(structs.replace(INNER, generation="keras", clone_arguments=CloneArguments(inputs="listed")), "keras")
    assert its.arguments == (("input_tensors", "[keras.Input(shape=(3, 4))]"),)


@pytest.mark.parametrize("clone_arguments", SUITED)
def test_each_clone_argument_is_python(clone_arguments: CloneArguments) -> None:
    graph = structs.replace(GRAPH, clone_arguments=clone_arguments)
    well_typed(graph)
    its = written(graph, "keras")
    ast.parse(its.source)
    ast.parse(its.asked)
    for _, expression in its.arguments:
        ast.parse(expression, mode="eval")
    if makes_none(clone_arguments):
        assert its.asked == ""
    else:
        assert its.asked.rstrip().splitlines()[-1].startswith("model = keras.Model(")


def test_a_graph_without_clone_arguments_asks_for_nothing() -> None:
    its = written(GRAPH, "keras")
    assert (its.arguments, its.asked) == ((), "")


def test_a_function_has_one_name_where_the_layer_of_another_is_kept() -> None:
    """The model that is asked for calls the layers of the first one, and their functions are not written again."""
    given, doubled = (Function("named", (text,)) for text in ("x", "x * 2.0"))
    graph = Graph(
        inputs=(Input((1,)),),
        layers=(Layer("Lambda", (("function", given),)), Layer("ops.jvp", (("fun", doubled),))),
        calls=(Call(0, (Ref(0),)), Call(1, (Ref(1), Ref(1)))),
        takes=Ref(0),
        gives=Ref(2),
        generation="keras",
        clone_arguments=CloneArguments(clone_function=CloneFunction("kept")),
    )
    its = written(graph, "keras")
    assert "ops.jvp(transform_2, " in its.source
    assert "ops.jvp(transform_2, " in its.asked
