"""Options that no config tells, of layers of one's own in the generations whose models are called on arrays."""

from __future__ import annotations

import types

import keras
import numpy as np
from keras import layers

from . import around, model, ops
from .options import MINE, Renamed, Untold


class ReplacedAlone(layers.Layer):
    """Holds its option nowhere but in the weight that takes its place."""

    def __init__(self, factor=2.0, **kwargs):
        super().__init__(**kwargs)
        self.factor = factor

    def build(self, shape):
        start = keras.initializers.Constant(float(self.factor))
        self.factor = self.add_weight(shape=(), initializer=start, name="factor")
        super().build(shape)

    def call(self, x):
        return x * self.factor


class ReplacedInConfig(ReplacedAlone):
    def get_config(self):
        return dict(super().get_config(), factor=self.factor)


class BesideAConfig(Renamed):
    """Its config tells of one option alone, a function."""

    def __init__(self, factor=2.0, function=None, **kwargs):
        super().__init__(factor, **kwargs)
        self.act = function

    def function(self, x):
        return self.act(x) * self._by

    def get_config(self):
        return dict(super().get_config(), function=self.act)


class DerivedBesideAConfig(BesideAConfig):
    def __init__(self, factor=2.0, function=None, **kwargs):
        super().__init__(factor, function, **kwargs)
        self._by = factor * 10 + 1


class Counting(DerivedBesideAConfig):
    """Was given nothing of what its config leaves out."""

    def __init__(self, factor=2.0, function=None, **kwargs):
        super().__init__(factor, function, **kwargs)
        self.calls = 0

    def function(self, x):
        self.calls += 1
        return super().function(x)


class Settled(layers.Layer):
    """Its attribute is no longer the option once it is built; its config tells the option."""

    def __init__(self, size=None, **kwargs):
        super().__init__(**kwargs)
        self.size = self.given = size

    def build(self, shape):
        self.size = self.size or shape[-1]

    def call(self, x):
        return x * self.size

    def get_config(self):
        return dict(super().get_config(), size=self.given)


class Factor(Untold):
    def __init__(self, scale=None, **kwargs):
        super().__init__(**kwargs)
        self.factor = 1.0 if scale is None else scale

    def function(self, x):
        return x * self.factor


class Activated(Untold):
    def __init__(self, act="relu", **kwargs):
        super().__init__(**kwargs)
        self.function = keras.activations.get(act)


class Weighted(Untold):
    def __init__(self, table=None, **kwargs):
        super().__init__(**kwargs)
        self._weights_of = np.asarray([0, 0, 0] if table is None else table, "float32")

    def function(self, x):
        return x * self._weights_of


class Bounded(Untold):
    def __init__(self, one=1.0, two=1.0, **kwargs):
        super().__init__(**kwargs)
        self.low, self.high = min(one, two), max(one, two)

    def function(self, x):
        return ops.abs(x - self.low) + self.high


class Projecting(Untold):
    """Keeps what it is given in a layer alone."""

    def __init__(self, units=2, act="relu", bias=True, **kwargs):
        super().__init__(**kwargs)
        self.function = layers.Dense(units, act, use_bias=bias)


class Normal(Untold):
    def __init__(self, eps=1e-3, **kwargs):
        super().__init__(**kwargs)
        self.function = layers.LayerNormalization(epsilon=eps)


class OfAModel(keras.Model):
    """Of what a model is given, Keras keeps no record."""

    def __init__(self, units=2, act="relu", **kwargs):
        super().__init__(**kwargs)
        self.dense = layers.Dense(units, activation=act)

    def call(self, x):
        return self.dense(x)

    def get_config(self):
        return {}


class Drawn(Untold):
    """Draws a number of its own each time that it is made."""

    def __init__(self, unused=1, **kwargs):
        super().__init__(**kwargs)
        self.drawn = np.random.default_rng().integers(1 << 60)

    def function(self, x):
        return x


