"""The fixed cloner of `tf_keras` on layers of classes of one's own: what they hold, tell, are built with, and draw."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf
import tf_keras as keras
from tf_keras import layers

from clonediff.harness.inside.cloners.fixed.tf_keras import clone_model

VECTORS = np.random.default_rng(0).normal(size=(4, 3)).astype("float32")


class Replaced(layers.Layer):
    """Puts its weight where its option was."""

    def __init__(self, factor=2.0, **kwargs):
        super().__init__(**kwargs)
        self.factor = factor

    def build(self, shape):
        self.factor = self.add_weight(
            shape=(), initializer=keras.initializers.Constant(float(self.factor)), name="factor"
        )

    def call(self, x):
        return x * self.factor


class Renamed(layers.Layer):
    def __init__(self, factor=2.0, **kwargs):
        super().__init__(**kwargs)
        self._by = factor

    def call(self, x):
        return x * self._by

    def get_config(self):
        return {"name": self.name}


class Derived(Renamed):
    def __init__(self, factor=2.0, **kwargs):
        super().__init__(factor, **kwargs)
        self._by = factor * 10 + 1


class Mistaken(layers.Layer):
    """Its config tells one option for another."""

    def __init__(self, scale=1.0, shift=0.0, **kwargs):
        super().__init__(**kwargs)
        self.scale, self.shift = scale, shift

    def call(self, x):
        return x * self.scale + self.shift

    def get_config(self):
        return {**super().get_config(), "scale": self.scale, "shift": self.scale}


class Nothing(layers.Layer):
    def get_config(self):
        pass


class Config:
    """An object that a layer describes in its config, and reads back by itself."""

    def __init__(self, bits):
        self.bits = bits

    def get_config(self):
        return {"bits": self.bits}

    @classmethod
    def from_config(cls, config):
        return cls(**config)


class Quantized(layers.Wrapper):
    def __init__(self, layer, quantize_config, **kwargs):
        super().__init__(layer, **kwargs)
        assert isinstance(quantize_config, Config)
        self.quantize_config = quantize_config

    def call(self, x):
        return self.layer(x) * self.quantize_config.bits

    def get_config(self):
        told = {"class_name": "Config", "config": self.quantize_config.get_config()}
        return {**super().get_config(), "quantize_config": told}

    @classmethod
    def from_config(cls, config):
        config = dict(config)
        described = config.pop("quantize_config")
        layer = layers.deserialize(config.pop("layer"))
        return cls(layer=layer, quantize_config=Config.from_config(described["config"]), **config)


class Adopting(layers.Wrapper):
    """Takes the weights of the layer that it is given for its own, if there are any by then."""

    def build(self, input_shape):
        self._trainable_weights.extend(self.layer.trainable_weights)
        super().build(input_shape)

    def call(self, x):
        return self.layer(x)


class Grown(layers.Layer):
    """Tells nobody how many weights it was made with."""

    def __init__(self, more=0, **kwargs):
        super().__init__(**kwargs)
        self.names = [f"w{number}" for number in range(1 + more)]

    def build(self, input_shape):
        for name in self.names:
            self.add_weight(name, shape=())
        super().build(input_shape)

    def call(self, x):
        return x

    def get_config(self):
        return {**super().get_config(), "more": 0}


def around(layer):
    x = keras.Input((3,))
    return keras.Model(x, layer(x))


FAITHFUL = {
    "mistaken": lambda: Mistaken(2.0, 0.5),
    "replaced": lambda: Replaced(3.0),
    "renamed": lambda: Renamed(3.0),
    "default-of-a-derived": Derived,
    "derived": lambda: Derived(3.0),
    "an-object-that-from_config-reads": lambda: Quantized(layers.Dense(2), Config(4)),
}


@pytest.mark.parametrize("name", FAITHFUL)
def test_what_the_layer_tells_is_found(name):
    model = around(FAITHFUL[name]())
    clone = clone_model(model)
    assert [weight.name for weight in clone.weights] == [weight.name for weight in model.weights]
    clone.set_weights(model.get_weights())
    assert np.array_equal(clone(VECTORS), model(VECTORS))


def test_a_config_that_is_none_is_refused_by_name():
    with pytest.raises((ValueError, TypeError)) as failure:
        clone_model(around(Nothing(name="mine")))
    for word in ("Layer 'mine'", "get_config", "`Nothing`", "gave None"):
        assert word in str(failure.value)


@pytest.mark.parametrize("make", [around, lambda layer: keras.Sequential([keras.Input((3,)), layer])])
def test_a_wrapper_has_the_weights_of_what_it_was_given_built(make):
    dense = layers.Dense(2, name="dense")
    dense(VECTORS)
    model = make(Adopting(dense, name="mine"))
    clone = clone_model(model)
    for layer in (model.layers[-1], clone.layers[-1]):
        assert [weight.name for weight in layer._trainable_weights] == ["dense/kernel:0", "dense/bias:0"]
    assert [weight.name for weight in clone.weights] == [weight.name for weight in model.weights]


def test_a_wrapped_layer_without_weights_tells_the_shape_that_it_was_built_for():
    pool = layers.GlobalAveragePooling1D()
    pool(np.ones((1, 4, 3), "float32"))
    x = keras.Input((4, 3))
    model = keras.Model(x, Adopting(pool)(x))
    clone = clone_model(model)
    assert clone.layers[1].layer.get_build_config() == pool.get_build_config()


def test_a_layer_that_its_config_makes_with_other_weights_is_refused_by_name():
    with pytest.raises(
        ValueError, match=r"Layer 'mine' \(class `Grown`\) cannot be cloned faithfully: .*1 weights .* 3"
    ):
        clone_model(around(Grown(2, name="mine")))


class Drawing(layers.Layer):
    """Has its initializer told by nobody, so that what it holds is taken."""

    def __init__(self, kernel_initializer="glorot_uniform", **kwargs):
        super().__init__(**kwargs)
        self.kernel_initializer = keras.initializers.get(kernel_initializer)

    def build(self, shape):
        self.kernel = self.add_weight("kernel", shape=(shape[-1], 3), initializer=self.kernel_initializer)

    def get_config(self):
        return super().get_config()

    def call(self, x):
        return tf.matmul(x, self.kernel)


class DrawingAsTold(Drawing):
    """Tells the very initializer that it holds, as many do."""

    def get_config(self):
        return {**super().get_config(), "kernel_initializer": self.kernel_initializer}


@pytest.mark.parametrize("kind", [Drawing, DrawingAsTold])
@pytest.mark.parametrize("seed", [None, 3])
def test_an_initializer_without_a_seed_draws_other_numbers_for_a_clone(kind, seed):
    model = keras.Sequential([keras.Input((4,)), kind(keras.initializers.HeNormal(seed=seed))])
    clone = clone_model(model)
    assert isinstance(clone.layers[0].kernel_initializer, keras.initializers.HeNormal)
    assert np.array_equal(clone.get_weights()[0], model.get_weights()[0]) == (seed is not None)


class Secretive(layers.Layer):
    """Is built without a word about its shape."""

    def build(self, shape):
        self.kernel = self.add_weight(name="kernel", shape=(shape[-1],))
        self.built = True


class OnlyOnce(Secretive):
    """Is built by one call of `build` for all layers of the class."""

    ready = False

    def build(self, shape):
        if OnlyOnce.ready:
            raise RuntimeError("built already")
        OnlyOnce.ready = True
        self._build_input_shape = shape
        super().build(shape)


@pytest.mark.parametrize(
    ("kind", "why"),
    [
        (Secretive, r"neither it nor its `input_spec` tells for which shape"),
        (OnlyOnce, r"building its clone for \(None, 3\) raises"),
    ],
)
def test_a_layer_that_was_built_and_cannot_be_built_again_is_refused(kind, why):
    inputs = keras.Input((3,))
    model = keras.Model(inputs, layers.Dense(2)(inputs))
    model.beside = kind(name="beside")
    assert not clone_model(model).beside.built
    model.beside.build((None, 3))
    with pytest.raises(
        ValueError, match=rf"'beside' \(class `{kind.__name__}`\) was built outside of the graph, and {why}"
    ):
        clone_model(model)


class Holder(layers.Layer):
    def __init__(self, units, **kwargs):
        super().__init__(**kwargs)
        self.units, self.dense = units, layers.Dense(units)

    def call(self, x):
        return self.dense(x)

    def get_config(self):
        return {**super().get_config(), "units": self.units}


@pytest.mark.parametrize(
    ("layer", "given"),
    [
        pytest.param(layers.MultiHeadAttention(2, 3), 2, id="attention"),
        pytest.param(Holder(3), 1, id="holder"),
        pytest.param(layers.Dense(3), 1, id="dense"),
    ],
)
def test_a_layer_that_was_built_is_built_in_its_clone(layer, given):
    tensors = [np.ones((2, 3, 4), "float32")] * given
    layer(*tensors)
    clone = clone_model(layer)
    assert [weight.name for weight in clone.weights] == [weight.name for weight in layer.weights]
    clone.set_weights(layer.get_weights())
    assert np.array_equal(clone(*tensors), layer(*tensors))
