"""What `clone_model` refuses, and how it says so."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf

from clonediff import clone_model
from tests.fixed.comparison import described, observer_of, unlike
from tests.fixed.generations import KERAS, for_generations, load


@for_generations
def test_what_is_no_model_is_refused(generation):
    for value in ("model", None, KERAS[generation].layers.Dense):
        with pytest.raises((TypeError, ValueError), match="model"):
            clone_model(value)


@for_generations
def test_an_object_that_cannot_be_copied_is_refused_by_name(generation):
    package = KERAS[generation]

    class Single:
        def __deepcopy__(self, memo):
            raise TypeError("there is only one")

        __copy__ = __reduce_ex__ = __deepcopy__

    for value, place in ((Single(), "`single` of 'mine'"), ({"a": Single()}, "the model '.*'")):
        layer = package.layers.Dense(2, name="mine")
        layer.single = value
        model = load(generation).around(layer)
        observer = observer_of(model)
        before = described(model, observer).shape
        with pytest.raises(ValueError, match=rf"(?s){place} holds.*Single.*there is only one"):
            clone_model(model)
        assert described(model, observer).shape == before


@for_generations
@pytest.mark.parametrize("made_by", ["constructor", "build"])
def test_weight_without_a_config_keeps_its_value_unless_built(generation, made_by):
    package = KERAS[generation]

    class Silent(package.layers.Layer):
        def __init__(self, function, **kwargs):
            super().__init__(**kwargs)
            self.function = function
            if made_by == "constructor":
                self.make_offset()

        def make_offset(self):
            self.offset = self.add_weight(name="offset", shape=(3,), initializer="uniform")

        def build(self, shape):
            if made_by == "build":
                self.make_offset()

        def call(self, x):
            return self.function(x) + self.offset

        def get_config(self):
            raise NotImplementedError

    model = load(generation).around(Silent(lambda x: x * 2.0, name="mine"))
    if made_by == "build":
        assert unlike(model, clone_model) == []
        return
    with pytest.warns(UserWarning, match=r"(?s)offset.*mine.*keeps its value"):
        clone = clone_model(model)
    assert np.array_equal(clone.get_weights()[0], model.get_weights()[0])
    assert clone.weights[0] is not model.weights[0]


@for_generations
def test_a_class_that_uses_a_layer_of_the_function_around_it_is_refused(generation):
    package = KERAS[generation]
    dense = package.layers.Dense(3, name="around")

    class Using(package.layers.Layer):
        def call(self, x):
            return dense(x)

    x = package.Input((3,))
    with pytest.raises(ValueError, match=r"Using.call` uses 'around'.*in an attribute"):
        clone_model(package.Model(x, Using()(dense(x))))


@for_generations
@pytest.mark.parametrize(
    ("name", "value", "says", "size"), [("units", 7, r"7,?\)", 28), ("use_bias", True, "has none", 8)]
)
def test_a_setting_that_takes_other_weights_is_refused_with_ways_out(generation, name, value, says, size):
    dense = KERAS[generation].layers.Dense(2, use_bias=name != "use_bias", name="dense")
    model = load(generation).around(dense)
    setattr(dense, name, value)
    with pytest.raises(ValueError, match=rf"'dense' was built with other settings.*{says}.*clone_function"):
        clone_model(model)
    assert clone_model(model, weights=True).count_params() == model.count_params()
    remade = clone_model(model, clone_function=lambda layer: layer.from_config(layer.get_config()))
    assert remade.count_params() == size


@for_generations
def test_weights_that_do_not_fit_are_named(generation):
    models, dense = load(generation), KERAS[generation].layers.Dense
    with pytest.raises(ValueError, match=r"'dense' \(\(3, 2\), \(2,\), now \(3, 7\), \(7,\)\)"):
        clone_model(models.arguments.single(), clone_function=lambda _: dense(7), weights=True)


def test_an_iterator_is_refused_by_name():
    layer = KERAS["keras"].layers.Dense(2, name="mine")
    layer.numbers = iter(tf.data.Dataset.range(3))
    with pytest.raises(ValueError, match=r"`numbers` of 'mine' holds.*Iterator"):
        clone_model(load("keras").around(layer))
