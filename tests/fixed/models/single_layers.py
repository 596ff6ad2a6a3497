"""Single layers: Lambdas, functions as options, custom layers and cells, wrappers, policies, seeds, untold options."""

from __future__ import annotations

import functools
import types

import keras
import numpy as np
from keras import layers

from . import GENERATION, around, frozen, model, models, ops

FACTOR = 3.0


def scaled(x, by=2.0):
    return x * by


def with_a_mask(x, mask=None, training=None):
    x = x if mask is None else x + ops.cast(ops.expand_dims(mask, -1), x.dtype)
    return x * FACTOR if training else x


class Scaler:
    def __init__(self, by):
        self.by = by

    def apply(self, x):
        return x * self.by

    def __call__(self, x):
        return x - self.by


def times(by):
    return lambda x: x * by


def under_a_mask(layer):
    # A wrapper gives the mask to what it wraps, and not every layer takes one.
    masks = not isinstance(layer, layers.TimeDistributed)
    return around(lambda x: layer(layers.Masking()(x) if masks else x), (4, 3))


LAMBDAS = {
    "a closure": (times(5.0), {}),
    "a default argument": (lambda x, by=4.0: x * by, {}),
    "a bound method": (Scaler(2.0).apply, {}),
    "a callable object": (Scaler(2.0), {}),
    "a partial": (functools.partial(scaled, by=7.0), {}),
    "a function of Keras": (keras.activations.softmax, {}),
    "nested outputs": (lambda x: {"b": (x, [x]), "a": x * 2.0}, {}),
    "an identity": (lambda x: x, {}),
    "an array as argument": (scaled, {"arguments": {"by": np.arange(3.0, dtype="float32")}}),
    "an argument like an array": (
        lambda x, by: x + (1.0 if isinstance(by, dict) else 2.0),
        {"arguments": {"by": {"type": "ndarray", "value": [1]}}},
    ),
    "a tuple as argument": (lambda x, by: x + float(isinstance(by, tuple)), {"arguments": {"by": (0, 1)}}),
    "a function of shapes": (lambda x: x[:, :, :1], {"output_shape": lambda shape: (*shape[:2], 1)}),
    "a mask function": (scaled, {"mask": lambda inputs, mask=None: ops.any(inputs > 0, -1)}),
    "an array as mask": (scaled, {"mask": np.array([[True, False, True, True]])}),
    "a policy": (scaled, {"dtype": "mixed_bfloat16", "activity_regularizer": "l2"}),
    "a mask and training": (with_a_mask, {}),
}
for what, (function, options) in LAMBDAS.items():
    model(name=f"a Lambda with {what}")(
        lambda function=function, options=options: under_a_mask(layers.Lambda(function, **options))
    )


class Times(layers.Lambda):
    def __init__(self, factor=2.0, **kwargs):
        super().__init__(lambda x: x * factor, **kwargs)
        self.factor = factor

    def get_config(self):
        return {"factor": self.factor, "name": self.name, "trainable": self.trainable}

    @classmethod
    def from_config(cls, config, custom_objects=None):
        return cls(**config)


@model()
def code_that_is_in_no_file():
    names = {"keras": keras, "by": 3.0}
    exec(
        "layer = keras.layers.Dense(3, activation=lambda t: t * by)\nafter = keras.layers.Lambda(lambda t: t + by)\n",
        names,
    )
    return around(lambda x: names["after"](names["layer"](x)))


class Affine(layers.Layer):
    """Its constructor makes a layer, and its `build` makes a weight and another layer."""

    def __init__(self, units=3, **kwargs):
        super().__init__(**kwargs)
        self.units = units
        self.inner = layers.Dense(units, dtype=kwargs.get("dtype"))

    def build(self, shape):
        self.shift = self.add_weight(name="shift", shape=(self.units,), initializer="ones")
        self.late = layers.Dense(self.units)
        self.inner.build(shape)
        self.late.build((*shape[:-1], self.units))
        super().build(shape)

    def call(self, x):
        return self.late(self.inner(x)) + self.shift

    def compute_output_shape(self, shape):
        return (*shape[:-1], self.units)

    def get_config(self):
        return dict(super().get_config(), units=self.units)


def serialized(layer):
    return (keras.utils if GENERATION == "tf_keras" else keras.saving).serialize_keras_object(layer)