class Chosen(Untold):
    """Keeps what follows from its option alone."""

    def __init__(self, mode="mean", **kwargs):
        super().__init__(**kwargs)
        self.negative = mode == "negative"

    def function(self, x):
        return -x if self.negative else x


class SetUp(Untold):
    """Leaves to other methods what its constructor does."""

    def __init__(self, mode="mean", **kwargs):
        super().__init__(**kwargs)
        self.reset(mode)

    def reset(self, mode):
        self._choose(mode)

    def _choose(self, mode):
        self.negative = mode == "negative"

    def function(self, x):
        return -x if self.negative else x


class Sized(Untold):
    def __init__(self, size=(1, 1), **kwargs):
        super().__init__(**kwargs)
        self.area = float(size[0] * size[1])

    def function(self, x):
        return x * self.area


class Signed(Untold):
    """A number that is found with the wrong sign."""

    def __init__(self, by=1.0, **kwargs):
        super().__init__(**kwargs)
        self.size, self.sign = abs(by), 1 if by >= 0 else -1

    def function(self, x):
        return x * self.size * self.sign


class Tokens(Untold):
    """Has a weight where its option was, as large as that says."""

    def __init__(self, tokens=1, **kwargs):
        super().__init__(**kwargs)
        self.tokens = tokens

    def build(self, shape):
        self.tokens = self.add_weight(name="tokens", shape=(self.tokens, 3), initializer="ones")

    def function(self, x):
        return x + ops.sum(ops.abs(self.tokens))


class Later(Untold):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.factor = 1.0

    def function(self, x):
        return x * self.factor


class ByPosition(Untold):
    def __init__(self, by=1.0, /, **kwargs):
        super().__init__(**kwargs)
        self.by = by

    def function(self, x):
        return x * self.by


class Inward(Untold):
    """Holds what leads back to it."""

    def __init__(self, by=1.0, **kwargs):
        super().__init__(**kwargs)
        self.state, self.by = types.SimpleNamespace(owner=self), by

    def function(self, x):
        return x * self.by


NO_FILE = """
class Asked(Untold):
    def __init__(self, mode="mean", **kwargs):
        super().__init__(**kwargs)
        self.ready, self.mean = False, mode == "mean"

    def function(self, x):
        if not self.ready:
            self.kernel = self.add_weight(name="kernel", shape=())
            self.ready = True
        return x * self.kernel
"""


def of_no_file():
    """A layer of which there is no source to be read, that was given nothing."""
    found = {"Untold": Untold}
    exec(NO_FILE, found)
    return found["Asked"]()


def doubled(x):
    return x + x


def later():
    layer = Later()
    layer.factor = 4.0
    return layer


FOUND_TODAY = {
    "the default of an option beside a config": lambda: DerivedBesideAConfig(function=doubled),
    "a layer that counts": lambda: Counting(function=doubled),
    "an option that is settled when the layer is built": lambda: Settled(),
    "an option whose default is none": lambda: Factor(3.0),
    "an option that is a function by its name": lambda: Activated("tanh"),
    "an option that is an array": lambda: Weighted([1, 2, 3]),
    "two options that go together": lambda: Bounded(-0.5, 0.25),
    "the units of a layer within": lambda: Projecting(3),
    "the activation of a layer within": lambda: Projecting(act="tanh"),
    "a flag of a layer within": lambda: Projecting(bias=False),
    "all of a layer within": lambda: Projecting(3, "tanh", False),
    "a number of a layer within": lambda: Normal(0.5),
    "a number that is drawn": Drawn,
    "an attribute that was set later": later,
    "a layer that leads back to itself": lambda: Inward(3.0),
}
model(name="an option that only its weight holds", begins=True)(lambda: around(ReplacedAlone(3.0)))
model("keras", name="an option whose weight is in the config", begins=True)(lambda: around(ReplacedInConfig(3.0)))
for what, make in FOUND_TODAY.items():
    model(name=what)(lambda make=make: around(make()))
model("tf_keras", name="a layer that is ready, without a source")(lambda: around(of_no_file()))

