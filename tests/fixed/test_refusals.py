"""What `clone_model` refuses, and how it says so."""

from __future__ import annotations

import numpy as np
import pytest

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
def test_a_weight_of_a_layer_without_a_config_is_refused_unless_build_makes_it(generation, made_by):
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
    else:
        with pytest.raises(ValueError, match=r"(?s)offset.*mine.*weights=True"):
            clone_model(model)
    clone = clone_model(model, weights=True)
    assert np.array_equal(clone.get_weights()[0], model.get_weights()[0])
    assert clone.weights[0] is not model.weights[0]
