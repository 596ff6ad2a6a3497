"""What a clone has for itself, what it shares, and what cloning leaves as it was."""

from __future__ import annotations

import keras
import numpy as np
import pytest
import tensorflow as tf
import tf_keras
from keras import layers
from keras.src.saving import serialization_lib

from clonediff import clone_model
from tests.fixed.generations import KERAS, for_generations, load
from tests.fixed.oracle import footprint, unlike_clone

BATCH = np.ones((2, 3), "float32")
around = load("keras").around


# Values


@for_generations
@pytest.mark.parametrize("seed", [None, 3])
def test_an_initializer_without_a_seed_draws_other_numbers_for_a_clone(generation, seed):
    package = KERAS[generation]

    class Drawing(package.layers.Layer):
        def __init__(self, kernel_initializer="glorot_uniform", **kwargs):
            super().__init__(**kwargs)
            self.kernel_initializer = package.initializers.get(kernel_initializer)

        def build(self, shape):
            self.kernel = self.add_weight(name="kernel", shape=(shape[-1], 3), initializer=self.kernel_initializer)

        def call(self, x):
            return x @ self.kernel

        def get_config(self):
            return package.layers.Layer.get_config(self)

    initializer = package.initializers.HeNormal(seed=seed)
    model = load(generation).around(Drawing(initializer))
    clone = clone_model(model)
    assert type(clone.layers[1].kernel_initializer) is type(initializer)
    assert np.array_equal(clone.get_weights()[0], model.get_weights()[0]) == (seed is not None)


def test_a_seed_that_was_not_given_is_another_in_the_clone():
    model = around(layers.Dropout(0.5))
    states = [one.layers[1].seed_generator.state.numpy() for one in (model, clone_model(model))]
    assert not np.array_equal(*states)


def test_gradients_are_the_same():
    model = load("keras").graphs.nested()
    clone, gradients = clone_model(model, weights=True), []
    for one in (model, clone):
        with tf.GradientTape() as tape:
            total = keras.ops.sum(one(BATCH, training=True) ** 2)
        variables = [weight.value for weight in one.trainable_weights]
        gradients.append([np.asarray(gradient) for gradient in tape.gradient(total, variables)])
    assert all(np.array_equal(*pair) for pair in zip(*gradients, strict=True))


# Objects


@for_generations
def test_attributes_lead_into_the_graph_of_the_clone(generation):
    clone = clone_model(load(generation).single_layers.Silent(5, lambda x: x + 1, "silent"))
    assert clone.units == 5
    assert clone.pieces["hidden"][0] is clone.hidden
    assert clone.pieces["hidden"][1] is clone.last is clone.get_layer("last")
    assert clone.pieces["step"].__self__ is clone
    features = KERAS[generation].Model(clone.inputs, clone.hidden)
    assert [layer.name for layer in features.layers][1:] == ["first"]


@for_generations
def test_what_was_set_on_a_model_leads_into_its_clone(generation):
    package = KERAS[generation]
    x = package.Input((3,))
    hidden = package.layers.Dense(4)(x)
    model = package.Model(x, package.layers.Dense(2)(hidden))
    model.hidden, model.label = [hidden], "mine"
    clone = clone_model(model)
    assert clone.label == "mine"
    assert package.Model(clone.inputs, clone.hidden[0]).layers[1] is clone.layers[1]


class Weighing:
    """A regularizer of a user's own, with a list in it, which can change."""

    def __init__(self, by=(1.0,)):
        self.by = list(by)

    def __call__(self, x):
        return sum(self.by)

    def get_config(self):
        return {"by": self.by}

    @classmethod
    def from_config(cls, config):
        return cls(**config)


