"""The fixed cloner of `tf_keras` on single layers: custom ones, wrappers, flags, policies and seeds."""

from __future__ import annotations

import pytest
import tensorflow as tf
import tf_keras as keras
from tf_keras import layers

from clonediff.harness.inside.cloners.fixed.tf_keras import clone_model
from tests.cloners.fixed.tf_keras_faithful import assert_faithful, floats_of

floats = floats_of(0)

SCALE = 3.0


def triple(x):
    return x * SCALE


def clipped(x, limit=1.0):
    return tf.clip_by_value(x, -limit, limit)


class Affine(layers.Layer):
    def __init__(self, units=3, **kwargs):
        super().__init__(**kwargs)
        self.units = units
        self.inner = layers.Dense(units, dtype=self.dtype_policy)

    def build(self, shape):
        self.shift = self.add_weight(name="shift", shape=(self.units,), initializer="ones")
        super().build(shape)

    def call(self, x):
        return self.inner(x) + self.shift

    def get_config(self):
        return {**super().get_config(), "units": self.units}


class Holder(layers.Layer):
    """Holds a layer, a list of layers and a dict of layers, and describes them all in its config."""

    def __init__(self, one, many, named, function=tf.nn.relu, **kwargs):
        super().__init__(**kwargs)
        self.one, self.many, self.named, self.function = one, many, named, function

    def call(self, x):
        x = self.function(self.one(x))
        for each in self.many:
            x = each(x)
        return self.named["last"](x)

    def get_config(self):
        serialize = keras.utils.serialize_keras_object
        return {
            **super().get_config(),
            "one": serialize(self.one),
            "many": [serialize(each) for each in self.many],
            "named": {key: serialize(each) for key, each in self.named.items()},
            "function": self.function,
        }

    @classmethod
    def from_config(cls, config):
        deserialize = keras.layers.deserialize
        config["one"] = deserialize(config["one"])
        config["many"] = [deserialize(each) for each in config["many"]]
        config["named"] = {key: deserialize(each) for key, each in config["named"].items()}
        return cls(**config)


class Cell(layers.Layer):
    def __init__(self, units=3, **kwargs):
        super().__init__(**kwargs)
        self.units = self.state_size = units

    def build(self, shape):
        self.kernel = self.add_weight(name="kernel", shape=(shape[-1], self.units))

    def call(self, x, states):
        h = tf.tanh(x @ self.kernel + states[0])
        return h, [h]

    def get_config(self):
        return {**super().get_config(), "units": self.units}


class Named(layers.Layer):
    """Keeps the name of its function in its config and looks it up by itself."""

    def __init__(self, function="double", **kwargs):
        super().__init__(**kwargs)
        self.name_of_function = function
        self.function = {"double": lambda x: 2 * x, "half": lambda x: x / 2}[function]

    def call(self, x):
        return self.function(x)

    def get_config(self):
        return {**super().get_config(), "function": self.name_of_function}


class Ones(keras.initializers.Initializer):
    def __init__(self, value=1.0):
        self.value = value

    def __call__(self, shape, dtype=None, **kwargs):
        return tf.fill(shape, tf.cast(self.value, dtype))

    def get_config(self):
        return {"value": self.value}


def frozen(layer):
    layer.trainable = False
    return layer


def frozen_inside(bidirectional):
    bidirectional.forward_layer.trainable = False
    return bidirectional


def masking(layer):
    layer.supports_masking = True
    return layer


def local_class():
    class Local(layers.Layer):
        def __init__(self, by, **kwargs):
            super().__init__(**kwargs)
            self.by = by

        def call(self, x):
            return x * self.by

        def get_config(self):
            return {**super().get_config(), "by": self.by}

    return Local(2.5)


LAYERS = {
    "custom": lambda: Affine(4),
    "custom local": local_class,
    "custom frozen inside": lambda: frozen_part(Affine(4), "inner"),
    "custom in TimeDistributed": lambda: layers.TimeDistributed(Affine(4)),
    "local in TimeDistributed": lambda: layers.TimeDistributed(local_class()),
    "custom cell": lambda: layers.RNN(Cell(3), return_sequences=True),
    "custom cell in Bidirectional": lambda: layers.Bidirectional(layers.RNN(Cell(3))),
    "stacked custom cells": lambda: layers.RNN([Cell(3), layers.GRUCell(2), Cell(4)]),
    "stacked cells in Bidirectional": lambda: layers.Bidirectional(layers.RNN([Cell(3), layers.GRUCell(2)])),
    "backward layer": lambda: layers.Bidirectional(
        layers.SimpleRNN(3, name="there"), backward_layer=layers.GRU(3, go_backwards=True, name="back")
    ),
    "custom backward layer": lambda: layers.Bidirectional(
        layers.SimpleRNN(3), backward_layer=layers.RNN(Cell(3), go_backwards=True), merge_mode="sum"
    ),
    "holder": lambda: Holder(
        layers.Lambda(lambda x: x + 1), [frozen(layers.Dense(3)), Affine(2)], {"last": layers.Dense(2)}, triple
    ),
    "function by name": lambda: Named("half"),
    "custom initializer": lambda: layers.Dense(3, kernel_initializer=Ones(0.3)),
    "function initializer": lambda: layers.Dense(3, kernel_initializer=lambda shape, dtype=None: tf.ones(shape, dtype)),
    "frozen": lambda: frozen(layers.Dense(3)),
    "frozen batch normalization": lambda: frozen(layers.BatchNormalization()),
    "batch normalization": lambda: layers.BatchNormalization(),
    "frozen Bidirectional": lambda: frozen(layers.Bidirectional(layers.SimpleRNN(2))),
    "half frozen Bidirectional": lambda: frozen_inside(layers.Bidirectional(layers.SimpleRNN(2))),
    "frozen inside TimeDistributed": lambda: layers.TimeDistributed(frozen(layers.Dense(2))),
    "masking said later": lambda: masking(Affine(2)),
    "regularizer without weights": lambda: layers.Activation("relu", activity_regularizer="l2"),
    "regularizer of a dropout": lambda: layers.Dropout(0.3, activity_regularizer=keras.regularizers.L1(0.2)),
    "bfloat16": lambda: layers.Dense(3, dtype="mixed_bfloat16"),
    "float16": lambda: layers.Dense(3, dtype="float16"),
    "float64": lambda: layers.SimpleRNN(3, dtype="float64"),
    "mixed custom": lambda: Affine(3, dtype="mixed_float16"),
    "no autocast": lambda: layers.Lambda(lambda x: x, dtype="float64", autocast=False),
    "seeded dropout": lambda: layers.Dropout(0.5, seed=4),
    "seeded noise": lambda: layers.GaussianNoise(0.5, seed=4),
    "recurrent dropout": lambda: layers.LSTM(4, recurrent_dropout=0.3, dropout=0.2),
    "initializer with a seed": lambda: layers.Dense(3, kernel_initializer=keras.initializers.RandomNormal(seed=3)),
    "einsum": lambda: layers.EinsumDense("abc,cd->abd", (None, 3), bias_axes="d"),
    "own parts in a Sequential": lambda: keras.Sequential([Affine(2), layers.Lambda(lambda x: x)]),
}


