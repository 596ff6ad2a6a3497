"""What the fixed cloner asks a release of Keras, whatever the session is set to."""

from __future__ import annotations

import keras
import pytest

from clonediff import clone_model
from clonediff.harness.inside.cloners.fixed.keras3.release import written_by_keras


@pytest.fixture(params=["mixed_bfloat16", "float64"])
def policy(request):
    before = keras.config.dtype_policy()
    keras.config.set_dtype_policy(request.param)
    written_by_keras.cache_clear()
    yield request.param
    keras.config.set_dtype_policy(before)
    written_by_keras.cache_clear()


def test_what_keras_writes_into_calls_does_not_depend_on_the_policy(policy):
    there = written_by_keras()
    keras.config.set_dtype_policy("float32")
    written_by_keras.cache_clear()
    assert there == written_by_keras() != set()


def test_a_layer_is_replaced_after_a_model_was_cloned_under_another_policy(policy):
    def replaced(layer):
        return keras.layers.Activation("tanh") if isinstance(layer, keras.layers.BatchNormalization) else layer

    written_by_keras()
    keras.config.set_dtype_policy("float32")
    inputs = keras.Input((1,))
    model = keras.Model(inputs, keras.layers.BatchNormalization()(inputs))
    assert isinstance(clone_model(model, clone_function=replaced).layers[1], keras.layers.Activation)
