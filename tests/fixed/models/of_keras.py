"""Features of Keras 3 only: operations, optional inputs, quantized layers, compiled models."""

from __future__ import annotations

import keras
import numpy as np
from keras import layers, ops

from . import add_models, model, model_with
from .single_layers import masked_model


@model()
def a_nested_function_of_operations(x):
    i = keras.KerasTensor((None, 3))
    function = keras.Function(i, ops.sigmoid(i) * 2.0, name="twice")
    return function(layers.Dense(3)(function(x)))


@model()
def a_variable_as_a_constant(x):
    variable = keras.Variable([1.0, 2.0, 3.0], name="free")
    return ops.add(ops.multiply(x, variable), variable)


class VariableHolder(layers.Layer):
    def build(self, shape):
        self.held = keras.Variable(np.ones(shape[-1], "float32"), trainable=False)

    def call(self, x):
        return x * self.held


class VariableIncrement(layers.Layer):
    def __init__(self, variable, **kwargs):
        super().__init__(**kwargs)
        self.variable = variable
        variable.assign_add(1.0)

    def call(self, x):
        return x * self.variable

    def get_config(self):
        return {**super().get_config(), "variable": self.variable}


def ones_times(factor):
    return lambda shape, dtype=None: keras.ops.ones(shape, dtype) * factor


LAYERS = {
    "an object as activation": lambda: layers.Dense(4, activation=layers.LeakyReLU(0.3)),
    "a pipeline": lambda: layers.Pipeline([layers.Rescaling(2.0), layers.Lambda(lambda x: x * 2.0)]),
    "a variable that is not a weight with a name": VariableHolder,
    "an initializer over a variable": lambda: layers.Dense(4, kernel_initializer=ones_times(keras.Variable(2.0))),
}
add_models(LAYERS, masked_model)


@model()
def a_seed_generator_as_an_argument_of_a_lambda(x):
    def noisy(x, seed):
        return x + keras.random.normal((3,), seed=seed)

    return layers.Lambda(noisy, output_shape=(3,), arguments={"seed": keras.random.SeedGenerator(3)})(x)


class BuildArgument(layers.Layer):
    """A layer whose `build` has an argument that calls do not pass."""

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
def a_layer_with_a_build_config(x):
    layer = BuildArgument()
    layer.build((None, 3), units=5)
    return layer(x)


@model()
def a_quantized_model():
    network = model_with(layers.Dense(8), (4,))
    network.quantize("int8")
    return network


@model()
def a_model_with_quantized_attention():
    i = keras.Input((3, 4))
    network = keras.Model(i, layers.MultiHeadAttention(num_heads=1, key_dim=2)(i, i))
    network.quantize("int4")
    return network