@for_generations
def test_an_object_that_layers_share_is_one_in_the_clone(generation):
    shared, package = Weighing(), KERAS[generation]
    x = inputs = package.Input((3,))
    for name, kernel, bias in (("one", shared, shared), ("two", shared, None), ("three", Weighing(), None)):
        x = package.layers.Dense(3, kernel_regularizer=kernel, bias_regularizer=bias, name=name)(x)
    clone = clone_model(package.Model(inputs, x))
    one, two, three = (clone.get_layer(name) for name in ("one", "two", "three"))
    assert one.kernel_regularizer is one.bias_regularizer is two.kernel_regularizer
    assert three.kernel_regularizer is not one.kernel_regularizer
    assert one.kernel_regularizer is not shared
    one.kernel_regularizer.by.append(1.0)
    assert sorted(map(float, clone.losses)) == [1.0, 2.0, 2.0, 2.0], "the clone's weights have the clone's regularizer"


@for_generations
def test_a_lambda_has_arguments_of_its_own(generation):
    package = KERAS[generation]
    arguments = {"one": [1], "other": {"two": [2, {"three": 3}]}}
    layer = package.layers.Lambda(lambda x, one, other: x, arguments=arguments)
    clone = clone_model(load(generation).around(layer)).layers[1]
    clone.arguments["other"]["two"][1]["three"] = 4
    clone.arguments["one"].append(4)
    assert layer.arguments == {"one": [1], "other": {"two": [2, {"three": 3}]}}


@for_generations
def test_a_clone_has_arrays_of_its_own(generation):
    package, array = KERAS[generation], np.array([1.0, 2.0, 3.0])
    layer = package.layers.Normalization(mean=array, variance=array)
    before, after = vars(layer)["input_mean"], vars(clone_model(load(generation).around(layer)).layers[1])["input_mean"]
    assert type(after) is type(before) and after is not before
    assert np.array_equal(after, before)


def test_lists_in_operations_are_the_clones_own():
    model = around(lambda x: keras.ops.sum(x, axis=[1]))
    vars(clone_model(model).operations[1])["axis"].append(9)
    assert vars(model.operations[1])["axis"] == [1]


# Compiled models


@for_generations
def test_a_compiled_model_is_trained_as_its_clone_is(generation):
    package = KERAS[generation]
    model = load(generation).graphs.nested()
    model.compile("adam", "mse", metrics=["mae"])
    clone = clone_model(model, weights=True)
    if generation == "tf_keras":
        clone.compile("adam", "mse", metrics=["mae"])
    losses = [package.utils.set_random_seed(1) or one.train_on_batch(BATCH, BATCH[:, :2]) for one in (model, clone)]
    assert np.array_equal(*losses)
    assert all(np.array_equal(*pair) for pair in zip(model.get_weights(), clone.get_weights(), strict=True))
    assert clone.optimizer is not model.optimizer


class Compiled(keras.Model):
    """Has a default for what it is compiled with, and an optimizer more."""

    def __init__(self, units, **kwargs):
        inputs = keras.Input((3,))
        super().__init__(inputs, layers.Dense(units)(inputs), **kwargs)
        self.units = units
        self.compile()

    def compile(self, optimizer="adam", loss="mse", *, second="sgd", **kwargs):
        super().compile(optimizer, loss, **kwargs)
        self.second = keras.optimizers.get(second)

    def get_config(self):
        return {"name": self.name, "units": self.units}


@pytest.mark.parametrize("nested", [False, True])
def test_a_class_with_a_compile_of_its_own_is_compiled_as_it_was(nested):
    task = Compiled(2, name="task")
    if not nested:
        task.compile("rmsprop", "mae", second=keras.optimizers.Adam(0.5))
    clone = clone_model(around(task) if nested else task)
    clone = clone.get_layer("task") if nested else clone
    assert clone.get_compile_config() == task.get_compile_config()
    assert clone.optimizer is not task.optimizer
    assert (type(clone.second), clone.second is task.second) == (type(task.second), False)


# Layers, and Sequentials that wait for their input


@for_generations
def test_a_sequential_that_is_not_built_stays_so(generation):
    package = KERAS[generation]
    twice = [package.layers.Dense(3)] * (2 if generation == "tf_keras" else 1)
    model = package.Sequential([*twice, package.layers.Dense(2)])
    clone = clone_model(model)
    assert not clone.built
    assert [layer.name for layer in clone.layers] == [layer.name for layer in model.layers]
    clone(BATCH), model(BATCH)
    clone.set_weights(model.get_weights())
    assert np.array_equal(clone(BATCH), model(BATCH))


