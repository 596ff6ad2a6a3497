"""Layers of a user's own that hold, tie, note or hand on something: the fixed cloner keeps all of it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from clonediff.harness.subjects import Case, SubjectProcess
from clonediff.harness.trials.triage import Verdict
from clonediff.harness.trials.trial import run
from clonediff.strategies.graph import Call, Graph, Input, Layer, Made, Ref, Seq, Value
from clonediff.strategies.kinds import Generation
from tests.waiting import PATIENCE

from .trying import tried

DENSE = Made(Layer("Dense", (("units", 4),)))
LAYERS: dict[str, tuple[tuple[tuple[str, Value], ...], tuple[tuple[str, Value], ...]]] = {
    "Louder": ((("depth", 2),), (("gain", 2.0),)),
    "Tied": ((("units", 2),), ()),
    "Mirror": ((("layer", DENSE),), ()),
    "Late": ((), ()),
    "Remember": ((), ()),
    "Tailored": ((), ()),
}


def test_a_layer_that_its_config_has_built_is_cloned_once_more(keras: SubjectProcess) -> None:
    calls = (Call(0, (Ref(1),)), Call(0, (Ref(0),)))
    inputs = (Input((None,)), Input((1,)))
    graph = Graph(inputs, (Layer("Tailored"),), calls, Seq((Ref(0), Ref(1))), Ref(3), generation="keras")
    assert tried(graph, keras, "fixed", costly=True)["fixed"].differences == ()


COUNTS = """
import keras


@keras.saving.register_keras_serializable()
class Counts(keras.layers.Layer):
    def call(self, x):
        return keras.ops.cast(x, self.compute_dtype), keras.ops.ones(keras.ops.shape(x))


inputs = keras.Input((3,), dtype="int32")
model = keras.Model(inputs, Counts(dtype="float16")(inputs))
"""


def test_floats_of_two_dtypes_say_nothing_of_the_session(keras: SubjectProcess) -> None:
    case = Case(COUNTS, ({"shape": [3], "dtype": "int32"},))
    trial = run(case, keras, ("fixed",), timeout=PATIENCE)
    assert trial.clones["fixed"].differences == ()


ON: list[tuple[str, Generation]] = [
    *((kind, "keras") for kind in LAYERS if kind != "Late"),  # a layer of Keras 3 makes no weight in its call
    *((kind, "tf_keras") for kind in LAYERS),
]


@pytest.mark.parametrize(("kind", "generation"), ON)
def test_it_is_cloned_faithfully(kind: str, generation: Generation, warm: Callable[[str], SubjectProcess]) -> None:
    args, kwargs = LAYERS[kind]
    layers, calls = (Layer(kind, args),), (Call(0, (Ref(0),), kwargs),)
    graph = Graph((Input((3,)),), layers, calls, Ref(0), Ref(1), generation=generation)
    clones = tried(graph, warm(generation), "fixed", costly=True)
    assert (clones["fixed"].verdict, clones["fixed"].differences) == (Verdict.FAITHFUL, ())
