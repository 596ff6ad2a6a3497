"""What a clone copies, what it shares with the original, and what cloning does not change."""

from __future__ import annotations

import collections
import functools
import importlib.util
import pickle
import subprocess
import sys
import weakref

import keras
import numpy as np
import pytest
import tensorflow as tf
from keras import layers

from clonediff import assert_clones_faithfully, clone_model
from tests.fixed.generations import KERAS, for_generations, load

BATCH = np.ones((2, 3), "float32")
model_with = load("keras").model_with


@for_generations
@pytest.mark.parametrize("seed", [None, 3])
def test_initial_weights_differ_unless_there_is_a_seed(generation, seed):
    package = KERAS[generation]
    dense = package.layers.Dense(3, kernel_initializer=package.initializers.HeNormal(seed=seed))
    model = package.Sequential([package.Input((3,)), dense, package.layers.Dropout(0.5, seed=seed)])
    clone = clone_model(model)
    assert np.array_equal(clone.get_weights()[0], model.get_weights()[0]) == (seed is not None)
    if generation == "keras":
        states = [net.layers[1].seed_generator.state.numpy() for net in (model, clone)]
        assert np.array_equal(*states) == (seed is not None)


def test_a_cloned_seed_generator_has_the_state_of_the_original():
    uniform = keras.initializers.RandomUniform(seed=keras.random.SeedGenerator(3))
    model = model_with(lambda x: layers.GroupQueryAttention(2, 2, 1, kernel_initializer=uniform)(x, x), (2, 3))
    states = [
        [layer.kernel_initializer.seed.state.numpy().tolist() for layer in (net.layers[1]._query_dense, net.layers[1])]
        for net in (model, clone_model(model))
    ]
    assert states[0] == states[1] == [[3, 1], [3, 0]]


class Part:
    __slots__ = ("layer",)

    def __init__(self, layer):
        self.layer = layer


class Queue(collections.deque):
    """A container that also has attributes."""


HOLDERS = {
    "closure": (lambda layer: lambda: layer, lambda holder: holder()),
    "deque": (lambda layer: Queue([layer]), lambda holder: holder[0]),
    "weak reference": (weakref.ref, lambda holder: holder()),
    "weak dictionary": (lambda layer: weakref.WeakValueDictionary({"a": layer}), lambda holder: holder["a"]),
    "weak set": (lambda layer: weakref.WeakSet([layer]), lambda holder: next(iter(holder))),
    "array": (lambda layer: np.array([None, layer], dtype=object), lambda holder: holder[1]),
    "key": (lambda layer: [{"names": {layer: 1}}], lambda holder: next(iter(holder[0]["names"]))),
    "tensor": (lambda layer: layer.output, lambda holder: holder._keras_history[0]),
    "method": (lambda layer: layer.get_config, lambda holder: holder.__self__),
    "slots": (Part, lambda holder: holder.layer),
    "functions": (  # the second function refers to an object of the model only because the first one does
        lambda layer: (lambda part: (lambda both=[layer, part]: both, lambda: part))(Part(1)),
        lambda holder: holder[0]()[0] if holder[0]()[1] is holder[1]() else "another part",
    ),
    "partial": (lambda layer: functools.partial(len, [layer]), lambda holder: holder.args[0][0]),
}


@for_generations
@pytest.mark.parametrize("name", HOLDERS)
def test_the_copy_of_an_object_that_refers_to_a_layer_refers_to_the_clone(generation, name):
    holder, layer_of = HOLDERS[name]
    model = load(generation).single_layers.ModelWithoutConfig(3, lambda x: x, "mine")
    model.run = holder(model.last)
    clone = clone_model(model)
    assert (layer_of(clone.run), layer_of(model.run)) == (clone.last, model.last)
    assert_clones_faithfully(model, clone=lambda _: clone, costly=False)


@for_generations
def test_restoring_a_checkpoint_into_a_clone_keeps_the_original(generation, tmp_path):
    model = load(generation).graphs.nested()
    path = tf.train.Checkpoint(model).write(str(tmp_path / "checkpoint"))
    values, clone = model.get_weights(), clone_model(model)
    other = [value + 1.0 for value in values]
    model.set_weights(other)
    tf.train.Checkpoint(clone).read(path).assert_consumed()
    assert all(np.array_equal(*pair) for pair in zip(clone.get_weights(), values, strict=True))
    assert all(np.array_equal(*pair) for pair in zip(model.get_weights(), other, strict=True))


