"""What `tf_keras` alone has: operations and variables of TensorFlow in a graph, losses and metrics that are added."""

from __future__ import annotations

import collections
import functools

import keras
import numpy as np
import tensorflow as tf
from keras import layers

from . import around, model

Pair = collections.namedtuple("Pair", "a b")


@model()
def operations():
    x = keras.Input((4,), name="x")
    y = tf.nn.relu(x * 2.0 - 1.0)[:, 1:3]
    y = tf.concat([y, -x], axis=1) @ tf.ones((6, 2))
    y = tf.where(y > 0, y, tf.zeros_like(y))
    return keras.Model(x, [y, tf.shape(y)[0], tf.reduce_sum(x, axis=1, keepdims=True), tf.split(x, 2, axis=1)])


@model(inputs=lambda: [np.ones((1, 6), "float32"), np.array([3], "int32")])
def a_slice_by_a_tensor():
    x, n = keras.Input((6,)), keras.Input((), dtype="int32", batch_size=1)
    return keras.Model([x, n], x[:, : n[0]])


@model(inputs=lambda: np.ones((3, 4), "float32"))
def a_constant_among_tensors():
    return around(lambda x: layers.Add()([x, tf.ones((1, 4))]), (4,))


@model(again=True)
def tied_weights():
    x = keras.Input((3,), dtype="int32")
    embedding = layers.Embedding(7, 4)
    y = embedding(x)
    return keras.Model(x, tf.matmul(y, embedding.embeddings, transpose_b=True))


@model(differs=["own"])  # its value is copied, as the cloner says
def a_variable_of_nobody():
    return around(lambda x: x * tf.Variable(3.0))


@model(differs=["own"])  # its value is copied, as the cloner says
def a_variable_used_twice():
    v = tf.Variable([1.0, 2.0, 3.0], name="v")
    return around(lambda x: [x * v, x + v])


@model(shapes=[(4,)])
def weights_as_constants(x):
    inside, before = layers.Dense(4, name="inside"), layers.Dense(4, name="before")
    before.build((None, 4))
    inner = around(inside, (4,))
    return [tf.matmul(inner(x), inside.kernel), tf.matmul(x, before.kernel), before(x)]


@model()
def a_loss_and_metrics_that_are_added():
    x, z = keras.Input((4,)), keras.Input((2,))
    y = layers.Dense(2, kernel_regularizer="l2", activity_regularizer="l1")(x)
    it = keras.Model([x, z], y)
    it.add_loss(tf.reduce_mean(tf.abs(y - layers.Dense(2, name="side")(z))))
    it.add_metric(tf.reduce_sum(y), name="total", aggregation="mean")
    it.add_metric(tf.reduce_sum(x), name="again", aggregation="mean")
    return it


@model()
def losses_of_a_nested_model():
    i, x = keras.Input((4,)), keras.Input((4,))
    y = layers.Dense(3)(i)
    inner = keras.Model(i, y)
    inner.add_loss(tf.reduce_sum(layers.Dense(2)(y)))
    inner.add_metric(tf.reduce_mean(y), name="q", aggregation="mean")
    it = keras.Model(x, inner(x))
    it.add_loss(tf.reduce_sum(it.output))
    return it


@model()
def a_sequential_with_a_loss():
    it = keras.Sequential([keras.Input((4,)), layers.Dense(3)])
    it.add_loss(tf.reduce_mean(it.layers[0].output))
    it.add_metric(tf.reduce_mean(it.layers[0].output), name="m", aggregation="mean")
    return it


class Reports(layers.Layer):
    def call(self, x):
        self.add_metric(tf.reduce_sum(x), name="sum")
        self.add_loss(tf.reduce_mean(x))
        return x


@model()
def a_loss_and_a_metric_of_a_layer():
    return around(Reports())


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
def a_call_of_its_own():
    return around(lambda x: OwnCall()(x, factor=2.0))


@model()
def in_a_name_scope():
    with tf.name_scope("scope"):
        return around(layers.Dense(3, name="d"))


@model(inputs=lambda: np.array([["A b"], ["z"]]))
def a_function_to_standardize_texts():
    x = keras.Input((1,), dtype="string")
    return keras.Model(x, layers.TextVectorization(standardize=tf.strings.lower, vocabulary=["a", "b"])(x))


