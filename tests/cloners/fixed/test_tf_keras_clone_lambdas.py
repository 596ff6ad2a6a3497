"""The fixed cloner of `tf_keras` on `Lambda` layers and on functions that other layers are given."""

from __future__ import annotations

import functools

import numpy as np
import pytest
import tensorflow as tf
import tf_keras as keras
from tf_keras import layers

from clonediff.harness.inside.cloners.fixed.tf_keras import clone_model
from tests.cloners.fixed.test_tf_keras_clone_layers import around, clipped, masking, placed, sequences, triple
from tests.cloners.fixed.tf_keras_faithful import assert_faithful, floats_of

floats = floats_of(0)


def masked_sum(x, mask=None, training=None):
    if mask is not None:
        x = x * tf.cast(mask, x.dtype)[..., None]
    return x * 2.0 if training else x


def keep_mask(inputs, mask=None):
    return mask


class Shifter:
    def __init__(self, by):
        self.by = by

    def shift(self, x):
        return x + self.by

    def __call__(self, x):
        return x - self.by


class Scaled(layers.Lambda):
    def __init__(self, function, factor=2.0, **kwargs):
        super().__init__(function, **kwargs)
        self.factor = factor

    def call(self, inputs, mask=None, training=None):
        return super().call(inputs, mask=mask, training=training) * self.factor

    def get_config(self):
        return {**super().get_config(), "factor": self.factor}


LAMBDAS = {
    "python lambda": lambda: layers.Lambda(lambda x: x + 1, name="mine", trainable=False, dtype="float64"),
    "closure": lambda: layers.Lambda((lambda k: lambda x: x * k)(5.0)),
    "default argument": lambda: layers.Lambda(lambda x, k=2.0: x * k),
    "named function": lambda: layers.Lambda(triple),
    "keras function": lambda: layers.Lambda(keras.activations.softmax),
    "tensorflow function": lambda: layers.Lambda(tf.nn.relu),
    "bound method": lambda: layers.Lambda(Shifter(2.0).shift),
    "callable object": lambda: layers.Lambda(Shifter(2.0)),
    "partial": lambda: layers.Lambda(functools.partial(clipped, limit=0.3)),
    "mask and training": lambda: layers.Lambda(masked_sum),
    "arguments": lambda: layers.Lambda(clipped, arguments={"limit": np.array([0.1, 0.2, 0.3], "float32")}),
    "argument like an array": lambda: layers.Lambda(
        lambda x, d=None: x + (1.0 if isinstance(d, dict) else 2.0), arguments={"d": {"type": "ndarray", "value": [1]}}
    ),
    "output shape tuple": lambda: layers.Lambda(lambda x: x[:, :, :2], output_shape=(5, 2)),
    "output shape list": lambda: layers.Lambda(lambda x: x[:, :, :2], output_shape=[5, 2]),
    "output shape function": lambda: layers.Lambda(lambda x: x, output_shape=lambda s: s),
    "mask function": lambda: layers.Lambda(triple, mask=keep_mask),
    "mask lambda": lambda: layers.Lambda(triple, mask=lambda i, m: tf.logical_not(m)),
    "mask tensor": lambda: layers.Lambda(triple, mask=tf.constant([[True, False, True, True, False]])),
    "outputs in a list": lambda: layers.Lambda(lambda x: [x, x * 2]),
    "outputs in a tuple": lambda: layers.Lambda(lambda x: (x, x * 2)),
    "outputs in a dict": lambda: layers.Lambda(lambda x: {"b": x, "a": x * 2}),
    "nested outputs": lambda: layers.Lambda(lambda x: {"b": (x, [x]), "a": x * 2}),
    "masking said later": lambda: masking(layers.Lambda(triple)),
    "subclass": lambda: Scaled(lambda x: x, factor=7.0, mask=keep_mask),
    "in TimeDistributed": lambda: layers.TimeDistributed(layers.Lambda(functools.partial(clipped, limit=0.2))),
    "lambda activation": lambda: layers.Dense(3, activation=lambda x: x * 0.3),
    "partial activation": lambda: layers.Dense(3, activation=functools.partial(clipped, limit=0.1)),
    "named activation": lambda: layers.Activation(triple),
    "lambda in a cell": lambda: layers.LSTM(3, activation=lambda x: x * 0.3),
    "lambda regularizer": lambda: layers.Dense(3, kernel_regularizer=lambda w: tf.reduce_sum(w)),
    "constant initializer": lambda: layers.Dense(3, bias_initializer=keras.initializers.Constant(floats(3))),
}


@pytest.mark.parametrize("name", LAMBDAS)
@pytest.mark.parametrize(
    "place",
    [
        pytest.param(
            "outer", marks=pytest.mark.slow(reason="the same without a model around it, as in the tests below")
        ),
        "nested",
    ],
)
def test_lambda_is_cloned_faithfully(name, place):
    assert_faithful(placed(LAMBDAS[name](), place), clone_model, sequences())


def test_mask_array_of_a_lambda():
    mask = np.array([[True, False, True, True, False]])
    assert_faithful(around(layers.Lambda(triple, mask=mask)), clone_model, floats(2, 5, 3))


def test_lambda_functions_are_the_same_objects():
    function, mask = (lambda x: x), (lambda i, m: m)
    model = around(layers.Lambda(function, mask=mask, name="l"))
    clone = clone_model(model)
    assert clone.get_layer("l").function is function
    assert clone.get_layer("l").mask is mask