model("tf_keras", name="the options of a model")(lambda: around(OfAModel(3, "tanh")))
model("keras", name="the options of a model", refused="'mine'.*`OfAModel`.*`act`")(
    lambda: around(OfAModel(3, "tanh", name="mine"))
)

REFUSED_TODAY = {
    "an option under another name beside a config": (
        lambda: BesideAConfig(3.0, doubled, name="mine"),
        ("BesideAConfig", "`factor`"),
    ),
    "an option by position": (lambda: ByPosition(3.0, name="mine"), ("ByPosition", "`by`")),
    "an option beside a config": (
        lambda: DerivedBesideAConfig(3.0, doubled, name="mine"),
        ("DerivedBesideAConfig", "`factor`"),
    ),
}
for what, (make, words) in REFUSED_TODAY.items():
    model(name=what, refused=MINE.format(*words))(lambda make=make: around(make()))

CHOSEN = {
    "an option of which something is chosen": lambda: Chosen("negative"),
    "an option that a method sets up": lambda: SetUp("negative"),
    "an option whose parts are multiplied": lambda: Sized((2, 3)),
    "an option with a sign": lambda: Signed(-3.0),
    "an option that is the size of a weight": lambda: Tokens(5),
}
"""What Keras knows by itself, since it keeps what a constructor was given."""
for what, make in CHOSEN.items():
    model(name=what)(lambda make=make: around(make()))


class Unrecorded(Chosen):
    """Keras keeps nothing of a layer that was given a function."""

    def __init__(self, mode="mean", then=None, **kwargs):
        super().__init__(mode, **kwargs)


class Holding(Untold):
    def __init__(self, units=2, then=None, **kwargs):
        super().__init__(**kwargs)
        self.function = layers.Dense(units)


UNRECORDED = {
    "an option beside a function": (
        lambda: Unrecorded("negative", doubled, name="mine"),
        "`mode`.*`negative`",
    ),
    "units beside a function": (lambda: Holding(3, doubled, name="mine"), "`units`.*`function`"),
}
for what, (make, words) in UNRECORDED.items():
    model("tf_keras", name=what, refused=MINE.format("", words))(lambda make=make: around(make()))


@model()
def an_initializer_with_a_seed_that_nobody_tells():
    class Drawing(Untold):
        def __init__(self, kernel_initializer="glorot_uniform", **kwargs):
            super().__init__(**kwargs)
            self.kernel_initializer = keras.initializers.get(kernel_initializer)

        def build(self, shape):
            self.kernel = self.add_weight(name="kernel", shape=(shape[-1], 3), initializer=self.kernel_initializer)

        def function(self, x):
            return ops.matmul(x, self.kernel)

    return around(Drawing(keras.initializers.HeNormal(seed=3)))


@model(shapes=[(4, 3)])
def a_constraint_changed_after_both_directions_had_it(x):
    constraint = keras.constraints.MaxNorm(0.5)
    layer = layers.Bidirectional(layers.SimpleRNN(2, kernel_constraint=constraint))
    y = layer(x)
    constraint.max_value = 0.1  # which changes neither direction: each has one of its own
    return y


@model(shapes=[(4, 3)])
def a_constraint_of_one_direction_changed(x):
    layer = layers.Bidirectional(layers.SimpleRNN(2, kernel_constraint=keras.constraints.MaxNorm(0.5)))
    y = layer(x)
    layer.forward_layer.cell.kernel_constraint.max_value = 0.1
    return y


class Bothways(layers.Bidirectional):
    """Refers to its directions by other names as well, and calls one of them by that."""

    def __init__(self, layer, **kwargs):
        super().__init__(layer, **kwargs)
        self.past = self.forward_layer

    def call(self, inputs, **kwargs):
        return super().call(inputs, **kwargs) + keras.backend.sum(self.past(inputs))


@model("tf_keras", shapes=[(4, 3)])
def a_bidirectional_of_ones_own_that_refers_to_a_direction(x):
    return Bothways(layers.SimpleRNN(2))(x)
