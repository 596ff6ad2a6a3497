"""Clones of layers that their configs describe badly: custom ones, wrapped ones, those with functions in them."""

from __future__ import annotations

import functools

import keras
import numpy as np
import pytest
from keras import layers, ops

from clonediff.harness.inside.cloners.fixed.keras3 import clone_model
from tests.cloners.fixed.keras3_faithful import SEQUENCES, VECTORS, assert_alike, assert_faithful


def doubled(x):
    return x * 2.0


def relu(x):
    """A user's own, named like Keras's."""
    return x * 100.0


class Scale(layers.Layer):
    def __init__(self, units=3, **kwargs):
        super().__init__(**kwargs)
        self.units = units

    def build(self, input_shape):
        self.kernel = self.add_weight(shape=(input_shape[-1], self.units), name="kernel")

    def call(self, x):
        return ops.matmul(x, self.kernel)

    def compute_output_shape(self, input_shape):
        return (*input_shape[:-1], self.units)

    def get_config(self):
        return {**super().get_config(), "units": self.units}


class Around(layers.Layer):
    """Holds a live layer, and describes it as its own config tells to."""

    def __init__(self, inner, describe="serialized", **kwargs):
        super().__init__(**kwargs)
        self.inner = inner
        self.describe = describe

    def call(self, x):
        return self.inner(x) + 1.0

    def get_config(self):
        inner = self.inner
        if self.describe == "serialized":
            inner = keras.saving.serialize_keras_object(inner)
        elif self.describe == "listed":
            inner = [keras.saving.serialize_keras_object(inner)]
        return {**super().get_config(), "inner": inner, "describe": self.describe}

    @classmethod
    def from_config(cls, config):
        inner = config.pop("inner")
        if config["describe"] == "serialized":
            inner = keras.saving.deserialize_keras_object(inner)
        elif config["describe"] == "listed":
            inner = keras.saving.deserialize_keras_object(inner[0])
        return cls(inner, **config)


class WithoutConfig(layers.Layer):
    def __init__(self, function, **kwargs):
        super().__init__(**kwargs)
        self.function = function

    def call(self, x):
        return self.function(x)


class AutoConfig(layers.Layer):
    def __init__(self, units, factor=2.0):
        super().__init__()
        self.dense = layers.Dense(units)
        self.factor = factor

    def call(self, x):
        return self.dense(x) * self.factor


class Cell(layers.Layer):
    def __init__(self, units, function=None, **kwargs):
        super().__init__(**kwargs)
        self.units = self.state_size = self.output_size = units
        self.function = function

    def build(self, input_shape):
        self.kernel = self.add_weight(shape=(input_shape[-1], self.units), name="kernel")

    def call(self, x, states):
        out = ops.tanh(ops.matmul(x, self.kernel) + states[0])
        return (self.function(out) if self.function else out), [out]

    def get_config(self):
        return {**super().get_config(), "units": self.units, "function": self.function}


class Init(keras.initializers.Initializer):
    def __init__(self, value=0.5):
        self.value = value

    def __call__(self, shape, dtype=None):
        return ops.full(shape, self.value, dtype=dtype)

    def get_config(self):
        return {"value": self.value}


class Penalty(keras.regularizers.Regularizer):
    def __call__(self, x):
        return 0.3 * ops.sum(ops.abs(x))

    def get_config(self):
        return {}


