"""Other ways to copy a model: each on one that it copies, and on one that it breaks; none held to more than it says."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from clonediff.harness.cli.options import CLONERS
from clonediff.harness.inside.cloners import CLONERS as BY_NAME
from clonediff.harness.inside.cloners.copies import COPIES, KEEP_VALUES
from clonediff.harness.scripts.reproducer import reproducer
from clonediff.harness.subjects import Case, SubjectProcess
from clonediff.harness.trials.triage import Verdict
from clonediff.harness.trials.trial import CloneTrial, run
from tests.planted import planted

WARM = Callable[[str], SubjectProcess]
SUBJECTS = ("keras", "tf_keras")
ON = [(subject, cloner) for subject in SUBJECTS for cloner in COPIES]
IMPORTS = {"keras": "import keras\n", "tf_keras": "import tf_keras as keras\n"}

PLAIN = """from {}keras import layers

inputs = keras.Input((4,), name="x")
x = layers.BatchNormalization()(layers.Dense(3)(inputs))
model = keras.Model(inputs, layers.Dropout(0.5)(x))
"""
CHAIN = """from {}keras import layers

model = keras.Sequential([keras.Input((4,)), layers.Dense(3), layers.Dropout(0.5)])
"""
FORGETS = """from {}keras import layers


@keras.utils.register_keras_serializable("clonediff")
class Scaled(layers.Dense):
    def __init__(self, units, factor=2.0, **kwargs):
        super().__init__(units, **kwargs)
        self.factor = factor

    def call(self, x):
        return super().call(x) * self.factor

    def get_config(self):
        return dict(name=self.name, units=self.units)


inputs = keras.Input((4,))
model = keras.Model(inputs, Scaled(3, factor=5.0)(inputs))
"""
SAVES_NOTHING = """from {}keras import layers


@keras.utils.register_keras_serializable("clonediff")
class Unsaved(layers.Dense):
    def save_own_variables(self, store):
        pass

    def load_own_variables(self, store):
        pass


inputs = keras.Input((4,))
model = keras.Model(inputs, Unsaved(3)(inputs))
"""
MARKED = """from {}keras import layers

inputs = keras.Input((4,), name="x")
layer = layers.Dense(3)
layer.supports_masking = not layer.supports_masking
model = keras.Model(inputs, layer(inputs))
"""


def copied(process: SubjectProcess, source: str, cloner: str, *, costly: bool = False) -> CloneTrial:
    return run(case(process, source), process, (cloner,), costly).clones[cloner]


def case(process: SubjectProcess, source: str) -> Case:
    subject = process.subject.generation
    spelled = source.replace("from {}keras", "from tf_keras" if subject == "tf_keras" else "from keras")
    return Case(IMPORTS[subject] + spelled, ({"shape": [4], "dtype": "float32", "fill": "normal"},))


@pytest.mark.parametrize("source", [PLAIN, CHAIN], ids=["functional", "sequential"])
@pytest.mark.parametrize(("subject", "cloner"), ON)
def test_a_plain_model_is_copied_faithfully(subject: str, cloner: str, source: str, warm: WARM) -> None:
    assert copied(warm(subject), source, cloner, costly=True).causes == ()


@pytest.mark.parametrize(("subject", "cloner"), ON)
def test_what_a_config_forgets_is_lost(subject: str, cloner: str, warm: WARM) -> None:
    clone = copied(warm(subject), FORGETS, cloner)
    assert clone.verdict is Verdict.DIVERGED
    assert "value" in {difference.aspect for difference in clone.differences if difference.check == "outputs"}


@pytest.mark.parametrize("subject", SUBJECTS)
def test_a_weight_that_no_file_has_is_missed_in_a_deep_copy(subject: str, warm: WARM) -> None:
    process, cloner = warm(subject), "deepcopy"
    clone = copied(process, SAVES_NOTHING, cloner)
    cause = next(cause for cause in clone.causes if cause.root.aspect == "value not kept")
    script = reproducer(case(process, SAVES_NOTHING).source, subject, cause.root, cloner, case(process, SAVES_NOTHING))
    assert script.text.index("model.set_weights(weights)") < script.text.index("clone = ") < script.text.index("assert")


def test_a_config_is_not_held_to_bring_weights(keras: SubjectProcess) -> None:
    assert copied(keras, SAVES_NOTHING, "roundtrip").verdict is Verdict.FAITHFUL
    assert "roundtrip" not in KEEP_VALUES


@pytest.mark.parametrize(("subject", "cloner"), ON)
def test_what_somebody_set_on_a_layer_is_in_no_config(subject: str, cloner: str, warm: WARM) -> None:
    assert copied(warm(subject), MARKED, cloner).verdict is Verdict.FAITHFUL


def test_the_same_of_upstream_is_a_difference(keras: SubjectProcess) -> None:
    assert [cause.root.aspect for cause in copied(keras, MARKED, "upstream").causes] == ["attribute.supports_masking"]


def test_layers_of_the_original_in_any_other_copy_are_told(keras: SubjectProcess) -> None:
    checks = {each.check for each in copied(keras, PLAIN, planted("layer_shared_with_original")).differences}
    assert "own" in checks


@pytest.mark.parametrize("name", COPIES)
def test_each_can_be_chosen_and_its_script_has_it(name: str) -> None:
    assert name in CLONERS
    assert name in BY_NAME
