"""Clones of `Lambda` layers of every sort: the same live functions, whatever they are."""

from __future__ import annotations

import functools

import keras
import numpy as np
import pytest
from keras import layers, ops

from tests.cloners.fixed.keras3_faithful import SEQUENCES, VECTORS, assert_faithful

FACTOR = 3.0


def scale(x, by=2.0):
    return x * by


def with_module_name(x):
    return x * FACTOR + scale(x)


def with_mask(x, mask=None):
    return x if mask is None else x + ops.cast(ops.expand_dims(mask, -1), x.dtype)


def with_training(x, training=None):
    return x * 2.0 if training else x


def keep_mask(inputs, mask=None):
    return mask


class Scaler:
    def __init__(self, by):
        self.by = by

    def apply(self, x):
        return x * self.by

    def __call__(self, x):
        return x - self.by


def on_vectors(function, **options):
    x = keras.Input((3,))
    return keras.Model(x, layers.Lambda(function, **options)(x))


def closure(by):
    return lambda x: x * by


FUNCTIONS = {
    "python-lambda": lambda x: x**2,
    "closure": closure(5.0),
    "default-argument": lambda x, by=4.0: x * by,
    "named": scale,
    "module-level-name": with_module_name,
    "bound-method": Scaler(2.0).apply,
    "callable-object": Scaler(2.0),
    "partial": functools.partial(scale, by=7.0),
    "training": with_training,
    "keras-function": keras.activations.relu,
    "two-outputs-list": lambda x: [x, x * 2.0],
    "two-outputs-tuple": lambda x: (x, x * 2.0),
    "dictionary": lambda x: {"b": x, "a": x * 2.0},
    "nested": lambda x: {"z": (x, [x * 2.0]), "a": x},
    "same-tensor-twice": lambda x: [x, x],
    "identity": lambda x: x,
    "list-of-one": lambda x: [x],
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions(name):
    assert_faithful(on_vectors(FUNCTIONS[name]), VECTORS)


OPTIONS = {
    "arguments": (scale, {"arguments": {"by": 3.5}}),
    "array-argument": (scale, {"arguments": {"by": np.arange(3.0, dtype="float32")}}),
    "tensor-argument": (scale, {"arguments": {"by": ops.convert_to_tensor([1.0, 2.0, 3.0])}}),
    "tuple-argument": (
        lambda x, axes: ops.transpose(x, axes) if isinstance(axes, tuple) else x,
        {"arguments": {"axes": (0, 1)}},
    ),
    "shape-tuple": (lambda x: x[:, :2], {"output_shape": (2,)}),
    "shape-tuples": (lambda x: [x, x[:, :2]], {"output_shape": [(3,), (2,)]}),
    "shape-function": (lambda x: x[:, :1], {"output_shape": lambda shape: (shape[0], 1)}),
    "mask-function": (scale, {"mask": keep_mask}),
    "mask-lambda": (scale, {"mask": lambda inputs, mask=None: ops.any(inputs > 0, axis=-1)}),
    "mask-array": (scale, {"mask": np.array([True, False, True, False])}),
    "frozen": (scale, {"trainable": False}),
    "half": (scale, {"dtype": "float16"}),
    "mixed": (scale, {"dtype": "mixed_bfloat16"}),
    "named-layer": (scale, {"name": "mine"}),
    "regularized": (scale, {"activity_regularizer": "l2"}),
    "not-autocast": (scale, {"autocast": False}),
}


@pytest.mark.parametrize("name", OPTIONS)
def test_options(name):
    function, options = OPTIONS[name]
    assert_faithful(on_vectors(function, **options), VECTORS)


def test_variable_argument_is_a_weight_of_its_own():
    model = on_vectors(scale, arguments={"by": keras.Variable(2.0, name="by")})
    clone = assert_faithful(model, VECTORS)
    assert len(clone.weights) == 1


def test_seed_generator_argument_is_a_state_of_its_own():
    def noisy(x, seed):
        return x + keras.random.normal((3,), seed=seed)

    x = keras.Input((3,))
    model = keras.Model(
        x, layers.Lambda(noisy, output_shape=(3,), arguments={"seed": keras.random.SeedGenerator(3)})(x)
    )
    assert_faithful(model, VECTORS)


def test_masks_through_several_outputs():
    x = keras.Input((5, 3))
    masked = layers.Masking()(x)
    first, second = layers.Lambda(lambda t: [t, t * 2.0], mask=lambda t, m: [m, None])(masked)
    assert_faithful(keras.Model(x, [layers.LSTM(2)(first), layers.LSTM(2)(second)]), SEQUENCES)


def test_function_that_takes_the_mask():
    x = keras.Input((5, 3))
    masked = layers.Masking()(x)
    assert_faithful(keras.Model(x, layers.Lambda(with_mask)(masked)), SEQUENCES)


@pytest.mark.parametrize("name", ["python-lambda", "closure", "partial", "named", "bound-method"])
def test_inside_a_wrapper(name):
    x = keras.Input((5, 3))
    assert_faithful(keras.Model(x, layers.TimeDistributed(layers.Lambda(FUNCTIONS[name]))(x)), SEQUENCES)


def test_inside_nested_models():
    inner_input = keras.Input((3,))
    inner = keras.Model(inner_input, layers.Lambda(closure(2.0))(layers.Dense(3)(inner_input)), name="inner")
    chain = keras.Sequential([keras.Input((3,)), layers.Lambda(lambda x: x + 1.0), inner], name="chain")
    x = keras.Input((3,))
    assert_faithful(keras.Model(x, chain(inner(x))), VECTORS)


def test_subclass_with_its_own_constructor():
    class Times(layers.Lambda):
        def __init__(self, factor, **kwargs):
            super().__init__(lambda x: x * factor, **kwargs)
            self.factor = factor

        def get_config(self):
            return {"factor": self.factor, "name": self.name, "trainable": self.trainable}

        @classmethod
        def from_config(cls, config):
            return cls(**config)

    x = keras.Input((3,))
    assert_faithful(keras.Model(x, Times(3.0)(x)), VECTORS)


def test_built_from_source_that_is_not_in_a_file():
    names = {"keras": keras}
    exec(  # noqa: S102 - the harness builds its models like this
        "x = keras.Input((3,))\n"
        "y = keras.layers.Dense(2, activation=lambda t: t * 2.0)(x)\n"
        "model = keras.Model(x, keras.layers.Lambda(lambda t: t + 1.0)(y))\n",
        names,
    )
    assert_faithful(names["model"], VECTORS)
