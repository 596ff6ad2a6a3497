"""Single layers: of one's own, with wrappers, cells, flags, policies and seeds."""

from __future__ import annotations

import functools

import keras
import numpy as np
from keras import layers

from . import GENERATION, around, model, ops
from .lambdas import scaled


class Affine(layers.Layer):
    """Holds a layer that its constructor makes, and a weight that its `build` makes."""

    def __init__(self, units=3, **kwargs):
        super().__init__(**kwargs)
        self.units = units
        self.inner = layers.Dense(units, dtype=kwargs.get("dtype"))

    def build(self, shape):
        self.shift = self.add_weight(name="shift", shape=(self.units,), initializer="ones")
        if not self.inner.built:
            self.inner.build(shape)
        super().build(shape)

    def call(self, x):
        return self.inner(x) + self.shift

    def compute_output_shape(self, shape):
        return (*shape[:-1], self.units)

    def get_config(self):
        return dict(super().get_config(), units=self.units)


class Scale(layers.Layer):
    """Has no weights; its call has an argument."""

    def __init__(self, factor=2.0, **kwargs):
        super().__init__(**kwargs)
        self.factor = factor

    def call(self, inputs, by=1.0):
        return inputs * self.factor * by

    def compute_output_shape(self, shape):
        return shape

    def get_config(self):
        return dict(super().get_config(), factor=self.factor)


def serialized(layer):
    return (keras.utils if GENERATION == "tf_keras" else keras.saving).serialize_keras_object(layer)


class Around(layers.Layer):
    """Holds a live layer, and describes it as it is told to."""

    def __init__(self, inner, describe="serialized", **kwargs):
        super().__init__(**kwargs)
        self.inner, self.describe = inner, describe

    def call(self, x):
        return self.inner(x) + 1.0

    def get_config(self):
        described = {"live": lambda it: it, "serialized": serialized, "listed": lambda it: [serialized(it)]}
        return dict(super().get_config(), inner=described[self.describe](self.inner), describe=self.describe)

    @classmethod
    def from_config(cls, config):
        inner = config.pop("inner")
        inner = inner[0] if config["describe"] == "listed" else inner
        return cls(inner if config["describe"] == "live" else layers.deserialize(inner), **config)


class Holder(layers.Layer):
    """Holds a layer, a list of layers and a dictionary of layers, and describes them all."""

    def __init__(self, one, many, named, function=keras.activations.relu, **kwargs):
        super().__init__(**kwargs)
        self.one, self.many, self.named, self.function = one, many, named, function

    def call(self, x):
        x = self.function(self.one(x))
        for each in self.many:
            x = each(x)
        return self.named["last"](x)

    def get_config(self):
        told = {"one": serialized(self.one), "many": [serialized(each) for each in self.many]}
        told["named"] = {key: serialized(each) for key, each in self.named.items()}
        return dict(super().get_config(), function=self.function, **told)

    @classmethod
    def from_config(cls, config):
        config["one"] = layers.deserialize(config["one"])
        config["many"] = [layers.deserialize(each) for each in config["many"]]
        config["named"] = {key: layers.deserialize(each) for key, each in config["named"].items()}
        return cls(**config)


class WithoutConfig(layers.Layer):
    def __init__(self, function, **kwargs):
        super().__init__(**kwargs)
        self.function = function

    def call(self, x):
        return self.function(x)


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


class Named(layers.Layer):
    """Keeps the name of its function in its config and looks it up itself."""

    def __init__(self, function="double", **kwargs):
        super().__init__(**kwargs)
        self.name_of_function = function
        self.function = {"double": lambda x: 2 * x, "half": lambda x: x / 2}[function]

    def call(self, x):
        return self.function(x)

    def get_config(self):
        return dict(super().get_config(), function=self.name_of_function)


class Valued(keras.initializers.Initializer):
    def __init__(self, value=0.5):
        self.value = value

    def __call__(self, shape, dtype=None, **kwargs):
        return ops.cast(ops.ones(shape), dtype or "float32") * self.value

    def get_config(self):
        return {"value": self.value}


