"""What was set on a layer of a user's class after it was made, and options that nobody tells."""

from __future__ import annotations

import numpy as np
import pytest

from clonediff import clone_model
from tests.cloners.generations import KERAS, each_generation
from tests.cloners.oracle import unlike

BATCH = np.ones((2, 4), "float32")


def holding(package, **values):
    """A layer with these attributes, whose methods are given by the same names as in a class."""
    methods = {name: value for name, value in values.items() if callable(value)}
    attributes = {name: value for name, value in values.items() if name not in methods}

    def __init__(self, **kwargs):
        super(kind, self).__init__(**kwargs)
        for name, value in attributes.items():
            setattr(self, name, value)

    kind = type("Holding", (package.layers.Layer,), {"__init__": __init__, **methods})
    return kind(name="mine")


def before_the_first_call(package, name, value, layer, *after):
    """A model of a layer on which this was set, and of layers after it."""
    setattr(layer, name, value)
    x = package.Input((4,))
    y = layer(x)
    for each in after:
        y = each(y)
    return package.Model(x, y)


def doubling(package):
    def build(self, shape):
        self.double = self.size * 2

    layer = holding(package, size=3, double=0, build=build, call=lambda self, x: x * self.double)
    return before_the_first_call(package, "size", 5, layer)


def cutting(package):
    layer = holding(package, keep_last=True, call=lambda self, x: x if self.keep_last else x[:, :1])
    return before_the_first_call(package, "keep_last", False, layer)


def repeating(package):
    join = package.layers.Concatenate()
    layer = holding(package, times=3, call=lambda self, x: join([x] * self.times))
    return before_the_first_call(package, "times", 2, layer, package.layers.Dense(3))


def biased(package):
    def build(self, shape):
        self.kernel = self.add_weight(name="kernel", shape=(shape[-1],))
        if self.bias:
            self.offset = self.add_weight(name="offset", shape=(shape[-1],))

    layer = holding(package, bias=True, build=build, call=lambda self, x: x * self.kernel)
    return before_the_first_call(package, "bias", False, layer)


def counting(package):
    """Its calls count themselves."""

    def call(self, x):
        self.count()
        return x

    def count(self):
        self.calls += 1

    layer = holding(package, calls=0, label="", call=call, count=count)
    return before_the_first_call(package, "label", "mine", layer, layer)


def set_aside(package):
    """What it counts is told by no code of its own."""

    def call(self, x):
        setattr(self, "calls", self.calls + 1)  # noqa: B010 - so that no code stores the attribute
        return x

    return before_the_first_call(package, "label", "mine", holding(package, calls=0, label="", call=call))


def filling_in(package):
    """What was set by its first call is its input's, and was set again since."""

    def build(self, shape):
        self.ready = True
        self.kernel = self.add_weight(name="kernel", shape=(shape[-1],))

    layer = holding(package, ready=False, factor=1.0, build=build, call=lambda self, x: x * self.kernel * self.factor)
    model = before_the_first_call(package, "factor", 2.0, layer)
    layer.factor = 3.0
    return model


def counting_before_a_model_of_a_config(package):
    """It is there before it is called, since a config that cannot be read back tells of it."""

    class Told(package.Model):
        def __init__(self, units=4, **kwargs):
            x = package.Input((4,))
            super().__init__(x, package.layers.Dense(units)(x), **kwargs)
            self.units = units

        def get_config(self):
            return {"name": self.name, "units": self.units}

    class Refusing(package.Model):
        def __init__(self, layer, **kwargs):
            x = package.Input((4,))
            super().__init__(x, layer(Told()(x)), **kwargs)
            self.layer = layer

        def get_config(self):
            return {"name": self.name, "held": package.layers.serialize(self.layer)}

    def call(self, x):
        self.calls += 1
        return x

    x = package.Input((4,))
    return package.Model(x, Refusing(holding(package, calls=0, call=call))(Told()(x)))


def layer_of(model):
    return next(each for each in model._flatten_layers() if each.name == "mine")


