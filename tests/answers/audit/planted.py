"""Custom layers for an audit: some lose an argument, some only look as if they did."""

import warnings

import keras
import numpy as np


class Loses(keras.layers.Layer):
    """Its config leaves out `factor`, which it computes with, `note`, which it only holds, and `seed`."""

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


class Warns(keras.layers.Layer):
    """Its config leaves out `factor`, which shows in a property alone, and reading that warns."""

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


class Crashes(keras.layers.Layer):
    """It writes a config that it does not take where `sizes` is given, and one of other weights with `width`."""

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


class Normalises(keras.layers.Layer):
    """Nothing is lost: `sizes` becomes a pair, and `mode` is written in small letters."""

    def __init__(self, sizes=1, mode="UP", **kwargs):
        super().__init__(**kwargs)
        self.given = sizes
        self.sizes = (sizes, sizes) if isinstance(sizes, int) else tuple(sizes)
        self.mode = mode.lower()

    def call(self, x):
        return x * self.sizes[0] if self.mode == "up" else x

    def get_config(self):
        return {**super().get_config(), "sizes": self.sizes, "mode": self.mode}


class Draws(keras.layers.Layer):
    """Nothing is lost: what it holds and adds is another each time that it is made."""

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


class Needs(keras.layers.Layer):
    """Its config leaves out `how_many`, which it cannot be made without."""

    def __init__(self, how_many, **kwargs):
        super().__init__(**kwargs)
        self.how_many = how_many

    def call(self, x):
        return x

    def get_config(self):
        return super().get_config()


class NoConfig(keras.layers.Layer):
    """It says that it has none."""

    def call(self, x):
        return x

    def get_config(self):
        raise NotImplementedError("it has no config")


class Refuses(NoConfig):
    """The value that it takes back is not documented."""

    def get_config(self):
        return {}

    @classmethod
    def from_config(cls, config):
        raise ValueError("not so")


class Clips(keras.constraints.Constraint):
    """Its config leaves out `low`."""

    def __init__(self, low=0.0, high=1.0):
        self._low = low
        self._high = high

    def __call__(self, weight):
        return keras.ops.clip(weight, self._low - 1, self._high)

    def get_config(self):
        return {"high": self._high}
