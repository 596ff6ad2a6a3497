"""What is done to a model before it is cloned, as a person would type it."""

from __future__ import annotations

from typing import Literal

import pytest
from msgspec import structs

from clonediff.harness.source import written
from clonediff.harness.trials.cases import case_of
from clonediff.strategies.graph import (
    Call,
    Function,
    Graph,
    Input,
    Layer,
    MalformedGraph,
    Named,
    Preparation,
    Ref,
    Seq,
)
from tests.strategies.models import GRAPH, INNER, WRAPPED

ONE = structs.replace(INNER, generation="keras")


def lines(graph: Graph, *preparations: Preparation) -> list[str]:
    source = written(structs.replace(graph, preparations=preparations), "keras").source
    return source[source.index("\nmodel = keras.Model") + 1 :].splitlines()[1:]


def test_compiled() -> None:
    assert lines(ONE, Preparation("compile")) == ["model.compile()"]
    optimizer = Named("optimizers.SGD", (("learning_rate", 0.5), ("momentum", 0.25)))
    preparation = Preparation("compile", None, (("optimizer", optimizer), ("loss", "mse"), ("metrics", Seq(("mae",)))))
    assert lines(ONE, preparation) == [
        "model.compile(",
        "    optimizer=keras.optimizers.SGD(learning_rate=0.5, momentum=0.25),",
        '    loss="mse",',
        '    metrics=["mae"],',
        ")",
    ]


def test_functions_and_classes_of_ones_own() -> None:
    for form, above, text in (
        ("error lambda", "", "lambda y_true, y_pred: ops.mean(ops.abs(y_true - y_pred), axis=-1)"),
        ("error named", "def error(y_true, y_pred):\n    return ops.mean(", "error"),
        ("metric class", "class MeanError(keras.metrics.Mean):\n    def update_state(self, y_true", "MeanError()"),
        ("loss class", "class Error(keras.losses.Loss):\n    def call(self, y_true, y_pred):\n", "Error()"),
    ):
        preparation = Preparation("compile", None, (("loss", Function(form, ("y_true - y_pred",))),))
        source = written(structs.replace(ONE, preparations=(preparation,)), "keras").source
        assert "from keras import layers, ops" in source or "from keras import ops" in source
        assert above in source
        assert f"model.compile(loss={text})\n" in source


def test_a_layer_in_a_model_in_a_wrapper() -> None:
    assert lines(GRAPH, Preparation("trainable", None, (("trainable", False),))) == ["model.trainable = False"]
    assert lines(WRAPPED, Preparation("trainable", "Dense", (("trainable", False),))) == [
        "time_distributed_layer.layer.trainable = False"
    ]
    assert lines(ONE, Preparation("lora", "Dense", (("rank", 2), ("lora_alpha", 3)))) == [
        "dense_layer.enable_lora(rank=2, lora_alpha=3)"
    ]
    assert lines(ONE, Preparation("quantize", None, (("mode", "int8"),))) == ['model.quantize("int8")']


def test_another_setting_of_the_session() -> None:
    channels = (("image_data_format", "channels_first"),)
    assert lines(ONE, Preparation("session", None, channels)) == [
        'keras.config.set_image_data_format("channels_first")'
    ]
    for setting, line in (
        (("floatx", "float64"), 'keras.config.set_floatx("float64")'),
        (("flash_attention", False), "keras.config.disable_flash_attention()"),
        (("unsafe_deserialization", True), "keras.config.enable_unsafe_deserialization()"),
    ):
        assert lines(ONE, Preparation("session", None, (setting,))) == [line]


def test_a_setting_that_is_none() -> None:
    with pytest.raises(MalformedGraph, match="one of image_data_format, floatx, .* found 'colour'"):
        written(structs.replace(ONE, preparations=(Preparation("session", None, (("colour", "red"),)),)), "keras")


@pytest.mark.parametrize("within", ["clone", "model", "both"])
def test_a_function_that_is_found_in_a_scope(within: str) -> None:
    preparation = Preparation("objects", "Dense", (("takes", "activation"), ("within", within)))
    case = case_of(structs.replace(ONE, preparations=(preparation,)), "keras")
    scope = 'keras.utils.custom_object_scope({"double": double})'
    assert "\n\ndef double(x):\n    return x * 2.0\n\n\n" in case.source
    assert (f"\nwith {scope}:\n    inputs" in case.source) is (within != "clone")
    assert "layers.Dense(4, activation=double)" in case.source
    case = case_of(structs.replace(ONE, generation="tf_keras", preparations=(preparation,)), "tf_keras")
    assert ("activation=double)" if within == "clone" else 'activation="double")') in case.source
    assert case.within == (() if within == "model" else (scope,))


@pytest.mark.parametrize("generation", ["keras", "tf_keras"])
@pytest.mark.parametrize("within", ["clone", "model", "both"])
def test_a_class_that_is_found_in_a_scope(within: str, generation: Literal["keras", "tf_keras"]) -> None:
    preparation = Preparation("objects", "Scale", (("takes", "class"), ("within", within)))
    two = (Layer("Scale"), Layer("SumAll"))
    calls = (Call(0, (Ref(0),)), Call(1, (Ref(1), Ref(1))))
    graph = Graph((Input((4,)),), two, calls, Ref(0), Ref(2), generation=generation, preparations=(preparation,))
    case = case_of(graph, generation)
    assert "\n\n\nclass Scale(layers.Layer):" in case.source
    assert "serializable()\nclass SumAll(layers.Layer):" in case.source
    scope = 'keras.utils.custom_object_scope({"Scale": Scale})'
    assert (f"\nwith {scope}:\n    inputs" in case.source) is (within != "clone")
    assert case.within == (() if within == "model" else (scope,))


def test_a_layer_that_learns_from_data_is_made_without_what_it_learns() -> None:
    lookup = Layer("StringLookup", (("vocabulary", Seq(("red", "green"))), ("num_oov_indices", 2)))
    graph = Graph((Input((3,), "string"),), (lookup,), (Call(0, (Ref(0),)),), Ref(0), Ref(1), generation="keras")
    preparation = Preparation("adapt", "StringLookup", (("data", Seq(("red", "green"))),))
    source = written(structs.replace(graph, preparations=(preparation,)), "keras").source
    assert "string_lookup_layer = layers.StringLookup(num_oov_indices=2)\n" in source
    assert source.endswith('string_lookup_layer.adapt(np.array(["red", "green"]))\n')
    assert "import numpy as np\n" in source


def test_a_layer_that_is_not_there() -> None:
    with pytest.raises(MalformedGraph, match="no layer of the kind 'LSTM'"):
        written(
            structs.replace(ONE, preparations=(Preparation("trainable", "LSTM", (("trainable", False),)),)), "keras"
        )
