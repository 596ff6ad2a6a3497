"""The fixed cloner of `tf_keras` in use: inputs, `input_tensors`, `clone_function`, misuse, compiling, saving."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf
import tf_keras as keras
from tf_keras import layers

from clonediff.harness.inside.cloners.fixed.tf_keras import clone_model
from tests.cloners.fixed.test_tf_keras_clone_models import (
    frozen_parts,
    own_config,
    sequential,
    sequential_in_functional,
    sequential_of_models,
    shared_inner,
    shared_three_deep,
)
from tests.cloners.fixed.tf_keras_faithful import assert_faithful, assert_same_structure, floats_of

floats = floats_of(0)


INPUTS = {
    "unnamed": (lambda: keras.Input((4,)), floats(2, 4)),
    "batch size": (lambda: keras.Input((4,), batch_size=2), floats(2, 4)),
    "unknown sizes": (lambda: keras.Input((None, 4)), floats(2, 3, 4)),
    "unknown rank": (lambda: keras.Input(type_spec=tf.TensorSpec(None)), floats(2, 4)),
    "scalars": (lambda: keras.Input(()), floats(2)),
    "integers": (lambda: keras.Input((3,), dtype="int64"), np.array([[1, 2, 3]], "int64")),
    "strings": (lambda: keras.Input((1,), dtype="string"), np.array([["a"]])),
    "ragged": (lambda: keras.Input((None,), ragged=True), tf.ragged.constant([[1.0], [2.0, 3.0]])),
    "type spec": (lambda: keras.Input(type_spec=tf.TensorSpec((2, 4), "float64")), floats(2, 4).astype("float64")),
    "ragged spec": (
        lambda: keras.Input(type_spec=tf.RaggedTensorSpec([None, None], tf.float32, row_splits_dtype=tf.int32)),
        tf.ragged.constant([[1.0], [2.0, 3.0]], row_splits_dtype=tf.int32),
    ),
}


@pytest.mark.parametrize("name", INPUTS)
def test_input_is_cloned_faithfully(name):
    build, value = INPUTS[name]
    x = build()
    clone = assert_faithful(keras.Model(x, layers.Lambda(lambda t: t)(x)), clone_model, value)
    assert type(clone.inputs[0]) is type(x)


def test_ragged_properties_and_methods():
    x = keras.Input((None,), ragged=True)
    model = keras.Model(x, [x.to_tensor(), x.row_splits, tf.RaggedTensor.from_row_splits(x.values, x.row_splits)])
    assert_faithful(model, clone_model, tf.ragged.constant([[1.0], [2.0, 3.0]]))


def test_sparse_input():
    x = keras.Input((4,), sparse=True)
    model = keras.Model(x, layers.Dense(2)(x))
    assert_faithful(model, clone_model, tf.sparse.from_dense(floats(2, 4)))


def test_input_tensors_are_built_upon():
    model = shared_inner()
    given = keras.Input((4,), name="given")
    clone = clone_model(model, input_tensors=[given])
    assert clone.inputs[0] is given
    clone = clone_model(model, input_tensors=given._keras_history.layer)
    assert clone.inputs[0] is given
    clone = clone_model(sequential(), input_tensors=given)
    assert clone.input_names == ["given"]
    clone = clone_model(model, input_tensors=tf.ones((2, 4)))
    assert clone.input_names == ["input_wrapper_for_" + model.input_names[0]]


def test_clone_function_sees_every_layer_once_in_order():
    model, seen = sequential_in_functional(), []

    def replace(layer):
        seen.append(layer.name)
        return layer

    clone = clone_model(model, clone_function=replace)
    assert seen == [each.name for each in model.layers if not isinstance(each, layers.InputLayer)]
    assert clone.layers[1] is model.layers[1]


def test_clone_function_may_replace_a_layer():
    x = keras.Input((5,), dtype="int32")
    y = layers.Embedding(7, 4, mask_zero=True)(x)
    model = keras.Model(x, layers.SimpleRNN(2, return_sequences=True)(y))

    def replace(layer):
        if isinstance(layer, layers.SimpleRNN):
            return layers.Bidirectional(layers.SimpleRNN(2, return_sequences=True))
        return type(layer).from_config(layer.get_config())

    assert clone_model(model, clone_function=replace).output_shape == (None, 5, 4)


@pytest.mark.parametrize(
    ("build", "arguments"),
    [
        (shared_inner, {"clone_function": 3}),
        (sequential, {"clone_function": 3}),
        (sequential, {"input_tensors": [keras.Input((4,)), keras.Input((4,))]}),
        (sequential, {"input_tensors": layers.ReLU()(keras.Input((4,)))}),
        (lambda: layers.Dense(2), {"clone_function": lambda each: each}),
    ],
    ids=["functional, no callable", "sequential, no callable", "two tensors", "intermediate tensor", "no model"],
)
def test_misuse_is_refused_as_upstream_refuses_it(build, arguments):
    for clone in (keras.models.clone_model, clone_model):
        with pytest.raises(ValueError):
            clone(build(), **arguments)


def test_clone_is_not_compiled():
    model = shared_inner()
    model.compile("sgd", "mse")
    clone = clone_model(model)
    assert clone.optimizer is None and not clone._is_compiled
    clone.compile("sgd", "mse")
    clone.fit(floats(4, 4), floats(4, 4), verbose=0)


@pytest.mark.parametrize("build", [shared_inner, sequential_of_models, frozen_parts, shared_three_deep, own_config])
@pytest.mark.parametrize("suffix", [".keras", ".h5"])
def test_clone_is_saved_and_loaded_when_the_original_is(build, suffix, tmp_path):
    model = build()
    loaded = [saved_and_loaded(each, tmp_path / ("model" + suffix)) for each in (model, clone_model(model))]
    if isinstance(loaded[0], type):
        assert loaded[1] is loaded[0]
    else:
        assert_same_structure(*loaded)


def saved_and_loaded(model, path):
    try:
        model.save(path)
        return keras.models.load_model(path, compile=False)
    except Exception as error:
        return type(error)
