"""The source of custom layers and models for Keras 3."""

from __future__ import annotations

from collections.abc import Mapping

from clonediff.strategies.functions import DEFINITIONS, REGISTRATION

_MASKING_CONSTRUCTOR = """\
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.supports_masking = True
"""

_ONE_WEIGHT = f"""\
{_MASKING_CONSTRUCTOR}
    def build(self, input_shape):
        self.ATTRIBUTE = self.add_weight(NAME_ARGUMENT, shape=(input_shape[-1],), initializer="uniform")
        self.built = True

    def call(self, x):
        return x * self.ATTRIBUTE

    def compute_output_shape(self, input_shape):
        return input_shape
"""
_SUM = """\
    def call(self, xs):
        total = xs[0] * 1.0
        for x in xs[1:]:
            total = total + x
        return total
"""

_ONE_ARGUMENT = """\
    def __init__(self, by=2.0, **kwargs):
        super().__init__(**kwargs)
        self.by = by

    def call(self, x):
        return x * self.by

    def get_config(self):
        return {**super().get_config(), "by": self.by}
"""

_BODIES = {
    "Scale": _ONE_WEIGHT.replace("NAME_ARGUMENT", 'name="scale"').replace("ATTRIBUTE", "scale"),
    "Offset": _ONE_WEIGHT.replace("NAME_ARGUMENT, ", "").replace("ATTRIBUTE", "offset").replace("x *", "x +"),
    "MakeMask": f"""\
{_MASKING_CONSTRUCTOR}
    def call(self, x):
        return x * 2.0

    def compute_mask(self, x, mask=None):
        return ops.any(ops.not_equal(x, 0.0), axis=-1)
""",
    "UseMask": f"""\
{_MASKING_CONSTRUCTOR}
    def call(self, x, mask=None):
        return x if mask is None else x * ops.cast(mask, x.dtype)[..., None]
""",
    "DropMask": """\
    def call(self, x):
        return x * 2.0
""",
    "SumAll": _SUM.replace("self, xs", "self, *xs"),
    "SumList": _SUM,
    "Shift": f"""\
{_MASKING_CONSTRUCTOR}
    def call(self, x, by=None):
        if by is None:
            return x * 1.0
        if isinstance(by, tuple):
            return x + by[0]
        if isinstance(by, list):
            return x + by[1]
        return x + by
""",
    "Adjust": f"""\
{_MASKING_CONSTRUCTOR}
    def call(self, x, how=None):
        return x * (sum(map(ord, repr(how))) % 7 + 1.0)
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
}

_BODIES |= {
    "Bare": _ONE_ARGUMENT.partition("\n\n    def get")[0].replace(", **kwargs", "").replace("**kwargs", "") + "\n",
    "ExtraKey": _ONE_ARGUMENT.replace('"by": self.by}', '"by": self.by, "more": 3}'),
    "Renamed": _ONE_ARGUMENT.replace("**kwargs):", 'name="it", **kwargs):').replace("(**", '(name=f"{name}_own", **'),
    "WrapLayer": _ONE_ARGUMENT.replace("x * self.by", "self.by(x)"),
    "ScaleByLength": _ONE_ARGUMENT.partition("\n\n    def get")[0].replace("x * self.by", "x * len(self.by)") + "\n",
}

CUSTOM_LAYERS: Mapping[str, str] = {
    name: f"class <{name}>(layers.Layer):\n{body.replace(f' {name}(', f' <{name}>(')}" for name, body in _BODIES.items()
}
"""The source of each custom layer."""
DEFINITIONS.update({name: REGISTRATION + text for name, text in CUSTOM_LAYERS.items()})

CUSTOM_MODELS: Mapping[str, str] = {
    "plain": """\
class <own>({base}):
    def count(self):
        return len(self.layers)
""",
    "option": """\
class <own>({base}):
    def __init__(self, inputs, outputs, name=None, *, factor=1.0, **kwargs):
        super().__init__(inputs, outputs, name=name, **kwargs)
        self.factor = factor

    def get_config(self):
        return {{**super().get_config(), "factor": self.factor}}
""",
    "step": """\
class <own>({base}):
    def train_step(self, *data):
        return {{**super().train_step(*data), "step": 1.0}}
""",
    "compile": """\
class <own>({base}):
    def compile(self, *arguments, factor=1.0, **options):
        super().compile(*arguments, **options)
        self.factor = factor
""",
}
"""The source of each custom model."""
