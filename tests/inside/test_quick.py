"""What takes less time than the plain way, and gives the same."""

from __future__ import annotations

from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf
from keras.src.backend.tensorflow import nn as backend_nn

from clonediff.harness.inside.frameworks import framework


@pytest.mark.parametrize(
    ("shape", "options"),
    [
        pytest.param((6, 6, 4), {"groups": 2}, id="grouped"),
        pytest.param((4, 6), {"groups": 2, "data_format": "channels_first", "padding": "same"}, id="channels-first"),
        pytest.param((2, 5, 5, 5), {"data_format": "channels_first"}, id="three-dimensions"),
        pytest.param((6, 6, 4), {"strides": 2}, id="not-compiled"),
    ],
)
def test_a_convolution_that_is_compiled_once_gives_the_same_bits(
    shape: tuple[int, ...], options: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(backend_nn, "conv", getattr(backend_nn.conv, "__wrapped__", backend_nn.conv))
    layer = getattr(keras.layers, f"Conv{len(shape) - 1}D")(4, 3, **options)
    numbers = tf.constant(np.random.default_rng(0).normal(size=(2, *shape)).astype("float32"))
    results = []
    for compiles in (None, framework("keras").tensors.compile_once, None):
        if compiles is not None:
            compiles()
        with tf.GradientTape() as tape:
            result = layer(numbers)
        results.append([np.asarray(array) for array in (result, *tape.gradient(result, layer.trainable_variables))])
    for arrays in results[1:]:
        assert all(map(np.array_equal, arrays, results[0]))


def test_a_convolution_takes_its_arguments_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(backend_nn, "conv", backend_nn.conv)
    framework("keras").tensors.compile_once()
    assert keras.ops.image.extract_patches(tf.ones((2, 4, 4, 2)), size=(3, 2)).shape == (2, 1, 2, 12)
