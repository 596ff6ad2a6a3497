"""Options that no config of `tf_keras` tells: found by what the layer holds, or refused by name, and never guessed."""

from __future__ import annotations

import functools

import numpy as np
import pytest
import tensorflow as tf
import tf_keras as keras
from tf_keras import layers

from clonediff.harness.inside.cloners.fixed.tf_keras import clone_model

VECTORS = np.random.default_rng(0).normal(size=(4, 3)).astype("float32")


class Untold(layers.Layer):
    """Tells nothing of its options; those below differ in what they keep of them."""

    def get_config(self):
        return layers.Layer.get_config(self)

    def call(self, x):
        return self.function(x)


class Scaled(Untold):
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
        return tf.clip_by_value(x, self.low, self.high)


class Projecting(Untold):
    """Keeps what it is given in a layer alone."""

    def __init__(self, units=2, act="relu", bias=True, **kwargs):
        super().__init__(**kwargs)
        self.function = layers.Dense(units, act, use_bias=bias)


class Normal(Untold):
    def __init__(self, eps=1e-3, **kwargs):
        super().__init__(**kwargs)
        self.function = layers.LayerNormalization(epsilon=eps)


class Model(keras.Model):
    def __init__(self, units=2, act="relu"):
        super().__init__()
        self.dense = layers.Dense(units, activation=act)

    def call(self, x):
        return self.dense(x)

    def get_config(self):
        return {}


class Asked(Untold):
    """Counts its calls, and was given nothing."""

    def __init__(self, mode="mean", **kwargs):
        super().__init__(**kwargs)
        self.calls, self.mean = 0, mode == "mean"

    def function(self, x):
        self.calls += 1
        return x if self.mean else -x


class Drawn(Untold):
    """Draws a number of its own each time that it is made."""

    def __init__(self, unused=1, **kwargs):
        super().__init__(**kwargs)
        self.drawn = np.random.default_rng().integers(1 << 60)

    def function(self, x):
        return x


class Later(Untold):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.factor = 1.0

    def function(self, x):
        return x * self.factor


def asked_of_no_file():
    """`Asked`, of which there is no source to be read."""
    found = {"Untold": Untold}
    exec(ASKED_OF_NO_FILE, found)
    return found["Asked"]()


ASKED_OF_NO_FILE = """
class Asked(Untold):
    def __init__(self, mode="mean", **kwargs):
        super().__init__(**kwargs)
        self.ready, self.mean = False, mode == "mean"

    def function(self, x):
        if not self.ready:
            self.kernel = self.add_weight("kernel", shape=())
            self.ready = True
        return x * self.kernel
"""


def later():
    layer = Later()
    layer.factor = 4.0
    return layer


def around(layer):
    x = keras.Input((3,))
    return keras.Model(x, layer(x))


FAITHFUL = {
    "a default of none": lambda: Scaled(3.0),
    "a function by its name": lambda: Activated("tanh"),
    "an array": lambda: Weighted([1, 2, 3]),
    "two that go together": lambda: Bounded(-0.5, 0.25),
    "the units of a layer within": lambda: Projecting(3),
    "the activation of a layer within": lambda: Projecting(act="tanh"),
    "a flag of a layer within": lambda: Projecting(bias=False),
    "all of a layer within": lambda: Projecting(3, "tanh", False),
    "a number of a layer within": lambda: Normal(0.5),
    "a model": lambda: Model(3, "tanh"),
    "counted": Asked,
    "ready, without a source": asked_of_no_file,
    "drawn": Drawn,
    "set later": later,
}


@pytest.mark.parametrize("name", FAITHFUL)
def test_what_a_layer_holds_is_found(name):
    is_faithful(around(FAITHFUL[name]()))


def is_faithful(model):
    model(VECTORS)
    clone = clone_model(model)
    assert [weight.shape for weight in clone.weights] == [weight.shape for weight in model.weights]
    clone.set_weights(model.get_weights())
    assert np.array_equal(clone(VECTORS), model(VECTORS))


class Chosen(Untold):
    def __init__(self, mode="mean", **kwargs):
        super().__init__(**kwargs)
        self.negative = mode == "negative"

    def function(self, x):
        return -x if self.negative else x


class SetUp(Untold):
    """Leaves to other methods what its constructor does; one of them is for later, too."""

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


class Replaced(Untold):
    """Has a weight where its option was, as large as that says."""

    def __init__(self, tokens=1, **kwargs):
        super().__init__(**kwargs)
        self.tokens = tokens

    def build(self, shape):
        self.tokens = self.add_weight("tokens", shape=(self.tokens, 3), initializer="ones")

    def function(self, x):
        return x + tf.reduce_sum(tf.convert_to_tensor(self.tokens))


class ByPosition(Untold):
    def __init__(self, by=1.0, /, **kwargs):
        super().__init__(**kwargs)
        self.by = by

    def function(self, x):
        return x * self.by


RECORDED = {
    "chosen": lambda: Chosen("negative"),
    "set up": lambda: SetUp("negative"),
    "sized": lambda: Sized((2, 3)),
    "signed": lambda: Signed(-3.0),
    "replaced": lambda: Replaced(5),
}


@pytest.mark.parametrize("name", RECORDED)
def test_what_keras_recorded_is_found(name):
    is_faithful(around(RECORDED[name]()))


class Unrecorded(Chosen):
    """Keras records nothing of a layer that is given a function."""

    def __init__(self, mode="mean", then=None, **kwargs):
        super().__init__(mode, **kwargs)


class Holding(Untold):
    def __init__(self, units=2, then=None, **kwargs):
        super().__init__(**kwargs)
        self.function = layers.Dense(units)


REFUSED = {
    "chosen": (functools.partial(Unrecorded, "negative", tf.identity), r"\(`mode`, `then`\).* differs in `negative`"),
    "within": (functools.partial(Holding, 3, tf.identity), r"\(`units`, `then`\).* differs in `function`"),
    "by position": (functools.partial(ByPosition, 3.0), r"\(`by`\).* differs in `by`"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_nobody_tells_is_refused_by_name(name):
    make, why = REFUSED[name]
    with pytest.raises(ValueError, match=r"^Layer 'mine' \(class `.*`\) cannot be cloned faithfully: .*" + why):
        clone_model(around(make(name="mine")))
