"""A trial in this very process, as a downstream project runs it: Keras is left as it was."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from .models import CHAIN, FLOATS, NO_LAMBDA, STEPS, case

keras = pytest.importorskip("keras")

from clonediff.harness.inside.digests import Digests  # noqa: E402 - after it is known that there is a Keras
from clonediff.harness.inside.facts import SHARED  # noqa: E402 - as above
from clonediff.harness.inside.frameworks.backends import TensorFlow  # noqa: E402 - as above
from clonediff.harness.inside.trial import run_trial  # noqa: E402 - as above


def test_a_function_is_a_cloner_beside_the_named_ones() -> None:
    main = sys.modules["__main__"]
    call = keras.layers.Layer.__call__
    answer = run_trial({**case(NO_LAMBDA, "keras"), "cloners": {"mine": keras.models.clone_model, "fixed": "fixed"}})
    clones = answer["clones"]
    assert clones["mine"]["observation"]["inference"] == answer["original"]["inference"]
    assert clones["fixed"]["observation"]["inference"] == answer["original"]["inference"]
    assert sys.modules["__main__"] is main
    assert keras.layers.Layer.__call__ is call


def test_ragged_tensors_whose_rows_end_elsewhere_differ() -> None:
    tensors = TensorFlow()
    one, other, again = (
        tensors.array(tensors.tf.ragged.constant(rows))
        for rows in ([[1.0, 0.0], [2.0]], [[1.0], [2.0, 0.0]], [[1.0, 0.0], [2.0]])
    )
    assert (one[0] == other[0]).all(), "filled up with zeros they are the same"
    digests = Digests()
    assert digests.digest(*one) == digests.digest(*again)
    assert digests.digest(*one) != digests.digest(*other)


def test_a_live_model_keeps_its_weights_and_its_name() -> None:
    inputs = keras.Input((3,), name="in")
    model = keras.Model(inputs, keras.layers.Dense(2, name="live")(inputs), name="mine")
    before = model.get_weights()
    answer = run_trial({"model": model, "cloners": ["upstream", "fixed"], "seed": 1})
    assert answer["original"]["shape"]["name"] == "mine"
    for clone in answer["clones"].values():
        assert clone["observation"]["inference"] == answer["original"]["inference"]
    assert all(np.array_equal(left, right) for left, right in zip(before, model.get_weights(), strict=True))


LAZY = """
import numpy

class Lazy(layers.Layer):
    def __init__(self, **options):
        super().__init__(**options)
        self.inner = layers.Dense(2)

    def build(self, shape):
        self.built = True

    def compute_output_spec(self, x):
        return keras.KerasTensor((*x.shape[:-1], 2), x.dtype)

    def call(self, x):
        return self.inner(x)

inputs = keras.Input((3, 4), name="inputs")
model = keras.Model(inputs, Lazy(name="lazy")(inputs), name="plain")
model.predict(numpy.zeros((2, 3, 4)), verbose=0)
"""
DRAWN = """
import uuid

class Drawn(layers.Layer):
    def __init__(self, **options):
        super().__init__(**options)
        self.token = FIRST + uuid.uuid4().hex

    def call(self, x):
        return x * 2.0

inputs = keras.Input((3, 4), name="inputs")
model = keras.Model(inputs, Drawn(name="drawn")(inputs), name="plain")
"""


def test_a_weight_may_be_made_within_a_function_of_tensorflow() -> None:
    answer = run_trial({**case(LAZY, "keras"), "cloners": ["upstream"]})
    assert "refused" not in answer


@pytest.mark.parametrize("first", ["a", "7"])
def test_what_is_drawn_says_nothing_of_a_clone_whatever_it_begins_with(first: str) -> None:
    answer = run_trial({**case(DRAWN.replace("FIRST", repr(first)), "keras"), "cloners": ["upstream"]})
    models = [answer["original"], answer["original"]["another"], answer["clones"]["upstream"]["observation"]]
    assert len({each["shape"]["layers"][-1]["attributes"][".token"] for each in models}) == 3


class ClassProperty(property):
    """What a class answers itself, as the classes of keras_hub do with their presets."""

    def __get__(self, thing: object, kind: type | None = None) -> Any:
        assert self.fget is not None
        return self.fget(kind)


class Registered(keras.layers.Layer):
    """It shows what its class is registered with, and something of its own that can change."""

    REGISTRY = {"first": ["a", "b"]}

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._mine = [1, 2]

    @ClassProperty
    def presets(cls) -> dict[str, list[str]]:
        return dict(Registered.REGISTRY)

    @property
    def mine(self) -> list[int]:
        return self._mine

    def call(self, x: Any) -> Any:
        return x


def test_what_the_class_itself_answers_is_nothing_of_its_objects() -> None:
    def shares(model: keras.Model) -> keras.Model:
        clone = keras.models.clone_model(model)
        object.__setattr__(clone.layers[-1], "_mine", model.layers[-1].mine)
        return clone

    inputs = keras.Input((3,))
    model = keras.Model(inputs, Registered(name="registered")(inputs))
    answer = run_trial({"model": model, "cloners": {"upstream": "upstream", "shares": shares}, "seed": 1})
    for cloner, start in (("upstream", "list"), ("shares", SHARED)):
        facts = answer["clones"][cloner]["observation"]["shape"]["layers"][-1]["attributes"]
        assert facts[".mine"].startswith(start)
        assert not [path for path in facts if path.startswith(".presets")]


def test_a_function_that_loses_something_is_seen() -> None:
    def careless(model: keras.Model) -> keras.Model:
        clone = keras.models.clone_model(model)
        clone.get_layer("norm").trainable = False
        return clone

    answer = run_trial({**case(NO_LAMBDA, "keras"), "cloners": {"careless": careless}})
    original, clone = answer["original"]["shape"], answer["clones"]["careless"]["observation"]["shape"]
    frozen = [
        theirs["name"]
        for ours, theirs in zip(original["weights"], clone["weights"], strict=True)
        if ours["trainable"] != theirs["trainable"]
    ]
    assert frozen == ["norm/gamma", "norm/beta"]


def test_an_unknown_cloner_is_named() -> None:
    with pytest.raises(KeyError, match="unknown cloner 'nobody'"):
        run_trial({**case(CHAIN, "keras", STEPS), "cloners": ["nobody"]})


BUILT_BY_A_RUN = """
import keras

