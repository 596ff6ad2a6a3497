"""The fixed cloner of `tf_keras` where graphs, variables, scopes and classes meet in ways that are easy to lose."""

from __future__ import annotations

import collections

import numpy as np
import pytest
import tensorflow as tf
import tf_keras as keras
from tf_keras import layers

from clonediff.harness.inside.cloners.fixed.tf_keras import clone_model
from tests.cloners.fixed.test_tf_keras_clone_layers import Holder
from tests.cloners.fixed.tf_keras_faithful import assert_faithful, floats_of

floats = floats_of(0)
Pair = collections.namedtuple("Pair", "a b")


def model_of(layer, shape=(4,)):
    x = keras.Input(shape)
    return keras.Model(x, layer(x))


class Subclassed(keras.Model):
    def __init__(self, units=3, **kwargs):
        super().__init__(**kwargs)
        self.units, self.inner, self.drop = units, layers.Dense(units), layers.Dropout(0.3)

    def call(self, x, training=None):
        return self.drop(self.inner(x), training=training)

    def get_config(self):
        return {"units": self.units, "name": self.name}


class BuildsParts(layers.Layer):
    def __init__(self, units=3, **kwargs):
        super().__init__(**kwargs)
        self.units, self.early = units, layers.Dense(units)

    def build(self, shape):
        self.late = layers.Dense(self.units)

    def call(self, x):
        return self.late(self.early(x))

    def get_config(self):
        return {**super().get_config(), "units": self.units}


class OfPairs(layers.Layer):
    def call(self, pair, more=None):
        return Pair(pair.a * 2, pair.b + more["z"][0])


class Context(layers.Layer):
    def __init__(self, units=4, **kwargs):
        super().__init__(**kwargs)
        self.units = self.state_size = units

    def build(self, shape):
        self.kernel = self.add_weight(name="kernel", shape=(3, self.units))

    def call(self, x, states, constants=None):
        h = tf.tanh(x @ self.kernel + states[0] + constants[0])
        return h, [h]

    def get_config(self):
        return {**super().get_config(), "units": self.units}


class OwnCall(layers.Layer):
    def __call__(self, x, *args, factor=None, **kwargs):
        return super().__call__(x if factor is None else x * factor, *args, **kwargs)

    def call(self, x):
        return x + 1


class Reports(layers.Layer):
    def call(self, x):
        self.add_metric(tf.reduce_sum(x), name="sum")
        self.add_loss(tf.reduce_mean(x))
        return x


class OneOfTwoMasks(layers.Layer):
    def compute_mask(self, inputs, mask=None):
        return [mask, None]

    def call(self, x):
        return [x, x * 2]


class OtherConstructor(keras.Model):
    def __init__(self, units=2, **kwargs):
        x = keras.Input((4,), name="x")
        super().__init__(x, layers.Dense(units, name="k")(x), **kwargs)


def holder_of_shared_parts():
    d, inner = layers.Dense(3, name="d"), model_of(layers.Dense(3), (5, 3))
    holder, x = Holder(d, [d, inner], {"last": d}), keras.Input((5, 3))
    return keras.Model(x, [holder(x), d(x), inner(x)])


def arguments_of_a_nested_call():
    i, x = keras.Input((5, 3)), keras.Input((5, 3))
    inner = keras.Model(i, layers.SimpleRNN(2, return_sequences=True)(layers.Dropout(0.5)(i)))
    return keras.Model(x, [inner(x, training=True), inner(x, mask=x[:, :, 0] > 0), inner(x)])


def named_tuples():
    x, z = keras.Input((4,)), keras.Input((4,))
    return keras.Model([x, z], list(OfPairs()(Pair(z, x), more={"z": [x, None, 1]})))


def rnn_constants():
    x, c = keras.Input((5, 3)), keras.Input((4,))
    both = layers.RNN(Context(), return_state=True)(x, constants=[c], initial_state=[c])
    return keras.Model([x, c], [*both, layers.Bidirectional(layers.RNN(Context()))(x, constants=c)])


def built_under_another_policy():
    keras.mixed_precision.set_global_policy("mixed_bfloat16")
    try:
        return model_of(BuildsParts())
    finally:
        keras.mixed_precision.set_global_policy("float32")


def code_without_a_file():
    names = {"keras": keras, "k": 3.0}
    exec("layer = keras.layers.Dense(3, activation=lambda t: t * k)", names)
    exec("after = keras.layers.Lambda(lambda t: t + k)", names)
    x = keras.Input((4,))
    return keras.Model(x, names["after"](names["layer"](x)))


def thirty_deep():
    model = model_of(layers.Dense(4))
    for _ in range(30):
        x = keras.Input((4,))
        model = keras.Model(x, model(x) + x)
    return model


def losses_of_a_nested_model():
    i, x = keras.Input((4,)), keras.Input((4,))
    y = layers.Dense(3)(i)
    inner = keras.Model(i, y)
    inner.add_loss(tf.reduce_sum(layers.Dense(2)(y)))
    inner.add_metric(tf.reduce_mean(y), name="q", aggregation="mean")
    model = keras.Model(x, inner(x))
    model.add_loss(tf.reduce_sum(model.output))
    return model


