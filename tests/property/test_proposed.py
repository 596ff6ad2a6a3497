"""The ideas of the five proposed fixes, in the Keras that has the bug: each breaks, on a smallest graph of its own."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from clonediff.harness.inside.cloners.proposed import PROPOSED
from clonediff.harness.search.draw_and_reduce import search
from clonediff.harness.subjects.case import Case
from clonediff.harness.subjects.process import SubjectProcess
from clonediff.harness.trials.graph_trials import GraphTrials
from clonediff.harness.trials.triage import Verdict
from clonediff.harness.trials.trial import run
from clonediff.reports.known import KnownIssues
from clonediff.strategies import FEATURES
from tests.warm_keras import graphs_of

RELEASE = "keras==2.2.4"
EXAMPLES = 100
HEAD = "import keras\nfrom keras import layers\n\n"

SMALLEST = {
    "inputs_by_shape": """\
inputs = keras.Input(batch_shape=(2, 3, 4))
activation = layers.Activation("relu")(inputs)
model = keras.Model(inputs, activation)
""",
    "always_lists": """\
inputs = keras.Input(shape=(3, 4))
activation = layers.Activation("relu")(inputs)
model = keras.Model(inputs, activation)
""",
    "masks_dropped": """\
inputs = keras.Input(shape=(3, 4))
masking = layers.Masking()(inputs)
simple_rnn = layers.SimpleRNN(3)(masking)
model = keras.Model(inputs, simple_rnn)
""",
    "layer_by_layer": """\
inputs = keras.Input(shape=(3, 4))
activation_layer = layers.Activation("relu")
activation = activation_layer(inputs)
activation_2 = layers.Activation("relu")(activation)
activation_3 = activation_layer(activation_2)
model = keras.Model(inputs, activation_3)
""",
    "final_check": """\
inputs = keras.Input(shape=(3, 4))
lambda_a, lambda_b = layers.Lambda(lambda x: [x, x])(inputs)
model = keras.Model(inputs, [lambda_a, lambda_b])
""",
}

DRAWN_FROM = {
    "inputs_by_shape": ["Activation"],
    "always_lists": ["Activation"],
    "masks_dropped": ["Masking", "SimpleRNN"],
    "layer_by_layer": ["Activation"],
    "final_check": ["Lambda"],
}
"""What is enough to break each: a search over everything finds a graph of the same shape, and takes longer."""


@pytest.fixture
def old(warm: Callable[[str], SubjectProcess]) -> SubjectProcess:
    return warm(RELEASE)


@pytest.mark.parametrize(
    "seed", [0, pytest.param(3, marks=pytest.mark.slow(reason="another search for the same graph"))]
)
@pytest.mark.parametrize(
    "idea",
    [
        pytest.param(each, marks=pytest.mark.slow(reason="the longest of these searches"))
        if each in ("masks_dropped", "layer_by_layer")
        else each
        for each in SMALLEST
    ],
)
def test_an_idea_breaks_on_a_graph_as_small_as_its_own(idea: str, seed: int, old: SubjectProcess) -> None:
    trials = GraphTrials(old, KnownIssues(), cloners=(f"proposed/{idea}",), rate=0)
    graphs = graphs_of(
        "keras2",
        kinds=DRAWN_FROM[idea],
        features=["sharing"] if idea in ("masks_dropped", "layer_by_layer") else FEATURES - {"nesting"},
        max_inputs=1,
        max_instructions=5,
    )
    found = search(trials, graphs, examples=EXAMPLES, seed_=seed)
    assert found is not None
    assert len(found.graph.calls) <= 3


@pytest.mark.parametrize("idea", SMALLEST)
def test_an_idea_holds_where_it_is_not_what_breaks(idea: str, old: SubjectProcess) -> None:
    breaks_too = {("always_lists", other) for other in SMALLEST}  # it clones no layer that cannot take a list
    for other, source in SMALLEST.items():
        if other != idea and (idea, other) not in breaks_too:
            batch = 2 if "batch_shape" in source else None
            case = Case(HEAD + source, ({"shape": [3, 4], "dtype": "float32", "batch": batch},))
            assert run(case, old, [f"proposed/{idea}"]).clones[f"proposed/{idea}"].verdict is Verdict.FAITHFUL, other


def test_each_idea_has_its_smallest_graph() -> None:
    assert set(SMALLEST) == set(PROPOSED)
    assert len(set(SMALLEST.values())) == len(SMALLEST)
