"""The functions that a downstream project calls in its own process."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import cache
from typing import Any

import keras
import numpy as np
import pytest
import tf_keras

from clonediff import UnfaithfulClone, assert_clones_faithfully, check_clone, clone_model
from clonediff.harness.inside.frameworks import framework
from tests.helpers.example_graphs import Input, graph_of_layer, graph_of_source

KERAS: dict[str, Any] = {"keras": keras, "tf_keras": tf_keras}
DENSE = graph_of_layer("layers.Dense(2)", (3,))


@pytest.mark.parametrize("generation", ["keras", "tf_keras"])
def test_the_model_of_keras_12202_is_cloned_faithfully(generation: Any) -> None:
    source = f"""\
import {generation} as keras
inputs = keras.Input(shape=(1,))
a, b = keras.layers.Lambda(lambda x: [x, x])(inputs)
model = keras.Model(inputs, keras.layers.Add()([a, b]))
"""
    check_clone(graph_of_source(source, Input((1,)), generation=generation), clone_model, costly=True)


def return_original(model: Any) -> Any:
    return model


def refuse(model: Any) -> Any:
    raise NotImplementedError("no clones today")


def rename(model: Any) -> Any:
    clone = clone_model(model)
    clone.layers[-1].name = "other"
    return clone


def freeze(model: Any) -> Any:
    clone = rename(model)
    clone.layers[-1].trainable = False
    return clone


@pytest.mark.parametrize(
    ("cloner", "options", "message"),
    [
        (return_original, {}, "own: "),
        (refuse, {}, "no clones today"),
        (rename, {}, "has another name"),
        (freeze, {"at_least": "wrong-training"}, r"(?m)^not listed because of at_least='wrong-training': 1 cause$"),
        (return_original, {"ignore": lambda cause: cause.root.check == "own"}, ""),
        (rename, {"at_least": "lost-property"}, ""),
    ],
)
def test_check_clone_checks_a_custom_cloner(
    cloner: Callable[[Any], Any], options: dict[str, Any], message: str
) -> None:
    if not message:
        check_clone(DENSE, cloner, **options)
        return
    with pytest.raises(UnfaithfulClone, match=message) as caught:
        check_clone(DENSE, cloner, **options)
    assert caught.value.causes and "layers.Dense(2)" in str(caught.value)


def test_an_unknown_severity_is_refused() -> None:
    with pytest.raises(ValueError, match="expected one of crash, .*, renamed, found 'speed'"):
        check_clone(DENSE, clone_model, at_least="speed")


@cache
def trained_model(generation: str, batch: int | None = None) -> Any:
    """Return a partly frozen, trained model with an embedding, dropout, statistics and states."""
    package = KERAS[generation]
    layers = package.layers
    inputs = package.Input((None,), batch_size=batch, dtype="int32", name="words")
    x = layers.LSTM(3, stateful=batch is not None)(layers.Embedding(7, 4, name="table")(inputs))
    x = layers.BatchNormalization()(layers.Rescaling(2.0)(layers.Dropout(0.5, seed=3)(x)))
    model = package.Model(inputs, layers.Dense(1)(x), name="words_model")
    model.get_layer("table").trainable = False
    model.compile("adam" if generation == "keras" else tf_keras.optimizers.legacy.Adam(), "mse", metrics=["mae"])
    model.fit(np.ones((4, 5), "int32"), np.ones((4, 1)), verbose=0)
    return model


def model_with_shared_layer() -> keras.Model:
    """Return a model in whose upstream clone the calls of a layer have another order."""
    inputs, activation = keras.Input((1,), name="numbers"), keras.layers.Activation("relu")
    return keras.Model(inputs, [activation(inputs), activation(inputs)])


def properties_of(model: Any, api: Any) -> dict[str, Any]:
    """Read the properties of a model that cloning must not change."""
    variables = [*model.variables, *api.training_variables(model), *(state for state, _ in api.states(model))]
    return {
        "config": str(model.get_config()),
        "names": [(layer.name, layer.trainable) for layer in model.layers],
        "variables": [(id(variable), np.asarray(api.read(variable)).tolist()) for variable in variables],
        "nodes": [api.node_counts(layer) for layer in model.layers],
        "compiled": api.compile_config(model),
        "attributes": [sorted(vars(layer)) for layer in (model, *model.layers)],
        "optimizer": id(model.optimizer),
    }


@pytest.mark.parametrize("generation", KERAS)
def test_a_trained_model_is_cloned_faithfully_and_not_changed(generation: str) -> None:
    model, api = trained_model(generation, batch=4), framework(generation)
    before = properties_of(model, api)
    assert_clones_faithfully(model)
    assert properties_of(model, api) == before
    model.fit(np.ones((4, 5), "int32"), np.ones((4, 1)), verbose=0)


def test_the_message_names_the_difference_and_the_model() -> None:
    model = model_with_shared_layer()
    assert_clones_faithfully(model)
    with pytest.raises(UnfaithfulClone) as caught:
        assert_clones_faithfully(model, clone=keras.models.clone_model)
    lines = str(caught.value).splitlines()
    assert lines[0] == "The calls of a shared layer come in another order in the clone [structure-call-order-49466e96]"
    assert lines[2:4] == ["    original: [0, 1]", "    clone:    [1, 0]"]
    assert lines[-1] == f"Functional {model.name!r}, keras {keras.__version__}"


@pytest.mark.parametrize("generation", KERAS)
def test_a_check_does_not_change_settings_names_or_seeds(generation: str) -> None:
    package = KERAS[generation]
    inputs = package.Input((2,))
    model = package.Model(inputs, package.layers.Dense(2)(package.layers.Dropout(0.5)(inputs)))
    settings = package.backend.floatx(), keras.config.is_traceback_filtering_enabled()
    number, before = int(package.layers.Dense(1).name.rpartition("_")[2]), model.get_weights()
    next_number = package.utils.set_random_seed(1) or np.random.random()
    package.utils.set_random_seed(1)
    assert_clones_faithfully(model)
    assert np.random.random() == next_number
    assert package.layers.Dense(1).name == f"dense_{number + 1}"
    assert (package.backend.floatx(), keras.config.is_traceback_filtering_enabled()) == settings

    def interrupt(model: Any) -> Any:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        assert_clones_faithfully(model, clone=interrupt)
    assert all(np.array_equal(expected, weight) for expected, weight in zip(before, model.get_weights(), strict=True))


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        (np.zeros((3, 6)), ""),
        ([np.zeros((3, 6))], ""),
        ({"words": [[1, 2, 3]]}, ""),
        ({"word": np.zeros((2, 3))}, "inputs: has 'word', expected 'words'"),
        ([np.zeros((2, 3))] * 2, "inputs: has 2 arrays, expected one for each of 'words'"),
        (np.zeros(3), r"inputs: the array for 'words' has the shape \(3,\), expected \(None, None\)"),
        (np.full((2, 3), 7), "it cannot be called on the inputs; pass others with `inputs=`. InvalidArgumentError"),
    ],
)
def test_inputs_that_the_model_accepts_are_used_and_others_refused(inputs: Any, message: str) -> None:
    if not message:
        assert_clones_faithfully(trained_model("keras"), inputs=inputs, costly=False)
        return
    with pytest.raises(ValueError, match=message):
        assert_clones_faithfully(trained_model("keras"), inputs=inputs)


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: 3, TypeError, "expected a model of Keras 3 or tf_keras, found int"),
        (lambda: keras.layers.Dense(1), TypeError, "expected a model, found Dense"),
        (lambda: type("Own", (keras.Model,), {})(), TypeError, "Own is subclassed, so it has no graph"),
        (lambda: keras.Sequential([keras.layers.Dense(1)], name="open"), ValueError, "the model 'open' is not built"),
    ],
    ids=["a number", "a layer", "a subclassed model", "not built"],
)
def test_a_model_that_cannot_be_compared_is_refused(
    make: Callable[[], Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        assert_clones_faithfully(make())


class WarningLayer(keras.layers.Layer):
    """Warns when it is called on numbers."""

    def call(self, x: Any) -> Any:
        warnings.warn("numbers", UserWarning, stacklevel=1)
        return x

    def compute_output_spec(self, x: Any) -> Any:
        return keras.KerasTensor(x.shape, x.dtype)


def test_only_warnings_of_the_cloner_are_reported() -> None:
    def warning_cloner(model: Any) -> Any:
        warnings.warn("a cloner", UserWarning, stacklevel=1)
        return clone_model(model)

    x = keras.Input((3,))
    model = keras.Model(x, keras.layers.Dense(2)(WarningLayer()(x)))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert_clones_faithfully(model)
        check_clone(DENSE, clone_model)
        with pytest.raises(UnfaithfulClone, match="UserWarning: a cloner"):
            assert_clones_faithfully(model, clone=warning_cloner)
