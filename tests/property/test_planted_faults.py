"""Broken cloners on real models: each is found, and shown on the smallest model that has what it breaks."""

from __future__ import annotations

import pytest

from harness.search.draw_and_shrink import search
from harness.subjects.process import SubjectProcess
from harness.trials.graph_trials import GraphTrials
from reports.known import KnownIssues
from tests.asked import graphs_of
from tests.effort import everything

SMALLEST = {
    "planted/mask_function_dropped": """\
inputs = keras.Input(shape=(3, 4))
[lambda_a] = layers.Lambda(lambda x: [x + 1.0], mask=lambda x, mask=None: [mask])(inputs)
model = keras.Model(inputs, lambda_a)
""",
    "planted/crash_on_outputs": """\
inputs = keras.Input(shape=(3, 4))
lambda_a, lambda_b = layers.Lambda(lambda x: [x, x])(inputs)
model = keras.Model(inputs, lambda_a)
""",
    "planted/arguments_forgotten": """\
inputs = keras.Input(shape=(3, 4))
[lambda_a] = layers.Lambda(lambda x, by: [x * by], arguments={"by": 2.0})(inputs)
model = keras.Model(inputs, lambda_a)
""",
    "planted/repetition_lost": """\
inputs = keras.Input(shape=(3, 4))
model = keras.Model(inputs, [inputs, inputs])
""",
}


# By day they are sought among the layers that have what is broken, at night among all.
@pytest.mark.parametrize(
    "fault",
    [
        pytest.param(each, marks=pytest.mark.slow(reason="the longest of these searches"))
        if each == "planted/arguments_forgotten"
        else each
        for each in SMALLEST
    ],
)
@pytest.mark.parametrize(
    "seed", [1, pytest.param(0, marks=pytest.mark.slow(reason="another search for the same graph"))]
)
def test_a_planted_fault_is_found_and_made_small(fault: str, seed: int, keras: SubjectProcess) -> None:
    trials = GraphTrials(keras, KnownIssues(), cloners=(fault,), rate=0)
    kinds = None if everything() else ["Lambda", "Dense", "Masking"]
    graphs = graphs_of("keras", kinds=kinds, max_instructions=4, max_inputs=2)
    found = search(trials, graphs, examples=500, seed_=seed)
    assert found is not None
    assert found.case.source.endswith(f"\n\n{SMALLEST[fault]}")
