"""Typical models of users, for transcripts of `clonediff check` with both generations."""

import keras
import numpy as np
import tensorflow as tf
from keras import layers

registered = keras.saving.register_keras_serializable("mine")


def model_with(layer, shape=(4,), dtype=None):
    x = keras.Input(shape, dtype=dtype, name="x")
    return keras.Model(x, layer(x), name="net")


def compiled_model(optimizer="sgd", loss="mse", metrics=()):
    model = model_with(layers.Dense(1, name="dense"))
    model.compile(optimizer, loss, metrics=list(metrics))
    return model


class Gate(layers.Layer):
    def __init__(self, temperature=1.0, **kwargs):
        super().__init__(**kwargs)
        self.temperature = temperature

    def call(self, x):
        return x * self.temperature

    def get_config(self):
        return super().get_config()


def lost_argument():
    return model_with(Gate(2.0, name="gate"))


@registered
class WithinTolerance(keras.metrics.MeanAbsoluteError):
    def __init__(self, tolerance=0.1, name="within", **kwargs):
        super().__init__(name=name, **kwargs)
        self.tolerance = tolerance


def own_metric():
    return compiled_model(metrics=[WithinTolerance(0.5)])


def plain_loss(y, predicted):
    return tf.reduce_mean((y - predicted) ** 2)


def unregistered_loss():
    return compiled_model(loss=plain_loss)


def class_for_a_loss():
    return compiled_model(loss=keras.losses.MeanAbsoluteError)


@registered
class ConstantRate(keras.optimizers.schedules.LearningRateSchedule):
    def __init__(self, rate=0.1):
        self.rate = rate

    def __call__(self, step):
        return self.rate

    def get_config(self):
        return {}


def own_schedule():
    return compiled_model(keras.optimizers.SGD(ConstantRate(0.5)))


def built_by_a_call():
    model = keras.Sequential([layers.Conv2D(2, 3), layers.GlobalAveragePooling2D()], name="net")
    model(np.ones((1, 32, 32, 3), "float32"))
    return model


@registered
class Scale(layers.Layer):
    def build(self, shape):
        self.scale = self.add_weight(name="scale", shape=(shape[-1],), initializer="uniform")
        super().build(shape)

    def call(self, x):
        return x * self.scale


def two_scales():
    i = keras.Input((4,), name="i")
    return model_with(keras.Model(i, Scale(name="b")(Scale(name="a")(i)), name="inner"))


@registered
class Block(layers.Layer):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.a, self.b = layers.Dense(4, name="a"), layers.Dense(4, name="b")

    def build(self, shape):
        self.a.build(shape)
        self.b.build(shape)
        super().build(shape)

    def call(self, x):
        return self.a(x) - 2 * self.b(x)


def frozen_sublayer():
    block = Block(name="block")
    model = model_with(block)
    block.a.trainable = False
    return model


def seeded_layer():
    return model_with(layers.GRU(3, dropout=0.5, seed=3, name="gru"), (5, 4))


def split_function():
    split = layers.TextVectorization(split=lambda texts: texts[..., None], vocabulary=["a"], name="split")
    return model_with(split, (1,), "string")


def tied_embedding():
    a, b = (keras.Input((4,), dtype="int32", name=name) for name in "ab")
    table = layers.Embedding(3, 2, name="table")
    tower = keras.Model(a, table(a), name="tower")
    return keras.Model([a, b], layers.Dot(-1, name="dot")([tower(a), table(b)]), name="net")


class NoOptions(layers.Layer):
    def __init__(self, units):
        super().__init__(name="no_options")
        self.units = units

    def call(self, x):
        return x * self.units

    def get_config(self):
        return {**super().get_config(), "units": self.units}


def no_options():
    return model_with(NoOptions(2))


class Encoder(keras.Model):
    def __init__(self, width=4):
        super().__init__(name="encoder")
        self.dense = layers.Dense(width, name="dense")

    def call(self, x):
        return self.dense(x)


def unbuilt_model():
    return Encoder()


def subclassed():
    model = Encoder()
    model(np.ones((2, 3), "float32"))
    return model


@registered
class Trainer(keras.Model):
    def train_step(self, data):
        return {"loss": self.beta * self.tracker.result()}


def with_attributes():
    x = keras.Input((3,), name="x")
    model = Trainer(x, layers.Dense(1, name="dense")(x), name="trainer")
    model.beta, model.tracker = 0.5, keras.metrics.Mean(name="tracked")
    model.encoder = keras.Model(x, layers.Dense(4, name="encoding")(x), name="encoder")
    return model


class CustomModel(keras.Model):
    def __init__(self, width, **kwargs):
        x = keras.Input((3,), name="x")
        super().__init__(x, layers.Dense(width, name="dense")(x), **kwargs)


def own_constructor():
    return CustomModel(5, name="own")


def siamese():
    left, right = keras.Input((4,), name="left"), keras.Input((4,), name="right")
    tower = layers.Dense(3, name="tower")
    distance = layers.Lambda(lambda both: abs(both[0] - both[1]), name="distance")([tower(left), tower(right)])
    return keras.Model([left, right], distance, name="net")


def one_minus():
    return model_with(lambda x: 1.0 - x, dtype="float16")


def gelu_of_mine(x):
    return x * 2


def activation():
    return model_with(layers.Dense(3, activation=gelu_of_mine, name="dense"))


def autoencoder():
    x, i = keras.Input((8,), name="x"), keras.Input((3,), name="i")
    encoder = keras.Model(x, layers.Dense(3, name="z")(x), name="encoder")
    decoder = keras.Model(i, layers.Dense(8, name="y")(i), name="decoder")
    return keras.Model(x, decoder(encoder(x)), name="net")


def image_model():
    model = keras.Sequential([keras.Input((8, 8, 3), name="x"), layers.Conv2D(2, 3, name="conv")], name="net")
    model.add(layers.Dropout(0.5, name="drop"))
    return model


def without_dropout(layer):
    if isinstance(layer, layers.Dropout):
        return layers.Activation("linear", name=layer.name)
    return layer.from_config(layer.get_config())
