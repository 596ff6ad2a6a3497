"""What no config tells: what is frozen."""

from __future__ import annotations

import keras
from keras import layers

from . import around, model


def nested():
    i = keras.Input((3,))
    inner = keras.Model(i, layers.BatchNormalization()(layers.Dense(3)(i)), name="inner")
    body = keras.Sequential([layers.InputLayer((3,)), layers.Dense(3), layers.Dense(3)], name="body")
    x = keras.Input((3,))
    return keras.Model(x, layers.Dense(2, name="last")(body(inner(x))))


def all_frozen(it):
    it.trainable = False


def a_nested_model_frozen(it):
    it.get_layer("inner").trainable = False


def inner_layers_frozen(it):
    it.get_layer("inner").layers[1].trainable = False
    it.get_layer("body").layers[-1].trainable = False


def all_frozen_but_for_one_layer(it):
    it.trainable = False
    it.get_layer("body").layers[-1].trainable = True


def only_the_flag_of_the_model_frozen(it):
    it.trainable = False
    for layer in it.layers:
        layer.trainable = True


def one_variable_frozen(it):
    it.get_layer("last").bias.trainable = False


FREEZES = [all_frozen, a_nested_model_frozen, inner_layers_frozen, all_frozen_but_for_one_layer]
for freeze in [*FREEZES, only_the_flag_of_the_model_frozen, one_variable_frozen]:
    of = ("keras",) if freeze is one_variable_frozen else ()

    @model(*of, name=freeze.__name__)
    def build(freeze=freeze):
        it = nested()
        freeze(it)
        return it


@model(shapes=[(4, 3)])
def a_direction_frozen_after_its_call(x):
    layer = layers.Bidirectional(layers.SimpleRNN(2))
    y = layer(x)
    layer.forward_layer.trainable = False
    return y


@model()
def a_layer_shared_with_a_frozen_model():
    shared = layers.Dense(3)
    i = keras.Input((3,))
    inner = keras.Model(i, layers.Dense(3)(shared(i)))
    x = keras.Input((3,))
    outer = keras.Model(x, shared(inner(x)))
    inner.trainable = False
    shared.trainable = True
    return outer


@model("tf_keras")
def a_sequential_that_was_frozen_before_it_was_built():
    body = keras.Sequential([layers.Dense(3), layers.Dense(3)])
    body.trainable = False
    outer = around(body)
    body.layers[0].trainable = True
    return outer


@model("tf_keras")
def a_model_frozen_by_its_constructor():
    x = keras.Input((3,))
    return keras.Model(x, layers.Dense(2)(x), trainable=False)
