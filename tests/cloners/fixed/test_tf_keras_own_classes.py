"""The fixed cloner of `tf_keras` on classes with a constructor of their own, and options that no config tells."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf
import tf_keras as keras
from tf_keras import layers

from harness.inside.cloners.fixed.tf_keras import clone_model

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
    "an-object-that-from_config-reads": lambda: Quantized(layers.Dense(2), Config(4)),
}


@pytest.mark.parametrize("name", FAITHFUL)
def test_what_the_layer_tells_is_found(name):
    model = around(FAITHFUL[name]())
    clone = clone_model(model)
    assert [weight.name for weight in clone.weights] == [weight.name for weight in model.weights]
    clone.set_weights(model.get_weights())
    assert np.array_equal(clone(VECTORS), model(VECTORS))


@pytest.mark.parametrize(
    ("layer", "words"),
    [(Nothing(name="mine"), ("`Nothing`", "gave None")), (Derived(3.0, name="mine"), ("`Derived`", "`factor`"))],
    ids=["nothing", "derived"],
)
def test_what_nobody_tells_is_refused_by_name(layer, words):
    with pytest.raises((ValueError, TypeError)) as failure:
        clone_model(around(layer))
    for word in ("Layer 'mine'", "get_config", *words):
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
