"""What the fixed cloner makes where a config leaves something open, and what it says where it makes nothing."""

from __future__ import annotations

import enum

import keras
import numpy as np
import pytest
from keras import layers

from clonediff import clone_model
from tests.cloners.generations import KERAS, each_generation
from tests.cloners.loading import load
from tests.cloners.oracle import unlike


def around(package, layer, shape=(4,)):
    x = package.Input(shape)
    return package.Model(x, layer(x))


class Kind(enum.Enum):
    """No plain data, so that Keras does not record it."""

    tanh = 1


@each_generation
def test_an_option_that_went_into_a_private_layer_is_missed(generation):
    package = KERAS[generation]

    class Projecting(package.layers.Layer):
        def __init__(self, kind=None, **kwargs):
            super().__init__(**kwargs)
            self._dense = package.layers.Dense(3, activation=kind and kind.name)

        def call(self, x):
            return self._dense(x)

        def get_config(self):
            return package.layers.Layer.get_config(self)

    assert unlike(around(package, Projecting()), clone_model) == []
    with pytest.raises(ValueError, match=r"'mine' .*leaves out options .*`kind`.*differs in `_dense`"):
        clone_model(around(package, Projecting(Kind.tanh, name="mine")))


@each_generation
def test_another_number_of_weights_is_refused_on_other_inputs_too(generation):
    package, mine = KERAS[generation], load(generation).options
    model = around(package, mine.Grown(2, name="mine"))
    with pytest.raises(ValueError, match="'mine' .*1 weights where it has 3"):
        clone_model(model, input_tensors=package.Input((4,)))


class Coded(layers.Layer):
    """Has no config, because of its array, and holds what a word stands for."""

    def __init__(self, table, scale="large", big=False, **kwargs):
        super().__init__(**kwargs)
        self.table, self.scale, self.big = table, {"small": 0.5, "large": 2.0}[scale], big

    def call(self, x):
        return x * self.table * self.scale


class Noting(Coded):
    """Holds another trace of what it was given."""

    def __init__(self, table, scale="large", **kwargs):
        super().__init__(table, scale, **kwargs)
        self.is_small = scale == "small"


def test_an_argument_that_is_held_in_another_form_is_set_afterwards():
    model = around(keras, Coded(np.ones(4), "small", big=True))
    assert unlike(model, clone_model) == []
    with pytest.raises(ValueError, match=r"'mine' .*`scale`.*differs in `is_small`"):
        clone_model(around(keras, Noting(np.ones(4), "small", name="mine")))


# Models that share layers


def test_a_cache_keeps_the_clones_for_the_next_model():
    shared = layers.Dense(3)
    models = [around(keras, shared), around(keras, shared)]
    clones: dict[int, keras.layers.Layer] = {}
    first, second = (clone_model(model, cache=clones) for model in models)
    assert first.layers[1] is second.layers[1] is clones[id(shared)] is not shared


# Classes of models


@each_generation
def test_an_error_of_a_model_arrives_as_it_is(generation):
    package = KERAS[generation]

    class Strict(package.Model):
        closed = False

        def __init__(self, **kwargs):
            x = package.Input((3,))
            super().__init__(x, package.layers.Dense(2)(x), **kwargs)
            self.mark = 1

        def __setattr__(self, name, value):
            if name == "mark" and Strict.closed:
                raise ValueError("my own rule")
            super().__setattr__(name, value)

    model, Strict.closed = Strict(), True
    with pytest.raises(ValueError, match="my own rule"):
        clone_model(model, input_tensors=package.Input((3,)))


@pytest.mark.parametrize("nested", [False, True])
def test_what_is_refused_on_other_inputs_says_what_helps(nested):
    mine = load("keras").custom_models.Silent(3, lambda x: x, "mine")
    mine.run = lambda x: mine.last(x)
    advice = "Let its `get_config" if nested else "Clone it without `clone_function`"
    model = around(keras, mine, (3,)) if nested else mine
    with pytest.raises(ValueError, match="`run`.*" + advice):
        clone_model(model, input_tensors=keras.Input((3,)))


