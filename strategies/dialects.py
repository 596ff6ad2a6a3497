"""Translates the Keras 3 names of programs for each generation."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Dialect:
    """A script's imports by the name that they define; replacements for Keras 3's names."""

    imports: Mapping[str, str]
    replacements: Mapping[str, str] = field(default_factory=dict)

    def translate(self, text: str) -> str:
        for name, replacement in self.replacements.items():
            text = text.replace(name, replacement)
        return text

    def imports_for(self, text: str) -> str:
        """The imports that a text needs, `import` before `from`."""
        lines = [line for name, line in self.imports.items() if re.search(rf"(?<![.\w]){name}\b[.(]", text)]
        return "".join(f"{line}\n" for line in sorted(lines, key=lambda line: line.startswith("from")))


_MODULES = {name: f"import {name}" for name in ("functools", "math", "sys")}
_MODULES["importlib"] = "import importlib.util"
DIALECTS: Mapping[str, Dialect] = {
    "keras": Dialect(
        {
            **_MODULES,
            "keras": "import keras",
            "np": "import numpy as np",
            "tf": "import tensorflow as tf",
            "layers": "from keras import layers",
            "ops": "from keras import ops",
        },
    ),
    "tf_keras": Dialect(
        {
            **_MODULES,
            "np": "import numpy as np",
            "tf": "import tensorflow as tf",
            "keras": "import tf_keras as keras",
            "layers": "from tf_keras import layers",
        },
        {
            "ops.any(": "tf.reduce_any(",
            "ops.mean(": "tf.reduce_mean(",
            "ops.": "tf.",
            "keras.Variable(": "tf.Variable(",
            "keras.config.set_dtype_policy(": "keras.mixed_precision.set_global_policy(",
            "keras.dtype_policies.DTypePolicy(": "keras.mixed_precision.Policy(",
            "keras.DTypePolicy": "keras.mixed_precision.Policy",
            '"class_name": "DTypePolicy"': '"class_name": "Policy"',
            "keras.config.set_image_data_format(": "keras.backend.set_image_data_format(",
            "keras.config.set_floatx(": "keras.backend.set_floatx(",
            "layers.InputLayer(shape=": "layers.InputLayer(input_shape=",
        },
    ),
}