def frozen_part(layer, name):
    frozen(getattr(layer, name))
    return layer


def around(layer):
    # TimeDistributed gives a mask to what it wraps, and not everything takes one.
    x = keras.Input((5, 3))
    y = x if isinstance(layer, layers.TimeDistributed) else layers.Masking(0.0)(x)
    return keras.Model(x, layer(y))


def placed(layer, place):
    inner = around(layer)
    if place == "outer":
        return inner
    z = keras.Input((5, 3))
    return keras.Model(z, [inner(z), inner(layers.ReLU()(z))])


def sequences():
    x = floats(2, 5, 3)
    x[:, 2:4] = 0.0
    return x


@pytest.mark.parametrize("name", LAYERS)
@pytest.mark.parametrize(
    "place",
    [
        "outer",
        pytest.param("nested", marks=pytest.mark.slow(reason="the layers again, one model deeper: minutes in all")),
    ],
)
def test_layer_is_cloned_faithfully(name, place):
    assert_faithful(placed(LAYERS[name](), place), clone_model, sequences())


def test_stateful_rnn_has_its_own_states():
    x = keras.Input((5, 3), batch_size=2)
    y = layers.GRU(2, stateful=True, return_sequences=True)(x)
    model = keras.Model(x, layers.Bidirectional(layers.LSTM(3, stateful=True))(y))
    assert_faithful(model, clone_model, floats(2, 5, 3))


def test_seeded_stream_goes_on_where_the_original_is():
    model = around(layers.Dropout(0.5, seed=4))
    model(floats(2, 5, 3), training=True)
    assert_faithful(model, clone_model, floats(2, 5, 3))


def test_the_shape_of_noise_that_no_config_tells():
    model = around(layers.AlphaDropout(0.5, noise_shape=(2, 1, 3), seed=4))
    noises = [each for each in clone_model(model).layers if isinstance(each, layers.AlphaDropout)]
    assert [each.noise_shape for each in noises] == [(2, 1, 3)]
    assert_faithful(model, clone_model, floats(2, 5, 3))


@pytest.mark.parametrize(
    ("make", "option"),
    [
        (lambda: layers.Embedding(5, 2, sparse=True), "sparse"),
        (lambda: layers.BatchNormalization(synchronized=True), "synchronized"),
        (lambda: layers.BatchNormalization(fused=False), "fused"),
        (lambda: layers.SpatialDropout2D(0.5, data_format="channels_first"), "data_format"),
    ],
    ids=["Embedding", "BatchNormalization", "not fused", "SpatialDropout2D"],
)
def test_an_option_that_the_config_of_a_layer_of_keras_does_not_tell(make, option):
    x = keras.Input((5, 4, 3))
    model = keras.Model(x, make()(x))
    assert getattr(clone_model(model).layers[1], option) == getattr(model.layers[1], option)


def test_what_a_bidirectional_tells_of_its_backward_layer_is_from_before_it_was_frozen():
    model = around(layers.Bidirectional(layers.LSTM(2), backward_layer=layers.LSTM(2, go_backwards=True)))
    model.trainable = False
    told = [each.get_config() for each in (*model.layers, *clone_model(model).layers) if "bi" in each.name]
    assert told[0] == told[1]


class Nameless(layers.Layer):
    def build(self, shape):
        self.weight = self.add_weight(shape=(shape[-1],), initializer="uniform")
        super().build(shape)

    def call(self, x):
        return x * self.weight


@pytest.mark.parametrize("wrap", [lambda each: each, layers.TimeDistributed], ids=["alone", "wrapped"])
def test_weights_without_a_name(wrap):
    x = keras.Input((5, 3))
    model = keras.Model(x, Nameless()(wrap(Nameless())(x)))
    with keras.saving.custom_object_scope({"Nameless": Nameless}):
        assert_faithful(model, clone_model, floats(2, 5, 3))
