"""The custom layers of the catalogue, as a user would write them: with the names of Keras 3."""

from __future__ import annotations

from clonediff.harness.source.functions import REGISTERED

_HANDS_MASK_ON = """\
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.supports_masking = True
"""

_BODIES = {
    "Scale": f"""\
{_HANDS_MASK_ON}
    def build(self, input_shape):
        self.scale = self.add_weight(name="scale", shape=(input_shape[-1],), initializer="uniform")
        self.built = True

    def call(self, x):
        return x * self.scale

    def compute_output_shape(self, input_shape):
        return input_shape
""",
    "Offset": f"""\
{_HANDS_MASK_ON}
    def build(self, input_shape):
        self.offset = self.add_weight(shape=(input_shape[-1],), initializer="uniform")
        self.built = True

    def call(self, x):
        return x + self.offset

    def compute_output_shape(self, input_shape):
        return input_shape
""",
    "MakeMask": f"""\
{_HANDS_MASK_ON}
    def call(self, x):
        return x * 2.0

    def compute_mask(self, x, mask=None):
        return ops.any(ops.not_equal(x, 0.0), axis=-1)
""",
    "UseMask": f"""\
{_HANDS_MASK_ON}
    def call(self, x, mask=None):
        return x if mask is None else x * ops.cast(mask, x.dtype)[..., None]
""",
    "DropMask": """\
    def call(self, x):
        return x * 2.0
""",
    "ChangeMask": f"""\
{_HANDS_MASK_ON}
    def call(self, x):
        return x * 2.0

    def compute_mask(self, x, mask=None):
        return None if mask is None else ~mask
""",
    "Fork": f"""\
{_HANDS_MASK_ON}
    def call(self, x):
        return [x * 1.0, x * 2.0]

    def compute_mask(self, x, mask=None):
        return [mask, None]
""",
    "ForkDict": f"""\
{_HANDS_MASK_ON}
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
{_HANDS_MASK_ON}
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
    "Adjust": f"""\
{_HANDS_MASK_ON}
    def call(self, x, how=None):
        if isinstance(how, dict):
            return x * how["factor"] + how["terms"][0]
        if isinstance(how, tuple):
            return x * how[0][0] + how[0][1]
        if isinstance(how, list):
            return x - len(how)
        if isinstance(how, bool):
            return -x
        if isinstance(how, int):
            return x * (how + 1.0)
        if isinstance(how, float):
            return x + how
        if isinstance(how, str):
            return x * 2.0
        if isinstance(how, np.ndarray):
            return x * float(how.sum() + 4)
        if isinstance(how, np.dtype):
            return x / 2.0
        return x * 1.0
""",
    "Span": """\
    def __init__(self, low=0.5, high=2.0, **kwargs):
        super().__init__(**kwargs)
        self.low = low
        self.high = high
        self.supports_masking = True

    def call(self, x):
        return self.low + x * (self.high - self.low)

    def get_config(self):
        return {**super().get_config(), "low": self.low}
""",
    "Stack": """\
    def __init__(self, widths, **kwargs):
        super().__init__(**kwargs)
        self.widths = widths
        self.steps = [layers.Dense(width, name=f"step_{place}") for place, width in enumerate(widths)]

    def build(self, input_shape):
        for step in self.steps:
            step.build(input_shape)
            input_shape = (*input_shape[:-1], step.units)
        self.built = True

    def call(self, x):
        for step in self.steps:
            x = step(x)
        return x

    def get_config(self):
        return {**super().get_config(), "widths": self.widths}
""",
    "Branches": """\
    def __init__(self, units, **kwargs):
        super().__init__(**kwargs)
        self.units = units
        self.branches = {name: layers.Dense(units, name=name) for name in ("plus", "minus", "by")}

    def build(self, input_shape):
        for branch in self.branches.values():
            branch.build(input_shape)
        self.built = True

    def call(self, x):
        return (self.branches["plus"](x) - self.branches["minus"](x)) * self.branches["by"](x)
""",
    "Center": f"""\
{_HANDS_MASK_ON}
    def build(self, input_shape):
        self.mean = self.add_weight(name="mean", shape=(input_shape[-1],), initializer="zeros", trainable=False)
        self.built = True

    def call(self, x, training=None):
        if training:
            batch_mean = ops.mean(x, axis=tuple(range(len(x.shape) - 1)))
            self.mean.assign(0.9 * self.mean + 0.1 * batch_mean)
        return x - self.mean
""",
    "Jitter": """\
    def __init__(self, seed=None, **kwargs):
        super().__init__(**kwargs)
        self.seed = seed
        self.seed_generator = keras.random.SeedGenerator(seed)
        self.supports_masking = True

    def call(self, x, training=None):
        if not training:
            return x
        return x + keras.random.normal(ops.shape(x), dtype=x.dtype, seed=self.seed_generator)
""",
    "Assemble": """\
    def call(self, inputs):
        total = inputs["main"] * 3.0
        for place, x in enumerate(inputs["rest"], start=1):
            total = total + place * x
        return total
""",
    "Gather": """\
    def call(self, xs):
        total = 0.0
        for place, x in enumerate(xs, start=1):
            if x is not None:
                total = total + place * x
        return total
""",
    "Join": """\
    def call(self, a, b=None, c=None, d=None, other=None):
        total = a * 1.0
        for factor, x in ((2.0, b), (3.0, c), (4.0, d), (5.0, other)):
            if x is not None:
                total = total + factor * x
        return total
""",
    "ForkNested": """\
    def call(self, x):
        return {"whole": x * 1.0, "parts": (x * 0.5, [x * 0.25])}
""",
    "Louder": """\
    def __init__(self, depth=1, **kwargs):
        super().__init__(**kwargs)
        self.depth = depth
        self._register_call_context_args("gain")
        self.inner = Louder(depth - 1, name="inner") if depth else None
        self.supports_masking = True

    def call(self, x, gain=None):
        x = x * 1.0 if gain is None else x * gain
        return x if self.inner is None else self.inner(x)

    def get_config(self):
        return {**super().get_config(), "depth": self.depth}
""",
    "Tied": """\
    def __init__(self, units, **kwargs):
        super().__init__(**kwargs)
        self.units = units
        self.encode = layers.Dense(units, name="encode")

    def build(self, input_shape):
        self.encode.build(input_shape)
        self.built = True

    def call(self, x):
        return ops.matmul(self.encode(x), ops.transpose(self.encode.kernel))

    def get_config(self):
        return {**super().get_config(), "units": self.units}
""",
    "Mirror": """\
    def __init__(self, layer, **kwargs):
        super().__init__(**kwargs)
        self.layer = layer

    def build(self, input_shape):
        if not self.layer.built:
            self.layer.build(input_shape)
        self.built = True

    def call(self, x):
        return ops.matmul(self.layer(x), ops.transpose(self.layer.kernel))

    def get_config(self):
        return {**super().get_config(), "layer": keras.layers.serialize(self.layer)}

    @classmethod
    def from_config(cls, config):
        return cls(keras.layers.deserialize(config.pop("layer")), **config)
""",
    "Late": f"""\
{_HANDS_MASK_ON}        self.scale = None

    def call(self, x):
        if self.scale is None:
            self.scale = self.add_weight(name="scale", shape=(x.shape[-1],), initializer="uniform")
        return x * self.scale
""",
    "Remember": f"""\
{_HANDS_MASK_ON}        self.width = None

    def call(self, x):
        if self.width is None:
            self.width = float(x.shape[-1])
        return x / self.width
""",
    "Tailored": f"""\
{_HANDS_MASK_ON}        self.width = None

    def build(self, input_shape):
        self.make(input_shape[-1])

    def make(self, width):
        self.width = width
        self.scale = self.add_weight(name="scale", shape=(width,), initializer="uniform")
        self.built = True

    def call(self, x):
        return x * self.scale

    def get_build_config(self):
        return {{"width": self.width}}

    def build_from_config(self, config):
        if config["width"] is not None:
            self.make(config["width"])
""",
    "Dampen": """\
    def call(self, x):
        return self.layer(x) * 0.5
""",
    "Amplify": """\
    def __init__(self, factor=2.0, name=None):
        super().__init__(name=name)
        self.factor = factor

    def call(self, x):
        return x * self.factor

    def compute_output_spec(self, x):
        return keras.KerasTensor(x.shape, dtype=x.dtype)
""",
}
_BASES = {"Dampen": "layers.Wrapper", "Amplify": "keras.Operation"}
"""What is a wrapper of layers, and what is no layer."""

CLASSES = {
    name: f"{REGISTERED}class {name}({_BASES.get(name, 'layers.Layer')}):\n{body}" for name, body in _BODIES.items()
}
"""The class of each custom kind."""
