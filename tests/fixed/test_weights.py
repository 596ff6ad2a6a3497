"""`clone_model(model, weights=True)`: the clone has the model's values and continues its training."""

from __future__ import annotations

import numpy as np
import pytest

from clonediff import clone_model
from tests.fixed.generations import KERAS, for_generations

BATCH = np.linspace(-1, 1, 24, dtype="float32").reshape(4, 6)
TARGETS = np.ones((4, 1), "float32")
OPTIMIZERS = {
    "Adam": lambda optimizers: optimizers.Adam(0.05),
    "SGD": lambda optimizers: optimizers.SGD(0.1, momentum=0.9),
    "EMA": lambda optimizers: optimizers.Adam(0.05, use_ema=True),
    "LossScale": lambda optimizers: optimizers.LossScaleOptimizer(optimizers.Adam(0.05)),
}


def trained_model(package, optimizer="adam"):
    layers = package.layers
    inputs = package.Input((6,))
    hidden = layers.BatchNormalization()(layers.Dense(5, activation="relu")(inputs))
    model = package.Model(inputs, layers.Dense(1)(layers.Dropout(0.5, seed=3)(hidden)))
    model.compile(optimizer, "mse")
    model.fit(BATCH, TARGETS, epochs=2, verbose=0)
    return model


def remake_frozen(layer):
    clone = layer.__class__.from_config(layer.get_config())
    clone.trainable = False
    return clone


def all_equal(expected, found):
    return all(np.array_equal(*pair) for pair in zip(expected, found, strict=True))


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_model_and_clone_take_the_same_next_training_step(optimizer):
    model = trained_model(KERAS["keras"], OPTIMIZERS[optimizer](KERAS["keras"].optimizers))
    model.optimizer.learning_rate = 0.02
    clone = clone_model(model, weights=True)
    assert int(clone.optimizer.iterations) == int(model.optimizer.iterations) == 2
    for net in (model, clone):
        net.fit(BATCH, TARGETS, shuffle=False, verbose=0)
    assert all_equal(model.get_weights(), clone.get_weights())


def test_freezing_in_clone_function_keeps_the_optimizer_moments():
    model = trained_model(KERAS["keras"])
    clone = clone_model(model, clone_function=remake_frozen, weights=True)
    assert clone.trainable_variables == []
    assert np.array_equal(model(BATCH), clone(BATCH))
    assert all_equal(model.optimizer.variables, clone.optimizer.variables)


def test_freezing_a_layer_keeps_the_order_of_weights():
    keras = KERAS["tf_keras"]
    normalizations = keras.Sequential([keras.layers.BatchNormalization(), keras.layers.BatchNormalization()])
    inputs = keras.Input((3, 6))
    model = keras.Model(inputs, keras.layers.TimeDistributed(normalizations)(inputs))
    model.set_weights([np.full(weight.shape, number + 1.0) for number, weight in enumerate(model.get_weights())])
    data, clone = np.ones((2, 3, 6), "float32"), clone_model(model, clone_function=remake_frozen, weights=True)
    assert np.array_equal(model(data), clone(data))


@for_generations
def test_an_unbuilt_model_is_cloned_with_the_weights_it_has(generation):
    keras = KERAS[generation]
    base = keras.Sequential([keras.Input((6,)), keras.layers.Dense(6)])
    clone = clone_model(keras.Sequential([keras.layers.Dropout(0.1), base, keras.layers.Dense(2)]), weights=True)
    assert not clone.built
    assert np.array_equal(base.get_weights()[0], clone.layers[1].get_weights()[0])
