"""Clones of graphs: sharing, the order of calls, operations, structures of inputs and outputs."""

from __future__ import annotations

import collections

import keras
import numpy as np
import pytest
from keras import layers, ops

from clonediff.harness.inside.cloners.fixed.keras3 import clone_model
from tests.cloners.fixed.keras3_faithful import VECTORS, Models, assert_faithful

MODELS = model = Models()


@model(VECTORS)
def shared_layer_at_several_depths():
    x = keras.Input((3,))
    shared = layers.Dense(3)
    deep = layers.Dense(3)(layers.Dense(3)(x))
    first, second = shared(deep), shared(x)
    return keras.Model(x, [second, first])


@model(np.ones((4, 3, 2), "float32"))
def mask_of_a_tensor_that_is_cast():
    x = keras.Input((3, 2))
    narrow = layers.Lambda(lambda x: x * 2.0, mask=lambda x, mask=None: x[..., 0] > 0.0, dtype="mixed_bfloat16")
    return keras.Model(x, layers.SimpleRNN(1)(layers.Masking()(narrow(x))))


@model(VECTORS)
def layer_called_on_its_own_output():
    x = keras.Input((3,))
    a, b = layers.Dense(3), layers.Dense(3)
    return keras.Model(x, a(b(a(b(x)))))


@model(VECTORS)
def calls_that_were_made_from_the_last_to_the_first():
    x = keras.Input((3,))
    shared = layers.Dense(3)
    calls = [shared(x * float(n)) for n in range(4)]
    return keras.Model(x, layers.Add()(calls[::-1]))


@model(VECTORS)
def nested_model_shared():
    i = keras.Input((3,))
    inner = keras.Model(i, layers.Dense(3)(i))
    x = keras.Input((3,))
    return keras.Model(x, [inner(inner(x)), inner(x)])


@model(VECTORS)
def nested_three_deep():
    i = keras.Input((3,))
    first = keras.Model(i, layers.Dense(3)(i))
    j = keras.Input((3,))
    second = keras.Model(j, first(layers.Dense(3)(first(j))))
    x = keras.Input((3,))
    return keras.Model(x, second(first(x)))


@model(VECTORS)
def layer_shared_with_a_nested_model():
    shared = layers.Dense(3)
    i = keras.Input((3,))
    inner = keras.Model(i, shared(i))
    x = keras.Input((3,))
    return keras.Model(x, shared(inner(shared(x))))


@model(VECTORS)
def layer_shared_with_a_nested_sequential():
    shared = layers.Dense(3)
    chain = keras.Sequential([keras.Input((3,)), shared, layers.ReLU()])
    x = keras.Input((3,))
    return keras.Model(x, shared(chain(x)))


@model(VECTORS)
def layer_shared_with_a_wrapper():
    shared = layers.Dense(3)
    x = keras.Input((3,))
    y = layers.TimeDistributed(shared)(layers.RepeatVector(2)(shared(x)))
    return keras.Model(x, y)


@model(VECTORS)
def nested_model_on_the_same_input():
    x = keras.Input((3,))
    inner = keras.Model(x, layers.Dense(3)(x))
    return keras.Model(x, inner(x) + 1.0)


@model(VECTORS)
def model_between_inner_tensors():
    x = keras.Input((3,))
    middle = layers.Dense(3)(x)
    y = layers.Dense(2)(middle)
    inner = keras.Model(middle, y)
    return keras.Model(x, inner(layers.Dense(3)(x)))


@model(VECTORS)
def unused_outputs_of_a_layer():
    x = keras.Input((3,))
    first, second = layers.Lambda(lambda t: [t, t * 2.0])(x)
    return keras.Model(x, second)


@model(VECTORS)
def operators_and_slices():
    x = keras.Input((3,))
    y = (x[:, 0:2] * 2.0 - 1.0) / ops.expand_dims(x[:, 1], -1)
    y = ops.concatenate([y, x[..., ::-1], ops.where(x > 0, x, -x)], axis=-1)
    return keras.Model(x, ops.clip(ops.reshape(y, (-1, 2, 4)), -1.0, np.float32(1.0)))


@model(VECTORS)
def operations_with_arrays_and_functions():
    x = keras.Input((3,))
    y = ops.add(np.arange(3, dtype="float32"), x)
    y = ops.matmul(y, ops.convert_to_tensor(np.eye(3, dtype="float32")))
    y = ops.vectorized_map(lambda row: row * 2.0, y)
    return keras.Model(x, ops.einsum("ab,ac->abc", y, x))


@model(VECTORS)
def the_same_tensor_twice_in_a_call():
    x = keras.Input((3,))
    y = layers.Dense(3)(x)
    return keras.Model(x, layers.Add()([y, y, x]))


@model(VECTORS)
def input_that_is_an_output():
    x = keras.Input((3,))
    return keras.Model(x, [x, layers.Dense(2)(x)])


@model(VECTORS)
def output_listed_twice():
    x = keras.Input((3,))
    y = layers.Dense(2)(x)
    return keras.Model(x, {"a": y, "b": [y, y]})


