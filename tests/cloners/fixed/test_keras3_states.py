"""What no config tells: what is frozen, what is compiled, flags set by hand, subclasses, saving."""

from __future__ import annotations

import keras
import numpy as np
import pytest
from keras import layers

from clonediff.harness.inside.cloners.fixed.keras3 import clone_model
from tests.cloners.fixed.keras3_faithful import VECTORS, assert_faithful

SEQUENCES = np.random.default_rng(1).normal(size=(2, 5, 3)).astype("float32")


def nested():
    i = keras.Input((3,))
    inner = keras.Model(i, layers.BatchNormalization()(layers.Dense(3)(i)), name="inner")
    chain = keras.Sequential([keras.Input((3,)), layers.Dense(3), layers.Dense(3)], name="chain")
    x = keras.Input((3,))
    return keras.Model(x, layers.Dense(2, name="last")(chain(inner(x))))


def all_frozen(model):
    model.trainable = False


def nested_frozen(model):
    model.get_layer("inner").trainable = False


def inner_layer_frozen(model):
    model.get_layer("inner").layers[1].trainable = False
    model.get_layer("chain").layers[1].trainable = False


def frozen_but_for_one(model):
    model.trainable = False
    model.get_layer("chain").layers[0].trainable = True


def only_the_flag_of_the_model(model):
    model.trainable = False
    for layer in model.layers:
        layer.trainable = True


def one_variable_frozen(model):
    model.get_layer("last").bias.trainable = False


FREEZES = [
    all_frozen,
    nested_frozen,
    inner_layer_frozen,
    frozen_but_for_one,
    only_the_flag_of_the_model,
    one_variable_frozen,
]


@pytest.mark.parametrize("freeze", FREEZES, ids=lambda freeze: freeze.__name__)
def test_frozen(freeze):
    model = nested()
    freeze(model)
    assert_faithful(model, VECTORS)


def test_frozen_inside_wrappers():
    x = keras.Input((5, 3))
    inner = layers.Dense(3)
    inner.trainable = False
    both = layers.Bidirectional(layers.LSTM(2))
    y = both(layers.TimeDistributed(inner)(x))
    both.forward_layer.trainable = False
    assert_faithful(keras.Model(x, y), SEQUENCES)


def test_frozen_layer_shared_with_a_frozen_nested_model():
    shared = layers.Dense(3)
    i = keras.Input((3,))
    inner = keras.Model(i, layers.Dense(3)(shared(i)))
    x = keras.Input((3,))
    model = keras.Model(x, shared(inner(x)))
    inner.trainable = False
    shared.trainable = True
    assert_faithful(model, VECTORS)


def test_support_of_masks_set_by_hand():
    class Plain(layers.Layer):
        def call(self, x):
            return x * 2.0

    plain = Plain()
    plain.supports_masking = True
    x = keras.Input((5, 3))
    assert_faithful(keras.Model(x, layers.LSTM(2)(plain(layers.Masking()(x)))), SEQUENCES)


def loss(y_true, y_pred):
    return keras.ops.mean(y_pred)


class Counter(keras.metrics.MeanMetricWrapper):
    def __init__(self, factor, **kwargs):
        super().__init__(lambda y_true, y_pred: y_pred * factor, name="counter", **kwargs)
        self.factor = factor

    def get_config(self):
        return {"factor": self.factor}


COMPILATIONS = {
    "names": lambda: {"optimizer": "sgd", "loss": "mse", "metrics": ["mae"]},
    "objects": lambda: {
        "optimizer": keras.optimizers.Adam(1e-3, clipnorm=1.0),
        "loss": keras.losses.Huber(0.3),
        "metrics": [keras.metrics.MeanAbsoluteError(name="mine")],
        "weighted_metrics": [],
    },
    "functions": lambda: {"optimizer": "adam", "loss": loss, "metrics": [loss]},
    "lambda": lambda: {"optimizer": "adam", "loss": lambda y_true, y_pred: keras.ops.mean(y_pred)},
    "custom-metric": lambda: {"optimizer": "adam", "loss": "mse", "metrics": [Counter(3.0)]},
    "metric-of-a-lambda": lambda: {
        "loss": "mse",
        "metrics": [keras.metrics.MeanMetricWrapper(lambda y_true, y_pred: y_pred, name="m")],
    },
    "schedule": lambda: {
        "optimizer": keras.optimizers.SGD(keras.optimizers.schedules.ExponentialDecay(0.1, 10, 0.9)),
        "loss": "mse",
    },
    "options": lambda: {"loss": "mse", "run_eagerly": True, "steps_per_execution": 1},
}


@pytest.mark.parametrize("name", COMPILATIONS)
@pytest.mark.parametrize(
    "build",
    [
        pytest.param(
            nested,
            id="functional",
            marks=pytest.mark.slow(reason="compile_alike is the same for both, and this one takes longer to train"),
        ),
        pytest.param(lambda: keras.Sequential([keras.Input((3,)), layers.Dense(2)]), id="sequential"),
    ],
)
def test_compiled(name, build):
    model = build()
    model.compile(**COMPILATIONS[name]())
    clone = assert_faithful(model, VECTORS)
    clone.set_weights(model.get_weights())
    targets = np.zeros((4, 2), "float32")
    losses = [keras.tree.flatten(each.train_on_batch(VECTORS, targets)) for each in (model, clone)]
    assert np.array_equal(*losses)
    assert all(np.array_equal(a, b) for a, b in zip(model.get_weights(), clone.get_weights(), strict=True))
    assert clone.optimizer is not model.optimizer


