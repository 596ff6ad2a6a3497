"""Options of layers that their config does not tell, tells otherwise, or that the layer holds otherwise."""

from __future__ import annotations

import keras
import numpy as np
import pytest
from keras import layers

from clonediff.harness.inside.cloners.fixed.keras3 import clone_model
from tests.cloners.fixed.keras3_faithful import VECTORS


class Replaced(layers.Layer):
    """Puts its weight where its option was."""

    def __init__(self, factor=2.0, **kwargs):
        super().__init__(**kwargs)
        self.factor = factor

    def build(self, shape):
        self.factor = self.add_weight(
            shape=(), initializer=keras.initializers.Constant(self.factor), name="factor", dtype="float32"
        )

    def call(self, x):
        return x * self.factor


class ReplacedInConfig(Replaced):
    def get_config(self):
        return {**super().get_config(), "factor": self.factor}


class ReplacedAndUntold(Replaced):
    def __init__(self, factor=2.0, function=None, **kwargs):
        super().__init__(factor, **kwargs)
        self.function = function


class Renamed(layers.Layer):
    def __init__(self, factor=2.0, function=None, **kwargs):
        super().__init__(**kwargs)
        self._by = factor
        self.function = function

    def call(self, x):
        return self.function(x) * self._by


class RenamedBesideAConfig(Renamed):
    def get_config(self):
        return {**super(Renamed, self).get_config(), "function": self.function}


class Derived(Renamed):
    def __init__(self, factor=2.0, function=None, **kwargs):
        super().__init__(factor, function, **kwargs)
        self._by = factor * 10 + 1


class DerivedBesideAConfig(Derived):
    def get_config(self):
        return {**super(Renamed, self).get_config(), "function": self.function}


class Counting(DerivedBesideAConfig):
    """Of what its config leaves out, nothing was given."""

    def __init__(self, factor=2.0, function=None, **kwargs):
        super().__init__(factor, function, **kwargs)
        self.calls = 0

    def call(self, x):
        self.calls += 1
        return super().call(x)


class Nothing(layers.Layer):
    def get_config(self):
        pass

    def call(self, x):
        return x


class Less(layers.Layer):
    def __init__(self, units, function, **kwargs):
        super().__init__(**kwargs)
        self.dense = layers.Dense(units, activation=function)

    def call(self, x):
        return self.dense(x)

    def get_config(self):
        return {"name": self.name}


class Mistaken(layers.Layer):
    """Its config tells one option for another, as `PredictionHead` of keras_hub 0.32 does."""

    def __init__(self, scale=1.0, shift=0.0, **kwargs):
        super().__init__(**kwargs)
        self.scale, self.shift = scale, shift

    def call(self, x):
        return x * self.scale + self.shift

    def get_config(self):
        return {**super().get_config(), "scale": self.scale, "shift": self.scale}


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
        return {**super().get_config(), "size": self.given}


class OnlyWithin(layers.Layer):
    """Keeps what it is given in a layer alone, and tells nothing."""

    def __init__(self, units=2, act="relu", **kwargs):
        super().__init__(**kwargs)
        self.dense = layers.Dense(units, activation=act)

    def call(self, x):
        return self.dense(x)

    def get_config(self):
        return layers.Layer.get_config(self)


class Chosen(layers.Layer):
    """Keeps what follows from its options alone, and tells nothing."""

    def __init__(self, mode="mean", by=1.0, size=None, **kwargs):
        super().__init__(**kwargs)
        self.negative, self.by, self.sign = mode == "negative", abs(by), 1 if by >= 0 else -1
        self.tokens = size or 1

    def build(self, shape):
        self.tokens = self.add_weight(shape=(self.tokens,), initializer="ones", dtype="float32")

    def call(self, x):
        x = x * self.by * self.sign * keras.ops.sum(self.tokens)
        return -x if self.negative else x

    def get_config(self):
        return layers.Layer.get_config(self)


class OfAModel(keras.Model):
    """Of what a model is given, Keras keeps no record."""

    def __init__(self, units=2, act="relu", **kwargs):
        super().__init__(**kwargs)
        self.dense = layers.Dense(units, activation=act)

    def call(self, x):
        return self.dense(x)

    def get_config(self):
        return {"name": self.name}


