"""`Lambda` layers of every sort, and functions that other layers are given."""

from __future__ import annotations

import functools

import keras
import numpy as np
from keras import layers

from . import around, model, ops

FACTOR = 3.0


def scaled(x, by=2.0):
    return x * by


def with_a_name_of_the_module(x):
    return x * FACTOR + scaled(x)


def with_a_mask(x, mask=None, training=None):
    x = x if mask is None else x + ops.cast(ops.expand_dims(mask, -1), x.dtype)
    return x * 2.0 if training else x


def keep_mask(inputs, mask=None):
    return mask


class Scaler:
    def __init__(self, by):
        self.by = by

    def apply(self, x):
        return x * self.by

    def __call__(self, x):
        return x - self.by


def closure(by):
    return lambda x: x * by


FUNCTIONS = {
    "a python lambda": lambda x: x**2,
    "a closure": closure(5.0),
    "a default argument": lambda x, by=4.0: x * by,
    "a named function": scaled,
    "a name of the module": with_a_name_of_the_module,
    "a bound method": Scaler(2.0).apply,
    "a callable object": Scaler(2.0),
    "a partial": functools.partial(scaled, by=7.0),
    "a function of Keras": keras.activations.softmax,
    "outputs in a list": lambda x: [x, x * 2.0],
    "outputs in a tuple": lambda x: (x, x * 2.0),
    "outputs in a dictionary": lambda x: {"b": x, "a": x * 2.0},
    "nested outputs": lambda x: {"b": (x, [x]), "a": x * 2.0},
    "the same tensor twice": lambda x: [x, x],
    "an identity": lambda x: x,
    "a list of one": lambda x: [x],
}
OPTIONS = {
    "arguments": (scaled, {"arguments": {"by": 3.5}}),
    "an array as argument": (scaled, {"arguments": {"by": np.arange(3.0, dtype="float32")}}),
    "an argument like an array": (
        lambda x, by: x + (1.0 if isinstance(by, dict) else 2.0),
        {"arguments": {"by": {"type": "ndarray", "value": [1]}}},
    ),
    "a tuple as argument": (lambda x, by: x + float(isinstance(by, tuple)), {"arguments": {"by": (0, 1)}}),
    "a shape": (lambda x: x[:, :, :2], {"output_shape": (4, 2)}),
    "a shape in a list": (lambda x: x[:, :, :2], {"output_shape": [4, 2]}),
    "a function of shapes": (lambda x: x[:, :, :1], {"output_shape": lambda shape: (*shape[:2], 1)}),
    "a mask function": (scaled, {"mask": keep_mask}),
    "a mask lambda": (scaled, {"mask": lambda inputs, mask=None: ops.any(inputs > 0, -1)}),
    "an array as mask": (scaled, {"mask": np.array([[True, False, True, True]])}),
    "all of Keras' options": (scaled, {"name": "mine", "trainable": False}),
}
OPTIONS_OF_TODAY = {
    "a regularizer": (scaled, {"activity_regularizer": "l2"}),
    "a dtype": (scaled, {"dtype": "float64"}),
    "a policy": (scaled, {"dtype": "mixed_bfloat16"}),
    "no autocast": (scaled, {"dtype": "float64", "autocast": False}),
    "a mask and training": (with_a_mask, {}),
}
OF_TF_KERAS = ("a shape in a list",)


def under_a_mask(layer):
    return around(lambda x: layer(layers.Masking()(x)), (4, 3))


def generations_of(what):
    """Those in which a `Lambda` may be so."""
    return ["tf_keras"] if what in OF_TF_KERAS else ()


for what, function in FUNCTIONS.items():
    model(*generations_of(what), name=f"a Lambda of {what}")(
        lambda function=function: under_a_mask(layers.Lambda(function))
    )
for what, (function, options) in {**OPTIONS, **OPTIONS_OF_TODAY}.items():
    model(*generations_of(what), name=f"a Lambda with {what}")(
        lambda function=function, options=options: under_a_mask(layers.Lambda(function, **options))
    )