class Subclass(keras.Model):
    """Constructed like a Functional model."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.note = "mine"


class WithExtra(keras.Model):
    """Adds an argument of its own, and tells it."""

    def __init__(self, *args, extra=1, **kwargs):
        super().__init__(*args, **kwargs)
        self.extra = extra

    def get_config(self):
        return {**super().get_config(), "extra": self.extra}


class SequentialSubclass(keras.Sequential):
    pass


@pytest.mark.parametrize("kind", [Subclass, WithExtra], ids=lambda kind: kind.__name__)
def test_functional_subclass(kind):
    x = keras.Input((3,))
    options = {"extra": 5} if kind is WithExtra else {}
    model = kind(x, layers.Lambda(lambda t: t * 2.0)(x), name="sub", **options)
    clone = assert_faithful(model, VECTORS)
    assert getattr(clone, "extra", None) == getattr(model, "extra", None)


def test_sequential_subclass():
    assert_faithful(SequentialSubclass([keras.Input((3,)), layers.Dense(2)]), VECTORS)


def test_subclass_with_a_constructor_of_its_own():
    class Units(keras.Model):
        def __init__(self, units, **kwargs):
            x = keras.Input((3,))
            super().__init__(x, layers.Dense(units)(x), **kwargs)
            self.units = units

        def get_config(self):
            return {"units": self.units, "name": self.name}

    clone = clone_model(Units(4))
    assert clone.output_shape == (None, 4)


def test_saved_and_loaded(tmp_path):
    model = nested()
    clone = clone_model(model)
    clone.set_weights(model.get_weights())
    clone.save(tmp_path / "clone.keras")
    loaded = keras.models.load_model(tmp_path / "clone.keras")
    assert np.array_equal(loaded(VECTORS), model(VECTORS))


def test_gradients():
    import tensorflow as tf

    model = nested()
    clone = clone_model(model)
    clone.set_weights(model.get_weights())
    found = []
    for each in (model, clone):
        with tf.GradientTape() as tape:
            total = keras.ops.sum(each(VECTORS, training=True) ** 2)
        found.append([np.asarray(g) for g in tape.gradient(total, [w.value for w in each.trainable_weights])])
    assert all(np.array_equal(a, b) for a, b in zip(*found, strict=True))


def test_layer_attached_to_a_model():
    x = keras.Input((3,))
    model = keras.Model(x, layers.Dense(3)(x))
    model.extra = layers.Dense(2)
    model.extra.build((None, 3))
    assert_faithful(model, VECTORS)


@keras.saving.register_keras_serializable("tests")
class Nameless(layers.Layer):
    """Weights that were given no name, one among them that was."""

    def build(self, input_shape):
        self.added = self.add_weight(shape=(input_shape[-1],), initializer="uniform")
        self.named = self.add_weight(shape=(input_shape[-1],), initializer="uniform", name="named")
        self.held = keras.Variable(np.ones(input_shape[-1], "float32"), trainable=False)
        self.built = True

    def call(self, x):
        return (x * self.added + self.named) * self.held

    def compute_output_shape(self, input_shape):
        return input_shape


NAMELESS = {
    "layer": Nameless,
    "nested": lambda: keras.Sequential([keras.Input((5, 3)), Nameless(), Nameless()]),
    "wrapped": lambda: layers.TimeDistributed(Nameless()),
}


@pytest.mark.parametrize("name", NAMELESS)
def test_weights_without_a_name(name):
    x = keras.Input((5, 3))
    model = keras.Model(x, layers.Dense(2)(NAMELESS[name]()(Nameless()(x))))
    clone = assert_faithful(model, SEQUENCES)
    assert [weight.name for weight in clone.weights] == [weight.name for weight in model.weights]
    assert any(weight.name.startswith("variable") for weight in model.weights)


@keras.saving.register_keras_serializable("tests")
class Renamed(layers.Layer):
    """Names its weight anew each time that it is made."""

    made = 0

    def build(self, input_shape):
        type(self).made += 1
        self.weight = self.add_weight(shape=(input_shape[-1],), name=f"number_{self.made}")
        self.built = True

    def call(self, x):
        return x * self.weight


def test_a_name_that_a_layer_chose_is_the_layers():
    x = keras.Input((3,))
    model = keras.Model(x, Renamed()(x))
    assert clone_model(model).weights[0].name != model.weights[0].name


def test_what_a_stateful_layer_carries_over_keeps_its_scope():
    with keras.name_scope("outer"):
        inputs = keras.Input(batch_shape=(2, 5, 3))
        layer = layers.SimpleRNN(1, stateful=True, name="carries")
        model = keras.Model(inputs, layer(inputs))
    (held,), (cloned,) = layer.states, clone_model(model).layers[1].states
    assert held.path == "outer/carries/rnn_state"
    assert cloned is not held
    assert cloned.path == held.path
