"""Classes of custom layers with constructors, state, sublayers, and nested arguments and results: their bodies."""

from __future__ import annotations

HANDS_MASK_ON = """\
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.supports_masking = True
"""

BODIES = {
    "Adjust": f"""\
{HANDS_MASK_ON}
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
{HANDS_MASK_ON}
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
