"""The fixed cloner of `tf_keras` on models in models, Sequential models, flags and subclasses."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf
import tf_keras as keras
from tf_keras import layers

from clonediff.harness.inside.cloners.fixed.tf_keras import clone_model
from tests.cloners.fixed.tf_keras_faithful import assert_faithful, floats_of

floats = floats_of(0)


def inner_model(layer=None, name=None):
    x = keras.Input((4,))
    return keras.Model(x, (layer or layers.Dense(4))(x), name=name)


def shared_inner():
    x, inner = keras.Input((4,)), inner_model()
    return keras.Model(x, inner(inner(x)))


def layer_inside_and_outside():
    d = layers.Dense(4, name="d")
    x, inner = keras.Input((4,)), inner_model(d)
    return keras.Model(x, [d(inner(x)), inner(d(x))])


def outside_before_inside():
    d = layers.Dense(4, name="d")
    x = keras.Input((4,))
    early = d(x)
    inner = inner_model(d)
    return keras.Model(x, inner(early))


def shared_three_deep():
    d = layers.Dense(4, name="d")
    one = inner_model(d, "one")
    x = keras.Input((4,))
    two = keras.Model(x, one(d(x)), name="two")
    x = keras.Input((4,))
    return keras.Model(x, layers.Add()([two(x), one(x), d(x)]))


def shared_input_layer():
    x = keras.Input((4,))
    h = layers.Dense(3)(x)
    encoder = keras.Model(x, h, name="encoder")
    z = keras.Input((3,))
    decoder = keras.Model(z, layers.Dense(4)(z), name="decoder")
    return keras.Model(x, decoder(encoder(x)), name="auto")


def structures_inside():
    a, b = keras.Input((4,)), keras.Input((4,))
    inner = keras.Model({"a": a, "b": b}, {"s": a + b, "t": (a, [b])})
    x = keras.Input((4,))
    return keras.Model(x, inner({"a": x, "b": layers.ReLU()(x)}))


def frozen_parts():
    inner = inner_model(name="inner")
    inner.trainable = False
    inner.layers[1].trainable = True
    x = keras.Input((4,))
    return keras.Model(x, layers.Dense(2)(inner(x)))


def frozen_model():
    model = shared_inner()
    model.trainable = False
    model.layers[1].trainable = True
    return model


def frozen_but_for_its_layers():
    model = shared_inner()
    model.trainable = False
    for layer in model._flatten_layers(include_self=False):
        layer.trainable = True
    return model


def time_distributed_model():
    d = layers.Dense(4, name="d")
    inner = inner_model(d)
    x = keras.Input((3, 4))
    return keras.Model(x, [layers.TimeDistributed(inner)(x), inner(x[:, 0]), d(x)])


def masks_through_models():
    x = keras.Input((5,), dtype="int32")
    inner = keras.Model(x, layers.Embedding(7, 4, mask_zero=True)(x))
    x = keras.Input((5,), dtype="int32")
    y = inner(x)
    return keras.Model(x, [y, layers.SimpleRNN(2)(y)])


def sequential():
    return keras.Sequential([keras.Input((4,)), layers.Dense(3), layers.Lambda(lambda x: x + 1), layers.ReLU()])


def sequential_by_shape():
    return keras.Sequential([layers.Dense(3, input_shape=(4,)), layers.Dense(2)], name="mine")


def layer_twice():
    d = layers.Dense(4)
    return keras.Sequential([keras.Input((4,)), d, layers.ReLU(), d])


def built_sequential():
    model = keras.Sequential([layers.Dense(3), layers.Dense(2)])
    model.build((None, 4))
    return model


def called_sequential():
    model = keras.Sequential([layers.Dense(3), keras.Sequential([layers.Dense(2)])])
    model(floats(3, 4))
    return model


def sequential_of_models():
    return keras.Sequential([keras.Input((4,)), inner_model(), keras.Sequential([layers.Dense(3)]), layers.ReLU()])


def sequential_in_functional():
    deferred, explicit = keras.Sequential([layers.Dense(4)]), sequential()
    x = keras.Input((4,))
    return keras.Model(x, [explicit(deferred(x)), deferred(layers.ReLU()(x))])


def inside_of_a_sequential():
    body = sequential()
    return keras.Model(body.inputs, [each.output for each in body.layers])


def sequential_shared_with_outer():
    d = layers.Dense(4, name="d")
    body = keras.Sequential([keras.Input((4,)), d, layers.ReLU()])
    x = keras.Input((4,))
    return keras.Model(x, d(body(d(x))))


def sequential_with_a_loss():
    model = keras.Sequential([keras.Input((4,)), layers.Dense(3)])
    model.add_loss(tf.reduce_mean(model.layers[0].output))
    model.add_metric(tf.reduce_mean(model.layers[0].output), name="m", aggregation="mean")
    return model


class Trained(keras.Model):
    def train_step(self, data):
        return {"loss": tf.constant(1.0)}


class Restack(keras.Sequential):
    def marker(self):
        return 1


class Configured(keras.Model):
    def __init__(self, units=3, **kwargs):
        x = keras.Input((4,), name="x")
        super().__init__(x, layers.Dense(units, name="c")(x), **kwargs)
        self.units = units

    def get_config(self):
        return {"units": self.units, "name": self.name}


def functional_subclass():
    x = keras.Input((4,))
    return Trained(x, layers.Dense(2)(x), name="trained")


def sequential_subclass():
    return Restack([keras.Input((4,)), layers.Dense(2)])


def nested_subclass():
    x = keras.Input((4,))
    return keras.Model(x, functional_subclass()(x))


def own_config():
    model = Configured(5)
    model.get_layer("c").trainable = False
    return model


def own_config_inside():
    x = keras.Input((4,))
    return keras.Model(x, own_config()(x))


MODELS = {
    f.__name__.replace("_", " "): f
    for f in (
        shared_inner, layer_inside_and_outside, outside_before_inside, shared_three_deep, shared_input_layer,
        structures_inside, frozen_parts, frozen_model, frozen_but_for_its_layers, sequential, sequential_by_shape,
        layer_twice, built_sequential, called_sequential, sequential_of_models, sequential_in_functional,
        inside_of_a_sequential, sequential_shared_with_outer, sequential_with_a_loss, functional_subclass,
        sequential_subclass, nested_subclass, own_config, own_config_inside,
    )
}  # fmt: skip


@pytest.mark.parametrize("name", MODELS)
def test_model_is_cloned_faithfully(name):
    assert_faithful(MODELS[name](), clone_model, floats(3, 4))


def test_model_in_time_distributed():
    assert_faithful(time_distributed_model(), clone_model, floats(2, 3, 4))


def test_masks_through_models():
    assert_faithful(masks_through_models(), clone_model, np.array([[1, 2, 0, 3, 0]], "int32"))


def test_a_layer_that_stands_twice_in_a_sequential_that_is_not_built_stands_there_twice():
    twice = layers.Dense(4)
    model = keras.Sequential([twice, layers.ReLU(), twice])
    clone, batch = clone_model(model), np.ones((3, 4), "float32")
    clone(batch), model(batch)
    clone.set_weights(model.get_weights())
    assert np.array_equal(clone(batch), model(batch))


def test_deferred_sequential_stays_deferred():
    model = keras.Sequential([layers.Dense(3), layers.Dense(2)])
    clone = clone_model(model)
    assert not clone.built and [each.name for each in clone.layers] == [each.name for each in model.layers]
    assert clone(floats(2, 4)).shape == (2, 2)


def test_called_sequential_still_takes_other_shapes():
    model = keras.Sequential([layers.Conv1D(2, 1), layers.ReLU()])
    model(floats(2, 5, 3))
    clone = clone_model(model)
    assert clone(floats(1, 7, 3)).shape == (1, 7, 2)


def test_a_layer_whose_calls_are_counted_backwards_is_called_in_the_order_in_which_it_can_be():
    made, layer = layers.Activation("linear")(keras.Input((4,))), layers.Dense(4)
    model = keras.Model(made, layer(layer(made)))
    clone = clone_model(model)
    clone.set_weights(model.get_weights())
    x = floats(2, 4)
    np.testing.assert_array_equal(clone(x), model(x))
