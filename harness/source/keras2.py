"""The dialect of Keras 2.2 and 2.3, as people wrote it then. Its operations are layers or stand in a `Lambda`."""

from __future__ import annotations

from clonediff.harness.source.custom import KERAS2_CLASSES
from clonediff.harness.source.dialect import Dialect, InputWords
from clonediff.harness.source.functions import REGISTERED

KERAS2 = Dialect(
    name="keras2",
    imports={
        "functools": "import functools",
        "keras": "import keras",
        "np": "import numpy as np",
        "K": "from keras import backend as K",
        "layers": "from keras import layers",
    },
    spelled={
        REGISTERED: "",
        REGISTERED.replace("()", '("other")'): "",
        "keras.config.set_image_data_format(": "keras.backend.set_image_data_format(",
        "keras.config.set_floatx(": "keras.backend.set_floatx(",
    },
    classes=KERAS2_CLASSES,
    input=InputWords("keras.Input", "shape", "batch_shape"),
    first=InputWords("layers.InputLayer", "input_shape", "batch_input_shape"),
    layer=InputWords("layers.InputLayer", "input_shape", "batch_input_shape"),
    tensor="K.constant({0}, dtype={1})",
    trains="K.in_train_phase({0} * 3.0, {0})",
    told=("mask",),
    eager=False,
    # A `predict` of Keras 2.2 refuses to fetch what it is fed, and the clone of each Sequential loses the InputLayer
    # that it begins with here (keras/models.py:201), so that no other break would show. Its functions are those of its
    # backend, in which no form of a value is written.
    lacks=frozenset(("inputs around tensors", "sparse inputs", "inputs given back", "sequential", "forms of values")),
)
