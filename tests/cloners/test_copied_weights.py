"""`clone_model(model, weights=True)`: the clone goes on where the model is."""

from __future__ import annotations

import contextlib

import numpy as np
import pytest
import tensorflow as tf

from clonediff import clone_model
from tests.cloners.generations import KERAS

BATCH = np.linspace(-1, 1, 24, dtype="float32").reshape(4, 6)
TARGETS = np.ones((4, 1), "float32")


def trained(package, optimizer):
    layers = package.layers
    inputs = package.Input((6,))
    hidden = layers.BatchNormalization()(layers.Dense(5, activation="relu")(inputs))
    model = package.Model(inputs, layers.Dense(1)(layers.Dropout(0.5, seed=3)(hidden)))
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


@pytest.mark.parametrize("generation", KERAS)
def test_layers_that_have_learned_from_data_have_learned_it_in_the_clone(generation):
    keras = KERAS[generation]
    normalization = keras.layers.Normalization()
    normalization.adapt(BATCH)
    words = keras.layers.StringLookup()
    words.adapt(["b", "a", "b"])
    frequencies = keras.layers.TextVectorization(output_mode="tf_idf")
    frequencies.adapt(["b a", "b", "c b"])
    for model, data in (
        (keras.Sequential([keras.Input((6,)), normalization]), tf.constant(BATCH)),
        (keras.Sequential([keras.Input((1,), dtype="string"), words]), tf.constant([["b"], ["a"]])),
        (keras.Sequential([keras.Input((1,), dtype="string"), frequencies]), tf.constant([["b a"], ["c"]])),
    ):
        expected = model(data)
        assert np.array_equal(expected, clone_model(model, weights=True)(data))
        if generation == "tf_keras":  # where what was learned is in the weights alone
            with contextlib.suppress(tf.errors.OpError, ValueError):
                assert not np.array_equal(expected, clone_model(model)(data))


@pytest.mark.parametrize("generation", KERAS)
def test_a_built_model_in_one_that_is_not_built_keeps_its_weights(generation):
    keras = KERAS[generation]
    base = keras.Sequential([keras.Input((6,)), keras.layers.Dense(6)])
    clone = clone_model(keras.Sequential([keras.layers.Dropout(0.1), base, keras.layers.Dense(2)]), weights=True)
    assert np.array_equal(base.get_weights()[0], clone.layers[1].get_weights()[0])


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda model: setattr(model.layers[1], "trainable", False), id="frozen after it was trained"),
        pytest.param(lambda model: None, id="as it was"),
    ],
)
@pytest.mark.parametrize("units", [6, 5])
def test_each_weight_keeps_its_own_moments(units, change):
    keras = KERAS["keras"]
    layers = keras.layers
    model = keras.Sequential([keras.Input((6,)), layers.Dense(units, name="a"), layers.Dense(6, name="b")])
    model.compile(keras.optimizers.SGD(0.1, momentum=0.9), "mse")
    targets = np.ones((4, 6), "float32")
    model.fit(BATCH, targets, shuffle=False, verbose=0)
    change(model)
    model.make_train_function(force=True)  # what is frozen later goes on being trained by the function there is
    clone = clone_model(model, weights=True)
    for each in (model, clone):
        each.fit(BATCH, targets, shuffle=False, verbose=0)
    assert all(np.array_equal(*pair) for pair in zip(model.get_weights(), clone.get_weights(), strict=True))


def test_a_clone_function_that_freezes_leaves_the_moments_where_they_belong():
    keras = KERAS["keras"]

    def frozen(layer):
        clone = layer.__class__.from_config(layer.get_config())
        clone.trainable = False
        return clone

    model = trained(keras, "adam")
    clone = clone_model(model, clone_function=frozen, weights=True)
    assert [each.name for each in clone.trainable_variables] == []
    assert np.array_equal(model(BATCH), clone(BATCH))
    pairs = zip(model.optimizer.variables, clone.optimizer.variables, strict=True)
    assert all(np.array_equal(*pair) for pair in pairs)


def test_weights_are_in_one_order_whatever_is_frozen():
    keras = KERAS["tf_keras"]
    normalizations = keras.Sequential([keras.layers.BatchNormalization(), keras.layers.BatchNormalization()])
    inputs = keras.Input((3, 6))
    model = keras.Model(inputs, keras.layers.TimeDistributed(normalizations)(inputs))
    model.set_weights([np.full(each.shape, number + 1.0) for number, each in enumerate(model.get_weights())])

    def frozen(layer):
        clone = layer.__class__.from_config(layer.get_config())
        clone.trainable = False
        return clone

    data = np.ones((2, 3, 6), "float32")
    assert np.array_equal(model(data), clone_model(model, clone_function=frozen, weights=True)(data))


def test_other_weights_are_refused_and_nothing_is_copied():
    keras = KERAS["keras"]
    model = keras.Sequential([keras.Input((6,)), keras.layers.Dense(1, name="score")])
    with pytest.raises(ValueError, match=r"weight .*score/kernel has shape \(6, 1\), that of the clone has \(7, 1\)"):
        clone_model(model, input_tensors=keras.Input((7,)), weights=True)


def test_a_model_without_weights_yet_is_cloned_as_it_is():
    keras = KERAS["keras"]
    clone = clone_model(keras.Sequential([keras.layers.Dense(1)]), weights=True)
    assert not clone.built