@for_generations
def test_a_clone_has_no_compiled_functions_history_or_dropout_masks(generation):
    package = KERAS[generation]
    x = package.Input((4, 3))
    cell = package.layers.LSTMCell(2, dropout=0.5, recurrent_dropout=0.5)
    model = package.Model(x, package.layers.RNN(cell, activity_regularizer="l2")(x))
    model.compile("adam", "mse")
    batch, targets = np.ones((2, 4, 3), "float32"), np.ones((2, 2), "float32")
    model.fit(batch, targets, verbose=0)
    model.evaluate(batch, targets, verbose=0)
    model.predict(batch, verbose=0)
    cell(batch[:, 0], [targets] * 2, training=True)
    clone = clone_model(model)
    for name in ("train_function", "test_function", "predict_function", "history"):
        assert getattr(model, name) is not None and getattr(clone, name, None) is None
    for name in ("_dropout_mask", "_recurrent_dropout_mask"):
        assert getattr(clone.layers[1].cell, name, None) is None
    assert int(clone.optimizer.iterations) == 0


@for_generations
@pytest.mark.parametrize("built", [False, True])
def test_a_subclassed_model_is_cloned(generation, built):
    package = KERAS[generation]

    class Scaled(package.Model):
        """A model without a graph that cannot be created from a config."""

        def __init__(self, function):
            super().__init__()
            self.first, self.second, self.function = package.layers.Dense(4), package.layers.Dense(2), function

        def call(self, x):
            return self.second(self.function(self.first(x)))

    model = Scaled(lambda x: x * 2.0)
    if built:
        model(BATCH)
    model.compile("sgd", "mse")
    clone = clone_model(model)
    assert (type(clone), clone.built) == (Scaled, model.built)
    assert not np.array_equal(clone(BATCH), model(BATCH))
    clone.set_weights(model.get_weights())
    assert np.array_equal(clone(BATCH), model(BATCH))
    clone.fit(BATCH, np.zeros((2, 2), "float32"), verbose=0)


@for_generations
def test_the_clone_of_an_unbuilt_sequential_is_not_built(generation):
    package = KERAS[generation]
    twice = [package.layers.Dense(3)] * (2 if generation == "tf_keras" else 1)
    model = package.Sequential([*twice, package.layers.Dense(2)])
    clone = clone_model(model)
    assert not clone.built
    assert [layer.name for layer in clone.layers] == [layer.name for layer in model.layers]
    clone(BATCH), model(BATCH)
    clone.set_weights(model.get_weights())
    assert np.array_equal(clone(BATCH), model(BATCH))


@for_generations
def test_the_clone_of_a_built_layer_is_built(generation):
    layer, batch = KERAS[generation].layers.MultiHeadAttention(2, 3), np.ones((2, 3, 4), "float32")
    layer(batch, batch)
    layer._query_dense.trainable = False
    clone = clone_model(layer)
    for weights in ("weights", "trainable_weights"):
        names = [[getattr(w, "path", w.name) for w in getattr(owner, weights)] for owner in (clone, layer)]
        assert names[0] == names[1]
    clone.set_weights(layer.get_weights())
    assert np.array_equal(clone(batch, batch), layer(batch, batch))


@pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="torch is not installed")
def test_a_torch_module_has_the_weights_of_the_clone():
    script = """
import os
os.environ["KERAS_BACKEND"] = "torch"
import keras, torch
from clonediff import clone_model
model = keras.Sequential([keras.layers.TorchModuleWrapper(torch.nn.Linear(3, 2))])
layer = clone_model(model).layers[0]
assert [id(weight.value) for weight in layer.weights] == [id(parameter) for parameter in layer.module.parameters()]
"""
    subprocess.run([sys.executable, "-c", script], check=True)


CONVERSIONS = {
    "a .keras file": lambda package, model, folder: save_and_load(package, model, folder / "model.keras"),
    "a .h5 file": lambda package, model, folder: save_and_load(package, model, folder / "model.h5"),
    "pickle": lambda package, model, folder: pickle.loads(pickle.dumps(model)),
    "quantize": lambda package, model, folder: model.quantize("int8") or model,
}


def save_and_load(package, model, path):
    model.save(path)
    return package.models.load_model(path, compile=False)


