"""What else a clone keeps or has anew, and what cloning leaves as it was."""

from __future__ import annotations

import collections
import functools
import types
import weakref

import keras
import numpy as np
import pytest
import tf_keras
from keras import layers
from keras.src.saving import serialization_lib

from clonediff import clone_model
from tests.cloners.generations import KERAS, each_generation
from tests.cloners.loading import load
from tests.cloners.oracle import unlike_calls, unlike_clone

BATCH = np.ones((2, 3), "float32")
around = load("keras").around


# Configs


@each_generation
def test_a_bare_layer_is_refused_as_one_in_a_model_is(generation):
    nothing = load(generation).options.Nothing(name="mine")
    with pytest.raises(TypeError, match=r"Layer 'mine' \(class `Nothing`\) .*gave None"):
        clone_model(nothing)


# Numbers that are drawn anew


@each_generation
@pytest.mark.parametrize("seed", [None, 3])
@pytest.mark.parametrize("tells", ["nothing", "the initializer", "an error"])
def test_an_initializer_without_a_seed_draws_other_numbers_for_a_clone(generation, seed, tells):
    package = KERAS[generation]
    if (generation, tells) == ("tf_keras", "an error"):
        pytest.skip(reason="only Keras 3 keeps what a layer was given, where its own config fails")

    class Drawing(package.layers.Layer):
        def __init__(self, kernel_initializer="glorot_uniform", **kwargs):
            super().__init__(**kwargs)
            self.kernel_initializer = package.initializers.get(kernel_initializer)

        def build(self, shape):
            self.kernel = self.add_weight(name="kernel", shape=(shape[-1], 3), initializer=self.kernel_initializer)

        def call(self, x):
            return x @ self.kernel

        def get_config(self):
            if tells == "an error":
                raise NotImplementedError
            told = {"kernel_initializer": self.kernel_initializer} if tells == "the initializer" else {}
            return {**super().get_config(), **told}

    initializer = package.initializers.HeNormal(seed=seed)
    model = package.Sequential([package.layers.InputLayer((4,)), Drawing(initializer)])
    clone = clone_model(model)
    assert isinstance(clone.layers[0].kernel_initializer, package.initializers.HeNormal)
    assert np.array_equal(clone.get_weights()[0], model.get_weights()[0]) == (seed is not None)


def test_a_recurrent_layer_that_tells_all_gets_nothing_from_its_cell():
    model = around(layers.ConvLSTM1D(3, 2), (3, 4, 2))
    assert not np.array_equal(clone_model(model).get_weights()[0], model.get_weights()[0])


def test_a_seed_that_was_not_given_is_fresh():
    model = around(layers.Dropout(0.5))
    states = [each.layers[1].seed_generator.state.numpy() for each in (model, clone_model(model))]
    assert not np.array_equal(*states)


def test_a_name_that_a_layer_chose_is_the_layers():
    class Renamed(layers.Layer):
        """Names its weight anew each time that it is made."""

        made = 0

        def build(self, input_shape):
            type(self).made += 1
            self.weight = self.add_weight(shape=(input_shape[-1],), name=f"number_{self.made}")

        def call(self, x):
            return x * self.weight

    model = around(Renamed())
    assert clone_model(model).weights[0].name != model.weights[0].name


@pytest.mark.parametrize("policy", ["mixed_bfloat16", "float64"])
def test_a_model_quantized_inside_of_a_layer_is_cloned_under_another_policy(policy):
    model = around(load("keras").single_layers.Affine(8), (4,))
    model.quantize("int8")
    before = keras.config.dtype_policy()
    keras.config.set_dtype_policy(policy)
    try:
        clone = clone_model(model)
    finally:
        keras.config.set_dtype_policy(before)
    assert unlike_clone(model, clone) + unlike_calls(model, [clone]) == []
    assert clone.output.dtype == "float32"


# Classes of models


@each_generation
def test_attributes_lead_into_the_graph_of_the_clone(generation):
    mine = load(generation).custom_models
    clone = clone_model(mine.Silent(5, lambda x: x + 1, "silent"))
    assert clone.units == 5
    assert clone.pieces["hidden"][0] is clone.hidden
    assert clone.pieces["hidden"][1] is clone.last is clone.get_layer("last")
    assert clone.pieces["step"].__self__ is clone
    features = KERAS[generation].Model(clone.inputs, clone.hidden)
    assert [layer.name for layer in features.layers][1:] == ["first"]


@each_generation
def test_what_was_set_on_a_model_leads_into_the_graph_of_its_clone(generation):
    package = KERAS[generation]
    x = package.Input((3,))
    hidden = package.layers.Dense(4)(x)
    model = package.Model(x, package.layers.Dense(2)(hidden))
    model.hidden, model.label = [hidden], "mine"
    clone = clone_model(model)
    assert clone.label == "mine"
    assert package.Model(clone.inputs, clone.hidden[0]).layers[1] is clone.layers[1]


