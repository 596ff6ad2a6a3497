"""What `tf_keras` alone has: operations and variables of TensorFlow in a graph, added losses and metrics."""

from __future__ import annotations

import collections

import keras
import numpy as np
import tensorflow as tf
from keras import layers

from . import around, model, models
from .single_layers import Cell

Pair = collections.namedtuple("Pair", "a b")


@model()
def operations():
    x = keras.Input((4,), name="x")
    y = tf.nn.relu(x * 2.0 - 1.0)[:, 1:3]
    y = tf.concat([y, -x], axis=1) @ tf.ones((6, 2))
    y = tf.where(y > 0, y, tf.zeros_like(y))
    return keras.Model(x, [y, tf.shape(y)[0], tf.reduce_sum(x, axis=1, keepdims=True), tf.split(x, 2, axis=1)])


@model(again=True)
def tied_weights():
    x = keras.Input((3,), dtype="int32")
    embedding = layers.Embedding(7, 4)
    y = embedding(x)
    return keras.Model(x, tf.matmul(y, embedding.embeddings, transpose_b=True))


@model()
def a_variable_used_twice():
    v = tf.Variable([1.0, 2.0, 3.0], name="v")
    return around(lambda x: [x * v, x + v])


@model()
def losses_and_metrics_that_are_added():
    i, x, z = keras.Input((4,)), keras.Input((4,)), keras.Input((2,))
    y = layers.Dense(3, kernel_regularizer="l2", activity_regularizer="l1")(i)
    inner = keras.Model(i, y)
    inner.add_loss(tf.reduce_sum(layers.Dense(2)(y)))
    inner.add_metric(tf.reduce_mean(y), name="q", aggregation="mean")
    it = keras.Model([x, z], inner(x))
    it.add_loss(tf.reduce_mean(tf.abs(it.output - layers.Dense(3, name="side")(z))))
    it.add_metric(tf.reduce_sum(x), name="total", aggregation="mean")
    return it


class Reports(layers.Layer):
    def call(self, x):
        self.add_metric(tf.reduce_sum(x), name="sum")
        self.add_loss(tf.reduce_mean(x))
        return x


class OfPairs(layers.Layer):
    def call(self, pair, more=None):
        return Pair(pair.a * 2, pair.b + more["z"][0])


@model(shapes=[(4,)])
def named_tuples(x, z):
    return list(OfPairs()(Pair(z, x), more={"z": [x, None, 1]}))


class FromDict(layers.Layer):
    def call(self, xs):
        return {"sum": xs["a"] + xs["b"], "rest": (xs["a"], [xs["b"]])}


@model(shapes=[(4,)])
def a_dictionary_as_the_first_argument(x, z):
    return FromDict()({"b": x, "a": z})


class OwnCall(layers.Layer):
    def __call__(self, x, *args, factor=None, **kwargs):
        return super().__call__(x if factor is None else x * factor, *args, **kwargs)

    def call(self, x):
        return x + 1


@model()
def in_a_name_scope(x):
    with tf.name_scope("scope"):
        return layers.Dense(3, name="d")(x)


@model(inputs=lambda: np.array([["A b"], ["z"]]))
def a_function_to_standardize_texts():
    x = keras.Input((1,), dtype="string")
    return keras.Model(x, layers.TextVectorization(standardize=tf.strings.lower, vocabulary=["a", "b"])(x))


@model(shapes=[(8, 8, 3)])
def augmentations_with_a_seed_after_a_run():
    body = keras.Sequential(
        [layers.RandomFlip(seed=2), layers.RandomRotation(0.2, seed=3), layers.Dropout(0.5, seed=4)]
    )
    it = around(body, (8, 8, 3))
    it(np.ones((2, 8, 8, 3), "float32"), training=True)
    return it


LAYERS = {
    "a loss and a metric of a layer": lambda: Reports(),
    "a call of its own": lambda: lambda x: OwnCall()(x, factor=2.0),
    "an option that no config has": lambda: layers.BatchNormalization(fused=False),
}
models(LAYERS, around)
RECURRENT = {
    "a backward layer with a custom cell": lambda: layers.Bidirectional(
        layers.SimpleRNN(3), backward_layer=layers.RNN(Cell(3), go_backwards=True), merge_mode="sum"
    ),
    "a mask of a Lambda that is a tensor": lambda: layers.Lambda(
        lambda x: x * 2.0, mask=tf.constant([[True, False, True, True]])
    ),
}
models(RECURRENT, lambda layer: around(lambda x: layer(layers.Masking()(x)), (4, 3)))

RAGGED = tf.ragged.constant([[1.0], [2.0, 3.0]])
INPUTS = {
    "unknown rank": (lambda: keras.Input(type_spec=tf.TensorSpec(None)), np.ones((2, 4), "float32")),
    "strings": (lambda: keras.Input((1,), dtype="string"), np.array([["a"]])),
    "a type": (lambda: keras.Input(type_spec=tf.TensorSpec((2, 4), "float64")), np.ones((2, 4))),
    "a type of ragged rows": (
        lambda: keras.Input(type_spec=tf.RaggedTensorSpec([None, None], tf.float32, row_splits_dtype=tf.int32)),
        RAGGED.with_row_splits_dtype(tf.int32),
    ),
}
for what, (make, value) in INPUTS.items():

    @model(name="an input of " + what, inputs=lambda value=value: value)
    def of_an_input(make=make):
        x = make()
        return keras.Model(x, layers.Lambda(lambda t: t)(x))


@model(inputs=lambda: RAGGED)
def properties_and_methods_of_ragged_rows():
    x = keras.Input((None,), ragged=True)
    return keras.Model(x, [x.to_tensor(), x.row_splits, tf.RaggedTensor.from_row_splits(x.values, x.row_splits)])


@model(inputs=lambda: tf.sparse.from_dense(np.eye(3, dtype="float32")))
def a_sparse_input():
    x = keras.Input((3,), sparse=True)
    return keras.Model(x, layers.Dense(2)(x))


class Adopting(layers.Wrapper):
    """Takes the weights of the layer that it wraps for its own, if there are any by then."""

    def build(self, input_shape):
        self._trainable_weights.extend(self.layer.trainable_weights)
        super().build(input_shape)

    def call(self, x):
        return self.layer(x)


@model()
def a_wrapper_of_a_layer_that_was_built(x):
    dense = layers.Dense(2, name="dense")
    dense(np.ones((2, 3), "float32"))
    return Adopting(dense, name="mine")(x)
