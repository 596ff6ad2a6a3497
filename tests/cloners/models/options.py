"""Options of layers of one's own that their config does not tell, or tells otherwise."""

from __future__ import annotations

import keras
from keras import layers

from . import around, model


class Untold(layers.Layer):
    """Tells nothing of its options; those below differ in what they keep of them."""

    def get_config(self):
        return layers.Layer.get_config(self)

    def call(self, x):
        return self.function(x)


class Renamed(Untold):
    def __init__(self, factor=2.0, **kwargs):
        super().__init__(**kwargs)
        self._by = factor

    def function(self, x):
        return x * self._by


class Derived(Renamed):
    """Makes something of its option."""

    def __init__(self, factor=2.0, **kwargs):
        super().__init__(**kwargs)
        self._by = factor * 10 + 1


class Replaced(Untold):
    """Puts its weight where its option was."""

    def __init__(self, factor=2.0, **kwargs):
        super().__init__(**kwargs)
        self.factor = self.given = factor

    def build(self, shape):
        start = keras.initializers.Constant(float(self.given))
        self.factor = self.add_weight(shape=(1,), initializer=start, name="factor")
        super().build(shape)

    def function(self, x):
        return x * self.factor


class Mistaken(layers.Layer):
    """Its config tells one option for another, as `PredictionHead` of keras_hub 0.32 does."""

    def __init__(self, scale=1.0, shift=0.0, **kwargs):
        super().__init__(**kwargs)
        self.scale, self.shift = scale, shift

    def call(self, x):
        return x * self.scale + self.shift

    def get_config(self):
        return dict(super().get_config(), scale=self.scale, shift=self.scale)


class Nothing(layers.Layer):
    def call(self, x):
        return x

    def get_config(self):
        pass


class Grown(layers.Layer):
    """Tells nobody how many weights it was made with."""

    def __init__(self, more=0, **kwargs):
        super().__init__(**kwargs)
        self.names = [f"w{number}" for number in range(1 + more)]

    def build(self, shape):
        for name in self.names:
            self.add_weight(name=name, shape=(1,), initializer="zeros")
        super().build(shape)

    def call(self, x):
        return x

    def get_config(self):
        return dict(super().get_config(), more=0)


class Anew(layers.Layer):
    """Makes the layer that it holds anew from the config of that."""

    def __init__(self, inner, **kwargs):
        super().__init__(**kwargs)
        self.inner = inner

    def call(self, x):
        return self.inner(x)

    def get_config(self):
        return dict(super().get_config(), inner=self.inner.get_config())

    @classmethod
    def from_config(cls, config):
        return cls(layers.Dense.from_config(config.pop("inner")), **config)


class Live(Anew):
    """Has the layer that it holds in its config."""

    def get_config(self):
        return dict(layers.Layer.get_config(self), inner=self.inner)

    @classmethod
    def from_config(cls, config):
        return cls(**config)


def held_and_used(kind, **name):
    """A model in which a layer is called, and held by another one of this class."""
    x, dense = keras.Input((3,)), layers.Dense(2, activation=lambda y: y + 1)
    return keras.Model(x, [kind(dense, **name)(x), dense(x)])


FOUND = {
    "the default of an option of which something is made": lambda: Derived(),
    "an option that is told for another": lambda: Mistaken(2.0, 0.5),
}
for what, make in FOUND.items():
    model(name=what)(lambda make=make: around(make()))
model(name="a layer made anew of a config in a config")(  # Keras 2 sets no weights of what it holds: all begin alike
    lambda: around(lambda x: Anew(layers.Dense(2, activation=lambda y: y + 1, kernel_initializer="ones"))(x))
)
model(name="a layer in a config that is used elsewhere")(lambda: held_and_used(Live))

MINE = r"^Layer 'mine' \(class `.*{}`\) .*{}"
NEVER_TOLD = {
    "a config that makes other weights": (lambda: Grown(2, name="mine"), ("Grown", "1 weights .* 3.*get_config")),
    "a config that is none": (lambda: Nothing(name="mine"), ("Nothing", "None")),
}
model(name="a layer made anew that is used elsewhere", refused=MINE.format("Anew", "makes anew 'dense.*elsewhere"))(
    lambda: held_and_used(Anew, name="mine")
)
for what, (make, words) in NEVER_TOLD.items():
    model(name=what, refused=MINE.format(*words))(lambda make=make: around(make()))


# Keras 3 and tf_keras keep what a constructor was given.
KEPT = {
    "an option under another name": (lambda **name: around(Renamed(3.0, **name)), "Renamed"),
    "an option replaced by its weight": (lambda **name: around(Replaced(3.0, **name)), "Replaced"),
    "an option that nobody tells": (lambda **name: around(Derived(3.0, **name)), "Derived"),
}
for what, (make, kind) in KEPT.items():
    model(name=what, begins=kind == "Replaced")(lambda make=make: make())
