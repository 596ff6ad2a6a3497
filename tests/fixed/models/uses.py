"""Models from reports of users who could not clone them."""

from __future__ import annotations

import keras
import numpy as np
from keras import layers

from . import GENERATION, add_models, model, model_with

TENSORS = keras.ops if GENERATION == "keras" else keras.backend


class WithoutOptions(layers.Layer):
    """A layer whose constructor does not accept the base arguments in its config, such as `name`."""

    def __init__(self, width):
        super().__init__()
        self.width = width

    def build(self, shape):
        self.kernel = self.add_weight(name="kernel", shape=(shape[-1], self.width))
        super().build(shape)

    def call(self, x):
        return TENSORS.dot(x, self.kernel)

    def get_config(self):
        return {**super().get_config(), "width": self.width}


class SubclassedModel(keras.Model):
    def __init__(self):
        super().__init__()
        self.dense = layers.Dense(3)

    def call(self, x):
        return self.dense(x)


class CustomModel(keras.Model):
    """A functional model with a custom constructor."""

    def __init__(self, width, **kwargs):
        x = keras.Input((3,))
        super().__init__(x, layers.Dense(width)(x), **kwargs)
        self.width = width


def capped(x):
    return TENSORS.relu(x) if GENERATION == "tf_keras" else TENSORS.relu6(x)


def quarter(shape, dtype=None, **_):
    return TENSORS.ones(shape) * 0.25


LAYERS = {
    "a constructor without options": lambda: WithoutOptions(4),
    "a subclassed model in a functional one": SubclassedModel,
    "a custom activation": lambda: layers.Dense(3, activation=capped),
    "a custom initializer": lambda: layers.Dense(3, kernel_initializer=quarter),
}
add_models(LAYERS, model_with)


@model()
def a_functional_class_with_a_custom_constructor():
    return CustomModel(5)


@model()
def an_embedding_for_two_inputs():
    a, b = keras.Input((4,), dtype="int32"), keras.Input((4,), dtype="int32")
    embedding = layers.Embedding(3, 2)
    return keras.Model([a, b], layers.Dot(-1)([embedding(a), embedding(b)]))


@model(inputs=lambda: TENSORS.convert_to_tensor([["a b"], ["b c"]]) if GENERATION == "keras" else np.array([["a b"]]))
def a_function_that_splits_texts():
    x = keras.Input((1,), dtype="string")
    vectorization = layers.TextVectorization(split=lambda texts: texts[..., None], output_sequence_length=2)
    vectorization.adapt(["a b", "b c"])
    return keras.Model(x, vectorization(x))


@model()
def one_tensor_concatenated(x):
    return layers.Concatenate()([x]) if GENERATION == "keras" else layers.Add()([x, layers.Activation("tanh")(x)])


class CustomTraining(keras.Model):
    """A model with a custom training step."""

    def train_step(self, data):
        return {"loss": 0.0}


@model()
def a_class_with_a_train_step(x):
    return CustomTraining(x, layers.Dense(2)(x))(x)


@model()
def a_function_with_two_outputs(x):
    return layers.Lambda(lambda t: [t, t * 2.0])(x)


@model(shapes=[(4, 3)])
def a_sum_of_masked_steps_in_a_model(x):
    i = keras.Input((4, 3))
    return layers.Add()([keras.Model(i, layers.Masking()(i))(x), x])


@model()
def a_noisy_layer_of_operations(x):
    noise = TENSORS.ones((3,)) * 0.1
    return layers.Dense(3)(x) + TENSORS.relu(x) * noise - TENSORS.sum(x, axis=-1, keepdims=True)
