"""The contract of `clone_model`: its arguments, its errors, what functions of the user are asked, what stays."""

from __future__ import annotations

import keras
import numpy as np
import pytest
from keras import layers, ops
from keras.src.saving import serialization_lib

from clonediff.harness.inside.cloners.fixed.keras3 import clone_model
from tests.cloners.fixed.keras3_faithful import SEQUENCES, VECTORS


def small():
    x = keras.Input((3,), name="x")
    return keras.Model(x, ops.relu(layers.Dense(2, name="dense")(x)), name="small")


def nested():
    x = keras.Input((3,))
    chain = keras.Sequential([keras.Input((2,)), layers.Dense(4, name="deep")], name="chain")
    return keras.Model(x, layers.Dense(1, name="last")(chain(small()(x))), name="nested")


def remade(layer):
    return layer.__class__.from_config(layer.get_config())


def test_clone_function_is_asked_for_each_layer_but_inputs():
    asked = []

    def function(layer):
        asked.append(layer.name)
        return remade(layer)

    clone_model(nested(), clone_function=function)
    assert sorted(asked) == ["chain", "last", "small"]
    asked.clear()
    clone_model(nested(), clone_function=function, recursive=True)
    assert sorted(asked) == ["deep", "dense", "last"]


def test_clone_function_is_asked_once_for_a_shared_layer():
    asked = []
    shared = layers.Dense(3)
    i = keras.Input((3,))
    inner = keras.Model(i, shared(i))
    x = keras.Input((3,))
    model = keras.Model(x, shared(inner(shared(x))))
    clone = clone_model(model, clone_function=lambda layer: asked.append(layer) or remade(layer), recursive=True)
    assert asked == [shared]
    assert len(clone.weights) == 2


def test_clone_function_may_reuse_the_layers():
    model = small()
    clone = clone_model(model, clone_function=lambda layer: layer)
    assert clone.get_layer("dense") is model.get_layer("dense")
    assert np.array_equal(clone(VECTORS), model(VECTORS))


def test_clone_function_may_replace_a_layer_that_was_given_a_mask():
    x = keras.Input((5, 3))
    model = keras.Model(x, layers.LSTM(2, return_sequences=True)(layers.Masking()(x)))

    def function(layer):
        return layers.Dense(2) if isinstance(layer, layers.LSTM) else remade(layer)

    assert clone_model(model, clone_function=function)(SEQUENCES).shape == (2, 5, 2)


def test_clone_function_may_wrap_a_layer():
    x = keras.Input((5, 3))
    model = keras.Model(x, layers.LSTM(2)(layers.Masking()(x)))

    def function(layer):
        return layers.Bidirectional(remade(layer)) if isinstance(layer, layers.LSTM) else remade(layer)

    assert clone_model(model, clone_function=function).output_shape == (None, 4)


def test_clone_function_of_a_sequential_model():
    model = keras.Sequential([keras.Input((3,)), layers.Dense(2), layers.ReLU()])
    clone = clone_model(model, clone_function=lambda layer: layers.Dense(7) if "dense" in layer.name else remade(layer))
    assert clone.output_shape == (None, 7)


def test_call_function_makes_each_call():
    called = []

    def function(layer, *args, **kwargs):
        called.append(layer.name)
        out = layer(*args, **kwargs)
        return layers.Dropout(0.5)(out) if isinstance(layer, layers.Dense) else out

    clone = clone_model(small(), call_function=function)
    assert called == ["dense"]
    assert any(isinstance(layer, layers.Dropout) for layer in clone.layers)


def test_call_function_reaches_nested_models_only_when_recursive():
    called = []

    def function(layer, *args, **kwargs):
        called.append(layer.name)
        return layer(*args, **kwargs)

    clone_model(nested(), call_function=function)
    assert "dense" not in called
    clone_model(nested(), call_function=function, recursive=True)
    assert "dense" in called
    assert "deep" not in called


