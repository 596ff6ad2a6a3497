"""`assert_clones_faithfully`: a model of one's own, in one's own process."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from functools import cache
from typing import Any

import keras
import numpy as np
import pytest
import tf_keras

from clonediff import UnfaithfulClone, assert_clones_faithfully, clone_model
from clonediff.harness.inside.frameworks import framework
from clonediff.harness.inside.live import given
from clonediff.reports.records import Severity
from tests.planted import faults

KERAS: dict[str, Any] = {"keras": keras, "tf_keras": tf_keras}


def scale(layers: Any) -> type:
    """A layer of one's own, registered nowhere."""

    class Scale(layers.Layer):
        def __init__(self, rate: float, **kwargs: Any) -> None:
            super().__init__(**kwargs)
            self.rate = rate

        def call(self, x: Any) -> Any:
            return x * self.rate

        def get_config(self) -> dict[str, Any]:
            return {**super().get_config(), "rate": self.rate}

    return Scale


SCALES = {generation: scale(its.layers) for generation, its in KERAS.items()}


@cache  # nothing is to change it
def trained(generation: str) -> Any:
    """A model that looks numbers up, draws and keeps statistics, with a layer of its own: trained, partly frozen."""
    theirs = KERAS[generation]
    layers = theirs.layers
    inputs = theirs.Input((None,), dtype="int32", name="words")
    x = layers.LSTM(3)(layers.Embedding(7, 4, name="table")(inputs))
    x = SCALES[generation](2.0)(layers.Dropout(0.5, seed=3)(x))
    x = layers.BatchNormalization()(x)
    model = theirs.Model(inputs, layers.Dense(1)(x), name="of_ones_own")
    model.get_layer("table").trainable = False
    model.compile("adam", "mse", metrics=["mae"])
    model.fit(np.ones((4, 5), "int32"), np.ones((4, 1)), verbose=0)
    return model


@cache
def trained_once() -> Any:
    """One that is trained already, for the tests after which nobody looks at it."""
    return trained("keras")


def small(generation: str) -> Any:
    """A model in which a planted fault finds something to break."""
    theirs = KERAS[generation]
    inputs = theirs.Input((2,), name="numbers")
    x = theirs.layers.Dense(3)(inputs)
    return theirs.Model(inputs, theirs.layers.Dense(1, trainable=False)(x))


def shared(generation: str) -> Any:
    """A model whose clone by upstream has the calls of a layer in another order, and on `tf_keras` lacks a tensor."""
    theirs = KERAS[generation]
    inputs = theirs.Input((1,), name="numbers")
    if generation == "keras":
        activation = theirs.layers.Activation("relu")
        return theirs.Model(inputs, [activation(inputs), activation(inputs)])

    class Total(tf_keras.layers.Layer):
        def call(self, *tensors: Any) -> Any:
            return sum(tensors)

    return theirs.Model(inputs, Total()(inputs, inputs))


def everything_of(model: Any, its: Any) -> dict[str, Any]:
    """What a user would notice of a model, if it changed."""
    variables = [*model.variables, *its.learned(model), *(state for state, _ in its.states(model))]
    return {
        "config": str(model.get_config()),
        "names": [(layer.name, layer.trainable) for layer in model.layers],
        "variables": [id(variable) for variable in variables],
        "values": [np.asarray(its.read(variable)).tolist() for variable in variables],
        "nodes": [its.node_counts(layer) for layer in model.layers],
        "compiled": its.compiled(model),
        "attributes": [sorted(vars(layer)) for layer in (model, *model.layers)],
        "optimizer": id(model.optimizer),
    }


@pytest.mark.parametrize(
    "generation",
    [
        "keras",
        pytest.param(
            "tf_keras", marks=pytest.mark.slow(reason="it traces each clone; others of tf_keras are cloned below")
        ),
    ],
)
def test_a_trained_model_is_cloned_faithfully_and_stays_as_it_is(generation: str) -> None:
    model, its = trained(generation), framework(generation)
    before = everything_of(model, its)
    assert_clones_faithfully(model)
    assert everything_of(model, its) == before
    model.fit(np.ones((4, 5), "int32"), np.ones((4, 1)), verbose=0)


