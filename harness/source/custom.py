"""The custom layers of the catalogue, as a user would write them: with the names of Keras 3, and for Keras 2.2."""

from __future__ import annotations

from clonediff.harness.source.functions import REGISTERED
from clonediff.harness.source.own_layers import BODIES, HANDS_MASK_ON

_BODIES = {
    "Scale": f"""\
{HANDS_MASK_ON}
    def build(self, input_shape):
        self.scale = self.add_weight(name="scale", shape=(input_shape[-1],), initializer="uniform")
        self.built = True

    def call(self, x):
        return x * self.scale

    def compute_output_shape(self, input_shape):
        return input_shape
""",
    "Offset": f"""\
{HANDS_MASK_ON}
    def build(self, input_shape):
        self.offset = self.add_weight(shape=(input_shape[-1],), initializer="uniform")
        self.built = True

    def call(self, x):
        return x + self.offset

    def compute_output_shape(self, input_shape):
        return input_shape
""",
    "MakeMask": f"""\
{HANDS_MASK_ON}
    def call(self, x):
        return x * 2.0

    def compute_mask(self, x, mask=None):
        return ops.any(ops.not_equal(x, 0.0), axis=-1)
""",
    "UseMask": f"""\
{HANDS_MASK_ON}
    def call(self, x, mask=None):
        return x if mask is None else x * ops.cast(mask, x.dtype)[..., None]
""",
    "DropMask": """\
    def call(self, x):
        return x * 2.0
""",
    "ChangeMask": f"""\
{HANDS_MASK_ON}
    def call(self, x):
        return x * 2.0

    def compute_mask(self, x, mask=None):
        return None if mask is None else ~mask
""",
    "Fork": f"""\
{HANDS_MASK_ON}
    def call(self, x):
        return [x * 1.0, x * 2.0]

    def compute_mask(self, x, mask=None):
        return [mask, None]
""",
    "ForkDict": f"""\
{HANDS_MASK_ON}
    def call(self, x):
        return {{"right": x * 0.5, "left": x * 2.0}}

    def compute_mask(self, x, mask=None):
        return {{"right": None, "left": mask}}
""",
    "Blend": """\
    def call(self, a, b):
        return a + 2.0 * b
""",
    "SumAll": """\
    def call(self, *xs):
        total = xs[0] * 1.0
        for x in xs[1:]:
            total = total + x
        return total
""",
    "SumList": """\
    def call(self, xs):
        total = xs[0] * 1.0
        for x in xs[1:]:
            total = total + x
        return total
""",
    "Shift": f"""\
{HANDS_MASK_ON}
    def call(self, x, by=None):
        if by is None:
            return x * 1.0
        if isinstance(by, tuple):
            return x + by[0]
        if isinstance(by, list):
            return x + by[1]
        return x + by
""",
    "LeakyCell": """\
    def __init__(self, units, **kwargs):
        super().__init__(**kwargs)
        self.units = units
        self.state_size = units

    def build(self, input_shape):
        self.kernel = self.add_weight(name="kernel", shape=(input_shape[-1], self.units), initializer="uniform")
        self.built = True

    def call(self, x, states):
        state = 0.5 * states[0] + ops.matmul(x, self.kernel)
        return state, [state]

    def get_config(self):
        return {**super().get_config(), "units": self.units}
""",
}
_BASES = {"Amplify": "keras.Operation"}
"""What is no layer."""

CLASSES = {
    name: f"{REGISTERED}class {name}({_BASES.get(name, 'layers.Layer')}):\n{body}"
    for name, body in {**_BODIES, **BODIES}.items()
}
"""The class of each custom kind."""

_KERAS2_BODIES = {
    "Scale": _BODIES["Scale"],
    "MakeMask": _BODIES["MakeMask"].replace("ops.", "K."),
    "UseMask": f"""\
{HANDS_MASK_ON}
    def call(self, x, mask=None):
        return x if mask is None else x * K.expand_dims(K.cast(mask, "float32"))
""",
    "DropMask": _BODIES["DropMask"]
    + """
    def compute_mask(self, x, mask=None):
        return mask if self.supports_masking else None
""",
    "ChangeMask": _BODIES["ChangeMask"],
    "Fork": _BODIES["Fork"]
    + """
    def compute_output_shape(self, input_shape):
        return [input_shape, input_shape]
""",
    "SumList": _BODIES["SumList"]
    + """
    def compute_output_shape(self, input_shape):
        return input_shape[0]

    def compute_mask(self, xs, mask=None):
        return None
""",
    "Shift": _BODIES["Shift"],
    "Adjust": BODIES["Adjust"],
    "Span": BODIES["Span"],
    "LeakyCell": _BODIES["LeakyCell"].replace("ops.matmul", "K.dot"),
}

KERAS2_CLASSES = {
    name: f'class {name}(layers.Layer):\n{body}\n\nkeras.utils.get_custom_objects()["{name}"] = {name}\n'
    for name, body in _KERAS2_BODIES.items()
}
"""The same classes for Keras 2.2: a layer takes one tensor or one list, and says which shapes it gives back."""
