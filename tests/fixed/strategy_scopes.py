"""Clone and train models into, within and out of a strategy scope: `python -m tests.fixed.strategy_scopes keras`."""

from __future__ import annotations

import contextlib
import importlib
import itertools
import sys

import numpy as np
import tensorflow as tf

from clonediff import clone_model
from tests.helpers.example_counts import example_count

X, Y = np.random.default_rng(0).random((8, 3), "float32"), np.zeros((8, 2), "float32")
MOVES = {"into": (False, True), "within": (True, True), "out of": (True, False)}
"""By move: whether the model is built in the scope, and whether it is cloned in the scope."""

DAY_STEP = 5
"""By day, every fifth case is tried: together these have all moves and states, with weights and without."""


def main(generation):
    cpu = tf.config.list_physical_devices("CPU")[0]
    tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
    keras = importlib.import_module(generation)
    cases = itertools.product(MOVES, ("bare", "compiled", "trained"), (False, True))
    for move, state, weights in itertools.islice(cases, None, None, example_count(DAY_STEP, 1)):
        strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
        scope, other_scope = (strategy.scope() if inside else contextlib.nullcontext() for inside in MOVES[move])
        with scope:
            model, lookup = build_model(keras, state), build_lookup(keras)
        before = model.get_weights()
        with other_scope:
            clone = clone_model(model, weights=weights)
            copied = [np.array_equal(*pair) for pair in zip(before, clone.get_weights(), strict=True)]
            assert all(copied) == weights or (not weights and not all(copied)), (move, state, weights, copied)
            variable = getattr(clone.weights[0], "_value", clone.weights[0])
            assert ("Mirrored" in type(variable).__name__) == MOVES[move][1], (move, state, type(variable))
            assert clone.weights[-2].constraint is not model.weights[-2].constraint, (move, state)
            assert clone_model(lookup).layers[1].get_vocabulary() == lookup.layers[1].get_vocabulary(), (move, state)
            if state == "bare":
                clone.compile("adam", "mse")
        clone.fit(X, Y, batch_size=4, verbose=0)
        assert all(np.array_equal(*pair) for pair in zip(before, model.get_weights(), strict=True)), (move, state)
        sys.stdout.write(f"{move} {state} {weights}\n")


def build_model(keras, state):
    x = keras.Input((3,))
    y = keras.layers.BatchNormalization()(keras.layers.Dense(4)(x))
    model = keras.Model(x, keras.layers.Dense(2, kernel_constraint="non_neg")(y))
    if state != "bare":
        model.compile("adam", "mse", metrics=["mae"])
    if state == "trained":
        model.fit(X, Y, batch_size=4, verbose=0)
    return model


def build_lookup(keras):
    x = keras.Input((3,), dtype="int32")
    table = keras.layers.IntegerLookup(vocabulary=[1, 2, 4], output_mode="tf_idf", idf_weights=np.arange(1, 4) / 2)
    return keras.Model(x, table(x))


if __name__ == "__main__":
    main(sys.argv[1])
