"""Models of one layer: lambdas, functions as arguments, custom layers, cells, wrappers, policies, seeds."""

from __future__ import annotations

import types

import keras
import numpy as np
from keras import layers

from . import add_models, freeze, model, model_with


def scaled(x, by=2.0):
    return x * by


def use_mask_and_mode(x, mask=None, training=None):
    x = x if mask is None else x + 1.0
    return x * 3.0 if training else x


def masked_model(layer):
    # Wrappers pass the mask to their layer, but not every layer accepts a mask.
    masks = not isinstance(layer, layers.TimeDistributed)
    return model_with(lambda x: layer(layers.Masking()(x) if masks else x), (4, 3))


class Affine(layers.Layer):
    """A layer with a sublayer from its constructor, and a sublayer and a weight from `build`."""

    def __init__(self, units=3, **kwargs):
        super().__init__(**kwargs)
        self.units = units
        self.inner = layers.Dense(units, dtype=kwargs.get("dtype"))

    def build(self, shape):
        self.shift = self.add_weight(shape=(self.units,), initializer="ones")
        self.late = layers.Dense(self.units)
        self.inner.build(shape)
        self.late.build((*shape[:-1], self.units))
        super().build(shape)

    def call(self, x):
        return self.late(self.inner(x)) + self.shift

    def compute_output_shape(self, shape):
        return (*shape[:-1], self.units)


class Holder(layers.Layer):
    """A layer with a sublayer, a list and a dict of sublayers."""

    def __init__(self, one, many, named, **kwargs):
        super().__init__(**kwargs)
        self.one, self.many, self.named = one, many, named

    def call(self, x):
        for layer in (self.one, *self.many):
            x = layer(x)
        return self.named["last"](x)


class ChangedAttributes(layers.Layer):
    """A layer whose attributes come from an argument, are set by calls, or form a cycle."""

    def __init__(self, by=1.0, **kwargs):
        super().__init__(**kwargs)
        self._by, self.calls, self.factor = by * 10 + 1, 0, 1.0
        self.state = types.SimpleNamespace(owner=self)

    def build(self, shape):
        self.kernel = self.add_weight(name="kernel", shape=(shape[-1],))

    def call(self, x):
        self.calls += 1
        return x * self.kernel * self.factor * self._by


@model()
def attributes_that_were_set_later(x):
    layer = ChangedAttributes(3.0)
    layer.factor = 2.0
    y = layer(layer(x))
    layer.factor = 3.0
    return y


class WithoutConfig(layers.Layer):
    """A layer without a config, whose weight comes from `build` or the constructor."""

    def __init__(self, function, early=False, **kwargs):
        super().__init__(**kwargs)
        self.function, self.early = function, early
        if early:
            self.make_offset()

    def make_offset(self):
        self.offset = self.add_weight(name="offset", shape=(3,), initializer="uniform")

    def build(self, shape):
        if not self.early:
            self.make_offset()

    def call(self, x):
        return self.function(x) + self.offset

    def get_config(self):
        raise NotImplementedError


LAYERS = {
    "a layer without a config": lambda: WithoutConfig(lambda x: x * 2.0),
    "a Lambda with a policy": lambda: layers.Lambda(scaled, dtype="mixed_bfloat16", activity_regularizer="l2"),
    "a Lambda with a mask and training": lambda: layers.Lambda(use_mask_and_mode),
    "a Lambda in a wrapper": lambda: layers.TimeDistributed(layers.Lambda(lambda x: x * 2.0)),
    "functions as options": lambda: layers.Dense(
        4,
        activation=lambda x: x * 2.0,
        kernel_regularizer=lambda w: w[0, 0] * 0.5,
        kernel_initializer=lambda shape, dtype=None: np.ones(shape, "float32"),
        bias_initializer=keras.initializers.Constant(np.arange(4.0, dtype="float32")),
    ),
    "both directions, half frozen": lambda: freeze(
        layers.Bidirectional(layers.SimpleRNN(2), merge_mode=None), "forward_layer"
    ),
    "a custom layer that is frozen inside": lambda: freeze(Affine(4), "inner"),
    "a wrapped custom layer": lambda: layers.TimeDistributed(Affine(4)),
    "a stack of cells": lambda: layers.RNN([layers.LSTMCell(2), layers.GRUCell(2)]),
    "no autocast": lambda: layers.Dense(4, dtype="mixed_bfloat16", autocast=False),
    "a recurrent dropout": lambda: layers.LSTM(4, recurrent_dropout=0.3, dropout=0.2, seed=3),
}
add_models(LAYERS, masked_model)


@model()
def a_regularizer_that_layers_share(x):
    shared = keras.regularizers.L2(0.5)
    y = layers.Dense(3, kernel_regularizer=shared, bias_regularizer=shared)(x)
    return layers.Dense(3, kernel_regularizer=shared)(y)


@model(shapes=[(4, 3)])
def a_shared_layer_with_parts(x):
    shared, inner = layers.Dense(3, name="d"), model_with(layers.Dense(3), (4, 3))
    parts = [shared, inner, freeze(layers.Dense(3)), Affine(2), layers.Lambda(scaled)]
    return [Holder(shared, parts, {"last": layers.Dense(3)})(x), shared(x), inner(x)]


@model(shapes=[(5, 3)])
def a_layer_that_was_built_elsewhere_for_another_shape(x):
    class Table(layers.Layer):
        def build(self, shape):
            self.table = self.add_weight(name="table", shape=(shape[1], 3), initializer="uniform")

        def call(self, x):
            return x + self.table[: x.shape[1]]

    table = Table()
    table(np.ones((1, 9, 3), "float32"))
    return table(x)


# Models with custom constructors


class Backbone(keras.Model):
    """A model whose constructor builds its graph, and whose call computes more than the graph."""

    def __init__(self, units, scale=1.0, name=None):
        last = layers.Dense(3, name="last")
        x = keras.Input((3,), name=f"x_of_{name}")
        hidden = layers.Dense(units, name="first")(x)
        super().__init__(x, last(hidden), name=name)
        self.units, self.scale = units, scale
        self.hidden, self.last = hidden, last

    def call(self, inputs, *args, **kwargs):
        return super().call(inputs, *args, **kwargs) * self.scale

    def compute_output_shape(self, input_shape):
        return input_shape


class ModelWithoutConfig(Backbone):
    """A model without a config, and with a layer outside its graph."""

    def __init__(self, units, function, name=None):
        super().__init__(units, name=name)
        self.beside = layers.Dense(3, activation=function, name="beside")
        self.beside.build((None, 3))
        self.pieces = {"hidden": [self.hidden, self.last], "step": self.step}

    def step(self, x):
        return self.beside(x)

    def call(self, inputs, *args, **kwargs):
        return self.pieces["step"](super().call(inputs, *args, **kwargs))


@model()
def a_custom_class():
    mine = freeze(Backbone(5, 2.0, "mine"), "last")
    mine.scale = 3.0
    mine.get_layer("first").activation = keras.activations.relu
    return mine


add_models({"a custom class without a config": lambda: ModelWithoutConfig(5, lambda x: x + 1, "mine")}, lambda net: net)


@model()
def custom_classes_inside(x):
    first, second = ModelWithoutConfig(5, lambda x: x * 2.0, "first"), model_with(Backbone(5, 2.0, "second"))
    return second(first(second(first(x))))
