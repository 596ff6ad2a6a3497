"""The fixed cloner of `tf_keras` with each argument, held against the model that was asked for, built by hand."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf
import tf_keras as keras
from tf_keras import layers

from clonediff.harness.inside.cloners.fixed.tf_keras import clone_model
from tests.cloners.fixed.tf_keras_faithful import assert_same_structure

VECTORS = np.random.RandomState(0).standard_normal((2, 3)).astype("float32")


def remade(layer):
    return type(layer).from_config(layer.get_config())


def assert_as_by_hand(clone, by_hand, *data):
    assert_same_structure(by_hand, clone)
    by_hand.set_weights(clone.get_weights())
    assert np.array_equal(clone(*data), by_hand(*data))


def simple(x=None, width=3):
    x = keras.Input((width,), name="x") if x is None else x
    return keras.Model(x, layers.Dense(2, name="dense")(x), name="model")


def around(layer):
    x = keras.Input((3,), name="x")
    return keras.Model(x, layers.Dense(3, name="last")(layer(x)), name="model")


def dense(name="layer"):
    return layers.Dense(3, name=name)


def functional():
    x = keras.Input((3,), name="inner_x")
    return keras.Model(x, dense("inner")(x), name="layer")


def chain():
    return keras.Sequential([keras.Input((3,), name="inner_x"), dense("inner")], name="layer")


def waiting_chain():
    return keras.Sequential([dense("inner")], name="layer")


KINDS = [dense, functional, chain, waiting_chain]


@pytest.mark.parametrize("new", KINDS)
@pytest.mark.parametrize("old", KINDS)
def test_a_layer_is_replaced_by_a_model_and_the_other_way_round(old, new):
    clone = clone_model(around(old()), clone_function=lambda each: new() if each.name == "layer" else remade(each))
    assert_as_by_hand(clone, around(new()), VECTORS)


def test_one_layer_may_take_the_place_of_two():
    one = dense("one")
    clone = clone_model(around(dense()), clone_function=lambda _: one)
    assert np.array_equal(clone(VECTORS), one(one(VECTORS)))


def test_a_nested_model_that_waits_for_its_input_is_built_by_the_one_given():
    clone = clone_model(around(waiting_chain()), input_tensors=keras.Input((7,), name="x"))
    assert clone.get_layer("layer").input_shape == (None, 7)


@pytest.mark.parametrize("place", [0, 1])
def test_a_tensor_of_another_model_is_built_upon(place):
    x = keras.Input((6,), name="far")
    split = layers.Lambda(lambda t: [t[:, :3], t[:, 3:] * 2.0], name="split")
    middle = split(x)[place]
    elsewhere, history = keras.Model(x, middle), middle._keras_history
    config = elsewhere.get_config()
    clone = clone_model(simple(), input_tensors=middle)
    assert [each.name for each in clone.layers[1:]] == ["dense"]
    assert clone(VECTORS).shape == (2, 2)
    assert middle._keras_history is history
    assert elsewhere.get_config() == config


def subtracting(a, b, nest):
    on = layers.Dense(2, name="on_a")(a), layers.Dense(2, name="on_b")(b)
    return keras.Model(nest(a, b), layers.Subtract(name="s")(list(on)), name="model")


NESTED = {
    "a list": (lambda a, b: [b, a], lambda a, b: [b, a]),
    "a tuple for a list": (lambda a, b: [b, a], lambda a, b: (b, a)),
    "a dict": (lambda a, b: {"b": b, "a": a}, lambda a, b: {"a": a, "b": b}),
    "a list for a dict": (lambda a, b: {"b": b, "a": a}, lambda a, b: [a, b]),
    "nested": (lambda a, b: [b, {"a": a}], lambda a, b: [b, {"a": a}]),
}


@pytest.mark.parametrize("name", NESTED)
def test_input_tensors_are_taken_by_their_place(name):
    own, given = NESTED[name]

    def inputs():
        return keras.Input((3,), name="a"), keras.Input((2,), name="b")

    a, b = inputs()
    clone = clone_model(subtracting(*inputs(), own), input_tensors=given(a, b))
    assert (clone.get_layer("on_a").input, clone.get_layer("on_b").input) == (a, b)
    tf.nest.assert_same_structure(clone.input, own(a, b))


class Both(layers.Layer):
    def call(self, x):
        return x, 2 * x


def test_a_failure_leaves_layers_that_are_used_again_as_they_were():
    model = around(dense())
    before = [(list(each._inbound_nodes), list(each._outbound_nodes)) for each in model.layers]
    with pytest.raises(ValueError, match="must keep their number"):
        clone_model(model, clone_function=lambda each: Both() if each.name == "last" else each)
    assert [(each._inbound_nodes, each._outbound_nodes) for each in model.layers] == before


def two_inputs():
    return subtracting(keras.Input((3,)), keras.Input((2,)), lambda a, b: [a, b])


MISUSES = {
    "no model": (lambda: "model", {}, "model or layer of Keras"),
    "0": (lambda: keras.Model(), {"clone_function": 0}, "to be a callable"),
    "None": (simple, {"clone_function": lambda _: None}, "gave None for the layer 'dense'"),
    "a class": (simple, {"clone_function": type}, "the layer to use in its place"),
    "an input layer": (simple, {"clone_function": lambda _: layers.InputLayer((3,))}, "no InputLayer"),
    "too few": (two_inputs, {"input_tensors": [keras.Input((3,))]}, "one for each input of model 'model'"),
    "none": (two_inputs, {"input_tensors": []}, "one for each input of model 'model'"),
    "too many": (simple, {"input_tensors": [keras.Input((3,))] * 2}, "one for each input of model 'model'"),
    "a dict": (two_inputs, {"input_tensors": {"a": keras.Input((3,)), "b": keras.Input((2,))}}, "nested as these are"),
    "an array": (simple, {"input_tensors": VECTORS}, "must be tensors or InputLayers"),
    "an array for a Sequential": (chain, {"input_tensors": [VECTORS]}, "must be tensors or InputLayers"),
    "a string": (simple, {"input_tensors": "x"}, "must be tensors or InputLayers"),
}


@pytest.mark.parametrize("name", MISUSES)
def test_what_cannot_be_done_is_said(name):
    build, way, message = MISUSES[name]
    with pytest.raises(ValueError, match=message):
        clone_model(build(), **way)


NUMBERS_FIRST = {
    "divided": lambda x: 3 / x,
    "less": lambda x: 2.5 - x,
    "times": lambda x: 2 * x,
    "power": lambda x: 2.0**x,
    "whole": lambda x: 7 // x,
}


@pytest.mark.parametrize("does", NUMBERS_FIRST.values(), ids=NUMBERS_FIRST)
@pytest.mark.parametrize("old", ["float16", "float32", "float64"])
@pytest.mark.parametrize("new", ["float16", "float32", "float64"])
def test_a_number_before_an_operator_has_the_dtype_of_the_inputs_that_are_given(does, old, new):
    x, given = keras.Input((3,), dtype=old), keras.Input((3,), dtype=new)
    clone = clone_model(keras.Model(x, does(x)), input_tensors=[given])
    by_hand = keras.Model(given, does(given))
    assert clone.output.dtype == by_hand.output.dtype == new
    assert np.array_equal(clone(VECTORS.astype(new)), by_hand(VECTORS.astype(new)), equal_nan=True)


def test_a_number_that_the_inputs_that_are_given_cannot_hold_is_refused():
    x, given = keras.Input((3,)), keras.Input((3,), dtype="int32")
    with pytest.raises(TypeError, match="int32 that does not match type float32"):
        clone_model(keras.Model(x, 2.5 - x), input_tensors=[given])