# What an original and its clone do not share


class Listed(layers.Layer):
    """Has no config, but a record of the list that it was given."""

    def __init__(self, sizes=(), **kwargs):
        super().__init__(**kwargs)
        vars(self)["sizes"] = sizes  # past Keras, which copies a list that it keeps

    def call(self, x):
        return x

    def get_config(self):
        raise NotImplementedError


LISTS = {
    "an operation": (lambda x: keras.ops.sum(x, axis=[1]), "axis"),
    "an operation on a shape": (lambda x: keras.ops.reshape(x, [-1, 2]), "newshape"),
    "a layer": (layers.LayerNormalization(axis=[1]), "axis"),
    "a layer without a config": (Listed([1, 2]), "sizes"),
}


@pytest.mark.parametrize("name", LISTS)
def test_a_clone_has_lists_of_its_own(name):
    call, attribute = LISTS[name]
    model = around(keras, call)
    its, own = (vars(each.operations[1])[attribute] for each in (clone_model(model), model))
    assert its == own
    if isinstance(own, list):
        its.append(9)
        assert its != own


@each_generation
def test_a_lambda_has_arguments_of_its_own(generation):
    package = KERAS[generation]
    arguments = {"one": [1], "other": {"two": [2, {"three": 3}]}}
    model = around(package, package.layers.Lambda(lambda x, one, other: x, arguments=arguments))
    clone = clone_model(model)
    clone.layers[1].arguments["other"]["two"][1]["three"] = 4
    clone.layers[1].arguments["one"].append(4)
    assert model.layers[1].arguments == {"one": [1], "other": {"two": [2, {"three": 3}]}}


# The order of calls


@each_generation
@pytest.mark.parametrize("with_function", [False, True])
def test_the_first_call_of_a_layer_is_the_first_in_its_clone(generation, with_function):
    package = KERAS[generation]
    twice = package.layers.GlobalAveragePooling1D(name="twice")
    a, b = package.Input((4, 2)), package.Input((5, 2))
    deep = twice(package.layers.ReLU()(package.layers.ReLU()(b)))
    model = package.Model([a, b], [deep, twice(a)])
    way = {"clone_function": lambda layer: type(layer).from_config(layer.get_config())} if with_function else {}
    layer = clone_model(model, **way).get_layer("twice")
    shapes = [layer.input.shape] if generation == "keras" else [layer.get_input_at(each).shape for each in (0, 1)]
    assert [tuple(each) for each in shapes] == [(None, 5, 2), (None, 4, 2)][: len(shapes)]


@each_generation
def test_an_array_that_a_config_tells_as_a_list_is_an_array(generation):
    package = KERAS[generation]
    given = np.array([1.0, 2.0, 3.0, 4.0])
    model = around(package, package.layers.Normalization(mean=given, variance=given, name="normal"))
    held = vars(model.get_layer("normal"))["input_mean"]
    found = vars(clone_model(model).get_layer("normal"))["input_mean"]
    assert type(found) is type(held) and found is not held
    assert np.array_equal(found, held)


@each_generation
def test_cloning_warns_of_nothing(generation, recwarn):
    package = KERAS[generation]

    class Magnitude:
        def of(self, weight):
            return package.ops.mean(weight) if generation == "keras" else package.backend.mean(weight)

    model = around(package, package.layers.Dense(2, kernel_regularizer=Magnitude().of))
    recwarn.clear()
    clone_model(model)
    assert [str(each.message) for each in recwarn] == []


@each_generation
def test_cloning_a_bidirectional_warns_of_nothing(generation, recwarn):
    package = KERAS[generation]

    def magnitude(weight):
        return package.ops.mean(weight) if generation == "keras" else package.backend.mean(weight)

    with package.utils.custom_object_scope({"magnitude": magnitude}):
        layer = package.layers.SimpleRNN(2, kernel_regularizer=magnitude)
        model = around(package, package.layers.Bidirectional(layer), shape=(3, 4))
        recwarn.clear()
        clone_model(model)
        assert [str(each.message) for each in recwarn] == []