class Penalty(keras.regularizers.Regularizer):
    def __call__(self, x):
        return 0.3 * ops.sum(ops.abs(x))

    def get_config(self):
        return {}


class Nameless(layers.Layer):
    """Weights that were given no name, one among them that was."""

    def build(self, shape):
        self.added = self.add_weight(shape=(shape[-1],), initializer="uniform")
        self.named = self.add_weight(shape=(shape[-1],), initializer="uniform", name="named")
        super().build(shape)

    def call(self, x):
        return x * self.added + self.named

    def compute_output_shape(self, shape):
        return shape


class BuildsParts(layers.Layer):
    """Makes one of its layers when it is built."""

    def __init__(self, units=3, **kwargs):
        super().__init__(**kwargs)
        self.units, self.early = units, layers.Dense(units)

    def build(self, shape):
        self.late = layers.Dense(self.units)
        self.early.build(shape)
        self.late.build((*shape[:-1], self.units))
        super().build(shape)

    def call(self, x):
        return self.late(self.early(x))

    def get_config(self):
        return dict(super().get_config(), units=self.units)


def local():
    class Local(layers.Layer):
        def __init__(self, by, **kwargs):
            super().__init__(**kwargs)
            self.by = by

        def call(self, x):
            return x * self.by

        def compute_output_shape(self, shape):
            return shape

        def get_config(self):
            return dict(super().get_config(), by=self.by)

    return Local(2.5)


def frozen(layer, part=None):
    (getattr(layer, part) if part else layer).trainable = False
    return layer


def masking(layer):
    layer.supports_masking = True
    return layer


def stacked():
    return layers.RNN([layers.LSTMCell(2), layers.GRUCell(2)], return_sequences=True)