for what in ("a python lambda", "a closure", "a named function", "a partial", "a bound method"):
    model(*generations_of(what), name=f"a wrapped Lambda of {what}")(
        lambda function=FUNCTIONS[what]: around(layers.TimeDistributed(layers.Lambda(function)), (4, 3))
    )


@model()
def a_lambda_whose_support_of_masks_was_said_later():
    layer = layers.Lambda(
        lambda x, mask=None: x if mask is None else x * ops.cast(ops.expand_dims(mask, -1), "float32")
    )
    layer.supports_masking = True
    return under_a_mask(layer)


@model(shapes=[(4, 3)])
def a_lambda_with_masks_for_several_outputs(x):
    first, second = layers.Lambda(lambda t: [t, t * 2.0], mask=lambda t, m=None: [m, None])(layers.Masking()(x))
    return [layers.SimpleRNN(2)(first), layers.SimpleRNN(2)(second)]


@model()
def lambdas_in_nested_models(x):
    i = keras.Input((3,))
    inner = keras.Model(i, layers.Lambda(closure(2.0))(layers.Dense(3)(i)), name="inner")
    body = keras.Sequential([layers.InputLayer((3,)), layers.Lambda(lambda x: x + 1.0), inner], name="body")
    return body(inner(x))


class Times(layers.Lambda):
    def __init__(self, factor=2.0, **kwargs):
        super().__init__(lambda x: x * factor, **kwargs)
        self.factor = factor

    def get_config(self):
        return {"factor": self.factor, "name": self.name, "trainable": self.trainable}

    @classmethod
    def from_config(cls, config, custom_objects=None):
        return cls(**config)


class Multiplied(layers.Lambda):
    def __init__(self, function, factor=2.0, **kwargs):
        super().__init__(function, **kwargs)
        self.factor = factor

    def call(self, inputs, mask=None, training=None):
        return super().call(inputs, mask=mask, training=training) * self.factor

    def get_config(self):
        return dict(super().get_config(), factor=self.factor)


@model()
def a_subclass_of_lambda_with_its_own_constructor():
    return around(Times(3.0))


@model("tf_keras")
def a_subclass_of_lambda_that_adds_an_option():
    return under_a_mask(Multiplied(lambda x: x, factor=7.0, mask=keep_mask))


@model()
def code_that_is_in_no_file():
    names = {"keras": keras, "by": 3.0}
    exec(
        "layer = keras.layers.Dense(3, activation=lambda t: t * by)\nafter = keras.layers.Lambda(lambda t: t + by)\n",
        names,
    )
    return around(lambda x: names["after"](names["layer"](x)))


def relu(x):
    """A user's own, named like that of Keras."""
    return x * 100.0


GIVEN = {
    "a lambda as activation": lambda: layers.Dense(4, activation=lambda x: x * 2.0),
    "a function as activation": lambda: layers.Dense(4, activation=scaled),
    "an activation named like one of Keras": lambda: layers.Dense(4, activation=relu),
    "a lambda in an Activation": lambda: layers.Activation(lambda x: x * 2.0),
    "a function in an Activation": lambda: layers.Activation(scaled),
    "a lambda as regularizer": lambda: layers.Dense(4, kernel_regularizer=lambda w: ops.sum(ops.abs(w)) * 0.5),
    "a lambda as initializer": lambda: layers.Dense(4, kernel_initializer=lambda shape, dtype=None: ops.ones(shape)),
    "an array as initializer": lambda: layers.Dense(
        4, bias_initializer=keras.initializers.Constant(np.arange(4.0, dtype="float32"))
    ),
}
for what, make in GIVEN.items():
    model(name=what)(lambda make=make: around(make()))
model(name="a partial as activation")(lambda: around(layers.Dense(4, activation=functools.partial(scaled, by=0.1))))
model(name="a lambda in a recurrent layer")(lambda: around(layers.LSTM(2, activation=lambda x: x * 0.5), (4, 3)))
