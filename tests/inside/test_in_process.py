"""A trial in this very process, as a downstream project runs it: Keras is left as it was, and nothing stays."""

from __future__ import annotations

import gc
import sys
import warnings
from collections import Counter
from collections.abc import Iterator
from typing import Any

import keras
import pytest

from clonediff.harness.inside.digests import Digests
from clonediff.harness.inside.facts import SHARED
from clonediff.harness.inside.frameworks.backends import TensorFlow
from clonediff.harness.subjects.observation import Answer, LayerSeen, Observation

from .models import NO_LAMBDA, tried


def last_layers(answer: Answer) -> dict[str, LayerSeen]:
    """The last layer of the original and of each clone."""
    models: dict[str, Observation | None] = {"original": answer.original}
    models.update({name: clone.observation for name, clone in answer.clones.items()})
    return {name: model.shape.layers[-1] for name, model in models.items() if model is not None}


def test_a_function_is_a_cloner_beside_the_named_ones() -> None:
    main, call = sys.modules["__main__"], keras.layers.Layer.__call__
    answer = tried(NO_LAMBDA, {"mine": keras.models.clone_model, "fixed": "fixed"})
    runs = [clone.observation.inference for clone in answer.clones.values() if clone.observation]
    assert answer.original is not None
    assert runs == [answer.original.inference] * 2
    assert sys.modules["__main__"] is main
    assert keras.layers.Layer.__call__ is call


def test_ragged_tensors_whose_rows_end_elsewhere_differ() -> None:
    tensors, digests = TensorFlow(), Digests()
    rows = [[[1.0, 0.0], [2.0]], [[1.0], [2.0, 0.0]], [[1.0, 0.0], [2.0]]]
    one, other, again = (tensors.array(tensors.tf.ragged.constant(each)) for each in rows)
    assert (one[0] == other[0]).all(), "filled up with zeros they are the same"
    assert digests.digest(*one) == digests.digest(*again) != digests.digest(*other)


# -- what a model holds


OF_ONE_LAYER = """
import itertools, numpy, uuid

BODY

inputs = keras.Input((3, 4), name="inputs")
model = keras.Model(inputs, Own(name="own")(inputs), name="plain")
"""
LAZY = """
class Inner(layers.Layer):
    def build(self, shape):
        self.scale = self.add_weight(shape=())
        self.built = True

    def call(self, x):
        return x + self.scale

class Own(layers.Layer):
    def __init__(self, **options):
        super().__init__(**options)
        self.inner = Inner()

    def build(self, shape):
        self.built = True

    def compute_output_spec(self, x):
        return keras.KerasTensor(x.shape, x.dtype)

    def call(self, x):
        return self.inner(x)
"""
DRAWN = """
class Own(layers.Layer):
    def __init__(self, **options):
        super().__init__(**options)
        self.token = FIRST + uuid.uuid4().hex

    def call(self, x):
        return x * 2.0
"""
NOTES = """
class Own(layers.Layer):
    def compute_output_spec(self, x, training=False):
        return keras.KerasTensor(x.shape, x.dtype)

    def call(self, x, training=False):
        self.training = training
        return x
"""


def of_one_layer(body: str, end: str = "") -> str:
    return OF_ONE_LAYER.replace("BODY", body) + end


def test_a_weight_may_be_made_within_a_function_of_tensorflow() -> None:
    predicts = "model.predict(numpy.zeros((2, 3, 4)), verbose=0)\n"
    assert tried(of_one_layer(LAZY, predicts), ["upstream"]).refused is None


def test_what_a_run_has_built_in_the_model_is_built_in_its_clone() -> None:
    """What the outer layer says of its outputs by itself builds nothing in it; both have run when they are compared."""
    body = of_one_layer(LAZY.replace("self.add_weight(shape=())", "1.0"))
    layers = last_layers(tried(body, ["upstream", "fixed"]))
    assert [layer.attributes[".built"] for layer in layers.values()] == ["True"] * 3


@pytest.mark.parametrize("first", ["a", "7"])
def test_what_is_drawn_says_nothing_of_a_clone_whatever_it_begins_with(first: str) -> None:
    answer = tried(of_one_layer(DRAWN.replace("FIRST", repr(first))), ["upstream"])
    assert answer.original is not None
    assert answer.original.another is not None
    tokens = [layer.attributes[".token"] for layer in last_layers(answer).values()]
    tokens.append(answer.original.another.shape.layers[-1].attributes[".token"])
    assert len(set(tokens)) == 3