@each_generation
def test_a_layer_of_a_model_that_is_used_outside_stays_shared(generation):
    clone = clone_model(load(generation).custom_models.a_layer_of_an_own_class_used_outside_before_it())
    inner = next(layer for layer in clone.layers if hasattr(layer, "units") and hasattr(layer, "scale"))
    assert inner.last in clone.layers
    assert len(clone.weights) == 4


def test_a_task_holds_the_clone_of_its_backbone():
    clone = clone_model(load("keras").custom_models.a_task_around_a_backbone())
    assert clone.backbone in clone.layers


@each_generation
def test_clone_function_is_asked_and_the_class_stays(generation):
    mine, dense = load(generation).custom_models.TellingLess(5, 2.0), KERAS[generation].layers.Dense
    clone = clone_model(mine, clone_function=lambda layer: dense(layer.units, use_bias=False))
    assert type(clone) is type(mine)
    assert clone.last is clone.layers[-1]
    assert (len(clone.weights), clone.scale) == (2, 2.0)


class Part:
    """What is held in a slot."""

    __slots__ = ("held",)

    def __init__(self, layer):
        self.held = layer


class Queue(collections.deque):
    """Has attributes, besides being a container."""


HOLDERS = {
    "closure": lambda layer: lambda x: layer(x),
    "deque": lambda layer: collections.deque([layer]),
    "deque with attributes": lambda layer: Queue([layer]),
    "mapping proxy": lambda layer: types.MappingProxyType({"held": layer}),
    "weak reference": weakref.ref,
    "weak values": lambda layer: weakref.WeakValueDictionary({"held": layer}),
    "weak set": lambda layer: weakref.WeakSet([layer]),
    "array": lambda layer: np.array([None, layer], dtype=object),
    "key": lambda layer: {layer: 1},
    "key within": lambda layer: [{"names": {layer: 1}}],
    "slots": Part,
    "namespace": lambda layer: types.SimpleNamespace(held=[layer]),
    "partial": lambda layer: functools.partial(print, layer),
    "cached": lambda layer: functools.lru_cache(lambda: layer),
}


@pytest.mark.parametrize("holder", HOLDERS)
def test_a_model_that_holds_its_layer_in_what_cannot_be_made_again_is_refused(holder):
    mine = load("keras").custom_models.Silent(3, lambda x: x, "mine")
    mine.run = HOLDERS[holder](mine.last)
    with pytest.raises(ValueError, match=r"Model 'mine' \(class `.*Silent`\) .*`run`.*get_config"):
        clone_model(around(mine))


def test_what_is_refused_for_an_argument_says_so():
    class Leading(tf_keras.Model):
        """Leads to a layer of its graph by a function; all that it was given stands in its config."""

        def __init__(self, units=3, **kwargs):
            x = tf_keras.Input((3,), name="x")
            dense = tf_keras.layers.Dense(units, name="dense")
            super().__init__(x, dense(x), **kwargs)
            self.units, self.apply = units, lambda it: dense(it)

        def call(self, inputs, training=None, mask=None):
            return self.apply(inputs)

        def get_config(self):
            return {"name": self.name, "units": self.units}

    assert clone_model(Leading(4)).layers[-1].units == 4
    with pytest.raises(ValueError, match="Clone it without `clone_function`, .* only then its config is used"):
        clone_model(Leading(4), clone_function=lambda layer: type(layer).from_config(layer.get_config()))


class Plain(keras.Model):
    """A model without a graph."""

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


def test_a_model_without_a_graph_is_made_again_from_its_config():
    model = Told(4, lambda x: x + 1)
    model(BATCH)
    model.compile("sgd", "mse")
    clone = clone_model(model)
    assert clone.compiled
    clone.set_weights(model.get_weights())
    assert np.array_equal(clone(BATCH), model(BATCH))
    untold = Plain(4, lambda x: x, name="mine")
    untold(BATCH)
    with pytest.raises(NotImplementedError, match=r"Model 'mine' \(class `.*Plain`\) .*`units`.*get_config"):
        clone_model(untold)


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


def test_a_class_with_a_compile_of_its_own_is_compiled_as_it_was():
    model = Compiled(2)
    model.compile("rmsprop", "mae", second=keras.optimizers.Adam(0.5))
    clone = clone_model(model)
    assert clone.get_compile_config() == model.get_compile_config()
    assert clone.optimizer is not model.optimizer
    assert float(clone.second.learning_rate) == 0.5
    assert clone.second is not model.second


@pytest.mark.parametrize("nested", [False, True])
def test_a_class_that_compiles_itself_has_its_default(nested):
    task = Compiled(2, name="task")
    clone = clone_model(around(task) if nested else task)
    clone = clone.get_layer("task") if nested else clone
    assert clone.get_compile_config() == task.get_compile_config()
    assert isinstance(clone.second, keras.optimizers.SGD)
    assert clone.second is not task.second