@pytest.mark.parametrize("generation", KERAS)
def test_what_upstream_breaks_is_told_in_the_words_of_check_clone(generation: str) -> None:
    model = shared(generation)
    assert_clones_faithfully(model)
    with pytest.raises(UnfaithfulClone) as caught:
        assert_clones_faithfully(model, clone=KERAS[generation].models.clone_model)
    lines = str(caught.value).splitlines()
    if generation == "keras":
        words = "The calls of a shared layer come in another order in the clone"
        assert lines[0] == f"{words} [structure-call-order-49466e96]"
        # The layer has the next name of its kind: other tests of this process may have made some before.
        assert re.fullmatch(r"  structure: layers\['activation(_\d+)?'\]\.calls", lines[1])
        assert lines[2:4] == ["    original: [0, 1]", "    clone:    [1, 0]"]
    assert lines[-1] == f"Functional {model.name!r}, {generation} {KERAS[generation].__version__}"
    assert isinstance(caught.value, AssertionError)
    assert caught.value.causes


@pytest.mark.parametrize("generation", KERAS)
@pytest.mark.parametrize(
    ("fault", "check"),
    [
        ("trainable_forgotten", "structure"),
        ("weights_copied", "own"),
        ("original_frozen", "untouched"),
        ("second_clone_broken", "again"),
        ("gradient_stopped", "training"),
    ],
)
def test_a_planted_fault_is_caught(generation: str, fault: str, check: str) -> None:
    with pytest.raises(UnfaithfulClone) as caught:
        assert_clones_faithfully(small(generation), clone=getattr(faults, fault))
    assert check in {each.check for cause in caught.value.causes for each in cause.differences}


def test_weights_are_put_back_where_a_cloner_changes_them() -> None:
    model = small("keras")
    before = model.get_weights()

    def zeroes(model: Any) -> Any:
        clone = clone_model(model)
        model.set_weights([np.zeros_like(weight) for weight in model.get_weights()])
        return clone

    with pytest.raises(UnfaithfulClone, match="untouched: "):
        assert_clones_faithfully(model, clone=zeroes)
    assert all(np.array_equal(one, other) for one, other in zip(before, model.get_weights(), strict=True))


@pytest.mark.parametrize("stops", [KeyboardInterrupt, SystemExit])
def test_weights_are_put_back_where_it_is_stopped(stops: type[BaseException]) -> None:
    def stopped(model: Any) -> Any:
        raise stops

    model = trained("keras")
    before = model.get_weights()
    with pytest.raises(stops):
        assert_clones_faithfully(model, clone=stopped)
    assert all(np.array_equal(one, other) for one, other in zip(before, model.get_weights(), strict=True))


@pytest.mark.parametrize("generation", KERAS)
def test_the_process_stays_as_it_is(generation: str) -> None:
    theirs = KERAS[generation]
    inputs = theirs.Input((2,))
    model = theirs.Model(inputs, theirs.layers.Dense(2)(theirs.layers.Dropout(0.5)(inputs)))
    theirs.utils.set_random_seed(1)
    settings = theirs.backend.floatx(), keras.config.is_traceback_filtering_enabled()
    number = int(theirs.layers.Dense(1).name.rpartition("_")[2])
    drawn = theirs.utils.set_random_seed(1) or np.random.random()
    theirs.utils.set_random_seed(1)
    assert_clones_faithfully(model)
    assert np.random.random() == drawn
    assert theirs.layers.Dense(1).name == f"dense_{number + 1}"
    assert (theirs.backend.floatx(), keras.config.is_traceback_filtering_enabled()) == settings


def test_what_a_user_has_set_holds_for_the_clone() -> None:
    keras.config.set_dtype_policy("mixed_float16")
    try:
        inputs = keras.Input((2,))
        model = keras.Model(inputs, keras.layers.Dense(2)(inputs))
        seen: list[str] = []

        def cloned(model: Any) -> Any:
            seen.append(keras.config.dtype_policy().name)
            return clone_model(model)

        with keras.saving.custom_object_scope({"known": SCALES["keras"]}):
            assert_clones_faithfully(
                model, clone=lambda model: cloned(model) if keras.saving.get_registered_object("known") else None
            )
    finally:
        keras.config.set_dtype_policy("float32")
    assert set(seen) == {"mixed_float16"}


