"""The dialects of the Keras 2 that runs on TensorFlow 2: `tf_keras`, and `tf.keras` as it was before."""

from __future__ import annotations

from dataclasses import replace

from harness.source.dialect import Dialect
from harness.source.keras3 import OPERATORS

TF_KERAS = Dialect(
    name="tf_keras",
    generation="tf_keras",
    imports={
        "functools": "import functools",
        "np": "import numpy as np",
        "tf": "import tensorflow as tf",
        "keras": "import tf_keras as keras",
        "layers": "from tf_keras import layers",
    },
    operations={
        **OPERATORS,
        "ops.maximum": "tf.maximum({0}, {1})",
        "ops.relu": "tf.nn.relu({0})",
        "ops.mean": "tf.reduce_mean({0}, axis=1)",
        "ops.concatenate": "tf.concat([{0}, {1}], axis=-1)",
        "ops.split": "tf.split({0}, 2, axis=-1)",
    },
    spelled={"ops.any(": "tf.reduce_any(", "ops.": "tf."},
)

TF_DOT_KERAS = replace(
    TF_KERAS,
    name="tf.keras",
    imports={
        **TF_KERAS.imports,
        "keras": "from tensorflow import keras",
        "layers": "from tensorflow.keras import layers",
    },
    # Before 2.3 `training` is a tensor while a model is made, which no `if` takes.
    trains="keras.backend.in_train_phase({0} * 3.0, {0}, training=training)",
    # `keras.saving` came with 2.12.
    spelled={**TF_KERAS.spelled, "keras.saving.register_keras_serializable": "keras.utils.register_keras_serializable"},
)