class Around(layers.Layer):
    """Has a layer in its config as it is, serialized, or serialized in a list."""

    def __init__(self, inner, form="serialized", **kwargs):
        super().__init__(**kwargs)
        self.inner, self.form = inner, form

    def call(self, x):
        return self.inner(x) + 1.0

    def get_config(self):
        forms = {"live": lambda it: it, "serialized": serialized, "listed": lambda it: [serialized(it)]}
        return dict(super().get_config(), inner=forms[self.form](self.inner), form=self.form)

    @classmethod
    def from_config(cls, config):
        inner = config.pop("inner")
        inner = inner[0] if config["form"] == "listed" else inner
        return cls(inner if config["form"] == "live" else layers.deserialize(inner), **config)


class Holder(layers.Layer):
    """Holds a layer, a list of layers and a dictionary of layers."""

    def __init__(self, one, many, named, function=keras.activations.relu, **kwargs):
        super().__init__(**kwargs)
        self.one, self.many, self.named, self.function = one, many, named, function

    def call(self, x):
        x = self.function(self.one(x))
        for layer in self.many:
            x = layer(x)
        return self.named["last"](x)

    def get_config(self):
        config = {"one": serialized(self.one), "many": [serialized(layer) for layer in self.many]}
        config["named"] = {key: serialized(layer) for key, layer in self.named.items()}
        return dict(super().get_config(), function=self.function, **config)

    @classmethod
    def from_config(cls, config):
        config["one"] = layers.deserialize(config["one"])
        config["many"] = [layers.deserialize(layer) for layer in config["many"]]
        config["named"] = {key: layers.deserialize(layer) for key, layer in config["named"].items()}
        return cls(**config)


class Cell(layers.Layer):
    def __init__(self, units=3, function=None, **kwargs):
        super().__init__(**kwargs)
        self.units = self.state_size = self.output_size = units
        self.function = function

    def build(self, shape):
        self.kernel = self.add_weight(name="kernel", shape=(shape[-1], self.units), initializer="glorot_uniform")
        self.built = True

    def call(self, x, states):
        out = keras.activations.tanh(ops.matmul(x, self.kernel) + states[0])
        return (self.function(out) if self.function else out), [out]

    def get_config(self):
        return dict(super().get_config(), units=self.units, function=self.function)


class Nameless(layers.Layer):
    """Weights without a name, beside one that has a name."""

    def build(self, shape):
        self.added = self.add_weight(shape=(shape[-1],), initializer="uniform")
        self.named = self.add_weight(shape=(shape[-1],), initializer="uniform", name="named")
        super().build(shape)

    def call(self, x):
        return x * self.added + self.named

    def compute_output_shape(self, shape):
        return shape


class Penalty(keras.regularizers.Regularizer):
    def __call__(self, x):
        return 0.3 * ops.sum(ops.abs(x))

    def get_config(self):
        return {}


def local():
    class Local(layers.Layer):
        def __init__(self, by, **kwargs):
            super().__init__(**kwargs)
            self.by = by

        def call(self, x):
            return x * self.by

        def get_config(self):
            return dict(super().get_config(), by=self.by)

    return Local(2.5)


def masking(layer):
    layer.supports_masking = True
    return layer


def stacked():
    return layers.RNN([layers.LSTMCell(2), layers.GRUCell(2)], return_sequences=True)


# Options that a config leaves out, under another name, or replaced


class Untold(layers.Layer):
    """Its config has none of its options; the classes below store them in different ways."""

    def get_config(self):
        return layers.Layer.get_config(self)

    def call(self, x):
        return self.function(x)


class Derived(Untold):
    """Stores a number that is computed from its option."""

    def __init__(self, factor=2.0, **kwargs):
        super().__init__(**kwargs)
        self._by = factor * 10 + 1

    def function(self, x):
        return x * self._by


class Projecting(Untold):
    """Its options are in a layer alone."""

    def __init__(self, units=2, act="relu", bias=True, **kwargs):
        super().__init__(**kwargs)
        self.function = layers.Dense(units, act, use_bias=bias)