@model()
def an_augmentation_with_a_seed():
    return around(keras.Sequential([layers.RandomFlip(seed=2), layers.RandomRotation(0.2, seed=3)]), (8, 8, 3))


@model()
def a_stream_of_random_numbers_that_has_gone_on():
    it = around(layers.Dropout(0.5, seed=4), (5, 3))
    it(np.ones((2, 5, 3), "float32"), training=True)
    return it


UNTOLD = {
    "the shape of a noise": lambda: layers.AlphaDropout(0.5, noise_shape=(2, 1, 1, 3), seed=4),
    "whether gradients are sparse": lambda: layers.Embedding(5, 2, sparse=True),
    "whether it is synchronized": lambda: layers.BatchNormalization(synchronized=True),
    "whether it is fused": lambda: layers.BatchNormalization(fused=False),
    "a format of data": lambda: layers.SpatialDropout2D(0.5, data_format="channels_first"),
}
for what, make in UNTOLD.items():
    model(name=f"{what}, which no config tells", shapes=[(5, 4, 3)], inputs=lambda: False)(
        lambda x, make=make: make()(x)
    )


@model()
def a_backward_layer_told_before_it_was_frozen():
    lstm = functools.partial(layers.LSTM, 2)
    it = around(layers.Bidirectional(lstm(), backward_layer=lstm(go_backwards=True)), (5, 3))
    it.trainable = False
    return it


RAGGED = tf.ragged.constant([[1.0], [2.0, 3.0]])
INPUTS = {
    "unknown rank": (lambda: keras.Input(type_spec=tf.TensorSpec(None)), np.ones((2, 4), "float32")),
    "whole numbers": (lambda: keras.Input((3,), dtype="int64"), np.array([[1, 2, 3]], "int64")),
    "strings": (lambda: keras.Input((1,), dtype="string"), np.array([["a"]])),
    "a type": (lambda: keras.Input(type_spec=tf.TensorSpec((2, 4), "float64")), np.ones((2, 4))),
    "ragged rows": (lambda: keras.Input((None,), ragged=True), RAGGED),
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


@model()
def a_mask_of_a_lambda_that_is_a_tensor():
    layer = layers.Lambda(lambda x: x * 2.0, mask=tf.constant([[True, False, True, True]]))
    return around(lambda x: layer(layers.Masking()(x)), (4, 3))


class Config:
    """An object that a layer describes in its config, and reads back by itself."""

    def __init__(self, bits):
        self.bits = bits

    def get_config(self):
        return {"bits": self.bits}

    @classmethod
    def from_config(cls, config):
        return cls(**config)


class Quantized(layers.Wrapper):
    def __init__(self, layer, quantize_config, **kwargs):
        super().__init__(layer, **kwargs)
        assert isinstance(quantize_config, Config)
        self.quantize_config = quantize_config

    def call(self, x):
        return self.layer(x) * self.quantize_config.bits

    def get_config(self):
        told = {"class_name": "Config", "config": self.quantize_config.get_config()}
        return {**super().get_config(), "quantize_config": told}

    @classmethod
    def from_config(cls, config):
        config = dict(config)
        described = config.pop("quantize_config")
        layer = layers.deserialize(config.pop("layer"))
        return cls(layer=layer, quantize_config=Config.from_config(described["config"]), **config)


@model()
def an_object_that_from_config_reads():
    return around(Quantized(layers.Dense(2), Config(4)))


class Adopting(layers.Wrapper):
    """Takes the weights of the layer that it is given for its own, if there are any by then."""

    def build(self, input_shape):
        self._trainable_weights.extend(self.layer.trainable_weights)
        super().build(input_shape)

    def call(self, x):
        return self.layer(x)


@model()
def a_wrapper_of_a_layer_that_was_built():
    dense = layers.Dense(2, name="dense")
    dense(np.ones((2, 3), "float32"))
    return around(Adopting(dense, name="mine"))


@model()
def a_wrapper_of_a_layer_that_was_built_in_a_sequential():
    dense = layers.Dense(2, name="dense")
    dense(np.ones((2, 3), "float32"))
    return keras.Sequential([keras.Input((3,)), Adopting(dense, name="mine")])


@model()
def a_wrapper_of_a_layer_without_weights():
    pool = layers.GlobalAveragePooling1D()
    pool(np.ones((1, 4, 3), "float32"))
    return around(Adopting(pool), (4, 3))
