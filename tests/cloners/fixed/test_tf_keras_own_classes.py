"""The fixed cloner of `tf_keras` on models of classes with a constructor of their own."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf
import tf_keras as keras
from tf_keras import layers

from clonediff.harness.inside.cloners.fixed.tf_keras import clone_model

VECTORS = np.random.default_rng(0).normal(size=(4, 3)).astype("float32")


class Backbone(keras.Model):
    """Builds its graph itself, and does more than the graph does."""

    def __init__(self, units, scale=1.0, **kwargs):
        last = layers.Dense(3, name="last")
        inputs = keras.Input((3,), name="x")
        hidden = layers.Dense(units, name="first")(inputs)
        super().__init__(inputs, last(hidden), **kwargs)
        self.units, self.scale = units, scale
        self.hidden, self.last = hidden, last

    def call(self, inputs, training=None, mask=None):
        return super().call(inputs, training=training, mask=mask) * self.scale

    def get_config(self):
        return {"name": self.name, "units": self.units, "scale": self.scale}


class Partial(Backbone):
    def get_config(self):
        return {"name": self.name, "units": self.units}


class Silent(Backbone):
    """Takes a function, so that Keras cannot make a config; has a layer beside its graph."""

    def __init__(self, units, function, **kwargs):
        super().__init__(units, **kwargs)
        self.beside = layers.Dense(3, activation=function, name="beside")
        self.beside.build((None, 3))
        self.pieces = [self.hidden, self.last]

    def call(self, inputs, training=None, mask=None):
        return self.beside(super().call(inputs, training=training, mask=mask))

    def get_config(self):
        raise NotImplementedError


class Graphlike(keras.Model):
    """Has the constructor of a model of a graph, and a config that leaves the graph out."""

    def get_config(self):
        return {"name": self.name}


class Chain(keras.Sequential):
    def __init__(self, units, scale=1.0, name=None):
        super().__init__([layers.Dense(units), layers.Dense(3)], name=name)
        self.scale = scale

    def call(self, inputs, training=None, mask=None):
        return super().call(inputs, training=training, mask=mask) * self.scale


def graphlike():
    x = keras.Input((3,), name="x")
    return Graphlike(x, layers.Dense(3, name="only")(x), name="graphlike")


def chain():
    model = Chain(4, 2.0, name="chain")
    model(VECTORS)
    return model


MODELS = {
    "config": lambda: Backbone(5, 2.0, name="back"),
    "partial-config": lambda: Partial(5, 2.0, name="back"),
    "no-config": lambda: Silent(5, lambda x: x + 1, name="silent"),
    "constructor-of-a-graph": graphlike,
    "sequential": chain,
}


def inside(model):
    x = keras.Input((3,))
    return keras.Model(x, layers.Dense(2)(model(layers.Dense(3)(x))))


def twice(model):
    x = keras.Input((3,))
    return keras.Model(x, model(model(x)))


def wrapped(model):
    x = keras.Input((2, 3))
    return keras.Model(x, layers.TimeDistributed(model)(x))


PLACES = {"root": lambda model: model, "inside": inside, "twice": twice, "wrapped": wrapped}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("name", MODELS)
def test_a_clone_has_its_class_and_computes_the_same(name, place):
    model = PLACES[place](MODELS[name]())
    clone = clone_model(model)
    held, cloned = list(model._flatten_layers()), list(clone._flatten_layers())
    assert [(type(each), each.name) for each in cloned] == [(type(each), each.name) for each in held]
    assert [weight.name for weight in clone.weights] == [weight.name for weight in model.weights]
    clone.set_weights(model.get_weights())
    data = np.stack([VECTORS] * 2, axis=1) if place == "wrapped" else VECTORS
    assert np.array_equal(clone(data), model(data))
    assert not {id(each) for each in held} & {id(each) for each in cloned}


class Difference(keras.Model):
    """Connects the same layers in one of two ways, of which its config says nothing."""

    def __init__(self, backwards=False, **kwargs):
        inputs = keras.Input((3,), name="x")
        first = layers.Dense(3, name="one")(inputs)
        parts = [first, layers.Dense(3, name="two")(first)]
        super().__init__(inputs, layers.Subtract(name="less")(parts[::-1] if backwards else parts), **kwargs)

    def get_config(self):
        return {"name": self.name}


@pytest.mark.parametrize("place", ["root", "inside"])
def test_a_config_that_connects_the_same_layers_otherwise_is_not_taken(place):
    model = PLACES[place](Difference(backwards=True, name="mine"))
    clone = clone_model(model)
    clone.set_weights(model.get_weights())
    assert np.array_equal(clone(VECTORS), model(VECTORS))


class Tied(keras.Model):
    """Puts what a weight is when the model is made into its graph, as a constant."""

    def __init__(self, units, **kwargs):
        inputs = keras.Input((3,), name="x")
        dense = layers.Dense(units, name="first")
        hidden = dense(inputs)
        super().__init__(inputs, tf.matmul(hidden, tf.transpose(dense.kernel)), **kwargs)
        self.units = units

    def get_config(self):
        return {"name": self.name, "units": self.units}


@pytest.mark.parametrize("place", ["root", "inside"])
def test_a_constant_that_was_a_weight_is_the_same_constant(place):
    model = PLACES[place](Tied(5, name="mine"))
    clone = clone_model(model)
    clone.set_weights(model.get_weights())
    assert np.array_equal(clone(VECTORS), model(VECTORS))


def test_attributes_lead_into_the_graph_of_the_clone():
    clone = clone_model(MODELS["no-config"]())
    assert clone.pieces[0] is clone.hidden
    assert clone.pieces[1] is clone.last is clone.get_layer("last")
    assert [layer.name for layer in keras.Model(clone.inputs, clone.hidden).layers] == ["x", "first"]


def test_a_layer_of_a_model_that_is_used_outside_stays_shared():
    model = Backbone(3)
    x = keras.Input((3,))
    for build in (lambda: model.last(model(x)), lambda: model(model.last(x))):
        both = keras.Model(x, build())
        clone = clone_model(both)
        inner = next(layer for layer in clone.layers if isinstance(layer, Backbone))
        assert inner.last in clone.layers
        assert len(clone.weights) == len(both.weights) == 4


def test_clone_function_is_asked_and_the_class_stays():
    clone = clone_model(Partial(5, 2.0), clone_function=lambda layer: layers.Dense(layer.units, use_bias=False))
    assert type(clone) is Partial
    assert clone.last is clone.layers[-1]
    assert (len(clone.weights), clone.scale) == (2, 2.0)


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


def test_a_layer_that_a_call_of_the_model_built_is_built_and_all_names_are_those_of_the_original():
    model = Extended(5)
    model(VECTORS)
    clone = clone_model(model)
    assert [weight.name for weight in clone.weights] == [weight.name for weight in model.weights]
    assert (clone.name, clone.input_names) == (model.name, model.input_names)
    assert [layer.name for layer in clone.layers] == [layer.name for layer in model.layers]
    assert keras.Model.get_config(clone) == keras.Model.get_config(model)
    clone.set_weights(model.get_weights())
    assert np.array_equal(clone(VECTORS), model(VECTORS))


class Leading(keras.Model):
    """Leads to a layer of its graph by a function; all that it was given stands in its config."""

    def __init__(self, units=3, **kwargs):
        x = keras.Input((3,), name="x")
        dense = layers.Dense(units, name="dense")
        super().__init__(x, dense(x), **kwargs)
        self.units, self.apply = units, lambda it: dense(it)

    def call(self, inputs, training=None, mask=None):
        return self.apply(inputs)

    def get_config(self):
        return {"name": self.name, "units": self.units}


def test_what_is_refused_for_an_argument_says_so():
    model = Leading(4)
    assert np.array_equal(clone_model(model).layers[-1].units, 4)
    with pytest.raises(ValueError, match="Clone it without `clone_function`, .* only then its config is used"):
        clone_model(model, clone_function=lambda layer: type(layer).from_config(layer.get_config()))