def test_what_our_own_runs_set_in_the_model_no_cloner_has_touched() -> None:
    """After a training step, and before the next cloner, the model is run in inference once more."""
    clones = tried(of_one_layer(NOTES), ["upstream", "fixed"], costly=True).clones
    assert not [name for name, clone in clones.items() if clone.original_after is not None]


REGISTERED = """
class OfTheClass(property):
    def __get__(self, thing, kind=None):
        return self.fget(kind)

class Own(layers.Layer):
    def __init__(self, **options):
        super().__init__(**options)
        self._mine = [1, 2]

    @OfTheClass
    def presets(cls):
        return {"first": ["a", "b"]}

    @property
    def mine(self):
        return self._mine

    def call(self, x):
        return x * 1.0
"""


def test_what_the_class_itself_answers_is_nothing_of_its_objects() -> None:
    """As the classes of keras_hub do with their presets."""

    def shares(model: keras.Model) -> keras.Model:
        clone = keras.models.clone_model(model)
        object.__setattr__(clone.layers[-1], "_mine", model.layers[-1].mine)
        return clone

    layers = last_layers(tried(of_one_layer(REGISTERED), {"upstream": "upstream", "shares": shares}))
    for cloner, start in (("upstream", "list"), ("shares", SHARED)):
        assert layers[cloner].attributes[".mine"].startswith(start)
        assert not [path for path in layers[cloner].attributes if path.startswith(".presets")]


# -- what a cloner does


def rewrites_an_array(model: Any) -> None:
    model.get_layer("own").table[0] = 7.0


def freezes(model: Any) -> None:
    model.get_layer("own").trainable = False


ARRAY = """
class Own(layers.Layer):
    def __init__(self, **options):
        super().__init__(**options)
        self.table = numpy.zeros(3)

    def call(self, x):
        return x + 1.0
"""


@pytest.mark.parametrize("change", [freezes, rewrites_an_array])
@pytest.mark.parametrize("calls", [0, 1], ids=["first", "later"])
def test_what_a_clone_does_to_the_model_is_told_of_its_cloner(change: Any, calls: int) -> None:
    numbers: Iterator[int] = iter(range(100))

    def changes(model: Any) -> Any:
        clone = keras.models.clone_model(model)
        if next(numbers) >= calls:
            change(model)
        return clone

    clones = tried(of_one_layer(ARRAY), {"changes": changes, "upstream": "upstream"}, costly=True).clones
    assert clones["changes"].original_after is not None
    assert "upstream" not in clones, "it would be given a model that was changed"


WARNS = """
import warnings

class Own(layers.Layer):
    def __init__(self, **options):
        super().__init__(**options)
        warnings.warn("an odd layer")

    def call(self, x):
        return x + 1.0
"""


def test_a_model_is_cloned_where_warnings_are_errors(monkeypatch: pytest.MonkeyPatch) -> None:
    filtering = keras.config.disable_traceback_filtering

    def warns() -> None:
        warnings.warn("a setting", UserWarning, stacklevel=1)
        filtering()

    monkeypatch.setattr(keras.config, "disable_traceback_filtering", warns)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fixed = tried(of_one_layer(WARNS), ["fixed"], costly=True).clones["fixed"]
    assert fixed.observation is not None
    assert (fixed.failure, fixed.again_failure, fixed.twice_failure, fixed.warned) == (None, None, None, ())


def test_a_warning_that_building_the_model_again_gives_is_no_cloner_s() -> None:
    def warns(model: Any) -> Any:
        for text in ("each time", "a clone"):
            warnings.warn(text, UserWarning, stacklevel=1)
        return keras.models.clone_model(model)

    source = "import warnings\nwarnings.warn('each time')\n" + NO_LAMBDA
    answer = tried(source, {"warns": warns, "upstream": "upstream"})
    assert [warning.message for warning in answer.clones["warns"].warned] == ["a clone"]


# -- what stays


COMPILED = """
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
def test_no_model_and_no_class_stays_of_a_trial(costly: bool) -> None:
    def alive() -> Counter[str]:
        gc.collect()
        things = [thing for thing in gc.get_objects() if issubclass(type(thing), (keras.layers.Layer, type))]
        classes = [thing.__name__ for thing in things if isinstance(thing, type) and thing.__name__ == "Halved"]
        return Counter(classes + [thing.name for thing in things if not isinstance(thing, type)])

    before = alive()
    assert all(clone.observation for clone in tried(COMPILED, ["upstream", "fixed"], costly=costly).clones.values())
    assert not alive() - before
