"""The dialect of Keras 3."""

from __future__ import annotations

from harness.source.dialect import Dialect

OPERATORS = {
    "operator.add": "{0} + {1}",
    "operator.multiply": "{0} * {1}",
    "operator.half": "{0} / 2.0",
    "operator.negative": "-{0}",
    "operator.from_one": "1.0 - {0}",
    "operator.first": "{0}[:, 0]",
    "operator.narrow": "{0}[..., :1]",
    "operator.positive": "{0}[..., 0] > 0.0",
    "ops.plus_array": '{0} + np.array([2.0], dtype="float32")',
}
"""Operators on tensors, which every dialect writes alike."""

KERAS3 = Dialect(
    name="keras",
    generation="keras",
    imports={
        "functools": "import functools",
        "keras": "import keras",
        "np": "import numpy as np",
        "layers": "from keras import layers",
        "ops": "from keras import ops",
    },
    operations={
        **OPERATORS,
        "ops.maximum": "ops.maximum({0}, {1})",
        "ops.relu": "ops.relu({0})",
        "ops.mean": "ops.mean({0}, axis=1)",
        "ops.concatenate": "ops.concatenate([{0}, {1}], axis=-1)",
        "ops.split": "ops.split({0}, 2, axis=-1)",
    },
    spelled={},
)
