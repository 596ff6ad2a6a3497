"""The dialect of `tf_keras`."""

from __future__ import annotations

from clonediff.harness.source.dialect import Dialect

TF_KERAS = Dialect(
    name="tf_keras",
    imports={
        "functools": "import functools",
        "tempfile": "import tempfile",
        "np": "import numpy as np",
        "tf": "import tensorflow as tf",
        "keras": "import tf_keras as keras",
        "layers": "from tf_keras import layers",
        "clone_model": "from tf_keras.models import clone_model",
    },
    functions="tf.",
    words={
        "above": "{0} > 0.0",
        "turned": "tf.linalg.matrix_transpose({0})",
        "definite": "tf.matmul({0}, {0}, transpose_b=True) + tf.eye({0}.shape[-2])",
        "then first": "{1}[0]",
        "then second": "{1}[1]",
        "then mean": "{0} * tf.reduce_mean({1})",
    },
    spelled={
        "ops.any(": "tf.reduce_any(",
        "ops.mean(": "tf.reduce_mean(",
        "ops.": "tf.",
        "keras.Variable(": "tf.Variable(",
        "keras.name_scope(": "tf.name_scope(",
        "keras.config.set_dtype_policy(": "keras.mixed_precision.set_global_policy(",
        "keras.DTypePolicy(": "keras.mixed_precision.Policy(",
        "keras.dtype_policies.DTypePolicy(": "keras.mixed_precision.Policy(",
        '"class_name": "DTypePolicy"': '"class_name": "Policy"',
        "keras.config.set_image_data_format(": "keras.backend.set_image_data_format(",
        "keras.config.set_floatx(": "keras.backend.set_floatx(",
    },
    layer_shape="input_shape",
    found=("activation", "kernel_regularizer"),
)
