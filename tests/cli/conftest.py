"""Model files for the tests of `clonediff check`, saved by a real Keras."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

SAVE_MODELS = """
import keras
from keras import layers

x = keras.Input((4,), name="x")
keras.Model(x, layers.Dense(2, name="out")(layers.Lambda(lambda t: t * 2, name="double")(x))).save("lambda.keras")

ids, rest = keras.Input((None,), dtype="int32", name="ids"), keras.Input((3,), name="rest")
embedded = layers.GlobalAveragePooling1D()(layers.Embedding(5, 4)(ids))
keras.Model([ids, rest], layers.Dense(1)(layers.Concatenate()([embedded, rest]))).save("several.keras")

inputs = {"b": keras.Input((3,), name="b"), "a": keras.Input((2,), name="a")}
keras.Model(inputs, layers.Dense(1)(layers.Concatenate()([inputs["b"], inputs["a"]]))).save("dict.keras")

sequential = keras.Sequential([keras.Input((8, 8, 1), name="image"), layers.Conv2D(2, 3), layers.Flatten()])
sequential.compile("adam", "mse")
sequential.save("sequential.keras")
keras.Model(x, layers.Dense(2)(layers.Dropout(0.5)(x))).save("legacy.h5")

import user

user.of_tf_keras().save("tf.keras")
keras.Model(x, user.Twice()(x)).save("custom.keras")

whole = open("several.keras", "rb").read()
open("cut.keras", "wb").write(whole[: len(whole) // 2])
open("junk.keras", "wb").write(b"not a zip \\x1b[31m")
"""

USERS_MODELS = """
import keras
from keras import layers


class Twice(layers.Layer):
    def call(self, x):
        return x * 2


def needs_many():
    x = keras.Input((None, 4), name="x")
    return keras.Model(x, layers.Reshape((4 * 1009,))(x))


class Positions(layers.Layer):
    # A sublayer has a table of twelve positions.
    def build(self, shape):
        self.table = layers.Embedding(12, 3, name="table")
        self.table.build(None)

    def call(self, x):
        return x + self.table(keras.ops.arange(keras.ops.shape(x)[1]))


def masked():
    ids, mask = (keras.Input((None,), dtype="int32", name=name) for name in ("token_ids", "padding_mask"))
    x = Positions()(layers.Embedding(7, 3)(ids))
    return keras.Model([ids, mask], x * keras.ops.expand_dims(keras.ops.cast(mask, "float32"), -1))


def vocabularies():
    inner = keras.Sequential([keras.Input((4,)), layers.Embedding(6, 2)])
    embeddings = [
        lambda x: layers.Embedding(5, 3)(x) + layers.Embedding(9, 3)(x),
        inner,
        layers.TimeDistributed(layers.Embedding(8, 2)),
        lambda x: layers.Embedding(7, 3)(layers.Reshape((-1,))(x)),
    ]
    names = ("two", "inner", "wrapped", "reshaped")
    inputs = [keras.Input((2, 4) if name == "wrapped" else (4,), name=name) for name in names]
    return keras.Model(inputs, [embed(tensor) for embed, tensor in zip(embeddings, inputs)])


def sizes():
    a, b = keras.Input((None,), name="a"), keras.Input((None,), name="b", batch_size=4)
    return keras.Model([b, a], [layers.Reshape((32, 1))(a), layers.Reshape((5, 1))(b)])


def masks():
    names = ("encoder_padding_mask_1", "attentionMask", "unmask")
    inputs = [keras.Input((40,), dtype="int32", name=name) for name in names]
    return keras.Model(inputs, layers.Concatenate()(inputs))


def whole():
    x = keras.Input((3, 4), batch_size=2, name="x")
    state = layers.SimpleRNN(3, stateful=True, name="rnn")(layers.Dropout(0.5, name="drop")(x))
    model = keras.Model(x, layers.Dense(2, name="y")(state), name="whole")
    model.compile("sgd", "mse")
    model(keras.ops.ones((2, 3, 4)))
    return model


def unbuilt():
    return keras.Sequential([layers.Dense(2)])


def nothing():
    return None


def of_tf_keras():
    import tf_keras

    model = tf_keras.Sequential([tf_keras.layers.Dense(1, input_shape=(2,))])
    model.compile("sgd", "mse")
    return model


def escapes():
    x = keras.Input((2,), name="bell\\x1b]0;title\\x07")
    return keras.Model(x, layers.Lambda(lambda t: t, name="\\x1b[31mred")(x))
"""


@pytest.fixture(scope="session")
def model_files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("models")
    (folder / "user.py").write_text(USERS_MODELS)
    (folder / "make.py").write_text(SAVE_MODELS)
    environment = {**os.environ, "CUDA_VISIBLE_DEVICES": "", "KERAS_BACKEND": "tensorflow"}
    subprocess.run([sys.executable, "make.py"], cwd=folder, env=environment, check=True, capture_output=True)
    return folder
