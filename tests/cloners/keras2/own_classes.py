"""Models of plain Keras 2.2 with classes and layers as libraries have them; beside `models.py`, and run as that is."""

# ruff: noqa: UP008, UP031, UP032, B905

from __future__ import annotations

import keras
from keras import layers
from keras.models import Model, Sequential
from models import model, refused


class Backbone(Model):
    """Builds its graph itself, and does more than the graph does."""

    def __init__(self, units, scale=1.0, name=None):
        x = layers.Input((3,), name="of_%s" % name)
        hidden = layers.Dense(units, name="first_of_%s" % name)(x)
        last = layers.Dense(3, name="last_of_%s" % name)
        super(Backbone, self).__init__(x, last(hidden), name=name)
        self.units, self.scale = units, scale
        self.hidden, self.last = hidden, [last]

    def call(self, inputs, mask=None):
        assert self.last[0] in self.layers and self.hidden._keras_history[0] in self.layers
        return super(Backbone, self).call(inputs, mask) * self.scale

    def compute_output_shape(self, input_shape):
        return input_shape


class Telling(Backbone):
    def get_config(self):
        return {"name": self.name, "units": self.units, "scale": self.scale}

    @classmethod
    def from_config(cls, config, custom_objects=None):
        return cls(**config)


class TellingLess(Telling):
    def get_config(self):
        return {"name": self.name, "units": self.units}


class Chain(Sequential):
    def __init__(self, units, name=None):
        super(Chain, self).__init__([layers.Dense(units, input_shape=(3,))], name=name)
        self.units = units


def around(inner):
    x = layers.Input((3,))
    return Model(x, layers.Dense(2)(inner(layers.Dense(3)(x))))


@model
def own_constructor():
    return Backbone(4, 2.0, "mine")


@model
def own_constructor_inside():
    return around(Backbone(4, 2.0, "mine"))


@model
def own_constructor_and_config():
    return around(Telling(4, 2.0, "mine"))


@model
def own_constructor_and_a_partial_config():
    return around(TellingLess(4, 2.0, "mine"))


@model
def own_constructor_and_config_at_the_root():
    return TellingLess(4, 2.0, "mine")


@model
def own_constructor_of_a_chain():
    return around(Chain(4, "mine"))


class Renamed(layers.Layer):
    """Holds its option under another name, and does not tell it."""

    def __init__(self, factor=2.0, **kwargs):
        super(Renamed, self).__init__(**kwargs)
        self.by = factor

    def call(self, inputs):
        return inputs * self.by


@refused
def an_option_under_another_name():
    x = layers.Input((3,))
    return Model(x, Renamed(3.0, name="mine")(x))


class Replaced(layers.Layer):
    """Puts its weight where its option was."""

    def __init__(self, factor=2.0, **kwargs):
        super(Replaced, self).__init__(**kwargs)
        self.factor = self.given = factor

    def build(self, input_shape):
        start = keras.initializers.Constant(self.given)
        self.factor = self.add_weight(shape=(1,), initializer=start, name="factor")
        super(Replaced, self).build(input_shape)

    def call(self, inputs):
        return inputs * self.factor


@refused
def an_option_replaced_by_its_weight():
    x = layers.Input((3,))
    return Model(x, Replaced(3.0, name="mine")(x))


class Derived(Renamed):
    """Makes something of its option, and does not tell it."""

    def __init__(self, factor=2.0, **kwargs):
        super(Derived, self).__init__(**kwargs)
        self.by = factor * 10 + 1


@refused
def an_option_that_nobody_tells():
    x = layers.Input((3,))
    return Model(x, Derived(3.0, name="mine")(x))


class Grown(layers.Layer):
    """Tells nobody how many weights it was made with."""

    def __init__(self, more=0, **kwargs):
        super(Grown, self).__init__(**kwargs)
        self.more = ["w%d" % number for number in range(1 + more)]

    def build(self, shape):
        for name in self.more:
            self.add_weight(name=name, shape=(1,), initializer="zeros")
        super(Grown, self).build(shape)

    def call(self, x):
        return x

    def get_config(self):
        return dict(super(Grown, self).get_config(), more=0)


@refused
def a_config_that_makes_other_weights():
    x = layers.Input((3,))
    return Model(x, Grown(2, name="mine")(x))


class Nothing(layers.Layer):
    def get_config(self):
        pass


@refused
def a_config_that_is_none():
    x = layers.Input((3,))
    return Model(x, Nothing(name="mine")(x))