def test_a_sequential_that_was_called_still_takes_other_shapes():
    model = tf_keras.Sequential([tf_keras.layers.Conv1D(2, 1), tf_keras.layers.ReLU()])
    model(np.ones((2, 5, 3), "float32"))
    assert clone_model(model)(np.ones((1, 7, 3), "float32")).shape == (1, 7, 2)


@for_generations
@pytest.mark.parametrize("name", ["attention", "affine"])
def test_a_layer_that_was_built_is_built_in_its_clone(generation, name):
    attends = name == "attention"
    layer = KERAS[generation].layers.MultiHeadAttention(2, 3) if attends else load(generation).single_layers.Affine(3)
    inputs = [np.ones((2, 3, 4), "float32")] * (2 if attends else 1)
    layer(*inputs)
    (layer._query_dense if attends else layer.inner).trainable = False
    clone = clone_model(layer)
    for weights in ("weights", "trainable_weights"):
        names = [[getattr(w, "path", w.name) for w in getattr(one, weights)] for one in (clone, layer)]
        assert names[0] == names[1]
    clone.set_weights(layer.get_weights())
    assert np.array_equal(clone(*inputs), layer(*inputs))


# Files


@for_generations
@pytest.mark.parametrize(
    "name", ["a_sequential_that_is_built_by_a_call", "a layer shared with nested models", "an own class", "nested"]
)
@pytest.mark.parametrize("suffix", [".keras", ".h5"])
def test_a_clone_is_saved_and_loaded_where_the_original_is(generation, name, suffix, tmp_path):
    models, builder = load(generation), name.replace(" ", "_")
    model = models.graphs.nested() if name == "nested" else (models.MODELS.get(name) or models.MODELS[builder]).build()
    one, other = (
        saved_and_loaded(KERAS[generation], it, tmp_path / f"model{suffix}") for it in (model, clone_model(model))
    )
    assert other is one if isinstance(one, type) else unlike_clone(one, other) == []


def saved_and_loaded(package, model, path):
    try:
        model.save(path)
        return package.models.load_model(path, compile=False)
    except Exception as error:
        return type(error)


# What cloning leaves as it was


def test_no_setting_of_keras_is_changed():
    safe, dtype = serialization_lib.in_safe_mode(), keras.config.dtype_policy()
    before, scope = int(layers.Dense(1).name.rpartition("_")[2] or 0), dict(keras.saving.get_custom_objects())
    clone_model(around(layers.Dense(2, name="mine")))
    assert int(layers.Dense(1).name.rpartition("_")[2]) == before + 1, "a clone uses up no names"
    assert (serialization_lib.in_safe_mode(), keras.config.dtype_policy()) == (safe, dtype)
    assert keras.saving.get_custom_objects() == scope


@for_generations
def test_the_original_is_as_it_was_where_cloning_fails(generation):
    package, models = KERAS[generation], load(generation)
    model = models.arguments.through(models.single_layers.Affine(3))

    def failing(layer):
        if layer.name == "last":
            raise KeyError("mine")
        return layer.__class__.from_config(layer.get_config())

    before, objects = footprint(model), dict(package.utils.get_custom_objects())
    with pytest.raises(KeyError, match="mine"):
        clone_model(model, clone_function=failing)
    assert footprint(model) == before
    assert package.utils.get_custom_objects() == objects


@pytest.mark.parametrize("policy", ["mixed_bfloat16", "float64"])
def test_a_model_is_cloned_as_it_is_under_another_policy(policy):
    model = around(load("keras").single_layers.Around(layers.Dense(8)), (4,))
    model.quantize("int8")
    before = keras.config.dtype_policy()
    keras.config.set_dtype_policy(policy)
    try:
        clone = clone_model(model)
    finally:
        keras.config.set_dtype_policy(before)
    assert unlike_clone(model, clone) == []
    assert clone.output.dtype == "float32"


def test_the_outputs_of_a_renamed_layer_keep_their_name():
    dense = layers.Dense(2, name="first")
    model = around(dense)
    dense.name = "second"
    assert clone_model(model).output_names == model.output_names == ["first"]