LAYERS = {
    "a wrapped custom layer": lambda: layers.TimeDistributed(Scale(3.0)),
    "a stack of cells": stacked,
    "both directions": lambda: layers.Bidirectional(layers.SimpleRNN(2, return_sequences=True)),
    "both directions, not merged": lambda: layers.Bidirectional(layers.SimpleRNN(2), merge_mode=None),
    "both directions, half frozen": lambda: frozen(layers.Bidirectional(layers.SimpleRNN(2)), "forward_layer"),
    "both directions, frozen": lambda: frozen(layers.Bidirectional(layers.SimpleRNN(2))),
    "a wrapped frozen layer": lambda: layers.TimeDistributed(frozen(layers.Dense(2))),
    "a layer that was said to support masks": lambda: masking(Scale()),
    "an initializer with a seed": lambda: layers.Dense(3, kernel_initializer=keras.initializers.RandomNormal(seed=3)),
    "an orthogonal initializer with a seed": lambda: layers.Dense(
        3, kernel_initializer=keras.initializers.Orthogonal(seed=3)
    ),
    "a constraint": lambda: layers.Dense(4, kernel_constraint="non_neg"),
    "regularizers": lambda: layers.Dense(4, kernel_regularizer="l2", activity_regularizer=keras.regularizers.l1(0.1)),
    "an activity regularization": lambda: layers.ActivityRegularization(l1=0.1),
    "a frozen layer": lambda: frozen(layers.Dense(3)),
    "a frozen batch normalization": lambda: frozen(layers.BatchNormalization()),
    "a batch normalization": lambda: layers.BatchNormalization(),
    "a recurrent layer that goes backwards": lambda: layers.GRU(2, go_backwards=True),
}
OF_TODAY = {
    "a custom layer": lambda: Affine(4),
    "a local class": local,
    "a custom layer that is frozen inside": lambda: frozen(Affine(4), "inner"),
    "a wrapped layer with a layer inside": lambda: layers.TimeDistributed(Affine(4)),
    "a wrapped local class": lambda: layers.TimeDistributed(local()),
    "a custom cell": lambda: layers.RNN(Cell(3, scaled), return_sequences=True),
    "a stack with custom cells": lambda: layers.RNN([Cell(3, lambda x: x * 2.0), layers.GRUCell(2), Cell(4)]),
    "a stack of cells in both directions": lambda: layers.Bidirectional(stacked()),
    "a backward layer": lambda: layers.Bidirectional(
        layers.SimpleRNN(3, name="there"),
        backward_layer=layers.SimpleRNN(3, go_backwards=True, activation="relu", name="back"),
    ),
    "a layer that holds many": lambda: Holder(
        layers.Lambda(lambda x: x + 1), [frozen(layers.Dense(3)), Affine(2)], {"last": layers.Dense(2)}, scaled
    ),
    "a layer in a custom one": lambda: Around(Affine(4)),
    "a listed layer in a custom one": lambda: Around(Affine(4), "listed"),
    "a Lambda in a custom layer": lambda: Around(layers.Lambda(lambda x: x * 2.0)),
    "a custom layer in a custom layer in a custom layer": lambda: Around(Around(Affine(4))),
    "a Sequential in a custom layer": lambda: Around(
        keras.Sequential([layers.InputLayer((4, 3)), layers.Lambda(lambda x: x * 2.0), layers.Dense(2)])
    ),
    "a function by its name": lambda: Named("half"),
    "a custom initializer": lambda: layers.Dense(3, kernel_initializer=Valued(0.3)),
    "a custom regularizer": lambda: layers.Dense(3, kernel_regularizer=Penalty(), activity_regularizer=Penalty()),
    "a regularizer without weights": lambda: layers.Activation("relu", activity_regularizer="l2"),
    "a regularizer of a dropout": lambda: layers.Dropout(0.3, activity_regularizer="l1"),
    "a mixed policy": lambda: layers.Dense(3, dtype="mixed_bfloat16"),
    "half precision": lambda: layers.Dense(3, dtype="float16"),
    "double precision": lambda: layers.SimpleRNN(3, dtype="float64"),
    "no autocast": lambda: layers.Dense(4, autocast=False),
    "a dropout": lambda: layers.Dropout(0.5),
    "a dropout with a seed": lambda: layers.Dropout(0.5, seed=4),
    "a noise with a seed": lambda: layers.GaussianNoise(0.5, seed=4),
    "a recurrent dropout": lambda: layers.LSTM(4, recurrent_dropout=0.3, dropout=0.2, seed=3),
    "an einsum": lambda: layers.EinsumDense("abc,cd->abd", (None, 3), bias_axes="d"),
    "parts of one's own in a Sequential": lambda: keras.Sequential([Affine(2), layers.Lambda(lambda x: x)]),
    "weights without a name": Nameless,
    "wrapped weights without a name": lambda: layers.TimeDistributed(Nameless()),
    "weights without a name in a Sequential": lambda: keras.Sequential(
        [layers.InputLayer((4, 3)), Nameless(), Nameless()]
    ),
    "parts that are made while building": BuildsParts,
}
OF_KERAS = {
    "a live layer in a custom one": lambda: Around(Affine(4), "live"),
    "a layer without a config in a custom one": lambda: Around(WithoutConfig(functools.partial(scaled, by=3.0))),
    "a layer without a config": lambda: WithoutConfig(lambda x: x * 2.0),
}
OF_TF_KERAS = {
    "a custom cell in both directions": lambda: layers.Bidirectional(layers.RNN(Cell(3))),
    "a backward layer with a custom cell": lambda: layers.Bidirectional(
        layers.SimpleRNN(3), backward_layer=layers.RNN(Cell(3), go_backwards=True), merge_mode="sum"
    ),
}
ALONE = {
    "states of its own": lambda x: layers.LSTM(2, return_state=True, return_sequences=True)(x),
    "a layer of another policy": lambda x: layers.Dense(2, dtype="float32")(layers.Dense(3, dtype="mixed_float16")(x)),
    "a wrapped Sequential": lambda x: layers.TimeDistributed(
        keras.Sequential([layers.InputLayer((3,)), layers.Lambda(lambda x: x * 2.0), Scale(2.0)])
    )(x),
    "a shared layer with parts of its own": lambda x: shared_parts(x),
    "frozen inside of wrappers": lambda x: layers.Bidirectional(layers.SimpleRNN(2))(
        layers.TimeDistributed(frozen(layers.Dense(3)))(x)
    ),
    "weights without a name, twice": lambda x: layers.Dense(2)(Nameless()(Nameless()(x))),
}