@model(VECTORS, VECTORS)
def input_listed_twice():
    x = keras.Input((3,))
    return keras.Model([x, x], layers.Dense(2)(x))


@model(VECTORS, VECTORS + 1)
def unused_input():
    x, unused = keras.Input((3,)), keras.Input((3,))
    return keras.Model([x, unused], layers.Dense(2)(x))


@model([VECTORS])
def list_of_one():
    x = keras.Input((3,))
    return keras.Model([x], [layers.Dense(2)(x)])


@model((VECTORS, VECTORS + 1))
def tuples():
    x, y = keras.Input((3,)), keras.Input((3,))
    return keras.Model((x, y), (x + y, (layers.Dense(2)(x),)))


@model({"b": VECTORS, "a": VECTORS + 1})
def dictionaries_in_their_own_order():
    b, a = keras.Input((3,), name="b"), keras.Input((3,), name="a")
    return keras.Model({"b": b, "a": a}, {"z": b + a, "y": layers.Dense(2)(b), "x": [a]})


@model(VECTORS)
def ordered_dictionary():
    x = keras.Input((3,))
    outputs = collections.OrderedDict([("z", layers.Dense(3)(x)), ("a", layers.Dense(2)(x))])
    return keras.Model(x, outputs)


@model({"q": [VECTORS, VECTORS + 1], "p": VECTORS + 2})
def nested_structures():
    a, b, c = (keras.Input((3,)) for _ in range(3))
    return keras.Model({"q": [a, b], "p": c}, {"out": (a + b, [c])})


@model(VECTORS)
def nested_model_of_dictionaries():
    b, a = keras.Input((3,), name="b"), keras.Input((3,), name="a")
    inner = keras.Model({"b": b, "a": a}, {"z": layers.Dense(3)(b), "y": a})
    x = keras.Input((3,))
    out = inner({"b": x, "a": layers.Dense(3)(x)})
    return keras.Model(x, out["z"] - out["y"])


@model(VECTORS)
def nested_function_of_operations():
    i = keras.KerasTensor((None, 3))
    function = keras.Function(i, ops.sigmoid(i) * 2.0, name="twice")
    x = keras.Input((3,))
    return keras.Model(x, function(layers.Dense(3)(function(x))))


@model(VECTORS)
def weights_tied_to_a_later_layer():
    x = keras.Input((3,))
    dense = layers.Dense(3)
    dense.build((None, 3))
    y = ops.matmul(x, dense.kernel)
    return keras.Model(x, dense(y))


@model(VECTORS)
def variable_as_a_constant():
    x = keras.Input((3,))
    variable = keras.Variable([1.0, 2.0, 3.0], name="free")
    return keras.Model(x, ops.add(ops.multiply(x, variable), variable))


@model([VECTORS, None])
def optional_input():
    class AddOptional(layers.Layer):
        def call(self, x, y=None):
            return x if y is None else x + y

        def compute_output_shape(self, x_shape):
            return x_shape

    x, y = keras.Input((3,)), keras.Input((3,), optional=True)
    return keras.Model([x, y], AddOptional()(x, y))


@model(np.ones((2, 3), "int32"))
def typed_input():
    x = keras.Input(batch_shape=(2, None), dtype="int32")
    return keras.Model(x, ops.cast(x, "float16") * 2)


@model(VECTORS)
def mixed_precision_model():
    before = keras.config.dtype_policy()
    keras.config.set_dtype_policy("mixed_float16")
    try:
        x = keras.Input((3,))
        return keras.Model(x, layers.Dense(2, dtype="float32")(layers.Dense(3)(x)))
    finally:
        keras.config.set_dtype_policy(before)


@model(np.ones((2, 5, 3), "float32"))
def layer_whose_config_has_no_policy():
    before = keras.config.dtype_policy()
    keras.config.set_dtype_policy("mixed_bfloat16")
    try:
        x = keras.Input((5, 3))
        return keras.Model(x, layers.SpatialDropout1D(0.5)(x))
    finally:
        keras.config.set_dtype_policy(before)


def test_a_layer_that_got_another_dtype_policy_after_its_call():
    x = keras.Input((3,))
    model = keras.Model(x, layers.Dense(2, name="later")(x))
    model.get_layer("later").dtype_policy = keras.DTypePolicy("mixed_bfloat16")
    clone = clone_model(model)
    clone.set_weights(model.get_weights())
    assert clone.get_layer("later").dtype_policy.name == "mixed_bfloat16"
    given, expected = clone(VECTORS), model(VECTORS)
    assert given.dtype == expected.dtype == "bfloat16"
    assert ops.all(given == expected)


@pytest.mark.parametrize("name", MODELS)
def test_graph(name):
    build, inputs = MODELS[name]
    assert_faithful(build(), inputs, again=True)


def test_sparse_and_ragged_inputs():
    import tensorflow as tf

    x = keras.Input((3,), sparse=True)
    clone = assert_faithful(keras.Model(x, layers.Dense(2)(x)), tf.sparse.from_dense(VECTORS))
    assert clone.inputs[0].sparse
    x = keras.Input((None,), ragged=True)
    clone = assert_faithful(keras.Model(x, ops.relu(x)), None)
    assert clone.inputs[0].ragged
