"""`clone_model(model, weights=True)`: the clone goes on where the model is."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf

from clonediff import clone_model
from tests.cloners.generations import KERAS

BATCH = np.linspace(-1, 1, 24, dtype="float32").reshape(4, 6)
TARGETS = np.ones((4, 1), "float32")


def trained(keras, optimizer):
    layers = keras.layers
    inputs = keras.Input((6,))
    hidden = layers.BatchNormalization()(layers.Dense(5, activation="relu")(inputs))
    model = keras.Model(inputs, layers.Dense(1)(layers.Dropout(0.5, seed=3)(hidden)))
    model.compile(optimizer, "mse")
    model.fit(BATCH, TARGETS, epochs=2, verbose=0)
    return model


@pytest.mark.parametrize("generation", KERAS)
def test_a_clone_with_weights_gives_what_the_model_gives(generation):
    model = trained(KERAS[generation], "adam")
    clone = clone_model(model, weights=True)
    assert np.array_equal(model(BATCH), clone(BATCH))
    assert not np.array_equal(model(BATCH), clone_model(model)(BATCH))
    assert not {id(each) for each in model.weights} & {id(each) for each in clone.weights}


@pytest.mark.parametrize(
    "optimizer",
    [
        lambda keras: keras.optimizers.Adam(0.05),
        lambda keras: keras.optimizers.SGD(0.1, momentum=0.9),
        lambda keras: keras.optimizers.Adam(0.05, use_ema=True),
        lambda keras: keras.optimizers.LossScaleOptimizer(keras.optimizers.Adam(0.05)),
    ],
    ids=["Adam", "SGD", "EMA", "LossScale"],
)
def test_the_next_step_of_the_clone_is_that_of_the_model(optimizer):
    keras = KERAS["keras"]
    model = trained(keras, optimizer(keras))
    model.optimizer.learning_rate = 0.02
    clone = clone_model(model, weights=True)
    assert int(clone.optimizer.iterations) == int(model.optimizer.iterations) == 2
    for each in (model, clone):
        each.fit(BATCH, TARGETS, shuffle=False, verbose=0)
    assert all(np.array_equal(*pair) for pair in zip(model.get_weights(), clone.get_weights(), strict=True))


def test_what_was_compiled_and_never_trained_can_be_copied():
    keras = KERAS["keras"]
    model = keras.Sequential([keras.Input((6,)), keras.layers.Dense(1)])
    model.compile("adam", "mse")
    clone = clone_model(model, weights=True)
    assert np.array_equal(model(BATCH), clone(BATCH))


def test_layers_that_have_learned_from_data_have_learned_it_in_the_clone():
    keras = KERAS["keras"]
    normalization = keras.layers.Normalization()
    normalization.adapt(BATCH)
    words = keras.layers.StringLookup()
    words.adapt(["b", "a", "b"])
    for model, data in (
        (keras.Sequential([keras.Input((6,)), normalization]), BATCH),
        (keras.Sequential([keras.Input((1,), dtype="string"), words]), tf.constant([["b"], ["a"]])),
    ):
        assert np.array_equal(model(data), clone_model(model, weights=True)(data))


def test_other_weights_are_refused_and_nothing_is_copied():
    keras = KERAS["keras"]
    model = keras.Sequential([keras.Input((6,)), keras.layers.Dense(1, name="score")])
    with pytest.raises(ValueError, match=r"weight .*score/kernel has shape \(6, 1\), that of the clone has \(7, 1\)"):
        clone_model(model, input_tensors=keras.Input((7,)), weights=True)


def test_a_model_without_weights_yet_is_cloned_as_it_is():
    keras = KERAS["keras"]
    clone = clone_model(keras.Sequential([keras.layers.Dense(1)]), weights=True)
    assert not clone.built
