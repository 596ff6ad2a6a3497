"""Models that a class of their own makes again from their config: what no config tells is that of the original."""

from __future__ import annotations

import keras
import pytest
from keras import layers, ops

from clonediff.harness.inside.cloners.fixed.keras3 import clone_model
from tests.cloners.fixed.keras3_faithful import assert_faithful


class Scaled(layers.Layer):
    """Has no `get_config`: Keras keeps what it was given, as long as that is plain data."""

    def __init__(self, scale=2.0, **kwargs):
        super().__init__(**kwargs)
        self.scale = scale

    def call(self, x):
        return x * self.scale


class Backbone(keras.Model):
    """Builds a graph of layers and operations, and tells its dtype as keras_hub's models do."""

    def __init__(self, units, dtype=None, **kwargs):
        inputs = keras.Input((3,), name="x")
        x = layers.Dense(units, dtype=dtype, name="dense")(inputs)
        x = Scaled(3.0, dtype=dtype, name="scaled")(x)
        super().__init__(inputs, ops.exp(x[:, :1]) + x, dtype=dtype, **kwargs)
        self.units = units

    def get_config(self):
        dtype = keras.dtype_policies.serialize(self.dtype_policy)
        return {"name": self.name, "units": self.units, "dtype": dtype}

    @classmethod
    def from_config(cls, config):
        config["dtype"] = keras.dtype_policies.deserialize(config["dtype"])
        return cls(**config)


class Task(keras.Model):
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


def test_operations_keep_their_names():
    model = Backbone(4)
    clone = clone_model(model)
    assert type(clone) is Backbone
    assert [each.name for each in clone.operations] == [each.name for each in model.operations]
    assert_faithful(model)


def test_a_layer_keeps_what_keras_knows_of_its_constructor():
    clone = clone_model(Backbone(4))
    assert clone.get_layer("scaled").get_config()["scale"] == 3.0
    assert clone_model(clone).get_layer("scaled").scale == 3.0


def test_a_class_with_a_compile_of_its_own_is_compiled_as_it_was():
    model = Task(2)
    model.compile("rmsprop", "mae", second=keras.optimizers.Adam(0.5))
    clone = clone_model(model)
    assert clone.get_compile_config() == model.get_compile_config()
    assert clone.optimizer is not model.optimizer
    assert float(clone.second.learning_rate) == 0.5


def test_an_optimizer_that_a_model_holds_is_its_clones_own():
    model = Task(2)
    clone = clone_model(model)
    assert isinstance(clone.second, keras.optimizers.SGD)
    assert clone.second is not model.second


@pytest.mark.parametrize("nested", [False, True])
def test_a_task_that_nobody_compiled_again_has_its_default(nested):
    task = Task(2, name="task")
    inputs = keras.Input((3,))
    model = keras.Model(inputs, task(inputs)) if nested else task
    clone = clone_model(model)
    clone = clone.get_layer("task") if nested else clone
    assert clone.get_compile_config() == task.get_compile_config()
