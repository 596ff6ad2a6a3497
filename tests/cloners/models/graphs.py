"""Calls, sharing and the ends of a graph."""

from __future__ import annotations

import collections

import keras
import numpy as np
from keras import layers

from . import GENERATION, around, model


@model(again=True)
def a_layer_shared_at_several_depths(x):
    shared, between = layers.Dense(3), layers.Dense(3, activation="relu")
    early = shared(x)
    late = shared(between(shared(between(early))))
    return [shared(x), late, early]


@model()
def a_layer_whose_calls_are_not_in_the_order_of_its_depth(z, x):
    shared, between = layers.Dense(3), layers.Dense(3)
    first = shared(between(between(x)))
    second = shared(z)
    return [layers.Add()([second, first]), second]


@model()
def a_layer_called_on_its_own_output(x):
    a, b = layers.Dense(3), layers.Dense(3)
    return a(b(a(b(x))))


@model()
def calls_that_are_used_from_the_last_to_the_first(x):
    shared = layers.Dense(3)
    calls = [shared(layers.Dense(3)(x)) for _ in range(4)]
    return layers.Add()(calls[::-1])


@model()
def calls_outside_of_the_model(x):
    shared, other = layers.Dense(3), keras.Input((3,))
    shared(other)
    y = shared(x)
    shared(shared(other))
    return [shared(y), y]


@model(shapes=[(1,)])
def the_reported_bug(x):
    a, b = layers.Lambda(lambda x: [x, x])(x)
    return layers.Add()([a, b])


@model()
def unused_outputs_of_a_layer(x):
    _, second = layers.Lambda(lambda t: [t, t * 2.0])(x)
    return second


@model()
def the_same_tensor_twice_in_a_call(x):
    y = layers.Dense(3)(x)
    return layers.Add()([y, y, x])


@model()
def an_input_that_is_an_output(x):
    return [x, layers.Dense(2)(x)]


@model()
def nothing_but_an_input(x):
    return x


@model()
def an_output_listed_twice(x):
    y = layers.Dense(2)(x)
    return {"a": y, "b": [y, y]}


@model("keras")
def an_input_listed_twice():
    x = keras.Input((3,))
    return keras.Model([x, x], layers.Dense(2)(x))


@model(shapes=[(3,), (2,)])
def an_unused_input_and_an_output_twice(x, unused):
    y = layers.Dense(2)(x)
    return [y, x, y]


@model()
def ends_in_lists_of_one():
    x = keras.Input((3,))
    return keras.Model([x], [layers.Dense(2)(x)])


@model()
def ends_in_tuples():
    x, y = keras.Input((3,)), keras.Input((3,))
    return keras.Model((x, (y,)), (x + y, (layers.Dense(2)(x),)))


@model(again=True)
def ends_in_dictionaries_in_their_own_order():
    b, a = keras.Input((3,), name="b"), keras.Input((3,), name="a")
    return keras.Model({"b": b, "a": a}, {"z": b - a, "y": layers.Dense(2)(b), "x": (a, [b])})


@model("keras")
def ends_in_an_ordered_dictionary(x):
    return collections.OrderedDict([("z", layers.Dense(3)(x)), ("a", layers.Dense(2)(x))])


@model("keras")
def ends_nested_in_each_other():
    a, b, c = (keras.Input((3,)) for _ in range(3))
    return keras.Model({"q": [a, b], "p": c}, {"out": (a + b, [c])})


@model()
def a_nested_model_of_dictionaries(x):
    b, a = keras.Input((3,), name="b"), keras.Input((3,), name="a")
    inner = keras.Model({"b": b, "a": a}, {"z": layers.Dense(3)(b), "y": (a, [b])})
    out = inner({"b": x, "a": layers.Dense(3)(x)})
    return [out["z"] - out["y"][0], out["y"][1]]


@model(again=True)
def a_model_from_the_middle_of_a_graph():
    x = keras.Input((3,))
    middle = layers.Dense(5, activation="relu")(x)
    y = layers.Dense(2)(layers.Dense(3)(middle))
    keras.Model(x, y)
    return keras.Model(middle, y)


