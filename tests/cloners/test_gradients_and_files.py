"""A clone has the gradients of its original, and what comes from a file or goes into one stays what it is."""

from __future__ import annotations

import keras
import numpy as np
import pytest
import tensorflow as tf
import tf_keras
from keras import layers
from keras.src.utils import python_utils

from clonediff import clone_model
from clonediff.harness.inside.cloners.fixed.keras3.adapter import ADAPTER
from tests.cloners.loading import load
from tests.cloners.oracle import unlike_clone

BATCH = np.ones((2, 3), "float32")


def test_gradients_are_the_same():
    model = load("keras").flags.nested()
    clone = clone_model(model)
    clone.set_weights(model.get_weights())
    found = []
    for each in (model, clone):
        with tf.GradientTape() as tape:
            total = keras.ops.sum(each(BATCH, training=True) ** 2)
        found.append([np.asarray(g) for g in tape.gradient(total, [w.value for w in each.trainable_weights])])
    assert all(np.array_equal(a, b) for a, b in zip(*found, strict=True))


def test_a_clone_is_saved_and_loaded(tmp_path):
    model = load("keras").flags.nested()
    clone = clone_model(model)
    clone.set_weights(model.get_weights())
    clone.save(tmp_path / "clone.keras")
    assert np.array_equal(keras.models.load_model(tmp_path / "clone.keras")(BATCH), model(BATCH))


@pytest.mark.parametrize(
    "name",
    [
        "a_nested_model_shared",
        "a_sequential_that_is_built_by_a_call",
        "all_frozen",
        "a_layer_shared_three_deep",
        "an own class",
    ],
)
@pytest.mark.parametrize("suffix", [".keras", ".h5"])
def test_a_clone_is_saved_and_loaded_when_the_original_is(name, suffix, tmp_path):
    model = load("tf_keras").MODELS[name].build()
    one, other = [saved_and_loaded(each, tmp_path / ("model" + suffix)) for each in (model, clone_model(model))]
    assert other is one if isinstance(one, type) else unlike_clone(one, other) == []


def saved_and_loaded(model, path):
    try:
        model.save(path)
        return tf_keras.models.load_model(path, compile=False)
    except Exception as error:
        return type(error)


def test_a_lambda_from_a_file_stays_the_same_function():
    function = python_utils.func_load(python_utils.func_dump(lambda x: x / 2.0))
    assert not ADAPTER.is_found_by_name(function)  # though it says that it is of a module of Keras
    model = load("keras").around(layers.Dense(2, kernel_constraint=function))
    assert clone_model(model).layers[1].kernel_constraint is function
