"""Releases of Keras 3 as subjects: what they offer is what is drawn, and the fixed cloner holds on all of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from msgspec import structs

from clonediff.harness.drawing.drawable_kinds import graphs_on
from clonediff.harness.search.sampling import sample_graphs
from clonediff.harness.subjects import SubjectProcess
from clonediff.harness.subjects.case import Case
from clonediff.harness.subjects.releases import in_full
from clonediff.harness.trials.graph_trials import GraphTrials
from clonediff.harness.trials.triage import Verdict
from clonediff.harness.trials.trial import run
from clonediff.reports.known import KnownIssues
from clonediff.strategies import Graph
from clonediff.strategies.graph import (
    Call,
    CloneArguments,
    Input,
    Layer,
    Ref,
)
from tests.required_releases import had

OLD = "3.10.0"
"""The oldest release that the fixed cloner is for."""
Process = Callable[[str], SubjectProcess]

pytestmark = pytest.mark.slow(reason="it installs releases")


def test_a_release_says_what_it_cannot_build(keras3: Process) -> None:
    capabilities = keras3(OLD).ready.capabilities
    assert set(capabilities.missing) == {"idle inputs", "quantize"}
    assert {"Dense", "Lambda", "Bidirectional"} < set(capabilities.layers)


def test_what_is_drawn_for_a_release_it_can_build_and_fixed_can_clone(keras3: Process) -> None:
    process = keras3(OLD)
    trials = GraphTrials(process, KnownIssues(), cloners=("fixed",))
    for graph in sample_graphs(graphs_on(process, min_instructions=2), 15, 3):
        assert trials.try_graph(graph).hits == ()
    assert trials.tally.refused == 0


def called(*calls: Call, **more: Any) -> Graph:
    """Steps with a mask, and layers that take what a call gives them beside its tensor."""
    layers = (Layer("Masking"), Layer("CenterCrop", (("height", 5), ("width", 3))), Layer("LSTM", (("units", 2),)))
    given = Input((4, 4, 1)) if calls[0].layer == 1 else Input((3, 4), fill="steps")
    order = sorted({each.layer for each in calls})
    calls = tuple(structs.replace(each, layer=order.index(each.layer)) for each in calls)
    arguments = CloneArguments(**more)
    chosen = tuple(layers[each] for each in order)
    return Graph((given,), chosen, calls, Ref(0), Ref(len(calls)), generation="keras", clone_arguments=arguments)


MASKED = Call(0, (Ref(0),))
CALLED = {
    "training on other inputs": called(Call(1, (Ref(0),), (("training", True),)), inputs="fresh"),
    "training with a call function": called(Call(1, (Ref(0),), (("training", True),)), call_function=True),
    "no mask with a call function": called(Call(2, (Ref(0),), (("mask", None),)), call_function=True),
    "a mask of Keras' own with a call function": called(MASKED, Call(2, (Ref(1),)), call_function=True),
}


@pytest.mark.parametrize("what", CALLED)
@pytest.mark.parametrize(
    "subject",
    [
        "keras",
        pytest.param("keras-nightly"),
    ],
)
def test_a_call_is_made_as_it_was_given(warm: Process, subject: str, what: str) -> None:
    _nothing_is_told(warm(had(lambda: in_full(subject))), CALLED[what])


def _nothing_is_told(process: SubjectProcess, graph: Graph) -> None:
    trials = GraphTrials(process, KnownIssues(), cloners=("fixed",))
    assert trials.try_graph(graph).hits == ()
    assert trials.tally.refused == 0


HEAD = "import keras\nfrom keras import layers\n"
AUG_MIX = """
inputs = keras.Input(shape=(4, 4, 3))
model = keras.Model(inputs, layers.AugMix(num_chains=2, seed=3)(inputs))
"""


OWN_WITH_OPTION = """
class OwnModel(keras.Model):
    def __init__(self, inputs, outputs, name=None, *, factor=1.0, **kwargs):
        super().__init__(inputs, outputs, name=name, **kwargs)
        self.factor = factor

    def get_config(self):
        return {**super().get_config(), "factor": self.factor}


inputs = keras.Input(shape=(3,))
x = layers.Dense(2)(inputs)
model = OwnModel(inputs, [x, x], factor=2.0)
"""


@pytest.mark.parametrize(
    ("source", "shape"), [pytest.param(AUG_MIX, [4, 4, 3], id="AugMix"), pytest.param(OWN_WITH_OPTION, [3], id="own")]
)
def test_fixed_clones_what_an_old_release_has_otherwise(keras3: Process, source: str, shape: list[int]) -> None:
    case = Case(HEAD + source, ({"shape": shape, "dtype": "float32"},))
    trial = run(case, keras3(OLD), ("fixed",))
    assert trial.built
    assert trial.clones["fixed"].verdict is Verdict.FAITHFUL
