"""A trial in the process of a test, as in a downstream project: it restores Keras and leaks nothing."""

from __future__ import annotations

import gc
import sys
from collections import Counter

import keras
import pytest

from clonediff import check_clone, clone_model
from clonediff.strategies.program import Input
from tests.helpers.example_graphs import graph_of_source

COMPILED_MODEL = """
import keras
from keras import layers

class Halved(layers.Layer):
    @property
    def half(self):
        return 0.5

    def call(self, x):
        return x * self.half

inputs = keras.Input((3, 4), name="inputs")
model = keras.Model(inputs, layers.Dense(2, name="dense")(Halved(name="halved")(inputs)), name="plain")
model.compile("sgd", "mse", metrics=["mae"])
"""


@pytest.mark.parametrize("costly", [False, True], ids=["plain", "costly"])
def test_a_check_restores_keras_and_leaks_no_layer_or_class(costly: bool) -> None:
    def count_objects() -> Counter[str]:
        gc.collect()
        objects = [item for item in gc.get_objects() if issubclass(type(item), (keras.layers.Layer, type))]
        classes = [item.__name__ for item in objects if isinstance(item, type) and item.__name__ == "Halved"]
        return Counter(classes + [item.name for item in objects if not isinstance(item, type)])

    main, call, before = sys.modules["__main__"], keras.layers.Layer.__call__, count_objects()
    check_clone(graph_of_source(COMPILED_MODEL, Input((3, 4), name="inputs")), clone_model, costly=costly)
    assert not count_objects() - before
    assert (sys.modules["__main__"], keras.layers.Layer.__call__) == (main, call)
