"""Models of classes with a constructor of their own, at the root and inside others."""

from __future__ import annotations

import keras
import numpy as np
from keras import layers

from . import GENERATION, model, ops


class Backbone(keras.Model):
    """Builds its graph itself, and does more than the graph does."""

    def __init__(self, units, scale=1.0, name=None):
        last = layers.Dense(3, name="last")
        x = keras.Input((3,), name=f"x_of_{name}")
        hidden = layers.Dense(units, name="first")(x)
        super().__init__(x, last(hidden), name=name)
        self.units, self.scale = units, scale
        self.hidden, self.last = hidden, last

    def call(self, inputs, *args, **kwargs):
        return super().call(inputs, *args, **kwargs) * self.scale

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


class Silent(Backbone):
    """Takes a function, so that Keras cannot make a config; has a layer beside its graph."""

    def __init__(self, units, function, name=None):
        super().__init__(units, name=name)
        self.beside = layers.Dense(3, activation=function, name="beside")
        self.beside.build((None, 3))
        self.pieces = {"hidden": [self.hidden, self.last], "step": self.step}

    def step(self, x):
        return self.beside(x)

    def call(self, inputs, *args, **kwargs):
        return self.pieces["step"](super().call(inputs, *args, **kwargs))

    def get_config(self):
        raise NotImplementedError


class Graphlike(keras.Model):
    """Has the constructor of a model of a graph, and a config that leaves the graph out."""

    def get_config(self):
        return {"name": self.name}


class WithExtra(keras.Model):
    """Adds an argument of its own, and tells it."""

    def __init__(self, *args, extra=1, **kwargs):
        super().__init__(*args, **kwargs)
        self.extra = extra

    def get_config(self):
        return dict(super().get_config(), extra=self.extra)


class Chain(keras.Sequential):
    def __init__(self, units, scale=1.0, name=None):
        super().__init__([layers.Dense(units, input_shape=(3,)), layers.Dense(3)], name=name)
        self.scale = scale

    def call(self, inputs, *args, **kwargs):
        return super().call(inputs, *args, **kwargs) * self.scale


class Difference(keras.Model):
    """Connects the same layers in one of two ways, of which its config says nothing."""

    def __init__(self, backwards=False, name=None):
        x = keras.Input((3,), name="x")
        first = layers.Dense(3, name="one")(x)
        parts = [first, layers.Dense(3, name="two")(first)]
        super().__init__(x, layers.Subtract(name="less")(parts[::-1] if backwards else parts), name=name)

    def get_config(self):
        return {"name": self.name}

    @classmethod
    def from_config(cls, config, custom_objects=None):
        return cls(**config)


class Tied(keras.Model):
    """Puts what a weight is when the model is made into its graph, as a constant."""

    def __init__(self, units, name=None):
        x = keras.Input((3,), name="x")
        dense = layers.Dense(units, name="first")
        hidden = dense(x)
        super().__init__(x, ops.matmul(hidden, transposed(dense.kernel)), name=name)
        self.units = units

    def get_config(self):
        return {"name": self.name, "units": self.units}


def transposed(kernel):
    return ops.transpose(kernel) if GENERATION == "keras" else keras.backend.transpose(kernel)


def of_a_graph(kind, *layers_of_it, **options):
    x = keras.Input((3,), name="x")
    y = x
    for layer in layers_of_it or (layers.Dense(3, name="only"),):
        y = layer(y)
    return kind(x, y, name="mine", **options)


def changed():
    mine = Telling(5, 2.0, "mine")
    mine.scale = 3.0
    mine.last.trainable = False
    mine.get_layer("first").activation = keras.activations.relu
    return mine


def chain():
    mine = Chain(4, 2.0, "mine")
    if not mine.built:
        mine(np.ones((2, 3), "float32"))
    return mine