class Tokens(Untold):
    """Has a weight where its option was, as large as the option says."""

    def __init__(self, tokens=1, **kwargs):
        super().__init__(**kwargs)
        self.tokens = tokens

    def build(self, shape):
        self.tokens = self.add_weight(name="tokens", shape=(self.tokens, 3), initializer="ones")

    def function(self, x):
        return x + ops.sum(ops.abs(self.tokens))


class Inward(Untold):
    """Has an object that leads back to it."""

    def __init__(self, by=1.0, **kwargs):
        super().__init__(**kwargs)
        self.state, self.by = types.SimpleNamespace(owner=self), by

    def function(self, x):
        return x * self.by


class Changed(Untold):
    """Has attributes that are set by its calls, and by its user."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.calls, self.factor = 0, 1.0

    def build(self, shape):
        self.kernel = self.add_weight(name="kernel", shape=(shape[-1],))

    def function(self, x):
        self.calls += 1
        return x * self.kernel * self.factor


def changed(x):
    layer = Changed()
    layer.factor = 2.0
    y = layer(layer(x))
    layer.factor = 3.0
    return y


LAYERS = {
    "a subclass of Lambda with its own constructor": lambda: Times(3.0),
    "a Lambda whose support of masks was set later": lambda: masking(layers.Lambda(with_a_mask)),
    "a wrapped Lambda": lambda: layers.TimeDistributed(layers.Lambda(times(5.0))),
    "a lambda as activation and regularizer": lambda: layers.Dense(
        4, activation=lambda x: x * 2.0, kernel_regularizer=lambda w: ops.sum(ops.abs(w)) * 0.5
    ),
    "a lambda as initializer": lambda: layers.Dense(4, kernel_initializer=lambda shape, dtype=None: ops.ones(shape)),
    "an array as initializer": lambda: layers.Dense(
        4, bias_initializer=keras.initializers.Constant(np.arange(4.0, dtype="float32"))
    ),
    "a lambda in a recurrent layer": lambda: layers.LSTM(2, activation=lambda x: x * 0.5),
    "both directions, not merged, half frozen": lambda: frozen(
        layers.Bidirectional(layers.SimpleRNN(2), merge_mode=None), "forward_layer"
    ),
    "a backward layer": lambda: layers.Bidirectional(
        layers.SimpleRNN(3, name="there"),
        backward_layer=layers.SimpleRNN(3, go_backwards=True, activation="relu", name="back"),
    ),
    "an initializer with a seed": lambda: layers.Dense(3, kernel_initializer=keras.initializers.Orthogonal(seed=3)),
    "a constraint and regularizers": lambda: layers.Dense(
        4, kernel_constraint="non_neg", kernel_regularizer=Penalty(), activity_regularizer="l2"
    ),
    "a frozen batch normalization": lambda: frozen(layers.BatchNormalization()),
    "a custom layer that is frozen inside": lambda: frozen(Affine(4), "inner"),
    "a wrapped custom layer": lambda: layers.TimeDistributed(Affine(4)),
    "a local class": local,
    "a stack with custom cells": lambda: layers.RNN([Cell(3, lambda x: x * 2.0), layers.GRUCell(2), Cell(4)]),
    "a stack of cells in both directions": lambda: layers.Bidirectional(stacked()),
    "a layer that holds many": lambda: Holder(
        layers.Lambda(lambda x: x + 1), [frozen(layers.Dense(3)), Affine(2)], {"last": layers.Dense(2)}, scaled
    ),
    "a listed layer in a custom one": lambda: Around(Affine(4), "listed"),
    "a custom layer in a custom layer in a custom layer": lambda: Around(Around(Affine(4))),
    "a Sequential in a custom layer": lambda: Around(
        keras.Sequential([layers.InputLayer((4, 3)), layers.Lambda(lambda x: x * 2.0), layers.Dense(2)])
    ),
    "a mixed policy": lambda: layers.Dense(3, dtype="mixed_bfloat16"),
    "no autocast": lambda: layers.Dense(4, autocast=False),
    "a dropout with a seed": lambda: layers.Dropout(0.5, seed=4, activity_regularizer="l1"),
    "a recurrent dropout": lambda: layers.LSTM(4, recurrent_dropout=0.3, dropout=0.2, seed=3),
    "weights without a name in a Sequential": lambda: keras.Sequential(
        [layers.InputLayer((4, 3)), Nameless(), Nameless()]
    ),
}
models(LAYERS, under_a_mask)
models({"a live layer in a custom one": lambda: Around(Affine(4), "live")}, under_a_mask, "keras")
OPTIONS = {
    "an option of which something is computed": lambda: Derived(3.0),
    "options of a layer within": lambda: Projecting(3, "tanh", False),
    "an option that is the size of a weight": lambda: Tokens(5),
    "a layer that leads back to itself": lambda: Inward(3.0),
    "attributes that were set later": lambda: changed,  # the function itself
}
models(OPTIONS, around)


@model(shapes=[(4, 3)])
def a_shared_layer_with_parts(x):
    shared, inner = layers.Dense(3, name="d"), around(layers.Dense(3), (4, 3))
    return [Holder(shared, [shared, inner], {"last": shared})(x), shared(x), inner(x)]


def under_another_policy(policy, build):
    """The model that is built while another policy is the global one."""
    mixed = keras.mixed_precision
    before = getattr(mixed, "global_policy", getattr(mixed, "dtype_policy", None))()
    setter = getattr(mixed, "set_global_policy", getattr(mixed, "set_dtype_policy", None))
    setter(policy)
    try:
        return build()
    finally:
        setter(before)


@model()
def layers_of_two_policies_built_under_another():
    return under_another_policy(
        "mixed_float16",
        lambda: around(lambda x: layers.Dense(2, dtype="float32")(layers.SpatialDropout1D(0.5)(x)), (4, 3)),
    )


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


# Models of classes with a constructor of their own


class Backbone(keras.Model):
    """Builds its graph itself, and computes more than the graph does."""

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


class TellingLess(Backbone):
    def get_config(self):
        return {"name": self.name, "units": self.units}

    @classmethod
    def from_config(cls, config, custom_objects=None):
        return cls(**config)


class Silent(Backbone):
    """Has no config, and a layer beside its graph."""

    def __init__(self, units, function, name=None):
        super().__init__(units, name=name)
        self.beside = layers.Dense(3, activation=function, name="beside")
        self.beside.build((None, 3))
        self.pieces = {"hidden": [self.hidden, self.last], "step": self.step}

    def step(self, x):
        return self.beside(x)

    def call(self, inputs, *args, **kwargs):
        return self.pieces["step"](super().call(inputs, *args, **kwargs))

    def get_config(self):
        raise NotImplementedError


class WithExtra(keras.Model):
    """Adds an argument to those of a Functional model."""

    def __init__(self, *args, extra=1, **kwargs):
        super().__init__(*args, **kwargs)
        self.extra = extra

    def get_config(self):
        return dict(super().get_config(), extra=self.extra)


class Chain(keras.Sequential):
    def __init__(self, units, scale=1.0, name=None):
        super().__init__([layers.InputLayer((3,)), layers.Dense(units), layers.Dense(3)], name=name)
        self.scale = scale

    def call(self, inputs, *args, **kwargs):
        return super().call(inputs, *args, **kwargs) * self.scale


def with_extra():
    x = keras.Input((3,), name="x")
    return WithExtra(x, layers.Lambda(lambda t: t * 2.0)(x), name="mine", extra=5)


def changed_backbone():
    mine = frozen(TellingLess(5, 2.0, "mine"), "last")
    mine.scale = 3.0
    mine.get_layer("first").activation = keras.activations.relu
    return mine


OWN_MODELS = {
    "an own class": lambda: Backbone(5, 2.0, "mine"),
    "an own class with less in its config": changed_backbone,
    "an own class without a config": lambda: Silent(5, lambda x: x + 1, "mine"),
    "an own class with an option more": with_extra,
    "an own Sequential": lambda: Chain(4, 2.0, "mine"),
}
models(OWN_MODELS, lambda mine: mine)


@model()
def own_classes_inside(x):
    first, second = Silent(5, times(2.0), "first"), around(changed_backbone())
    return [second(first(second(first(x)))), Chain(4, 2.0)(x), with_extra()(x)]


@model(shapes=[(2, 3)])
def an_own_class_in_a_wrapper(x):
    return layers.TimeDistributed(TellingLess(5, 2.0, "mine"))(x)


@model()
def a_layer_of_an_own_class_used_outside(x):
    mine = TellingLess(3, name="mine")
    return [mine(mine.last(x)), mine.last(mine(x))]