VECTOR_LAYERS = {
    "custom": lambda: Scale(4),
    "auto-config": lambda: AutoConfig(4),
    "no-config": lambda: WithoutConfig(lambda x: x * 2.0),
    "around-serialized": lambda: Around(Scale(4)),
    "around-live": lambda: Around(Scale(4), "live"),
    "around-listed": lambda: Around(Scale(4), "listed"),
    "around-lambda": lambda: Around(layers.Lambda(lambda x: x * 2.0)),
    "around-around": lambda: Around(Around(Scale(4))),
    "around-no-config": lambda: Around(WithoutConfig(functools.partial(ops.multiply, 2.0))),
    "around-sequential": lambda: Around(
        keras.Sequential([keras.Input((3,)), layers.Lambda(lambda x: x * 2.0), layers.Dense(2)])
    ),
    "activation-lambda": lambda: layers.Dense(4, activation=lambda x: x * 2.0),
    "activation-function": lambda: layers.Dense(4, activation=doubled),
    "activation-partial": lambda: layers.Dense(
        4, activation=functools.partial(keras.activations.relu, negative_slope=0.1)
    ),
    "activation-named-like-keras": lambda: layers.Dense(4, activation=relu),
    "activation-layer": lambda: layers.Activation(lambda x: x * 2.0),
    "activation-layer-named": lambda: layers.Activation(doubled),
    "activation-object": lambda: layers.Dense(4, activation=layers.LeakyReLU(0.3)),
    "initializer": lambda: layers.Dense(4, kernel_initializer=Init(0.25)),
    "initializer-lambda": lambda: layers.Dense(4, kernel_initializer=lambda shape, dtype=None: ops.ones(shape, dtype)),
    "regularizer": lambda: layers.Dense(4, kernel_regularizer=Penalty(), activity_regularizer=Penalty()),
    "activity-regularizer": lambda: layers.ActivityRegularization(l1=0.1),
    "constraint": lambda: layers.Dense(4, kernel_constraint="non_neg"),
    "spectral": lambda: layers.SpectralNormalization(layers.Dense(4, activation=doubled)),
    "dropout-seed": lambda: layers.Dropout(0.5, seed=3),
    "dropout": lambda: layers.Dropout(0.5),
    "noise": lambda: layers.GaussianNoise(0.5, seed=1),
    "batch-norm": lambda: layers.BatchNormalization(),
    "half": lambda: layers.Dense(4, dtype="float16"),
    "mixed": lambda: layers.Dense(4, dtype="mixed_bfloat16"),
    "not-autocast": lambda: layers.Dense(4, autocast=False),
    "policy-map": lambda: layers.Dense(
        4, dtype=keras.dtype_policies.DTypePolicyMap("mixed_bfloat16", {"other": keras.DTypePolicy("float16")})
    ),
    "policy-map-without-default": lambda: layers.Dense(
        4, dtype=keras.dtype_policies.DTypePolicyMap(policy_map={"other": keras.DTypePolicy("float16")})
    ),
    "policy-map-object": lambda: layers.Dense(
        4, dtype=keras.dtype_policies.DTypePolicyMap(keras.DTypePolicy("mixed_bfloat16"))
    ),
    "lora": lambda: layers.Dense(4, lora_rank=2, lora_alpha=7.0),
    "normalization": lambda: layers.Normalization(mean=[1.0, 2.0, 3.0], variance=[1.0, 2.0, 4.0]),
    "rescaling": lambda: layers.Rescaling([1.0, 2.0, 3.0], offset=1.0),
    "pipeline": lambda: layers.Pipeline([layers.Rescaling(2.0), layers.Lambda(lambda x: x * 2.0)]),
}


@pytest.mark.parametrize("name", VECTOR_LAYERS)
def test_on_vectors(name):
    x = keras.Input((3,))
    assert_faithful(keras.Model(x, VECTOR_LAYERS[name]()(x)), VECTORS)


SEQUENCE_LAYERS = {
    "time-distributed": lambda: layers.TimeDistributed(layers.Dense(2)),
    "time-distributed-custom": lambda: layers.TimeDistributed(Scale(2)),
    "time-distributed-model": lambda: layers.TimeDistributed(
        keras.Sequential([keras.Input((3,)), layers.Lambda(lambda x: x * 2.0), Scale(2)])
    ),
    "lstm": lambda: layers.LSTM(2, return_sequences=True),
    "lstm-no-cudnn": lambda: layers.LSTM(2, use_cudnn=False),
    "lstm-activation": lambda: layers.LSTM(2, activation=doubled),
    "lstm-lambda": lambda: layers.LSTM(2, recurrent_activation=lambda x: x * 0.5),
    "lstm-dropout": lambda: layers.LSTM(2, dropout=0.5, recurrent_dropout=0.5, seed=3),
    "lstm-state": lambda: layers.LSTM(2, return_sequences=True, return_state=True),
    "gru-backwards": lambda: layers.GRU(2, go_backwards=True),
    "rnn-cell": lambda: layers.RNN(Cell(2, lambda x: x * 2.0)),
    "rnn-cells": lambda: layers.RNN([Cell(2, lambda x: x * 2.0), layers.LSTMCell(3), Cell(2)], return_sequences=True),
    "bidirectional": lambda: layers.Bidirectional(layers.LSTM(2, return_sequences=True)),
    "bidirectional-gru": lambda: layers.Bidirectional(layers.GRU(2), merge_mode="sum"),
    "bidirectional-backward": lambda: layers.Bidirectional(
        layers.LSTM(2), backward_layer=layers.LSTM(2, go_backwards=True, activation="relu"), merge_mode=None
    ),
    "attention": lambda: AttendsToItself(),
    "conv": lambda: layers.Conv1D(2, 3, padding="causal", activation=doubled),
    "masking": lambda: layers.Masking(0.0),
    "layer-norm": lambda: layers.LayerNormalization(),
    "conv-lstm-less": lambda: layers.SeparableConv1D(2, 3),
}