@pytest.mark.parametrize(
    "inputs",
    [np.zeros((3, 6)), [np.zeros((3, 6))], {"words": [[1, 2, 3]]}],
    ids=["an array", "a list of arrays", "a dictionary"],
)
def test_a_model_is_called_on_the_inputs_that_are_given(inputs: Any) -> None:
    assert_clones_faithfully(trained_once(), inputs=inputs, costly=False)


@pytest.mark.parametrize(
    ("inputs", "said"),
    [
        ({"word": np.zeros((2, 3))}, "inputs: has 'word', expected 'words'"),
        ([np.zeros((2, 3))] * 2, "inputs: has 2 arrays, expected one for each of 'words'"),
        (np.zeros(3), r"inputs: the array for 'words' has the shape \(3,\), expected \(None, None\)"),
        (np.full((2, 3), 7), "it cannot be called on the inputs; give it others with `inputs=`. InvalidArgumentError"),
    ],
    ids=["another name", "too many", "another shape", "out of range"],
)
def test_inputs_that_do_not_fit_are_refused(inputs: Any, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        assert_clones_faithfully(trained_once(), inputs=inputs)


def test_an_input_of_any_rank_takes_an_array_of_any() -> None:
    (spec,) = given([{"name": "words", "shape": None, "dtype": "float32"}], np.zeros((2, 3, 4)))
    assert (spec["batch"], spec["shape"]) == (2, [3, 4])


@pytest.mark.parametrize(
    ("made", "error", "said"),
    [
        (lambda: 3, TypeError, "expected a model of Keras 3 or tf_keras, found int"),
        (lambda: keras.layers.Dense(1), TypeError, "expected a model, found Dense"),
        (lambda: type("Own", (keras.Model,), {})(), TypeError, "Own is subclassed: Keras knows no graph"),
        (lambda: keras.Sequential([keras.layers.Dense(1)], name="open"), ValueError, "the model 'open' is not built"),
    ],
    ids=["a number", "a layer", "a subclassed model", "not built"],
)
def test_what_cannot_be_compared_is_refused(made: Callable[[], Any], error: type[Exception], said: str) -> None:
    with pytest.raises(error, match=said):
        assert_clones_faithfully(made())


def test_checks_are_chosen_and_causes_left_out() -> None:
    model, upstream = shared("keras"), keras.models.clone_model
    assert_clones_faithfully(model, clone=upstream, checks=["outputs"])
    assert_clones_faithfully(
        model, clone=upstream, costly=False, ignore=lambda cause: cause.severity >= Severity.PROPERTY
    )
    with pytest.raises(ValueError, match="'colour' is not one of"):
        assert_clones_faithfully(model, checks=["colour"])
    for name in ("warned", "functions"):
        with pytest.raises(ValueError, match=f"checks: '{name}' .*; leave it out"):
            assert_clones_faithfully(model, checks=["outputs", name])


class Warns(keras.layers.Layer):
    """Warns whenever it is run on numbers, and saved."""

    def call(self, x: Any) -> Any:
        warnings.warn("numbers", UserWarning, stacklevel=1)
        return x

    def compute_output_spec(self, x: Any) -> Any:
        return keras.KerasTensor(x.shape, x.dtype)

    def save_own_variables(self, store: Any) -> None:
        warnings.warn("a file", UserWarning, stacklevel=1)


def _warning_cloner(model: Any) -> Any:
    warnings.warn("a cloner", UserWarning, stacklevel=1)
    return clone_model(model)


def test_our_own_calls_warn_of_nothing_and_a_cloner_of_what_it_does() -> None:
    x = keras.Input((3,))
    model = keras.Model(x, keras.layers.Dense(2)(Warns()(x)))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert_clones_faithfully(model)
        with pytest.raises(UnfaithfulClone, match="UserWarning: a cloner"):
            assert_clones_faithfully(model, clone=_warning_cloner)
