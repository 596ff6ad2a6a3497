"""Custom layers for an audit: some lose an argument, others only seem to lose one."""

import warnings

import keras
import numpy as np


class LossyLayer(keras.layers.Layer):
    """Loses `factor` (used by its call), `note` (only an attribute) and `seed`."""

    def __init__(self, units=2, factor=1.0, note="none", seed=None, **kwargs):
        super().__init__(**kwargs)
        self.units = units
        self.factor = factor
        self.note = note
        self.generator = keras.random.SeedGenerator(seed)
        self.supports_masking = True

    def call(self, x):
        return x * self.factor

    def get_config(self):
        return {**super().get_config(), "units": self.units}


class WarningProperty(keras.layers.Layer):
    """Loses `factor`, which is read by a property that gives a warning."""

    def __init__(self, factor=1.0, **kwargs):
        super().__init__(**kwargs)
        self._factor = factor

    @property
    def factor(self):
        warnings.warn("the factor is no longer used", UserWarning, stacklevel=2)
        return self._factor

    def call(self, x):
        return x

    def get_config(self):
        return super().get_config()


class BrokenConfig(keras.layers.Layer):
    """Cannot be recreated with `sizes`, and gets different weights with `width`."""

    def __init__(self, sizes=None, width=3, **kwargs):
        super().__init__(**kwargs)
        self.sizes = sizes
        self.width = width

    def build(self, shape):
        self.kernel = self.add_weight((self.width,))

    def call(self, x):
        return x + keras.ops.sum(self.kernel)

    def get_config(self):
        config = super().get_config()
        if self.sizes:
            config["size"] = self.sizes
        return config


class NormalizedArguments(keras.layers.Layer):
    """Loses nothing: `sizes` becomes a pair, and `mode` becomes lower case."""

    def __init__(self, sizes=1, mode="UP", **kwargs):
        super().__init__(**kwargs)
        self.constructor_sizes = sizes
        self.sizes = (sizes, sizes) if isinstance(sizes, int) else tuple(sizes)
        self.mode = mode.lower()

    def call(self, x):
        return x * self.sizes[0] if self.mode == "up" else x

    def get_config(self):
        return {**super().get_config(), "sizes": self.sizes, "mode": self.mode}


class RandomOffset(keras.layers.Layer):
    """Loses nothing: its attributes and losses differ each time it is created."""

    def __init__(self, low=0.0, units=2, **kwargs):
        super().__init__(**kwargs)
        self.low = low
        self.units = units
        self.offset = float(np.random.random()) + low
        self.offsets = [self.offset] * units

    def call(self, x):
        return x + self.offset

    def get_config(self):
        return {**super().get_config(), "low": self.low, "units": self.units}


class RequiredArgument(keras.layers.Layer):
    """Loses a required argument."""

    def __init__(self, how_many, **kwargs):
        super().__init__(**kwargs)
        self.how_many = how_many

    def call(self, x):
        return x

    def get_config(self):
        return super().get_config()


class NoConfig(keras.layers.Layer):
    """Raises `NotImplementedError` in `get_config`."""

    def call(self, x):
        return x

    def get_config(self):
        raise NotImplementedError("it has no config")


class UnusableConfig(NoConfig):
    """Cannot be recreated from its config."""

    def get_config(self):
        return {}

    @classmethod
    def from_config(cls, config):
        raise ValueError("wrong config")


class ClipConstraint(keras.constraints.Constraint):
    """Loses `low`."""

    def __init__(self, low=0.0, high=1.0):
        self._low = low
        self._high = high

    def __call__(self, weight):
        return keras.ops.clip(weight, self._low - 1, self._high)

    def get_config(self):
        return {"high": self._high}
