"""Releases of Keras 3 as subjects: what they offer is what is drawn, and the fixed cloner holds on all of it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from clonediff.harness.observation import Case
from clonediff.harness.search.hunt import draws
from clonediff.harness.subjects import SubjectProcess
from clonediff.harness.subjects.releases import in_full
from clonediff.harness.trials.graph_trials import GraphTrials
from clonediff.harness.trials.trial import run
from clonediff.reports.known import KnownIssues
from tests.required_releases import had

OLD = "3.10.0"
"""The oldest release that the fixed cloner is for."""
HEAD = "import keras\nfrom keras import layers\n"
CALLS = {"call_function": "lambda layer, *args, **kwargs: layer(*args, **kwargs)"}
Process = Callable[[str], SubjectProcess]

pytestmark = pytest.mark.slow(reason="it installs releases")


def test_what_is_drawn_for_a_release_it_can_build_and_fixed_can_clone(keras3: Process) -> None:
    process = keras3(OLD)
    trials = GraphTrials(process, KnownIssues(), cloners=("fixed",))
    for graph in draws(process, 3, 15, cloners=("fixed",)):
        assert trials.try_graph(graph).hits == ()
    assert trials.tally.refused == 0


CROP = "layers.CenterCrop(5, 3)(inputs, training=True)"
CALLED = {
    "training on other inputs": (
        "layers.CenterCrop(5, 3)(inputs, training=True)",
        (4, 4, 1),
        {"input_tensors": "keras.Input(shape=(4, 4, 1), name='x')"},
    ),
    "training with a call function": (CROP, (4, 4, 1), CALLS),
    "no mask with a call function": ("layers.LSTM(2)(inputs, mask=None)", (3, 4), CALLS),
    "a mask of Keras' own with a call function": ("layers.LSTM(2)(layers.Masking()(inputs))", (3, 4), CALLS),
}


@pytest.mark.parametrize("what", CALLED)
@pytest.mark.parametrize("subject", ["keras", "keras-nightly"])
def test_a_call_is_made_as_it_was_written(warm: Process, subject: str, what: str) -> None:
    call, shape, arguments = CALLED[what]
    source = f"{HEAD}\ninputs = keras.Input(shape={shape}, name='x')\nmodel = keras.Model(inputs, {call})\n"
    case = Case(source, ({"shape": list(shape), "dtype": "float32", "fill": "steps"},), arguments=arguments)
    trial = run(case, warm(had(lambda: in_full(subject))), ("fixed",))
    assert trial.clones["fixed"].verdict.value == "faithful"


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
    assert trial.clones["fixed"].verdict.value == "faithful"
