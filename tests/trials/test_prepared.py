"""Models that something was done to, and clones with arguments, in a real process."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from msgspec.structs import replace

from clonediff.harness.subjects import Case, SubjectProcess
from clonediff.harness.trials.graph_trials import GraphTrials
from clonediff.harness.trials.trial import run
from clonediff.reports.known import KnownIssues, load
from clonediff.strategies.clone_arguments import RECIPES
from clonediff.strategies.graph import Call, Function, Graph, Input, Layer, Named, Preparation, Ref, Value
from clonediff.strategies.kinds import Generation
from clonediff.strategies.no_oracle import unsaid
from tests.strategies.models import CHAIN, GRAPH
from tests.waiting import PATIENCE

from .trying import fixed_is_faithful, tried

Warm = Callable[[str], SubjectProcess]


def compiled(**args: Value) -> Preparation:
    return Preparation("compile", None, tuple(args.items()))


def alone(layer: Layer, given: Input | None = None, generation: Generation = "keras") -> Graph:
    """A model of one layer."""
    inputs = (given or Input((4,), name="x"),)
    return Graph(inputs, (layer,), (Call(0, (Ref(0),)),), Ref(0), Ref(1), generation=generation)


HUBER = Named("losses.Huber", (("delta", 2.0),))
SESSIONS = tuple(
    Preparation("session", None, (setting,))
    for setting in (("image_data_format", "channels_first"), ("floatx", "float64"), ("unsafe_deserialization", True))
)
TELLS = """
import keras
from keras.src.saving.serialization_lib import in_safe_mode

raise ValueError(keras.config.floatx(), keras.config.image_data_format(), in_safe_mode())
"""


def test_fixed_keeps_what_was_read_of_the_session_and_the_next_trial_has_it_as_it_was(keras: SubjectProcess) -> None:
    def session() -> str:
        refused = run(Case(TELLS, ()), keras, ("fixed",), timeout=PATIENCE).refused
        assert refused is not None and refused.type == "ValueError"
        return refused.message

    before = session()
    assert "float32" in before and "channels_last" in before
    for preparation in SESSIONS:
        graph = alone(Layer("MaxPooling2D"), Input((6, 6, 3)))
        fixed_is_faithful(replace(graph, preparations=(preparation,)), keras)
        assert session() == before


def test_nobody_says_that_tf_keras_compiles(warm: Warm) -> None:
    graph = replace(GRAPH, generation="tf_keras", preparations=(compiled(loss="mse"),))
    differences = tried(graph, warm("tf_keras"), "upstream")["upstream"].differences
    assert "compiled" not in {one.aspect for one in differences}


def test_what_a_release_lacks_cannot_be_done_to_its_models(warm: Warm) -> None:
    graph = replace(GRAPH, generation=None, preparations=(Preparation("lora", "Dense", (("rank", 2),)),))
    refused = GraphTrials(warm("tf_keras"), KnownIssues()).try_or_say_why_not(graph).refused
    assert refused is not None and "lora" in refused.message


def test_what_upstream_loses_is_told_by_its_part(keras: SubjectProcess) -> None:
    trials = GraphTrials(keras, KnownIssues(), cloners=("upstream",))
    hits = trials.try_graph(replace(GRAPH, preparations=(compiled(loss=HUBER),)), costly=False).hits
    assert "What a model is compiled with is another in the clone: loss.Huber.delta" in {hit.title for hit in hits}


def test_what_one_script_registers_the_next_one_does_not_find(keras: SubjectProcess) -> None:
    trials = GraphTrials(keras, load(), cloners=("upstream",))
    met = []
    for form in ("registered", "named"):
        graph = alone(Layer("Lambda", (("function", Function(form, ("x * 2.0",))),)))
        met.append([hit.known.id if hit.known else hit.title for hit in trials.try_graph(graph, costly=False).hits])
    assert met == [[], ["lambda-named"]]


@pytest.mark.parametrize("model", [GRAPH, CHAIN], ids=["a functional model", "a Sequential"])
@pytest.mark.parametrize("generation", ["keras", "tf_keras"])
def test_fixed_takes_the_arguments_of_clone_model(generation: Generation, model: Graph, warm: Warm) -> None:
    for arguments in RECIPES:
        graph = replace(model, generation=generation, clone_arguments=arguments)
        of_keras3 = arguments.call_function or arguments.recursive
        if not unsaid(graph) and (generation == "keras" or not of_keras3):
            fixed_is_faithful(graph, warm(generation))
