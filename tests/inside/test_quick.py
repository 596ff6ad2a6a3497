"""What takes less time than the plain way, and gives the same."""

from __future__ import annotations

import importlib
from collections.abc import Callable
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
    plain = backend_nn.conv.__wrapped__ if hasattr(backend_nn.conv, "__wrapped__") else backend_nn.conv
    monkeypatch.setattr(backend_nn, "conv", plain)
    layer = getattr(keras.layers, f"Conv{len(shape) - 1}D")(4, 3, **options)
    numbers = tf.constant(np.random.default_rng(0).normal(size=(2, *shape)).astype("float32"))
    compiled = "groups" in options or "data_format" in options
    found = []
    for once in (False, True):
        if once:
            framework("keras").speed_up()
        traced = _traced(monkeypatch)
        for _ in range(3):
            with tf.GradientTape() as tape:
                result = layer(numbers)
            found.append([np.asarray(each) for each in (result, *tape.gradient(result, layer.trainable_variables))])
        assert len(traced) == (0 if not compiled else 1 if once else 3)
    for each in found[1:]:
        assert all(map(np.array_equal, each, found[0]))


def _traced(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The convolutions that are traced from now on, to be compiled."""
    made: list[str] = []
    convolution = tf.nn.convolution

    def told(*args: Any, **kwargs: Any) -> Any:
        if not tf.executing_eagerly():
            made.append("convolution")
        return convolution(*args, **kwargs)

    monkeypatch.setattr(tf.nn, "convolution", told)
    return made


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda variable: variable.assign(tf.zeros((3, 4))), id="assigned"),
        pytest.param(lambda variable: variable.assign_add(tf.ones((3, 4))), id="added-to"),
        pytest.param(lambda variable: variable.scatter_nd_update([[1, 1]], [50.0]), id="scattered"),
        pytest.param(lambda variable: variable[1:].assign(tf.zeros((2, 4))), id="sliced"),
    ],
)
def test_what_was_read_of_a_variable_stays_as_it_was(change: Callable[[Any], Any]) -> None:
    tensors = framework("keras").tensors  # type: ignore[attr-defined]  # the generations before have none
    variable = tf.Variable(np.arange(12, dtype="float32").reshape(3, 4))
    array, _ = tensors.array(variable)
    change(variable)
    assert array.tolist() == np.arange(12).reshape(3, 4).tolist()
    assert tensors.array(variable)[0].tolist() != array.tolist()


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        pytest.param([b"a", b""], "O", id="text"),
        pytest.param(3.5, "f", id="no-dimension"),
        pytest.param(np.zeros((0, 3)), "f", id="empty"),
        pytest.param([True], "b", id="bool"),
    ],
)
def test_a_tensor_is_read_as_an_array(value: Any, kind: str) -> None:
    array, prefix = framework("keras").tensors.array(tf.constant(value))  # type: ignore[attr-defined]  # as above
    assert (array.dtype.kind, array.shape, prefix) == (kind, np.shape(value), "")
    assert array.tolist() == np.asarray(value).tolist()


@pytest.mark.parametrize("kind", ["GRU", "LSTM"])
def test_a_function_for_a_gpu_is_left_out_of_a_graph_that_is_thrown_away(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    tf_keras = pytest.importorskip("tf_keras")
    utils = importlib.import_module("tf_keras.src.layers.rnn.gru_lstm_utils")
    registered: list[Any] = []
    monkeypatch.setattr(utils, "function_register", lambda *args, **kwargs: registered.append(args))
    framework("tf_keras").speed_up()
    inputs = tf_keras.Input((3, 4))
    model = tf_keras.Model(inputs, getattr(tf_keras.layers, kind)(2)(inputs))
    assert not registered
    numbers = np.ones((2, 3, 4), "float32")
    traced = tf.function(model)(numbers)
    assert len(registered) == 1
    np.testing.assert_allclose(traced, model(numbers), rtol=1e-5)