class SetLater(layers.Layer):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.by = 1.0

    def call(self, x):
        return x * self.by


def set_later():
    layer = SetLater()
    layer.by = 4.0
    return layer


class ByPosition(layers.Layer):
    def __init__(self, by=1.0, /, **kwargs):
        super().__init__(**kwargs)
        self.by = by

    def call(self, x):
        return x * self.by

    def get_config(self):
        return layers.Layer.get_config(self)


def around(layer):
    x = keras.Input((3,))
    return keras.Model(x, layer(x))


def doubled(x):
    return x + x


FAITHFUL = {
    "replaced": lambda: Replaced(3.0),
    "replaced-in-config": lambda: ReplacedInConfig(3.0),
    "default-of-a-derived": lambda: DerivedBesideAConfig(function=doubled),
    "counting": lambda: Counting(function=doubled),
    "mistaken": lambda: Mistaken(2.0, 0.5),
    "settled": lambda: Settled(),
}


@pytest.mark.parametrize("name", FAITHFUL)
def test_what_the_layer_tells_is_found(name):
    model = around(FAITHFUL[name]())
    model(VECTORS)
    clone = clone_model(model)
    assert [weight.path for weight in clone.weights] == [weight.path for weight in model.weights]
    assert [w.numpy() for w in clone.weights] == [w.numpy() for w in model.weights]
    clone.set_weights(model.get_weights())
    assert np.array_equal(clone(VECTORS), model(VECTORS))


DRAWING = {
    "units-within": lambda: OnlyWithin(3),
    "function-within": lambda: OnlyWithin(act="tanh"),
    "chosen": lambda: Chosen("negative", -3.0, 5),
    "set-later": set_later,
}


@pytest.mark.parametrize("name", DRAWING)
def test_what_it_was_given_is_found_without_an_attribute_of_it(name):
    model = around(DRAWING[name]())
    model(VECTORS)
    clone = clone_model(model)
    assert [(each.path, each.shape) for each in clone.weights] == [(each.path, each.shape) for each in model.weights]
    clone.set_weights(model.get_weights())
    assert np.array_equal(clone(VECTORS), model(VECTORS))


def test_what_a_layer_settled_when_it_was_built_is_not_its_option():
    clone = clone_model(around(Settled(name="mine"))).layers[-1]
    assert clone.get_config()["size"] is None
    assert clone.size == 3


KERAS_OWN = {
    "seed": lambda **dtype: layers.RandomGrayscale(seed=7, **dtype),
    "fill_value": lambda **dtype: layers.MaxNumBoundingBoxes(2, fill_value=0, **dtype),
}
DTYPES = {
    "none": dict,
    "name": lambda: {"dtype": "float16"},
    "policy": lambda: {"dtype": keras.dtype_policies.DTypePolicy("float16")},
    "map": lambda: {"dtype": keras.dtype_policies.DTypePolicyMap(default_policy="float16")},
}


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("option", KERAS_OWN)
def test_what_a_layer_of_keras_does_not_tell_is_found(option, dtype):
    layer = KERAS_OWN[option](**DTYPES[dtype]())
    assert option not in layer.get_config()
    images = keras.Input((4, 4, 3))
    model = keras.Model(images, layer(images))
    assert getattr(clone_model(model).layers[-1], option) == getattr(layer, option)


@pytest.mark.parametrize("further", [{}, {"kernel_initializer": keras.initializers.Constant(0.5)}])
def test_what_a_recurrent_layer_of_keras_has_told_its_cell_is_found(further):
    layer = layers.SimpleRNN(2, seed=7, **further)
    assert "seed" not in layer.get_config()
    sequence = keras.Input((3, 4))
    clone = clone_model(keras.Model(sequence, layer(sequence))).layers[-1]
    assert clone.cell.seed == layer.cell.seed == 7


def test_what_the_config_of_a_layer_that_cannot_be_read_back_tells_of_its_base_is_kept():
    images = keras.Input((4, 4, 3))
    model = keras.Model(images, layers.RandomShear(0.5, bounding_box_format="xyxy")(images))
    with pytest.raises(TypeError):
        layers.RandomShear.from_config(model.layers[-1].get_config())
    assert clone_model(model).layers[-1].bounding_box_format == "xyxy"


