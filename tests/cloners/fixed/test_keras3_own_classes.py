"""Models whose class has a constructor of its own: what a clone of them is, at the root and inside others."""

from __future__ import annotations

import keras
import numpy as np
import pytest
from keras import layers

from clonediff.harness.inside.cloners.fixed.keras3 import clone_model
from tests.cloners.fixed.keras3_faithful import VECTORS, assert_faithful, described_model, differences


class Backbone(keras.Model):
    """Builds its graph itself, holds its layers before that, in another order, and does more than the graph does."""

    def __init__(self, units, scale=1.0, **kwargs):
        self.last = layers.Dense(3, name="last")
        inputs = keras.Input((3,), name="x")
        hidden = layers.Dense(units, name="first")(inputs)
        super().__init__(inputs, self.last(hidden), **kwargs)
        self.units, self.scale = units, scale
        self.hidden = hidden

    def call(self, inputs, training=None):
        return super().call(inputs, training=training) * self.scale

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
        self.pieces = {"hidden": [self.hidden, self.last], "step": self.step}

    def step(self, x):
        return self.beside(x)

    def call(self, inputs, training=None):
        return self.pieces["step"](super().call(inputs, training=training))

    def get_config(self):
        raise NotImplementedError


class Chain(keras.Sequential):
    def __init__(self, units, scale=1.0, name=None):
        super().__init__([layers.Dense(units), layers.Dense(3)], name=name)
        self.scale = scale

    def call(self, inputs, training=None, mask=None):
        return super().call(inputs, training=training, mask=mask) * self.scale


def silent():
    return Silent(5, lambda x: x + 1, name="silent")


def chain():
    model = Chain(4, 2.0, name="chain")
    model(VECTORS)
    return model


MODELS = {
    "config": lambda: Backbone(5, 2.0, name="back"),
    "partial-config": lambda: Partial(5, 2.0, name="back"),
    "no-config": silent,
    "sequential": chain,
}


def inside(model):
    x = keras.Input((3,))
    return keras.Model(x, layers.Dense(2)(model(layers.Dense(3)(x))))


def twice(model):
    x = keras.Input((3,))
    return keras.Model(x, model(model(x)))


def deep(model):
    return inside(inside_of_own_inputs(model))


def inside_of_own_inputs(model):
    x = keras.Input((3,))
    return keras.Model(x, layers.Dense(3)(model(x)), name="middle")


def wrapped(model):
    x = keras.Input((2, 3))
    return keras.Model(x, layers.TimeDistributed(model)(x))


PLACES = {"root": lambda model: model, "inside": inside, "twice": twice, "deep": deep, "wrapped": wrapped}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("name", MODELS)
def test_a_clone_has_its_class_and_computes_the_same(name, place):
    model = PLACES[place](MODELS[name]())
    clone = clone_model(model)
    kinds = [type(layer) for layer in model._flatten_layers()]
    assert [type(layer) for layer in clone._flatten_layers()] == kinds
    assert [weight.path for weight in clone.weights] == [weight.path for weight in model.weights]
    clone.set_weights(model.get_weights())
    data = np.stack([VECTORS] * 2, axis=1) if place == "wrapped" else VECTORS
    assert np.array_equal(clone(data), model(data))
    assert not {id(each) for each in model._flatten_layers()} & {id(each) for each in clone._flatten_layers()}


@pytest.mark.parametrize("name", ["config", "partial-config"])
def test_a_clone_is_faithful_in_every_other_respect(name):
    assert_faithful(inside(MODELS[name]()), VECTORS)


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
        super().__init__(inputs, keras.ops.matmul(hidden, keras.ops.transpose(dense.kernel)), **kwargs)
        self.units = units

    def get_config(self):
        return {"name": self.name, "units": self.units}


@pytest.mark.parametrize("place", ["root", "inside"])
def test_a_constant_that_was_a_weight_is_the_same_constant(place):
    model = PLACES[place](Tied(5, name="mine"))
    clone = clone_model(model)
    clone.set_weights(model.get_weights())
    assert np.array_equal(clone(VECTORS), model(VECTORS))
    assert [type(layer) for layer in clone._flatten_layers()] == [type(layer) for layer in model._flatten_layers()]


def test_attributes_lead_into_the_graph_of_the_clone():
    model = silent()
    clone = clone_model(model)
    assert clone.units == 5
    assert clone.pieces["hidden"][0] is clone.hidden
    assert clone.pieces["hidden"][1] is clone.last is clone.get_layer("last")
    assert clone.pieces["step"].__self__ is clone
    features = keras.Model(clone.inputs, clone.hidden)
    assert [layer.name for layer in features.layers] == ["x", "first"]