def test_a_clone_of_tf_keras_is_not_compiled():
    model = load("tf_keras").arguments.single()
    model.compile("sgd", "mse")
    clone = clone_model(model)
    assert clone.optimizer is None and not clone._is_compiled
    clone.compile("sgd", "mse")
    clone.fit(BATCH, np.ones((2, 2)), verbose=0)


# Sequential models that wait for their input


@each_generation
def test_a_sequential_that_is_not_built_stays_so(generation):
    model = KERAS[generation].Sequential([KERAS[generation].layers.Dense(3), KERAS[generation].layers.Dense(2)])
    clone = clone_model(model)
    assert not clone.built
    assert [each.name for each in clone.layers] == [each.name for each in model.layers]
    assert clone(BATCH).shape == (2, 2)


def test_a_layer_that_stands_twice_in_a_sequential_that_is_not_built_stands_there_twice():
    twice = tf_keras.layers.Dense(4)
    model = tf_keras.Sequential([twice, tf_keras.layers.ReLU(), twice])
    clone, batch = clone_model(model), np.ones((3, 4), "float32")
    clone(batch), model(batch)
    clone.set_weights(model.get_weights())
    assert np.array_equal(clone(batch), model(batch))


def test_a_sequential_that_was_called_still_takes_other_shapes():
    model = tf_keras.Sequential([tf_keras.layers.Conv1D(2, 1), tf_keras.layers.ReLU()])
    model(np.ones((2, 5, 3), "float32"))
    assert clone_model(model)(np.ones((1, 7, 3), "float32")).shape == (1, 7, 2)


# Single layers that were built


SINGLE = {
    "attention": (lambda package: package.layers.MultiHeadAttention(2, 3), 2),
    "one that holds another": (lambda package: load(package.__name__).single_layers.Affine(3), 1),
    "dense": (lambda package: package.layers.Dense(3), 1),
}


@each_generation
@pytest.mark.parametrize("name", SINGLE)
def test_a_layer_that_was_built_is_built_in_its_clone(generation, name):
    make, given = SINGLE[name]
    layer, tensors = make(KERAS[generation]), [np.ones((2, 3, 4), "float32")] * given
    layer(*tensors)
    if name == "attention":
        layer._query_dense.trainable = False
    clone = clone_model(layer)
    for weights in ("weights", "trainable_weights"):
        names = [[getattr(one, "path", one.name) for one in getattr(each, weights)] for each in (clone, layer)]
        assert names[0] == names[1]
    clone.set_weights(layer.get_weights())
    assert np.array_equal(clone(*tensors), layer(*tensors))


def test_the_fixed_cloner_may_be_its_own_clone_function():
    layer = layers.MultiHeadAttention(2, 3, name="attention")
    model = around(lambda x: layer(x, x), (5, 3))
    layer._query_dense.trainable = False
    clone = clone_model(model, clone_function=clone_model)
    assert [weight.path for weight in clone.trainable_weights] == [weight.path for weight in model.trainable_weights]


class Secretive(tf_keras.layers.Layer):
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
    model = load("tf_keras").around(tf_keras.layers.Dense(2))
    model.beside = kind(name="beside")
    assert not clone_model(model).beside.built
    model.beside.build((None, 3))
    with pytest.raises(
        ValueError, match=rf"'beside' \(class `{kind.__name__}`\) was built outside of the graph, and {why}"
    ):
        clone_model(model)


# What cloning leaves as it was


def test_safe_mode_is_left_as_it_is():
    before, seen = serialization_lib.in_safe_mode(), []

    class Looking(layers.Dense):
        @classmethod
        def from_config(cls, config):
            seen.append(serialization_lib.in_safe_mode())
            return super().from_config(config)

    clone_model(around(Looking(2, activation=lambda t: t)))
    assert seen == [before]
    assert serialization_lib.in_safe_mode() == before


def test_a_failure_leaves_nothing_behind():
    class Failing(layers.Layer):
        made = False

        def __init__(self):
            super().__init__()
            if Failing.made:
                raise ValueError
            Failing.made = True

        def get_config(self):
            return {}

        def call(self, x):
            return x

    model = around(Failing())
    scope = dict(keras.saving.get_custom_objects())
    with keras.saving.custom_object_scope({"Mine": Failing}):
        with pytest.raises(TypeError):
            clone_model(model)
        assert keras.saving.get_registered_object("Mine") is Failing
    assert keras.saving.get_custom_objects() == scope


def test_names_are_not_used_up():
    model = around(layers.Dense(2))
    before = int(layers.Dense(1).name.rpartition("_")[2] or 0)
    clone_model(model)
    assert int(layers.Dense(1).name.rpartition("_")[2]) == before + 1


def test_the_outputs_of_a_renamed_layer_keep_their_name():
    dense = layers.Dense(2, name="first")
    model = around(dense)
    dense.name = "second"
    assert clone_model(model).output_names == model.output_names == ["first"]