@model()
def a_model_between_inner_tensors(x):
    middle = layers.Dense(3)(x)
    inner = keras.Model(middle, layers.Dense(2)(middle))
    return inner(layers.Dense(3)(x))


@model()
def two_halves_of_a_graph(z):
    x = keras.Input((3,))
    h = layers.Dense(3, name="h")(x)
    first, second = keras.Model(x, h), keras.Model(h, layers.Dense(3, name="y")(h))
    return second(first(z))


@model(computes=True, differs=["structure"] if GENERATION == "tf_keras" else ())
def a_layer_whose_calls_are_counted_backwards():
    # Where a model begins at what a layer gave, tf_keras counts the calls again, the last one first.
    made, shared = layers.Activation("linear")(keras.Input((3,))), layers.Dense(3)
    return keras.Model(made, shared(layers.ReLU()(shared(shared(made)))))


@model("tf_keras")
def four_hundred_layers_in_a_row():
    x = y = keras.Input((2,))
    for _ in range(400 if keras.__name__ == "tf_keras" else 50):
        y = layers.ReLU()(y)
    return keras.Model(x, y)


@model()
def thirty_models_deep():
    inner = around(layers.Dense(3))
    for _ in range(30):
        x = keras.Input((3,))
        inner = keras.Model(x, inner(x) + x)
    return inner


# Models in models


def inner_model(layer=None, name=None):
    x = keras.Input((3,))
    return keras.Model(x, (layer or layers.Dense(3))(x), name=name)


@model()
def a_nested_model_shared(x):
    inner = inner_model()
    return [inner(inner(x)), inner(x)]


@model()
def a_nested_model_of_two_outputs_called_twice(x, y):
    a = keras.Input((3,))
    inner = keras.Model(a, layers.Lambda(lambda x: [x, x + 1.0])(layers.Dense(2)(a)), name="inner")
    return layers.Concatenate()([*inner(x), *inner(y)])


@model()
def a_nested_model_called_twice_on_one_tensor(x):
    inner, after = inner_model(name="inner"), layers.Dense(2)
    first, second = after(inner(x)), after(inner(x))
    return [second, first]


@model()
def models_nested_three_deep(x):
    first = inner_model()
    j = keras.Input((3,))
    second = keras.Model(j, first(layers.Dense(3)(first(j))))
    return second(first(x))


@model()
def a_layer_shared_with_a_nested_model(x):
    shared = layers.Dense(3, name="shared")
    inner = inner_model(shared)
    return [shared(inner(shared(x))), inner(shared(x))]


@model()
def a_layer_called_outside_before_inside(x):
    shared = layers.Dense(3, name="shared")
    early = shared(x)
    return inner_model(shared)(early)


@model()
def a_layer_shared_three_deep(x):
    shared = layers.Dense(3, name="shared")
    one = inner_model(shared, "one")
    j = keras.Input((3,))
    two = keras.Model(j, one(shared(j)), name="two")
    return layers.Add()([two(x), one(x), shared(x)])


@model()
def a_layer_shared_with_a_nested_sequential(x):
    shared = layers.Dense(3)
    body = keras.Sequential([layers.InputLayer((3,)), shared, layers.ReLU()])
    return shared(body(shared(x)))


@model()
def a_layer_shared_with_a_wrapper(x):
    shared = layers.Dense(3)
    return layers.TimeDistributed(shared)(layers.RepeatVector(2)(shared(x)))


@model()
def a_nested_model_on_the_same_input():
    x = keras.Input((3,))
    encoder = keras.Model(x, layers.Dense(4)(x), name="encoder")
    z = keras.Input((4,))
    decoder = keras.Model(z, layers.Dense(3)(z), name="decoder")
    return keras.Model(x, decoder(encoder(x)), name="both")


@model(shapes=[(4, 3), (3,)])
def a_model_in_a_wrapper_and_outside(x, z):
    shared = layers.Dense(3, name="shared")
    inner = inner_model(shared)
    return [layers.TimeDistributed(inner)(x), inner(z), shared(z)]