def shared_parts(x):
    shared, inner = layers.Dense(3, name="d"), around(layers.Dense(3), (4, 3))
    return [Holder(shared, [shared, inner], {"last": shared})(x), shared(x), inner(x)]


def under_a_mask(layer):
    # A wrapper gives the mask to what it wraps, and not everything takes one.
    masks = not isinstance(layer, layers.TimeDistributed)
    return around(lambda x: layer(layers.Masking()(x) if masks else x), (4, 3))


def nested(inner):
    x = keras.Input((4, 3))
    return keras.Model(x, [inner(x), inner(layers.ReLU()(x))])


for table, generations in ((LAYERS, ()), (OF_TODAY, ()), (OF_KERAS, ["keras"]), (OF_TF_KERAS, ["tf_keras"])):
    for what, make in table.items():
        model(*generations, name=what)(lambda make=make: under_a_mask(make()))
for what, layer in ALONE.items():
    model(name=what)(lambda layer=layer: around(layer, (4, 3)))


for what in (
    "a layer that holds many",
    "a local class",
    "a stack with custom cells",
    "a backward layer",
    "no autocast",
):
    model(name=f"{what}, nested")(lambda make=OF_TODAY[what]: nested(under_a_mask(make())))


@model()
def states_that_last():
    x = keras.Input(batch_shape=(2, 4, 3))
    y = layers.GRU(2, stateful=True, return_sequences=True)(x)
    return keras.Model(x, layers.Bidirectional(layers.LSTM(3, stateful=True))(y))


@model(shapes=[(4, 4, 2)])
def convolutions(x):
    y = layers.BatchNormalization()(layers.Conv2D(2, 2, padding="same", kernel_constraint="max_norm")(x))
    return layers.Dense(1)(layers.Flatten()(layers.SeparableConv2D(2, 2)(y)))


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
def a_layer_of_a_policy_of_its_own_under_another():
    return under_another_policy(
        "mixed_float16", lambda: around(lambda x: layers.Dense(2, dtype="float32")(layers.Dense(3)(x)))
    )


@model("tf_keras")
def a_model_built_under_another_policy():
    return under_another_policy("mixed_bfloat16", lambda: around(BuildsParts()))


@model()
def a_layer_built_under_a_policy_that_its_config_leaves_out():
    return under_another_policy("mixed_bfloat16", lambda: around(layers.SpatialDropout1D(0.5, seed=1), (4, 3)))


@model()
def a_subclassed_model_as_a_layer():
    class Small(keras.Model):
        def __init__(self, units=2, **kwargs):
            super().__init__(**kwargs)
            self.units, self.dense = units, layers.Dense(units)

        def call(self, x):
            return self.dense(x)

        def get_config(self):
            return {"units": self.units, "name": self.name}

    return around(Small(4))


@model()
def a_layer_that_was_built_elsewhere_for_another_shape():
    class Table(layers.Layer):
        def build(self, shape):
            self.table = self.add_weight(name="table", shape=(shape[1], 3), initializer="uniform")

        def call(self, x):
            return x + self.table[: x.shape[1]]

    table = Table()
    table(np.ones((1, 9, 3), "float32"))
    return around(table, (5, 3))


def one_number_and_eight():
    return [np.array([[1], [2]], "float32"), np.ones((2, 2, 4), "float32")]


@model(shapes=[(1,), (2, 4)], inputs=one_number_and_eight)
def a_layer_of_several_inputs_that_was_built_for_other_shapes(x, y):
    add = layers.Add()
    add([x, x])  # so it takes tensors as they come, and does not align them from the batch on
    return add([x, y])