MINE = {
    "an own class": lambda: Backbone(5, 2.0, "mine"),
    "an own class that tells": lambda: Telling(5, 2.0, "mine"),
    "an own class that tells less": lambda: TellingLess(5, 2.0, "mine"),
    "an own Sequential": chain,
}
MINE_OF_TODAY = {
    "an own class that tells nothing": lambda: Silent(5, lambda x: x + 1, "mine"),
    "an own class like a graph": lambda: of_a_graph(Graphlike),
    "an own class that connects otherwise": lambda: Difference(backwards=True, name="mine"),
    "an own class with a weight as a constant": lambda: Tied(5, "mine"),
    "an own class with an option more": lambda: of_a_graph(WithExtra, layers.Lambda(lambda t: t * 2.0), extra=5),
    "an own class that was changed": changed,
}


def inside(mine):
    x = keras.Input((3,))
    return keras.Model(x, layers.Dense(2)(mine(layers.Dense(3)(x))))


def twice(mine):
    x = keras.Input((3,))
    return keras.Model(x, mine(mine(x)))


def deep(mine):
    x = keras.Input((3,))
    return inside(keras.Model(x, layers.Dense(3)(mine(x)), name="middle"))


def wrapped(mine):
    x = keras.Input((2, 3))
    return keras.Model(x, layers.TimeDistributed(mine)(x))


for table, generations in ((MINE, ()), (MINE_OF_TODAY, ())):
    for what, make in table.items():
        model(*generations, name=what)(make)
        model(*generations, name=what + ", inside")(lambda make=make: inside(make()))
        for place in (twice, deep, wrapped):
            if what != "an own class that connects otherwise":
                late = what not in ("an own class that tells less", "an own class that tells nothing")
                name = f"{what}, {place.__name__}"
                model(name=name, late=late)(lambda make=make, place=place: place(make()))


@model()
def a_layer_of_an_own_class_used_outside_after_it(x):
    mine = Telling(3, name="mine")
    return mine.last(mine(x))


@model()
def a_layer_of_an_own_class_used_outside_before_it(x):
    mine = Telling(3, name="mine")
    return mine(mine.last(x))


class Task(keras.Model):
    """A model around another."""

    def __init__(self, backbone, name=None):
        x = backbone.input
        super().__init__(x, layers.Dense(2, name="head")(backbone(x)), name=name)
        self.backbone = backbone

    def get_config(self):
        return {"name": self.name, "backbone": keras.saving.serialize_keras_object(self.backbone)}


@model("keras")
def a_task_around_a_backbone():
    return Task(Telling(5, 2.0))


class Extended(keras.Model):
    """Has a layer beside its graph, which a call of the model builds, and names nothing."""

    def __init__(self, units=2):
        x = keras.Input((3,))
        super().__init__(x, layers.Dense(units)(x))
        self.units, self.extra = units, layers.Dense(4)

    def call(self, inputs, training=None, mask=None):
        return self.extra(super().call(inputs, training=training, mask=mask))

    def get_config(self):
        return {"units": self.units}


@model("tf_keras")
def an_own_class_with_a_layer_that_a_call_has_built():
    mine = Extended(5)
    mine(np.ones((2, 3), "float32"))
    return mine


class Trained(keras.Model):
    def train_step(self, data):
        return {}


class Restack(keras.Sequential):
    def marker(self):
        return 1


@model()
def a_model_with_a_training_step_of_its_own():
    return inside(of_a_graph(Trained, layers.Dense(3)))


@model()
def a_sequential_with_a_method_of_its_own():
    return Restack([layers.InputLayer((3,)), layers.Dense(2)])


@model(shapes=[(4, 3)])
def a_lambda_in_an_own_class(x):
    """What its config tells of the regularizer, Keras warns of; its clone has the function itself."""
    i = keras.Input((3,))
    regularized = layers.Dense(2, kernel_regularizer=lambda weight: 0.1 * ops.sum(weight))
    return layers.TimeDistributed(WithExtra(i, regularized(i), extra=2))(x)