def two_of_a_config(package):
    """One is inside of the other: the names of what they give are those of their layers."""

    class Told(package.Model):
        def __init__(self, around=None, **kwargs):
            x = package.Input((4,))
            y = package.layers.Dense(4)(x)
            super().__init__(x, y if around is None else around(y), **kwargs)
            self.around = around

        def get_config(self):
            around = self.around and package.layers.serialize(self.around)
            return {"name": self.name, "around": around}

        @classmethod
        def from_config(cls, config, custom_objects=None):
            around = config.pop("around")
            return cls(around and package.layers.deserialize(around), **config)

    return Told(Told(name="mine"))


MODELS = [
    doubling,
    cutting,
    repeating,
    biased,
    counting,
    set_aside,
    filling_in,
    two_of_a_config,
    counting_before_a_model_of_a_config,
]


@each_generation
@pytest.mark.parametrize("build", MODELS)
def test_what_was_set_on_a_layer_is_there_when_its_clone_is_built_and_called(generation, build):
    model = build(KERAS[generation])
    mine, its = (layer_of(each) for each in (model, clone_model(model)))
    plain = (bool, int, float, str)
    for name in (name for name, value in vars(mine).items() if isinstance(value, plain) and not name.startswith("_")):
        assert getattr(its, name) == getattr(mine, name), name
    assert unlike(model, clone_model, BATCH) == []


@each_generation
def test_what_was_set_on_a_layer_is_there_on_other_inputs(generation):
    model = biased(KERAS[generation])
    clone = clone_model(model, input_tensors=KERAS[generation].Input((7,)))
    assert [tuple(each.shape) for each in clone.weights] == [(7,)]


@pytest.mark.parametrize("generation", ["keras", "tf_keras"])
def test_an_option_that_a_layer_keeps_for_itself_is_not_what_was_set_beside_it(generation):
    package = KERAS[generation]
    layer = package.layers.MultiHeadAttention(num_heads=2, key_dim=2)
    layer.kernel_initializer = lambda shape, dtype=None: None  # it has its own as `_kernel_initializer`
    x = package.Input((3, 4))
    model = package.Model(x, layer(x, x))
    clone = clone_model(model)
    clone.set_weights(model.get_weights())
    batch = np.ones((2, 3, 4), "float32")
    np.testing.assert_array_equal(clone(batch), model(batch))


def test_numbers_of_a_layer_keep_the_floats_that_they_were_made_in() -> None:
    tf_keras = KERAS["tf_keras"]
    tf_keras.backend.set_floatx("float64")
    try:
        layer = tf_keras.layers.ThresholdedReLU(0.5)
    finally:
        tf_keras.backend.set_floatx("float32")
    inputs = tf_keras.Input((3,))
    clone = clone_model(tf_keras.Model(inputs, layer(inputs))).layers[-1]
    assert (clone.theta.dtype, float(clone.theta)) == ("float64", 0.5)


def test_a_layer_that_has_no_config_has_none_in_the_clone() -> None:
    tf_keras = KERAS["tf_keras"]
    inputs = tf_keras.Input((3,))
    layer = tf_keras.layers.Identity(activity_regularizer=tf_keras.regularizers.L2(0.1))
    clone = clone_model(tf_keras.Model(inputs, layer(inputs))).layers[-1]
    for each in (layer, clone):
        with pytest.raises(NotImplementedError, match="non-serializable argument"):
            each.get_config()
    assert float(clone.activity_regularizer.l2) == pytest.approx(0.1)


def test_what_is_set_on_a_sequential_is_in_none_of_the_name_scopes_that_it_was_built_in() -> None:
    keras = KERAS["keras"]
    inner = keras.Sequential([keras.layers.Dense(2)], name="inner")
    model = keras.Sequential([keras.layers.InputLayer((3,)), inner], name="model")
    inner.extra = keras.Sequential([keras.layers.InputLayer((3,)), keras.layers.Dense(4)], name="extra")
    again = {"clone_function": lambda layer: type(layer).from_config(layer.get_config()), "recursive": True}
    clone = clone_model(model, **again).layers[0]
    assert [weight.path for weight in clone.weights] == [weight.path for weight in inner.weights]
    assert [weight.path for weight in clone.extra.weights] == [weight.path for weight in inner.extra.weights]
