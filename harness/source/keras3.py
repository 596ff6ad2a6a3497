"""The dialect of Keras 3."""

from __future__ import annotations

from clonediff.harness.source.dialect import Dialect

_DEFINITE = "ops.matmul({0}, ops.swapaxes({0}, -1, -2)) + ops.eye({0}.shape[-2])"

KERAS3 = Dialect(
    name="keras",
    imports={
        "functools": "import functools",
        "tempfile": "import tempfile",
        "keras": "import keras",
        "np": "import numpy as np",
        "layers": "from keras import layers",
        "ops": "from keras import ops",
        "clone_model": "from keras.models import clone_model",
    },
    functions="ops.",
    words={
        "classes": "ops.argmax({0}, axis=-1)",
        "order": "ops.argsort({0})",
        "any": "ops.any({0} > 0.0)",
        "above": "{0} > 0.0",
        "above listed": "[{0} > 0.0]",
        "listed": "[{0}]",
        "pair": "({0},)",
        "complex pair": "({0}, {0})",
        "complex": "ops.polar({0}, {0})",
        "average": "ops.mean({0})",
        "one": "{0}[0]",
        "twice": "ops.concatenate([{0}, {0}], axis=-1)",
        "lengths": 'ops.cast(ops.sum(ops.ones_like({0}[..., 0]), axis=1), "int32")',
        "single": 'ops.cast(ops.ones_like({0}[:, 0, 0]), "int32")',
        "definite one": "ops.matmul({0}[0], ops.transpose({0}[0])) + ops.eye({0}.shape[1])",
        "flat": "ops.ravel({0})",
        "rows": "ops.reshape({0}, (2, -1))",
        "turned": "ops.swapaxes({0}, -1, -2)",
        "definite": _DEFINITE,
        "factor": f"ops.cholesky({_DEFINITE})",
        "then first": "{1}[0]",
        "then second": "{1}[1]",
        "then real": "ops.real({1})",
        "then float": 'ops.cast({1}, "float32")',
        "then mean": "{0} * ops.mean({1})",
        "then nothing": "ops.zeros_like({1})",
    },
    spelled={},
    found=("kernel_initializer",),
    nests=True,
    compiles=True,
)
