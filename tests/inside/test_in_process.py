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

from clonediff import UnfaithfulClone, check_clone, clone_model
from clonediff.strategies.program import Graph, Input
from tests.example_graphs import of_source

from .models import NO_LAMBDA

HEAD = "import keras\nfrom keras import layers\n"
UPSTREAM = keras.models.clone_model


def graph(source: str) -> Graph:
    return of_source(HEAD + source, Input((3, 4), name="inputs"))


def test_keras_is_left_as_it_was() -> None:
    main, call = sys.modules["__main__"], keras.layers.Layer.__call__
    check_clone(graph(NO_LAMBDA), UPSTREAM)
    assert sys.modules["__main__"] is main
    assert keras.layers.Layer.__call__ is call


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


def of_one_layer(body: str, end: str = "") -> Graph:
    return graph(OF_ONE_LAYER.replace("BODY", body) + end)


@pytest.mark.parametrize(
    "model",
    [
        pytest.param(of_one_layer(LAZY.replace("self.add_weight(shape=())", "1.0")), id="what a run has built"),
        pytest.param(of_one_layer(DRAWN.replace("FIRST", "'a'")), id="what is drawn"),
        pytest.param(of_one_layer(DRAWN.replace("FIRST", "'7'")), id="what is drawn and begins as a number does"),
        pytest.param(of_one_layer(NOTES), id="what our own runs set"),
    ],
)
def test_a_faithful_clone_is_seen_as_one(model: Graph) -> None:
    check_clone(model, clone_model, costly=True)


def test_a_weight_may_be_made_within_a_function_of_tensorflow() -> None:
    predicts = "model.predict(numpy.zeros((2, 3, 4)), verbose=0)\n"
    check_clone(of_one_layer(LAZY, predicts), clone_model, checks=["outputs"])


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

    check_clone(of_one_layer(REGISTERED), UPSTREAM)
    with pytest.raises(UnfaithfulClone, match="mine") as caught:
        check_clone(of_one_layer(REGISTERED), shares)
    assert not [cause for cause in caught.value.causes if "presets" in cause.root.path]


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

    with pytest.raises(UnfaithfulClone) as caught:
        check_clone(of_one_layer(ARRAY), changes, costly=True)
    assert "untouched" in {cause.root.check for cause in caught.value.causes}


def test_a_warning_that_building_the_model_again_gives_is_no_cloner_s() -> None:
    def warns(model: Any) -> Any:
        for text in ("each time", "a clone"):
            warnings.warn(text, UserWarning, stacklevel=1)
        return UPSTREAM(model)

    with pytest.raises(UnfaithfulClone) as caught:
        check_clone(graph(f"import warnings\nwarnings.warn('each time')\n{NO_LAMBDA}"), warns)
    assert [cause.root.found for cause in caught.value.causes] == ["UserWarning: a clone"]


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
    check_clone(graph(COMPILED), clone_model, costly=costly)
    assert not alive() - before