@model(shapes=[(4, 3)])
def a_sequential_that_is_built_late_in_a_wrapper(x):
    late = keras.Sequential([layers.Dense(2), layers.Dense(1)], name="late")
    return layers.TimeDistributed(late)(x)


@model()
def a_sequential_and_its_inside(x):
    body = keras.Sequential([layers.InputLayer((3,)), layers.Dense(3, name="d"), layers.ReLU(name="r")])
    y = body(x)
    return [y, keras.Model(body.inputs, body.layers[0].output, name="part")(y), body.layers[0](x)]


@model()
def the_inside_of_a_sequential():
    body = keras.Sequential([layers.InputLayer((3,)), layers.Dense(3), layers.Lambda(lambda x: x + 1.0), layers.ReLU()])
    return keras.Model(body.inputs, [each.output for each in body.layers])


# Sequential models


@model()
def a_sequential():
    body = [layers.InputLayer((3,), name="mine"), layers.Dense(3), layers.Dropout(0.5, seed=1)]
    return keras.Sequential(body, name="body")


@model("tf_keras")
def a_sequential_that_begins_with_a_shape():
    return keras.Sequential([layers.Dense(3, input_shape=(3,)), layers.Dense(2)], name="mine")


@model()
def a_sequential_that_is_built_by_a_shape():
    body = keras.Sequential([layers.Dense(3), layers.Dense(2)])
    body.build((None, 3))
    return body


@model()
def a_sequential_that_is_built_by_a_call():
    body = keras.Sequential([layers.Dense(3), layers.BatchNormalization(), keras.Sequential([layers.Dense(2)])])
    body(np.ones((2, 3), "float32"))
    return body


@model("keras")
def a_sequential_that_has_grown():
    grown = keras.Sequential([keras.Input((3,))])
    for _ in range(3):
        grown.add(layers.Dense(3))
    return grown


@model("tf_keras")
def a_sequential_with_a_layer_twice():
    twice = layers.Dense(3, input_shape=(3,))
    return keras.Sequential([twice, layers.ReLU(), twice])


@model()
def a_sequential_of_models():
    inner = keras.Sequential([layers.Dense(3, input_shape=(3,)), layers.Lambda(lambda x: x * 2.0)])
    return keras.Sequential([inner, inner_model(), layers.ReLU()])


@model()
def sequentials_in_a_graph(x):
    deferred, explicit = keras.Sequential([layers.Dense(3)]), a_sequential()
    return [explicit(deferred(x)), deferred(layers.ReLU()(x))]


@model(inputs=lambda: np.arange(6).reshape(2, 3) % 5)
def a_sequential_of_whole_numbers():
    first = layers.InputLayer((3,), dtype="int32")
    return keras.Sequential([first, layers.Embedding(9, 2, mask_zero=True), layers.LSTM(2)])


@model(inputs=lambda: False, differs=["not built"])
def a_sequential_that_is_not_built():
    return keras.Sequential([layers.Dense(3), layers.Lambda(lambda x: x), layers.Dense(2)], name="later")


@model("keras", inputs=lambda: False, differs=["not built"])
def an_empty_sequential():
    return keras.Sequential(name="empty")


# Inputs


@model("tf_keras", "keras")
def an_input_of_a_known_batch():
    x = keras.Input(batch_size=2, shape=(3,))
    return keras.Model(x, layers.Dense(2)(x))


@model()
def an_input_of_unknown_sizes():
    return around(layers.Lambda(lambda t: t), (None, 4))


@model()
def an_input_of_scalars():
    return around(layers.Lambda(lambda t: t), ())


@model()
def inputs_of_several_dtypes():
    x, ids = keras.Input(batch_shape=(2, 3), name="fixed"), keras.Input((3,), dtype="int32", name="whole")
    return keras.Model([x, ids], [layers.Dense(2)(x), layers.Embedding(4, 3)(ids)])


@model()
def a_layer_held_but_not_called():
    held = around(layers.Dense(3))
    held.spare = layers.Dense(2)
    held.spare.build((None, 3))
    return held