@for_generations
@pytest.mark.parametrize(
    "name", ["a_sequential_that_is_built_by_a_call", "parts_of_nested_models_frozen", "a_custom_class"]
)
@pytest.mark.parametrize("conversion", CONVERSIONS)
def test_a_clone_can_be_saved_pickled_and_quantized_like_the_original(generation, name, conversion, tmp_path):
    model = load(generation).MODELS[name].build()

    def convert(net):
        try:
            return CONVERSIONS[conversion](KERAS[generation], net, tmp_path)
        except Exception as error:
            return type(error)

    clone = clone_model(model)
    expected, found = convert(model), convert(clone)
    if isinstance(expected, type):
        assert found is expected
    else:
        assert_clones_faithfully(expected, clone=lambda _: found, costly=False)


@pytest.mark.parametrize("policy", ["mixed_bfloat16", "float64"])
def test_cloning_does_not_depend_on_settings_and_changes_none(policy):
    model = model_with(load("keras").single_layers.Affine(8), (4,))
    model.quantize("int8")
    policy_before, scope = keras.config.dtype_policy(), dict(keras.saving.get_custom_objects())
    keras.config.set_dtype_policy(policy)
    try:
        clone = clone_model(model)
        assert keras.config.dtype_policy().name == policy
    finally:
        keras.config.set_dtype_policy(policy_before)
    assert_clones_faithfully(model, clone=lambda _: clone, costly=False)
    assert keras.saving.get_custom_objects() == scope
    first, _, second = layers.Dense(1), clone_model(model_with(layers.Dense(2, name="mine"))), layers.Dense(1)
    assert int(second.name.rpartition("_")[2]) == int(first.name.rpartition("_")[2] or 0) + 1, "a name is used up"


@for_generations
def test_a_tensorflow_generator_is_copied_with_its_state(generation):
    layer = KERAS[generation].layers.Dense(2)
    layer.numbers = tf.random.Generator.from_seed(3)
    clone = clone_model(load(generation).model_with(layer)).layers[-1]
    drawn = [owner.numbers.normal((2,)).numpy() for owner in (layer, clone)]
    assert np.array_equal(*drawn)


@for_generations
def test_a_copied_loss_keeps_the_weights_of_its_network(generation):
    package = KERAS[generation]

    class FeatureLoss(package.losses.Loss):
        def __init__(self):
            super().__init__()
            self.network = package.Sequential([package.Input((2,)), package.layers.Dense(2)])

        def call(self, y_true, y_pred):
            return tf.reduce_mean(tf.square(self.network(y_true) - self.network(y_pred)), -1)

    class ConstantRate(package.optimizers.schedules.LearningRateSchedule):
        def __call__(self, step):
            return 0.5

        def get_config(self):
            return {}

    model, loss = load(generation).arguments.dense_model(), FeatureLoss()
    model.compile(package.optimizers.SGD(ConstantRate()), loss)
    model.train_on_batch(BATCH, np.zeros((2, 2), "float32"))
    clone = clone_model(model)
    clone.train_on_batch(BATCH, np.zeros((2, 2), "float32"))
    assert clone.loss.network is not loss.network
    assert np.array_equal(clone.loss.network.get_weights()[0], loss.network.get_weights()[0])
    assert clone.optimizer._learning_rate is not model.optimizer._learning_rate


@for_generations
def test_a_variable_given_to_a_metric_keeps_its_value(generation):
    package = KERAS[generation]

    class Weighted(package.metrics.Mean):
        def __init__(self, by):
            super().__init__()
            self.by = by

        def get_config(self):
            return {**super().get_config(), "by": self.by}

    metric = Weighted(package.Variable(2.0) if generation == "keras" else tf.Variable(2.0))
    metric.total.assign(3.0)
    model = load(generation).arguments.dense_model()
    model.compile("sgd", "mse", metrics=[metric])
    clone = clone_model(model)
    (copied,) = (clone._compile_metrics if generation == "keras" else clone.compiled_metrics)._user_metrics
    assert (copied.by is metric.by, float(copied.by), float(copied.total)) == (False, 2.0, 0.0)


@for_generations
def test_a_weight_that_cannot_be_rebuilt_keeps_its_value(generation):
    models = load(generation)
    model = models.model_with(models.single_layers.WithoutConfig(lambda x: x * 2.0, early=True, name="mine"))
    with pytest.warns(UserWarning, match=r"(?s)offset.*mine.*keeps its value"):
        clone = clone_model(model)
    assert np.array_equal(clone.get_weights()[0], model.get_weights()[0])
    assert clone.weights[0] is not model.weights[0]


def test_a_variable_given_to_a_layer_keeps_its_value():
    layer = load("keras").of_keras.VariableIncrement(keras.Variable(1.0))
    copied = clone_model(model_with(layer)).layers[-1].variable
    assert (copied is layer.variable, float(copied)) == (False, 2.0)
