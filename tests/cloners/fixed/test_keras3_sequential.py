"""Clones of Sequential models: built, not yet built, grown, of other models."""

from __future__ import annotations

import keras
import numpy as np
import pytest
from keras import layers

from tests.cloners.fixed.keras3_faithful import VECTORS, Models, assert_faithful

MODELS = model = Models()


@model(VECTORS)
def sequential():
    return keras.Sequential(
        [keras.Input((3,), name="mine"), layers.Dense(3), layers.Dropout(0.5, seed=1)], name="chain"
    )


@model(VECTORS)
def sequential_built_by_a_call():
    built = keras.Sequential([layers.Dense(3), layers.BatchNormalization()])
    built(VECTORS)
    return built


@model(VECTORS)
def sequential_grown():
    grown = keras.Sequential([keras.Input((3,))])
    for _ in range(3):
        grown.add(layers.Dense(3))
    return grown


@model(VECTORS)
def sequential_of_models():
    i = keras.Input((3,))
    inner = keras.Model(i, layers.Dense(3)(i))
    chain = keras.Sequential([layers.Dense(3), layers.Lambda(lambda x: x * 2.0)])
    return keras.Sequential([inner, chain, inner])


@model([VECTORS, VECTORS + 1])
def sequential_of_a_layer_with_several_inputs():
    built = keras.Sequential([layers.Add(), layers.Dense(2)])
    built([VECTORS, VECTORS])
    return built


@model(VECTORS)
def sequential_with_an_optional_input():
    return keras.Sequential([keras.Input((3,), optional=True), layers.Dense(2)])


@model(np.arange(6).reshape(2, 3))
def sequential_of_integers():
    return keras.Sequential([keras.Input((3,), dtype="int32"), layers.Embedding(9, 2, mask_zero=True), layers.LSTM(2)])


@pytest.mark.parametrize("name", MODELS)
def test_sequential(name):
    build, inputs = MODELS[name]
    assert_faithful(build(), inputs)


def test_sequential_that_is_not_built():
    assert_faithful(keras.Sequential([layers.Dense(3), layers.Lambda(lambda x: x)], name="later"), None)


def test_empty_sequential():
    assert_faithful(keras.Sequential(name="empty"), None)
