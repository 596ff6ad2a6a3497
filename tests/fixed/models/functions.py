"""Layers that a model reaches through functions, objects and globals."""

from __future__ import annotations

import functools

import keras
import numpy as np
from keras import layers

from . import add_models, model, model_with


class Joined(layers.Layer):
    """A layer with two sublayers and a function that refers to them."""

    def __init__(self, join, **kwargs):
        super().__init__(**kwargs)
        self.parts = [layers.Dense(3), layers.Dense(3)]
        self.by_name = {"a": self.parts[0]}
        self.join = join(self)

    def build(self, shape):
        for part in self.parts:
            part.build(shape)
        super().build(shape)

    def call(self, x):
        return self.join(x)


def closure_over(value):
    """Return a function that closes over a sublayer or a container of sublayers."""
    return lambda x: (value["a"] if isinstance(value, dict) else value[1] if isinstance(value, list) else value)(x)


def call_second(parts, x):
    return parts[1](x)


def cache_choice(pick):
    pick = functools.cache(pick)
    return lambda x: pick()(x)


def closure_with_words(layer):
    words = [f"word {number}" for number in range(6000)]
    return lambda x: layer(x) if words else x


JOINS = {
    "a function over a list of layers": lambda self: closure_over(self.parts),
    "a function over a dict of layers": lambda self: closure_over(self.by_name),
    "a function over a layer and much else": lambda self: closure_with_words(self.parts[0]),
    "a partial of a list of layers": lambda self: functools.partial(call_second, self.parts),
    "a function with a default": lambda self: lambda x, part=self.parts[0]: part(x),
    "a cached function": lambda self: cache_choice(lambda: self.parts[0]),
}
add_models({name: lambda join=join: Joined(join) for name, join in JOINS.items()}, model_with)

global_layer = layers.Dense(3, name="called")
"""A layer in a global variable, as in a script."""
untracked_layer = layers.Dense(3, name="untracked")
untracked_layer.build((None, 3))


def helper(x):
    return global_layer(x) * 2.0


def call_recursively(x, times=2):
    return global_layer(x) if times == 0 else call_recursively(x, times - 1)


@functools.cache
def cached_layer():
    return global_layer


GLOBAL_FUNCTIONS = {
    "a global layer": lambda x: global_layer(x),
    "a global function that calls a global layer": lambda x: helper(x),
    "a function that calls itself and a global layer": call_recursively,
    "a cached global function": lambda x: cached_layer()(x),
}


def model_around_global_layer(function):
    x = keras.Input((3,))
    return keras.Model(x, layers.Lambda(function)(global_layer(x)))


for name, function in GLOBAL_FUNCTIONS.items():
    model(name=name)(functools.partial(model_around_global_layer, function))
model(name="an untracked layer")(functools.partial(model_around_global_layer, lambda x: untracked_layer(x)))


class Box:
    """An object that Keras does not track."""

    def __init__(self, held):
        self.held = held

    def apply(self, x):
        return self.held(x)


class Boxed(layers.Layer):
    def __init__(self, box, **kwargs):
        super().__init__(**kwargs)
        self.box = box

    def call(self, x):
        return self.box.apply(x)


def network():
    return keras.Sequential([keras.Input((3,)), layers.Dense(3)])


@model()
def a_model_in_an_object(x):
    return Boxed(Box(network()))(x)


@model()
def a_method_of_an_object_with_a_model(x):
    return layers.Lambda(Box(network()).apply)(x)


@model("tf_keras")
def an_adapted_normalization(x):
    normalization = layers.Normalization()
    normalization.adapt(np.array([[1.0, 2.0, 3.0], [5.0, 6.0, 7.0]]))
    return normalization(x)
