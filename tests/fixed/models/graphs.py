"""Models with unusual graphs: inputs, outputs, shared layers, nested models, states, weights in operations."""

from __future__ import annotations

import keras
import numpy as np
from keras import layers

from . import GENERATION, model, model_with


@model()
def calls_outside_of_the_model(x):
    shared, other = layers.Dense(3), keras.Input((3,))
    shared(other)
    y = shared(x)
    shared(shared(other))
    return [shared(y), y]


@model()
def ends_in_dictionaries_in_their_own_order():
    b, a = keras.Input((3,), name="b"), keras.Input((3,), name="a")
    return keras.Model({"b": b, "a": a}, {"z": b - a, "y": layers.Dense(2)(b), "x": (a, [b])})


@model()
def a_model_from_the_middle_of_a_graph():
    x = keras.Input((3,))
    middle = layers.Dense(5, activation="relu")(x)
    y = layers.Dense(2)(layers.Dense(3)(middle))
    keras.Model(x, y)
    return keras.Model(middle, y)


@model()
def thirty_models_deep():
    inner = model_with(layers.Dense(3))
    for _ in range(30):
        x = keras.Input((3,))
        inner = keras.Model(x, inner(x) + x)
    return inner


@model()
def a_layer_shared_with_nested_models(x):
    shared = layers.Dense(3, name="shared")
    one = model_with(shared)
    j = keras.Input((3,))
    two = keras.Model(j, one(shared(j)), name="two")
    return layers.Add()([two(x), one(shared(x)), two(one(x))])


@model(shapes=[(4, 3), (3,)])
def a_model_in_a_wrapper_and_outside(x, z):
    shared = layers.Dense(3, name="shared")
    inner = model_with(shared)
    return [layers.TimeDistributed(inner)(x), inner(z), shared(z)]


@model()
def a_sequential_that_is_built_by_a_call():
    body = keras.Sequential([layers.Dense(3), layers.BatchNormalization(), keras.Sequential([layers.Dense(2)])])
    body(np.ones((2, 3), "float32"))
    return body


def nested():
    i = keras.Input((3,))
    inner = keras.Model(i, layers.BatchNormalization()(layers.Dense(3)(i)), name="inner")
    body = keras.Sequential([layers.InputLayer((3,)), layers.Dense(3), layers.Dense(3)], name="body")
    x = keras.Input((3,))
    return keras.Model(x, layers.Dense(2, name="last")(body(inner(x))))


@model()
def parts_of_nested_models_frozen():
    network = nested()
    network.get_layer("inner").layers[1].trainable = False
    network.get_layer("body").layers[-1].trainable = False
    if GENERATION == "keras":
        network.get_layer("last").bias.trainable = False
    return network


@model()
def states_that_calls_get_and_states_that_last():
    x, a, b = keras.Input(batch_shape=(2, 4, 3)), keras.Input((2,)), keras.Input((2,))
    y, h, c = layers.LSTM(2, return_sequences=True, return_state=True)(x, initial_state=[a, b])
    z = layers.Bidirectional(layers.LSTM(2))(y, initial_state=[h, c, a, b])
    return keras.Model([x, a, b], [z, h, c, layers.Bidirectional(layers.LSTM(3, stateful=True))(x)])


@model()
def weights_in_operations(x):
    inside, before = layers.Dense(3, name="inside"), layers.Dense(3, name="before")
    inner = model_with(inside)
    before.build((None, 3))
    return [inner(x) @ inside.kernel, x @ before.kernel, before(x)]
