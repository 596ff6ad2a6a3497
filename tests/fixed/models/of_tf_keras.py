"""Features of tf_keras only: TensorFlow operations and variables, added losses and metrics."""

from __future__ import annotations

import keras
import numpy as np
import tensorflow as tf
from keras import layers

from . import model, model_with


@model()
def tied_weights():
    x = keras.Input((3,), dtype="int32")
    embedding = layers.Embedding(7, 4)
    y = embedding(x)
    return keras.Model(x, tf.matmul(y, embedding.embeddings, transpose_b=True))


@model()
def a_variable_used_twice(x):
    variable = tf.Variable([1.0, 2.0, 3.0], name="variable")
    return [x * variable, x + variable]


class ReportingLayer(layers.Layer):
    def call(self, x):
        self.add_metric(tf.reduce_sum(x), name="sum")
        self.add_loss(tf.reduce_mean(x))
        return x


@model()
def losses_and_metrics_that_are_added():
    i, x, z = keras.Input((4,)), keras.Input((4,)), keras.Input((2,))
    y = layers.Dense(3, kernel_regularizer="l2", activity_regularizer="l1")(ReportingLayer()(i))
    inner = keras.Model(i, y)
    inner.add_loss(tf.reduce_sum(layers.Dense(2)(y)))
    inner.add_metric(tf.reduce_mean(y), name="q", aggregation="mean")
    network = keras.Model([x, z], inner(x))
    network.add_loss(tf.reduce_mean(tf.abs(network.output - layers.Dense(3, name="side")(z))))
    network.add_metric(tf.reduce_sum(x), name="total", aggregation="mean")
    return network


@model()
def augmentations_with_a_seed_after_a_run():
    body = keras.Sequential([layers.RandomFlip(seed=2), layers.RandomRotation(0.2, seed=3)])
    network = model_with(body, (8, 8, 3))
    network(np.ones((2, 8, 8, 3), "float32"), training=True)
    return network


@model()
def compiled_for_mixed_precision():
    network = model_with(layers.Dense(1, dtype="mixed_bfloat16"), (4,))
    keras.mixed_precision.set_global_policy("mixed_bfloat16")
    network.compile(loss="mse")
    keras.mixed_precision.set_global_policy("float32")
    return network