def test_what_was_set_on_a_model_leads_into_the_graph_of_its_clone():
    x = keras.Input((3,))
    hidden = layers.Dense(4)(x)
    model = keras.Model(x, layers.Dense(2)(hidden))
    model.hidden, model.label = [hidden], "mine"
    clone = clone_model(model)
    assert clone.label == "mine"
    assert keras.Model(clone.inputs, clone.hidden[0]).layers[1] is clone.layers[1]


def test_a_layer_of_a_model_that_is_used_outside_stays_shared():
    model = Backbone(3)
    x = keras.Input((3,))
    both = keras.Model(x, model.last(model(x)))
    clone = clone_model(both)
    assert clone.layers[-1] is clone.layers[1].last
    assert len(clone.weights) == len(both.weights) == 4
    early = keras.Model(x, model(model.last(x)))
    clone = clone_model(early)
    assert type(clone.layers[-1]) is Backbone
    assert clone.layers[-1].last is clone.layers[1]


def test_a_model_changed_after_its_constructor_is_cloned_as_it_is():
    model = Backbone(5, 2.0)
    model.scale = 3.0
    model.last.trainable = False
    model.get_layer("first").activation = keras.activations.relu
    clone = clone_model(model)
    clone.set_weights(model.get_weights())
    assert clone.scale == 3.0
    assert len(clone.trainable_weights) == 2
    assert np.array_equal(clone(VECTORS), model(VECTORS))


def test_a_task_around_a_backbone():
    class Task(keras.Model):
        def __init__(self, backbone, **kwargs):
            x = backbone.input
            super().__init__(x, layers.Dense(2, name="head")(backbone(x)), **kwargs)
            self.backbone = backbone

        def get_config(self):
            return {"name": self.name, "backbone": keras.saving.serialize_keras_object(self.backbone)}

    task = Task(Backbone(5, 2.0))
    clone = clone_model(task)
    assert type(clone) is Task
    assert clone.backbone in clone.layers
    assert type(clone.backbone) is Backbone
    assert not differences(described_model(task), described_model(clone))


def test_clone_function_is_asked_and_the_class_stays():
    model = Partial(5, 2.0)
    clone = clone_model(model, clone_function=lambda layer: layers.Dense(layer.units, use_bias=False))
    assert type(clone) is Partial
    assert len(clone.weights) == 2
    assert clone.last is clone.layers[-1]
    assert clone.scale == 2.0


def test_a_model_that_cannot_be_followed_is_refused():
    class Capturing(Backbone):
        def __init__(self, units, function, **kwargs):
            super().__init__(units, **kwargs)
            self.run = lambda x: function(self.last(x))

        def call(self, inputs, training=None):
            return self.run(inputs)

        def get_config(self):
            raise NotImplementedError

    with pytest.raises(ValueError, match=r"Model 'mine' \(class `.*Capturing`\) .*`run`.*get_config"):
        clone_model(inside(Capturing(3, lambda x: x, name="mine")))


def test_a_model_without_a_graph():
    class Plain(keras.Model):
        def __init__(self, units, function=None, **kwargs):
            super().__init__(**kwargs)
            self.dense = layers.Dense(units, activation=function)

        def build(self, shape):
            self.dense.build(shape)

        def call(self, x):
            return self.dense(x)

    class Told(Plain):
        def get_config(self):
            return {"name": self.name, "units": self.dense.units, "function": self.dense.activation}

    told = Told(4, lambda x: x + 1)
    told(VECTORS)
    clone = clone_model(told)
    clone.set_weights(told.get_weights())
    assert np.array_equal(clone(VECTORS), told(VECTORS))
    untold = Plain(4, lambda x: x, name="mine")
    untold(VECTORS)
    with pytest.raises(NotImplementedError, match=r"Model 'mine' \(class `.*Plain`\) .*`units`.*get_config"):
        clone_model(untold)


def test_one_built_layer():
    x = keras.Input((5, 3))
    layer = layers.MultiHeadAttention(2, 3, name="attention")
    model = keras.Model(x, layer(x, x))
    layer._query_dense.trainable = False
    clone = clone_model(layer)
    assert [weight.path for weight in clone.weights] == [weight.path for weight in layer.weights]
    assert [weight.path for weight in clone.trainable_weights] == [weight.path for weight in layer.trainable_weights]
    assert [each.name for each in clone._flatten_layers()] == [each.name for each in layer._flatten_layers()]
    whole = clone_model(model, clone_function=clone_model)
    assert [weight.path for weight in whole.trainable_weights] == [weight.path for weight in model.trainable_weights]