class AttendsToItself(layers.Layer):
    """Unnamed sublayers, made by its constructor: their names count up."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.attention = layers.MultiHeadAttention(2, 3)
        self.dense = layers.Dense(3)
        self.supports_masking = True

    def build(self, input_shape):
        self.attention.build(input_shape, input_shape)
        self.dense.build(input_shape)

    def call(self, x, mask=None):
        return self.dense(self.attention(x, x))


@pytest.mark.parametrize("name", SEQUENCE_LAYERS)
@pytest.mark.parametrize(
    "masked",
    [
        pytest.param(False, id="plain", marks=pytest.mark.slow(reason="the same layers, and one thing less to keep")),
        pytest.param(True, id="masked"),
    ],
)
def test_on_sequences(name, masked):
    x = keras.Input((5, 3))
    y = layers.Masking()(x) if masked else x
    assert_faithful(keras.Model(x, SEQUENCE_LAYERS[name]()(y)), SEQUENCES)


def test_bidirectional_around_a_cell_that_is_not_registered():
    with keras.saving.custom_object_scope({"Cell": Cell}):
        wrapper = layers.Bidirectional(layers.RNN(Cell(2), return_sequences=True))
    x = keras.Input((5, 3))
    assert_faithful(keras.Model(x, wrapper(layers.Masking()(x))), SEQUENCES)


def test_image_layer_whose_config_its_constructor_refuses():
    x = keras.Input((8, 8, 3))
    model = keras.Model(x, layers.RandomShear(0.2, 0.2, seed=1)(x))
    assert_faithful(model, np.random.default_rng(0).random((2, 8, 8, 3)).astype("float32"))


def test_embedding_with_mask():
    x = keras.Input((5,), dtype="int32")
    y = layers.Embedding(7, 3, mask_zero=True)(x)
    y = layers.LSTM(4, return_sequences=True)(y)
    assert_faithful(keras.Model(x, layers.GlobalAveragePooling1D()(y)), np.array([[1, 2, 0, 0, 0], [3, 1, 2, 6, 0]]))


def test_stateful_recurrent_layer():
    x = keras.Input(batch_shape=(2, 5, 3))
    assert_faithful(keras.Model(x, layers.LSTM(2, stateful=True)(x)), SEQUENCES)


@pytest.mark.parametrize("mode", ["int8", "float8"])
def test_quantized(mode):
    x = keras.Input((4,))
    model = keras.Model(x, layers.Dense(8)(x))
    model.quantize(mode)
    assert_faithful(model, np.ones((2, 4), "float32"))


@pytest.mark.parametrize("policy", ["mixed_bfloat16", "float64"])
def test_quantized_inside_of_a_layer_while_another_policy_is_the_global_one(policy):
    class Held(layers.Layer):
        def __init__(self, **kwargs):
            super().__init__(**kwargs)
            self.dense = layers.Dense(8)

        def build(self, input_shape):
            self.dense.build(input_shape)

        def call(self, x):
            return self.dense(x)

    x = keras.Input((4,))
    model = keras.Model(x, Held()(x))
    model.quantize("int8")
    before = keras.config.dtype_policy()
    keras.config.set_dtype_policy(policy)
    try:
        clone = clone_model(model)
    finally:
        keras.config.set_dtype_policy(before)
    assert_alike(model, clone, np.ones((2, 4), "float32"))
    assert clone.output.dtype == "float32"


def test_lora_enabled_after_building():
    x = keras.Input((3,))
    model = keras.Model(x, layers.Dense(4)(x))
    model.layers[1].enable_lora(2, lora_alpha=9.0)
    clone = assert_faithful(model, VECTORS)
    assert clone.layers[1].lora_alpha == 9.0


def test_seed_that_was_not_given_is_fresh():
    x = keras.Input((3,))
    model = keras.Model(x, layers.Dropout(0.5)(x))
    clone = assert_faithful(model, None)
    assert not np.array_equal(
        clone.layers[1].seed_generator.state.numpy(), model.layers[1].seed_generator.state.numpy()
    )


def test_subclassed_model_as_a_layer():
    class Small(keras.Model):
        def __init__(self, units=2, **kwargs):
            super().__init__(**kwargs)
            self.units = units
            self.dense = layers.Dense(units)

        def call(self, x):
            return self.dense(x)

        def get_config(self):
            return {**super().get_config(), "units": self.units}

    x = keras.Input((3,))
    assert_faithful(keras.Model(x, Small(4)(x)), VECTORS)


def test_layer_that_was_built_elsewhere_for_another_shape():
    class Table(layers.Layer):
        def build(self, input_shape):
            self.table = self.add_weight(shape=(input_shape[1], 3), name="table")

        def call(self, x):
            return x + self.table[: x.shape[1]]

    table = Table()
    table(np.ones((1, 9, 3), "float32"))
    x = keras.Input((5, 3))
    assert_faithful(keras.Model(x, table(x)), SEQUENCES)
