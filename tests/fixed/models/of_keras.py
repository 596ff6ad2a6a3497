"""What Keras 3 alone has: operations, functions, optional inputs, quantized layers, models that are compiled."""

from __future__ import annotations

import keras
import numpy as np
from keras import layers, ops

from . import around, model, models
from .single_layers import Cell, under_a_mask


@model()
def operations(x):
    y = (x[:, 0:2] * 2.0 - 1.0) / ops.expand_dims(x[:, 1], -1)
    y = ops.concatenate([y, x[..., ::-1], ops.where(x > 0, x, -x)], axis=-1)
    y = ops.clip(ops.reshape(y, (-1, 2, 4)), -1.0, np.float32(1.0))
    z = ops.matmul(ops.add(np.arange(3, dtype="float32"), x), ops.convert_to_tensor(np.eye(3, dtype="float32")))
    return [y, ops.einsum("ab,ac->abc", ops.vectorized_map(lambda row: row * 2.0, z), x)]


@model()
def a_nested_function_of_operations(x):
    i = keras.KerasTensor((None, 3))
    function = keras.Function(i, ops.sigmoid(i) * 2.0, name="twice")
    return function(layers.Dense(3)(function(x)))


@model()
def a_variable_as_a_constant():
    variable = keras.Variable([1.0, 2.0, 3.0], name="free")
    return around(lambda x: ops.add(ops.multiply(x, variable), variable))


@model(inputs=lambda: [np.ones((2, 3), "float32"), None])
def an_optional_input():
    class AddOptional(layers.Layer):
        def call(self, x, y=None):
            return x if y is None else x + y

        def compute_output_shape(self, x_shape):
            return x_shape

    x, y = keras.Input((3,)), keras.Input((3,), optional=True)
    return keras.Model([x, y], AddOptional()(x, y))


@model()
def an_input_listed_twice():
    x = keras.Input((3,))
    return keras.Model([x, x], layers.Dense(2)(x))


@model(inputs=False)
def a_ragged_input():
    x = keras.Input((None,), ragged=True)
    return keras.Model(x, ops.relu(x))


@model(inputs=lambda: [np.ones((2, 3), "float32")] * 2)
def a_layer_of_several_inputs_in_a_sequential():
    body = keras.Sequential([layers.Add(), layers.Dense(2)])
    body([np.ones((2, 3), "float32")] * 2)
    return body


@model()
def a_model_twice_in_a_sequential_that_has_grown():
    inner = around(layers.Dense(3))
    body = keras.Sequential([keras.Input((3,)), inner, keras.Sequential([layers.Dense(3)]), inner])
    body.add(layers.Dense(3))
    return body


class AttendsToItself(layers.Layer):
    """Its constructor makes layers without a name, whose names count up."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.attention, self.dense = layers.MultiHeadAttention(2, 3), layers.Dense(3)
        self.supports_masking = True

    def build(self, input_shape):
        self.attention.build(input_shape, input_shape)
        self.dense.build(input_shape)

    def call(self, x, mask=None):
        return self.dense(self.attention(x, x))


class HoldsAVariable(layers.Layer):
    def build(self, shape):
        self.held = keras.Variable(np.ones(shape[-1], "float32"), trainable=False)

    def call(self, x):
        return x * self.held


def in_both_directions():
    with keras.saving.custom_object_scope({"Cell": Cell}):
        return layers.Bidirectional(layers.RNN(Cell(2), return_sequences=True))


LAYERS = {
    "an object as activation": lambda: layers.Dense(4, activation=layers.LeakyReLU(0.3)),
    "a map of policies": lambda: layers.Dense(4, dtype=keras.dtype_policies.DTypePolicyMap(default_policy="float16")),
    "a pipeline": lambda: layers.Pipeline([layers.Rescaling(2.0), layers.Lambda(lambda x: x * 2.0)]),
    "no cuDNN": lambda: layers.LSTM(2, use_cudnn=False),
    "attention within": AttendsToItself,
    "a variable that is no weight of a name": HoldsAVariable,
    "a cell that is not registered in both directions": in_both_directions,
}
models(LAYERS, under_a_mask)


@model(shapes=[(8, 8, 3)])
def layers_whose_constructor_refuses_their_config(x):
    return layers.RandomShear(0.2, 0.2, bounding_box_format="xyxy", seed=1)(layers.RandomGrayscale(seed=7)(x))


@model()
def a_variable_as_an_argument_of_a_lambda():
    return around(layers.Lambda(lambda x, by: x * by, arguments={"by": keras.Variable(2.0, name="by")}))


@model()
def a_seed_generator_as_an_argument_of_a_lambda():
    def noisy(x, seed):
        return x + keras.random.normal((3,), seed=seed)

    return around(layers.Lambda(noisy, output_shape=(3,), arguments={"seed": keras.random.SeedGenerator(3)}))


@model()
def low_rank_that_was_enabled_later():
    it = around(layers.Dense(4))
    it.layers[1].enable_lora(2, lora_alpha=9.0)
    return it


@model(inputs=False)
def a_recurrent_layer_in_a_scope():
    with keras.name_scope("outer"):
        x = keras.Input(batch_shape=(2, 5, 3))
        return keras.Model(x, layers.SimpleRNN(1, stateful=True, name="carries")(x))


class BuiltWith(layers.Layer):
    """Built by its user with an option that a call does not give."""

    def build(self, shape, units=2):
        self.units = units
        self.kernel = self.add_weight(shape=(shape[-1], units), name="kernel")

    def call(self, x):
        return keras.ops.matmul(x, self.kernel)

    def get_build_config(self):
        return {"shape": (None, 3), "units": self.units}

    def build_from_config(self, config):
        self.build(config["shape"], config["units"])


@model()
def a_layer_with_a_build_config_of_its_own(x):
    layer = BuiltWith()
    layer.build((None, 3), units=5)
    return layer(x)


def loss(y_true, y_pred):
    return keras.ops.mean(y_pred)


class Counter(keras.metrics.MeanMetricWrapper):
    def __init__(self, factor, **kwargs):
        super().__init__(lambda y_true, y_pred: y_pred * factor, name="counter", **kwargs)
        self.factor = factor

    def get_config(self):
        return {"factor": self.factor}


COMPILED = {
    "objects": lambda: {
        "optimizer": keras.optimizers.Adam(1e-3, clipnorm=1.0),
        "loss": keras.losses.Huber(0.3),
        "metrics": [keras.metrics.MeanAbsoluteError(name="mine"), "mae", Counter(3.0)],
        "weighted_metrics": [],
    },
    "functions": lambda: {"optimizer": "adam", "loss": loss, "metrics": [loss, lambda y_true, y_pred: y_pred]},
    "a schedule": lambda: {
        "optimizer": keras.optimizers.SGD(keras.optimizers.schedules.ExponentialDecay(0.1, 10, 0.9)),
        "loss": lambda y_true, y_pred: keras.ops.mean(y_pred),
    },
    "accumulated gradients": lambda: {"optimizer": keras.optimizers.SGD(gradient_accumulation_steps=2), "loss": "mse"},
    "options": lambda: {"loss": "mse", "run_eagerly": True, "steps_per_execution": 1},
}


def compiled(options):
    it = keras.Sequential([keras.Input((3,)), layers.Dense(2)])
    it.compile(**options)
    return it


models({f"compiled with {what}": options for what, options in COMPILED.items()}, compiled)
for mode in ("int8", "float8"):

    @model(name="a model quantized to " + mode)
    def quantized(mode=mode):
        it = around(layers.Dense(8), (4,))
        it.quantize(mode)
        return it