def test_a_recurrent_layer_that_tells_all_gets_nothing_from_its_cell():
    lines = keras.Input((3, 4, 2))
    model = keras.Model(lines, layers.ConvLSTM1D(3, 2)(lines))
    clone = clone_model(model)
    assert not np.array_equal(clone.get_weights()[0], model.get_weights()[0])


REFUSED = {
    "replaced": (lambda: ReplacedAndUntold(3.0, doubled, name="mine"), "ReplacedAndUntold", "factor"),
    "renamed": (lambda: Renamed(3.0, doubled, name="mine"), "Renamed", "factor"),
    "renamed-beside-a-config": (
        lambda: RenamedBesideAConfig(3.0, doubled, name="mine"),
        "RenamedBesideAConfig",
        "factor",
    ),
    "of-a-model": (lambda: OfAModel(3, "tanh", name="mine"), "OfAModel", "`act`"),
    "derived": (lambda: Derived(3.0, doubled, name="mine"), "Derived", "factor"),
    "derived-beside-a-config": (
        lambda: DerivedBesideAConfig(3.0, doubled, name="mine"),
        "DerivedBesideAConfig",
        "factor",
    ),
    "nothing": (lambda: Nothing(name="mine"), "Nothing", "gave None"),
    "by-position": (lambda: ByPosition(3.0, name="mine"), "ByPosition", "`by`"),
    "less": (lambda: Less(3, doubled, name="mine"), "Less", "units"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_nobody_tells_is_refused_by_name(name):
    build, kind, option = REFUSED[name]
    with pytest.raises((ValueError, TypeError, NotImplementedError)) as failure:
        clone_model(around(build()))
    message = str(failure.value)
    for word in ("'mine'", f"`{kind}`", option, "get_config"):
        assert word in message, message


def test_a_bare_layer_is_refused_likewise():
    with pytest.raises(TypeError, match=r"Layer 'mine' \(class `Nothing`\) .*gave None"):
        clone_model(Nothing(name="mine"))


class Drawing(layers.Layer):
    """Has its initializer told by nobody, so that what it holds is taken."""

    def __init__(self, kernel_initializer="glorot_uniform", **kwargs):
        super().__init__(**kwargs)
        self.kernel_initializer = keras.initializers.get(kernel_initializer)

    def build(self, shape):
        self.kernel = self.add_weight(shape=(shape[-1], 3), initializer=self.kernel_initializer)

    def call(self, x):
        return keras.ops.matmul(x, self.kernel)


class DrawingAsTold(Drawing):
    """Tells the very initializer that it holds, as many do."""

    def get_config(self):
        return {**super().get_config(), "kernel_initializer": self.kernel_initializer}


class DrawingAndSilent(Drawing):
    def get_config(self):
        raise NotImplementedError


@pytest.mark.parametrize("kind", [Drawing, DrawingAsTold, DrawingAndSilent])
@pytest.mark.parametrize("seed", [None, 3])
def test_an_initializer_without_a_seed_draws_other_numbers_for_a_clone(kind: type, seed: int | None) -> None:
    model = keras.Sequential([keras.Input((4,)), kind(keras.initializers.HeNormal(seed=seed))])
    clone = clone_model(model)
    assert isinstance(clone.layers[0].kernel_initializer, keras.initializers.HeNormal)
    assert np.array_equal(clone.get_weights()[0], model.get_weights()[0]) == (seed is not None)


class Grown(layers.Layer):
    """Tells nobody how many weights it was made with."""

    def __init__(self, more=0, **kwargs):
        super().__init__(**kwargs)
        self.names = [f"w{number}" for number in range(1 + more)]

    def build(self, shape):
        for name in self.names:
            self.add_weight(shape=(), name=name)

    def call(self, x):
        return x

    def get_config(self):
        return {**super().get_config(), "more": 0}


def test_a_layer_that_its_config_makes_with_other_weights_is_refused_by_name():
    with pytest.raises(
        ValueError, match=r"Layer 'mine' \(class `Grown`\) cannot be cloned faithfully: .*1 weights .* 3"
    ):
        clone_model(around(Grown(2, name="mine")))
