"""Releases of Keras 3 as subjects: their layers are drawn, and the fixed cloner clones them faithfully."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from clonediff.harness.observation import Case
from clonediff.harness.search.search import draw_graphs
from clonediff.harness.subjects import SubjectProcess
from clonediff.harness.subjects.releases import pin
from clonediff.harness.trials.graph_trials import GraphTrials
from clonediff.harness.trials.trial import run
from clonediff.reports.known import KnownIssues
from tests.helpers.required_releases import get_or_skip

OLDEST = "keras==3.10.0"
"""The oldest release that the fixed cloner supports."""
SUBJECTS = ("keras", "keras-nightly")
HEAD = "import keras\nfrom keras import layers\n\n"
CALL_FUNCTION = {"call_function": "lambda layer, *args, **kwargs: layer(*args, **kwargs)"}
CROP = "layers.CenterCrop(5, 3)(inputs, training=True)"
MODEL_WITH_OPTION = """
class OwnModel(keras.Model):
    def __init__(self, inputs, outputs, name=None, *, factor=1.0, **kwargs):
        super().__init__(inputs, outputs, name=name, **kwargs)
        self.factor = factor

    def get_config(self):
        return {**super().get_config(), "factor": self.factor}


model = OwnModel(inputs, [model.output, model.output], factor=2.0)
"""
CASES = {
    "training on other inputs": (SUBJECTS, CROP, (4, 4, 1), {"input_tensors": "keras.Input((4, 4, 1), name='x')"}),
    "training with a call function": (SUBJECTS, CROP, (4, 4, 1), CALL_FUNCTION),
    # Before 3.16, `mask=None` may come from Keras itself, so `call_function` does not get it.
    "no mask with a call function": (["keras-nightly"], "layers.LSTM(2)(inputs, mask=None)", (3, 4), CALL_FUNCTION),
    "a mask of Keras with one": (SUBJECTS, "layers.LSTM(2)(layers.Masking()(inputs))", (3, 4), CALL_FUNCTION),
    "AugMix": ([OLDEST], "layers.AugMix(num_chains=2, seed=3)(inputs)", (4, 4, 3), {}),
    "a model with an option": ([OLDEST], f"layers.Dense(2)(inputs))\n{MODEL_WITH_OPTION}#", (3,), {}),
}
"""By case: subjects, outputs, the shape of the input, and the arguments of `clone_model`."""

pytestmark = pytest.mark.slow(reason="it installs releases")


def test_graphs_drawn_for_a_release_are_built_and_cloned(warm: Callable[[str], SubjectProcess]) -> None:
    process = warm(OLDEST)
    trials = GraphTrials(process, KnownIssues(), cloners=("fixed",))
    for graph in draw_graphs(process, 3, 15, cloners=("fixed",)):
        assert trials.try_graph(graph).found_causes == ()
    assert trials.tally.refused == 0


@pytest.mark.parametrize(("subject", "name"), [(subject, name) for name in CASES for subject in CASES[name][0]])
def test_models_of_other_releases_are_cloned(warm: Callable[[str], SubjectProcess], subject: str, name: str) -> None:
    _, outputs, shape, arguments = CASES[name]
    source = f"{HEAD}inputs = keras.Input({shape}, name='x')\nmodel = keras.Model(inputs, {outputs})\n"
    case = Case(source, ({"shape": list(shape), "dtype": "float32", "fill": "steps"},), arguments=arguments)
    trial = run(case, warm(get_or_skip(lambda: pin(subject))), ("fixed",))
    assert trial.clones["fixed"].verdict.value == "faithful"