@pytest.mark.parametrize("wrap", [lambda x: x, lambda x: x._keras_history.operation], ids=["tensor", "input-layer"])
def test_input_tensors(wrap):
    given = keras.Input((3,), name="given")
    clone = clone_model(small(), input_tensors=wrap(given))
    assert clone.input is given
    chain = clone_model(keras.Sequential([keras.Input((3,)), layers.Dense(2)]), input_tensors=[wrap(given)])
    assert chain.inputs[0] is given


def test_input_tensors_in_the_middle_of_a_graph_keep_their_history():
    x = keras.Input((5,))
    middle = layers.Dense(3)(x)
    history = middle._keras_history
    clone_model(keras.Sequential([keras.Input((3,)), layers.Dense(2)]), input_tensors=middle)
    clone_model(small(), input_tensors=middle)
    assert middle._keras_history == history


def test_sequential_without_input_upon_a_tensor():
    clone = clone_model(keras.Sequential([layers.Dense(2)]), input_tensors=keras.Input((3,)))
    assert clone.output_shape == (None, 2)


MISUSES = {
    "unexpected": (small, {"surprise": 1}, "Unexpected keyword argument"),
    "clone-function": (small, {"clone_function": 3}, "to be a callable"),
    "not-symbolic": (small, {"input_tensors": np.ones((1, 3))}, "must be KerasTensors"),
    "structure": (small, {"input_tensors": [keras.Input((3,))] * 2}, "same structure as model.input"),
    "sequential-call": (keras.Sequential, {"call_function": print}, "is not supported with Sequential"),
    "sequential-tensors": (keras.Sequential, {"input_tensors": [keras.Input((3,))] * 2}, "a single tensor"),
    "sequential-array": (keras.Sequential, {"input_tensors": np.ones((1, 3))}, "must be a KerasTensor"),
    "layer": (lambda: layers.Dense(2), {"clone_function": remade}, "only supported for Sequential"),
    "layer-call": (lambda: layers.Dense(2), {"call_function": print}, "only supported"),
}


@pytest.mark.parametrize("name", MISUSES)
def test_misuse(name):
    build, arguments, message = MISUSES[name]
    with pytest.raises(ValueError, match=message):
        clone_model(build(), **arguments)


def test_a_model_that_is_no_graph_is_made_again_from_its_config():
    class Plain(keras.Model):
        def __init__(self, units=2, **kwargs):
            super().__init__(**kwargs)
            self.units = units
            self.dense = layers.Dense(units)

        def build(self, input_shape):
            self.dense.build(input_shape)

        def call(self, x):
            return self.dense(x)

        def get_config(self):
            return {**super().get_config(), "units": self.units}

    model = Plain(5)
    model(VECTORS)
    model.compile("sgd", "mse")
    clone = clone_model(model)
    assert clone.compiled
    clone.set_weights(model.get_weights())
    assert np.array_equal(clone(VECTORS), model(VECTORS))


def test_safe_mode_is_left_as_it_is():
    before = serialization_lib.in_safe_mode()
    seen = []

    class Looking(layers.Dense):
        @classmethod
        def from_config(cls, config):
            seen.append(serialization_lib.in_safe_mode())
            return super().from_config(config)

    x = keras.Input((3,))
    clone_model(keras.Model(x, Looking(2, activation=lambda t: t)(x)))
    assert seen == [before]
    assert serialization_lib.in_safe_mode() == before


def test_a_failure_leaves_nothing_behind():
    class Failing(layers.Layer):
        made = False

        def __init__(self):
            super().__init__()
            if Failing.made:
                raise ValueError
            Failing.made = True

        def get_config(self):
            return {}

        def call(self, x):
            return x

    x = keras.Input((3,))
    model = keras.Model(x, Failing()(x))
    scope = dict(keras.saving.get_custom_objects())
    with keras.saving.custom_object_scope({"Mine": Failing}):
        with pytest.raises(TypeError):
            clone_model(model)
        assert keras.saving.get_registered_object("Mine") is Failing
    assert keras.saving.get_custom_objects() == scope


def test_names_are_not_used_up():
    model = small()
    before = int(layers.Dense(1).name.rpartition("_")[2] or 0)
    clone_model(model)
    assert int(layers.Dense(1).name.rpartition("_")[2]) == before + 1