def calls_outside_the_model():
    d, x, other = layers.Dense(4), keras.Input((4,)), keras.Input((4,))
    d(other)
    y = d(x)
    d(d(other))
    return keras.Model(x, [d(y), y])


def weights_as_constants():
    inside, before = layers.Dense(4, name="inside"), layers.Dense(4, name="before")
    before.build((None, 4))
    inner, x = model_of(inside), keras.Input((4,))
    return keras.Model(x, [tf.matmul(inner(x), inside.kernel), tf.matmul(x, before.kernel), before(x)])


def variable_used_twice():
    v, x = tf.Variable([1.0, 2.0, 3.0, 4.0], name="v"), keras.Input((4,))
    return keras.Model(x, [x * v, x + v])


def frozen_deferred_sequential():
    body = keras.Sequential([layers.Dense(4), layers.Dense(4)])
    body.trainable = False
    model = model_of(body)
    body.layers[0].trainable = True
    return model


def sequential_and_its_inside():
    body = keras.Sequential([layers.Dense(4, name="d"), layers.ReLU(name="r")])
    x = keras.Input((4,))
    y = body(x)
    return keras.Model(x, [y, keras.Model(body.inputs, body.layers[0].output, name="part")(y), body.layers[0](x)])


def two_halves_of_a_graph():
    x, z = keras.Input((4,)), keras.Input((4,))
    h = layers.Dense(4, name="h")(x)
    first, second = keras.Model(x, h), keras.Model(h, layers.Dense(4, name="y")(h))
    return keras.Model(z, second(first(z)))


def layer_held_but_not_called():
    model = model_of(layers.Dense(2))
    model.spare = layers.Dense(3)
    return model


def masks_of_two_outputs():
    x = keras.Input((5, 3))
    a, b = OneOfTwoMasks()(layers.Masking()(x))
    return keras.Model(x, [layers.SimpleRNN(2)(a), layers.SimpleRNN(2)(b), a])


def in_a_name_scope():
    with tf.name_scope("scope"):
        return model_of(layers.Dense(3, name="d"))


CORNERS = {
    "subclassed model as a layer": (lambda: model_of(Subclassed()), floats(2, 4)),
    "holder of shared parts": (holder_of_shared_parts, floats(2, 5, 3)),
    "arguments of a nested call": (arguments_of_a_nested_call, floats(2, 5, 3)),
    "named tuples": (named_tuples, [floats(2, 4), floats(2, 4)]),
    "constants of an RNN": (rnn_constants, [floats(2, 5, 3), floats(2, 4)]),
    "built under another policy": (built_under_another_policy, floats(2, 4)),
    "parts made while building": (lambda: model_of(BuildsParts()), floats(2, 4)),
    "code without a file": (code_without_a_file, floats(2, 4)),
    "thirty models deep": (thirty_deep, floats(2, 4)),
    "losses of a nested model": (losses_of_a_nested_model, floats(2, 4)),
    "loss and metric of a layer": (lambda: model_of(Reports()), floats(2, 4)),
    "calls outside the model": (calls_outside_the_model, floats(2, 4)),
    "weights as constants": (weights_as_constants, floats(2, 4)),
    "variable used twice": (variable_used_twice, floats(2, 4)),
    "own __call__": (lambda: model_of(lambda x: OwnCall()(x, factor=2.0)), floats(2, 4)),
    "frozen deferred Sequential": (frozen_deferred_sequential, floats(2, 4)),
    "Sequential and its inside": (sequential_and_its_inside, floats(2, 4)),
    "two halves of a graph": (two_halves_of_a_graph, floats(2, 4)),
    "other constructor, nested": (lambda: model_of(OtherConstructor(3)), floats(2, 4)),
    "layer held but not called": (layer_held_but_not_called, floats(2, 4)),
    "masks of two outputs": (masks_of_two_outputs, floats(2, 5, 3)),
    "in a name scope": (in_a_name_scope, floats(2, 4)),
    "trainable in the constructor": (lambda: keras.Model(*both_ends(), trainable=False), floats(2, 4)),
    "function to standardize": (
        lambda: model_of_strings(layers.TextVectorization(standardize=tf.strings.lower, vocabulary=["a", "b"])),
        np.array([["A b"], ["z"]]),
    ),
    "seeded augmentation": (
        lambda: model_of(keras.Sequential([layers.RandomFlip(seed=2), layers.RandomRotation(0.2, seed=3)]), (8, 8, 3)),
        floats(2, 8, 8, 3),
    ),
}


def both_ends():
    x = keras.Input((4,))
    return x, layers.Dense(2)(x)


def model_of_strings(layer):
    x = keras.Input((1,), dtype="string")
    return keras.Model(x, layer(x))


@pytest.mark.parametrize("name", CORNERS)
def test_corner_is_cloned_faithfully(name):
    build, inputs = CORNERS[name]
    assert_faithful(build(), clone_model, inputs)


def test_a_shared_layer_of_a_model_that_begins_at_what_a_layer_gave():
    # Its calls are counted again when the model is made, the last one first.
    given = layers.Activation("linear")(keras.Input((4,)))
    shared = layers.Dense(4)
    model = keras.Model(given, shared(layers.ReLU()(shared(given))))
    clone = clone_model(model)
    clone.set_weights(model.get_weights())
    array = floats(2, 4)
    np.testing.assert_array_equal(clone(array), model(array))