class Bias(keras.layers.Layer):
    def build(self, shape):
        self.built = True

    def call(self, x):
        return x + 1.0

class Scales(keras.layers.Layer):
    def __init__(self, **options):
        super().__init__(**options)
        self.inner = Bias()

    def build(self, shape):
        self.built = True

    def compute_output_spec(self, x):
        return keras.KerasTensor(x.shape, x.dtype)

    def call(self, x):
        return self.inner(x)

inputs = keras.Input((3, 4))
model = keras.Model(inputs, Scales(name="scales")(inputs))
"""


def test_what_a_run_has_built_in_the_model_is_built_in_its_clone() -> None:
    """What the outer layer says of its outputs by itself builds nothing in it; both have run when they are compared."""
    answer = run_trial({**case(BUILT_BY_A_RUN, "keras"), "cloners": ["upstream", "fixed"]})
    observations = [answer["original"], *(clone["observation"] for clone in answer["clones"].values())]
    assert [each["shape"]["layers"][-1]["attributes"][".built"] for each in observations] == ["True"] * 3


SETS_AS_IT_RUNS = """
import keras

class Notes(keras.layers.Layer):
    def compute_output_spec(self, x, training=False):
        return keras.KerasTensor(x.shape, x.dtype)

    def call(self, x, training=False):
        self.training = training
        return x

inputs = keras.Input((3, 4))
model = keras.Model(inputs, Notes()(inputs))
"""


def test_what_our_own_runs_set_in_the_model_no_cloner_has_touched() -> None:
    """After a training step, and before the next cloner, the model is run in inference once more."""
    answer = run_trial({**case(SETS_AS_IT_RUNS, "keras"), "cloners": ["upstream", "fixed"], "costly": True})
    assert not [name for name, clone in answer["clones"].items() if "original_after" in clone]


WARNS = """
import warnings

class Odd(layers.Layer):
    def __init__(self, **options):
        super().__init__(**options)
        warnings.warn("an odd layer")

    def call(self, x):
        return x + 1.0

inputs = keras.Input((3, 4), name="inputs")
model = keras.Model(inputs, Odd(name="odd")(inputs), name="plain")
"""


def test_a_model_that_warns_is_cloned_where_warnings_are_errors() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        answer = run_trial({**case(WARNS, "keras", FLOATS), "cloners": ["fixed"], "costly": True})
    fixed = answer["clones"]["fixed"]
    assert not [name for name in fixed if "failure" in name]
    assert not fixed.get("warned")


def test_what_keras_warns_of_before_the_model_is_built_ends_no_trial(monkeypatch: pytest.MonkeyPatch) -> None:
    filtering = keras.config.disable_traceback_filtering

    def warns() -> None:
        warnings.warn("a setting", UserWarning, stacklevel=1)
        filtering()

    monkeypatch.setattr(keras.config, "disable_traceback_filtering", warns)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        answer = run_trial({**case(NO_LAMBDA, "keras"), "cloners": ["fixed"]})
    assert "failure" not in answer["clones"]["fixed"]


def test_what_a_later_clone_does_to_the_model_is_told_of_its_cloner() -> None:
    calls: Iterator[int] = iter(range(100))

    def later(model: Any) -> Any:
        clone = keras.models.clone_model(model)
        if next(calls):
            model.get_layer("drop").trainable = False
        return clone

    cloners = {"later": later, "upstream": "upstream"}
    clones = run_trial({**case(NO_LAMBDA, "keras"), "cloners": cloners, "costly": True})["clones"]
    touched = [layer["name"] for layer in clones["later"]["original_after"]["layers"] if not layer["trainable"]]
    assert "drop" in touched
    assert "upstream" not in clones, "it would be given a model that was changed"


def test_a_warning_that_building_the_model_again_gives_is_no_cloner_s() -> None:
    source = "import warnings\nwarnings.warn('each time')\n" + NO_LAMBDA

    def warns(model: Any) -> Any:
        for text in ("each time", "a clone"):
            warnings.warn(text, UserWarning, stacklevel=1)
        return keras.models.clone_model(model)

    answer = run_trial({**case(source, "keras"), "cloners": {"warns": warns, "upstream": "upstream"}})
    assert [each["message"] for each in answer["clones"]["warns"]["warned"]] == ["a clone"]
