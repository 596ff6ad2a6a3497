"""The dialect of `tf_keras`, the Keras 2 that runs on TensorFlow 2."""

from __future__ import annotations

from harness.source.dialect import Dialect
from harness.source.keras3 import OPERATORS

TF_KERAS = Dialect(
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
