"""Clones of calls: arguments exactly as they were given, masks, states, flags of a call."""

from __future__ import annotations

import keras
import numpy as np
import pytest
from keras import layers, ops

from tests.cloners.fixed.keras3_faithful import SEQUENCES, VECTORS, Models, assert_faithful

MODELS = model = Models()


class Mixer(layers.Layer):
    """Takes and tells apart lists, tuples and dictionaries."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self._allow_non_tensor_positional_args = True

    def call(self, x, extra=None, factor=1.0, *, option=None):
        kinds = {list: 2.0, tuple: 3.0, dict: 5.0}
        total = x[0] if isinstance(x, (list, tuple)) else x
        for one in keras.tree.flatten(extra) if extra is not None else []:
            total = total + one
        return total * factor * kinds.get(type(extra), 1.0) * kinds.get(type(option), 7.0)

    def compute_output_shape(self, x_shape, extra_shape=None):
        return x_shape[0] if isinstance(x_shape, list) else x_shape


CALLS = {
    "keyword-none": lambda layer, x: layer(x, extra=None),
    "positional-none": lambda layer, x: layer(x, None),
    "scalar": lambda layer, x: layer(x, factor=2),
    "tuple": lambda layer, x: layer(x, extra=(x, x)),
    "list": lambda layer, x: layer(x, extra=[x, x]),
    "dictionary": lambda layer, x: layer(x, extra={"b": x, "a": x * 2.0}),
    "option-tuple": lambda layer, x: layer(x, option=(1, 2)),
    "option-list": lambda layer, x: layer(x, option=[1, 2]),
    "option-dictionary": lambda layer, x: layer(x, option={"b": 1, "a": 2}),
    "array": lambda layer, x: layer(x, extra=np.ones((1, 3), "float32")),
    "first-argument-list": lambda layer, x: layer([x, x]),
    "by-keyword-only": lambda layer, x: layer(x=x, extra=x),
}


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("nested", [False, True], ids=["outer", "nested"])
def test_call_arguments(name, nested):
    x = keras.Input((3,))
    built = keras.Model(x, CALLS[name](Mixer(), x))
    if nested:
        y = keras.Input((3,))
        built = keras.Model(y, built(y))
    assert_faithful(built, VECTORS)


@model(VECTORS)
def training_given():
    x = keras.Input((3,))
    return keras.Model(x, layers.Dropout(0.5, seed=1)(layers.BatchNormalization()(x, training=True), training=False))


@model(SEQUENCES)
def explicit_mask():
    x = keras.Input((5, 3))
    mask = ops.any(ops.not_equal(x, 0.0), axis=-1)
    y = layers.LSTM(2, return_sequences=True)(x, mask=mask)
    return keras.Model(x, layers.GRU(2)(y))


@model(SEQUENCES)
def masks_along_several_ways():
    x = keras.Input((5, 3))
    masked = layers.Masking()(x)
    left = layers.LSTM(2, return_sequences=True)(masked)
    right = layers.TimeDistributed(layers.Dense(2))(masked)
    both = layers.Concatenate()([left, right])
    return keras.Model(x, [layers.Bidirectional(layers.GRU(2))(both), layers.GlobalAveragePooling1D()(left), masked])


@model(SEQUENCES)
def masks_through_nested_models():
    i = keras.Input((5, 3))
    inner = keras.Model(i, layers.Dense(3)(layers.Masking()(i)))
    chain = keras.Sequential([keras.Input((5, 3)), layers.Masking(), layers.Dense(3)])
    x = keras.Input((5, 3))
    return keras.Model(x, [layers.LSTM(2)(inner(x)), layers.LSTM(2)(chain(layers.Masking()(x)))])


@model(SEQUENCES)
def initial_states_and_constants():
    x = keras.Input((5, 3))
    first, h, c = layers.LSTM(2, return_sequences=True, return_state=True)(x)
    y = layers.LSTM(2)(first, initial_state=[h, c])
    z = layers.GRU(2)(x, initial_state=h)
    w = layers.Bidirectional(layers.LSTM(2))(x, initial_state=[h, c, h, c])
    return keras.Model(x, [y, z, w])


@model(SEQUENCES)
def attention_arguments():
    x = keras.Input((5, 3))
    attention = layers.MultiHeadAttention(2, 2)
    y, scores = attention(x, value=x, use_causal_mask=True, return_attention_scores=True)
    return keras.Model(x, [attention(y, x, attention_mask=np.ones((1, 5, 5), bool)), scores])


@pytest.mark.parametrize("name", MODELS)
def test_graph(name):
    build, inputs = MODELS[name]
    assert_faithful(build(), inputs)
