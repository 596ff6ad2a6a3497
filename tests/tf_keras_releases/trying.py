"""A model tried on one of the releases, by upstream and by fixed."""

from __future__ import annotations

from packaging.version import Version

from clonediff.harness.subjects import Case, SubjectProcess
from clonediff.harness.trials.triage import Verdict
from clonediff.harness.trials.trial import Trial, run

HEAD = {
    "tf_keras": "import tf_keras as keras\nfrom tf_keras import layers\n",
    "tf.keras": "from tensorflow import keras\nfrom tensorflow.keras import layers\n",
}
IMAGES = {"shape": [4, 4, 2], "dtype": "float32", "fill": "normal"}
WORDS = {"shape": [1], "dtype": "int64", "fill": "ids", "high": 4}
FLOATS = {"shape": [4], "dtype": "float32", "fill": "normal"}
STEPS = {"shape": [3, 4], "dtype": "float32", "fill": "steps"}


def trial_of(release: SubjectProcess, body: str, fed: dict[str, object], *checks: str) -> Trial:
    case = Case(HEAD[release.subject.dialect] + body, (fed,), seed=5)
    trial = run(case, release, ("upstream", "fixed"), checks)
    assert trial.refused is None, trial.refused
    assert trial.lost is None, trial.lost
    assert trial.clones["fixed"].verdict is Verdict.FAITHFUL, trial.clones["fixed"].differences
    return trial


def before(release: SubjectProcess, version: str) -> bool:
    """Whether this is the tf.keras of a TensorFlow before that one."""
    subject = release.subject
    return subject.package == "tensorflow" and Version(subject.version or "") < Version(version)


def upstream_aspects(trial: Trial) -> set[str]:
    return {difference.aspect for difference in trial.clones["upstream"].differences}
