"""The fixed cloner of `tf_keras` on graphs: calls, sharing, nesting, inputs and outputs."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf
import tf_keras as keras
from tf_keras import layers

from clonediff.harness.inside.cloners.fixed.tf_keras import clone_model
from tests.cloners.fixed.tf_keras_faithful import assert_faithful, floats_of

floats = floats_of(0)


class Sum(layers.Layer):
    def call(self, x, *others, scale=1.0):
        for other in others:
            x = x + other
        return x * scale


class First(layers.Layer):
    def call(self, xs):
        assert isinstance(xs, (list, tuple))
        return xs[0] * (2.0 if isinstance(xs, tuple) else 3.0)


class FromDict(layers.Layer):
    def call(self, xs):
        return {"sum": xs["a"] + xs["b"], "rest": (xs["a"], [xs["b"]])}


def two_output_lambda():
    x = keras.Input((4,))
    return keras.Model(x, layers.Add()(layers.Lambda(lambda t: [t, t])(x)))


def shared_at_depths():
    x = keras.Input((4,))
    d, e = layers.Dense(4, name="d"), layers.Dense(4, activation="relu", name="e")
    early = d(x)
    late = d(e(d(e(early))))
    return keras.Model(x, [d(x), late, early])


def shared_out_of_order():
    x, z = keras.Input((4,)), keras.Input((4,))
    d, e = layers.Dense(4), layers.Dense(4)
    first = d(e(e(x)))
    second = d(z)
    return keras.Model([z, x], layers.Subtract()([second, first]))


def extra_positional():
    x, z = keras.Input((4,)), keras.Input((4,))
    return keras.Model([x, z], Sum()(x, z, z, scale=2.0))


def keyword_tensor():
    x, s = keras.Input((4,)), keras.Input((1,))
    return keras.Model([x, s], Sum()(x, x, scale=s))


def numpy_constants():
    x = keras.Input((4,))
    return keras.Model(x, Sum()(x, np.ones((1, 4), "float32"), scale=np.float32(3)))


def constant_in_first():
    x = keras.Input((4,))
    return keras.Model(x, layers.Concatenate()([x, tf.ones((3, 2))]))


def list_of_one():
    x = keras.Input((4,))
    return keras.Model(x, First()([x]))


def tuple_of_one():
    x = keras.Input((4,))
    return keras.Model(x, First()((x,)))


def tuple_of_two():
    x = keras.Input((4,))
    return keras.Model(x, First()((x, x)))


def dict_argument():
    x, z = keras.Input((4,)), keras.Input((4,))
    out = FromDict()({"b": x, "a": z})
    return keras.Model([x, z], out)


def operators():
    x = keras.Input((4,), name="x")
    y = tf.nn.relu(x * 2.0 - 1.0)[:, 1:3]
    y = tf.concat([y, -x], axis=1) @ tf.ones((6, 2))
    y = tf.where(y > 0, y, tf.zeros_like(y))
    return keras.Model(x, [y, tf.shape(y)[0], tf.reduce_sum(x, axis=1, keepdims=True), tf.split(x, 2, axis=1)])


def dynamic_slice():
    x, n = keras.Input((6,)), keras.Input((), dtype="int32", batch_size=1)
    return keras.Model([x, n], x[:, : n[0]])


def same_tensor_twice():
    x = keras.Input((4,))
    return keras.Model(x, layers.Multiply()([x, x]))


def input_is_output():
    x = keras.Input((4,))
    return keras.Model(x, [x, layers.Dense(2)(x)])


def only_input():
    x = keras.Input((4,))
    return keras.Model(x, x)


def output_twice():
    x = keras.Input((4,))
    y = layers.Dense(2)(x)
    return keras.Model(x, [y, y, {"z": y}])


def unused_input():
    x, z = keras.Input((4,)), keras.Input((3,))
    return keras.Model([x, z], layers.Dense(2)(x))


def dict_inputs():
    x, z = keras.Input((4,), name="x"), keras.Input((4,), name="z")
    return keras.Model({"two": x, "one": z}, {"q": x - z, "p": (x, [z])})


def list_of_one_input():
    x = keras.Input((4,))
    return keras.Model([x], [layers.Dense(2)(x)])


def tuple_inputs():
    x, z = keras.Input((4,)), keras.Input((4,))
    return keras.Model((x, (z,)), (x + z,))


def backbone():
    x = keras.Input((4,))
    h = layers.Dense(5, activation="relu")(x)
    y = layers.Dense(2)(layers.Dense(3)(h))
    keras.Model(x, y)
    return keras.Model(h, y)


def tied_weights():
    x = keras.Input((3,), dtype="int32")
    e = layers.Embedding(7, 4)
    y = e(x)
    return keras.Model(x, tf.matmul(y, e.embeddings, transpose_b=True))


def foreign_variable():
    x = keras.Input((4,))
    return keras.Model(x, x * tf.Variable(3.0))


def training_given():
    x = keras.Input((40,))
    y = layers.Dropout(0.5, seed=3)(x, training=True)
    return keras.Model(x, [y, layers.Dropout(0.5)(x, training=False), layers.GaussianNoise(1.0)(x)])


def explicit_mask():
    x, m = keras.Input((5, 3)), keras.Input((5,), dtype="bool")
    a = layers.SimpleRNN(4, return_sequences=True)(x, mask=m)
    return keras.Model([x, m], [a, layers.GlobalAveragePooling1D()(a, mask=m), layers.SimpleRNN(2)(a, mask=None)])


def states_and_constants():
    x, a, b = keras.Input((5, 3)), keras.Input((4,)), keras.Input((4,))
    y, h, c = layers.LSTM(4, return_sequences=True, return_state=True)(x, initial_state=[a, b])
    z = layers.Bidirectional(layers.LSTM(4))(y, initial_state=[h, c, a, b])
    return keras.Model([x, a, b], [z, h, c])


def constant_states():
    x = keras.Input((5, 3), batch_size=3)
    return keras.Model(x, layers.GRU(4)(x, initial_state=[tf.ones((3, 4))]))


def attention():
    q, v = keras.Input((5, 4)), keras.Input((6, 4))
    y, s = layers.MultiHeadAttention(2, 3)(q, v, return_attention_scores=True)
    return keras.Model([q, v], [y, s, layers.Attention()([q, v])])


def masks():
    x = keras.Input((5,), dtype="int32")
    y = layers.Embedding(7, 4, mask_zero=True)(x)
    y = layers.Dropout(0.2)(y)
    a, b = layers.SimpleRNN(3, return_sequences=True)(y), layers.Masking(0.5)(y)
    return keras.Model(x, [layers.Concatenate()([a, b]), layers.TimeDistributed(layers.Dense(2))(a), y])


def mask_of_a_mask():
    x = keras.Input((5,), dtype="int32")
    e = layers.Embedding(7, 4, mask_zero=True)
    return keras.Model(x, layers.SimpleRNN(3)(e(x), mask=e.compute_mask(x)))


def add_loss_and_metric():
    x, z = keras.Input((4,)), keras.Input((2,))
    y = layers.Dense(2, kernel_regularizer="l2", activity_regularizer="l1")(x)
    model = keras.Model([x, z], y)
    model.add_loss(tf.reduce_mean(tf.abs(y - layers.Dense(2, name="side")(z))))
    model.add_metric(tf.reduce_sum(y), name="total", aggregation="mean")
    model.add_metric(tf.reduce_sum(x), name="again", aggregation="mean")
    return model


def deep_stack():
    x = y = keras.Input((2,))
    for _ in range(400):
        y = layers.ReLU()(y)
    return keras.Model(x, y)


GRAPHS = {
    "two output lambda": (two_output_lambda, floats(3, 4)),
    "shared at several depths": (shared_at_depths, floats(3, 4)),
    "shared out of order": (shared_out_of_order, [floats(3, 4), floats(3, 4)]),
    "further positional tensors": (extra_positional, [floats(3, 4), floats(3, 4)]),
    "tensor by keyword": (keyword_tensor, [floats(3, 4), floats(3, 1)]),
    "numpy constants": (numpy_constants, floats(3, 4)),
    "constant among tensors": (constant_in_first, floats(3, 4)),
    "list of one": (list_of_one, floats(3, 4)),
    "tuple of one": (tuple_of_one, floats(3, 4)),
    "tuple of two": (tuple_of_two, floats(3, 4)),
    "dict argument": (dict_argument, [floats(3, 4), floats(3, 4)]),
    "operators": (operators, floats(3, 4)),
    "slice by a tensor": (dynamic_slice, [floats(1, 6), np.array([3], "int32")]),
    "same tensor twice": (same_tensor_twice, floats(3, 4)),
    "input is output": (input_is_output, floats(3, 4)),
    "nothing but input": (only_input, floats(3, 4)),
    "output twice": (output_twice, floats(3, 4)),
    "unused input": (unused_input, [floats(3, 4), floats(3, 3)]),
    "dict inputs": (dict_inputs, {"two": floats(3, 4), "one": floats(3, 4)}),
    "list of one input": (list_of_one_input, floats(3, 4)),
    "tuple inputs": (tuple_inputs, (floats(3, 4), (floats(3, 4),))),
    "from the middle of a graph": (backbone, floats(3, 5)),
    "tied weights": (tied_weights, np.array([[1, 2, 0]], "int32")),
    "foreign variable": (foreign_variable, floats(3, 4)),
    "training given": (training_given, floats(3, 40)),
    "explicit mask": (explicit_mask, [floats(3, 5, 3), np.tile([True, False, True, True, False], (3, 1))]),
    "states": (states_and_constants, [floats(3, 5, 3), floats(3, 4), floats(3, 4)]),
    "constant states": (constant_states, floats(3, 5, 3)),
    "attention": (attention, [floats(3, 5, 4), floats(3, 6, 4)]),
    "masks": (masks, np.array([[1, 2, 0, 3, 0]], "int32")),
    "computed mask": (mask_of_a_mask, np.array([[1, 2, 0, 3, 0]], "int32")),
    "add_loss and add_metric": (add_loss_and_metric, [floats(3, 4), floats(3, 2)]),
    "deep stack": (deep_stack, floats(3, 2)),
}


AGAIN = ("shared at several depths", "dict inputs", "from the middle of a graph", "tied weights", "masks")
"""Those whose clones are cloned, too: the property tests do it with one drawn graph in eight."""


@pytest.mark.parametrize("name", GRAPHS)
def test_graph_is_cloned_faithfully(name):
    build, inputs = GRAPHS[name]
    assert_faithful(build(), clone_model, inputs, again=name in AGAIN)
