"""`multi_gpu_model` as a cloner, in the real releases: the scenario in which users met the bug."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec.structs import replace

from clonediff.harness.answers.checked_model.looking import CheckWanted, look
from clonediff.harness.answers.checked_model.models import parse
from clonediff.harness.inside.cloners.multi_gpu import ITS_OWN, SIMULATED
from clonediff.harness.scripts.of_finding import script_of
from clonediff.harness.scripts.run_alone import tried_alone
from clonediff.harness.subjects.case import Case
from clonediff.harness.subjects.place import ReleasePlace
from clonediff.harness.subjects.process import SubjectProcess
from clonediff.harness.trials.expressible import unsupported_cloner
from clonediff.harness.trials.graph_trials import GraphTrials
from clonediff.harness.trials.triage import Verdict
from clonediff.harness.trials.trial import CloneTrial, Hit, run
from clonediff.reports.known import KnownIssues, load
from clonediff.strategies import from_json

Warm = Callable[[str], SubjectProcess]

REPORTED = """\
import keras
from keras import layers

inputs = keras.Input(shape=(1,))
one, other = layers.Lambda(lambda x: [x, x])(inputs)
model = keras.Model(inputs, layers.Add()([one, other]))
"""
MASKED = """\
import keras
from keras import layers

inputs = keras.Input(shape=(3, 4))
masking = layers.Masking()(inputs)
lstm = layers.LSTM(2)(masking, training=False)
model = keras.Model(inputs, lstm)
"""


LAST = pytest.param("keras==2.3.1", marks=pytest.mark.slow(reason="one release more; what is tried is as in 2.2.5"))


def tried(process: SubjectProcess, source: str, shape: list[int], *cloners: str) -> dict[str, CloneTrial]:
    trial = run(Case(source, ({"shape": shape, "dtype": "float32"},)), process, cloners)
    assert trial.refused is None, trial.refused
    return trial.clones


def checks(clone: CloneTrial) -> set[str]:
    return {difference.check for difference in clone.differences}


def test_the_reported_bug_shows_in_2_2_4_and_fixed_holds_there(warm: Warm) -> None:
    clones = tried(warm("keras==2.2.4"), REPORTED, [1], "multi_gpu", "multi_gpu/fixed")
    (cause,) = clones["multi_gpu"].causes
    assert cause.root.raised is not None
    assert cause.root.raised.type == "AssertionError"
    assert cause.root.raised.message.startswith("Could not compute output Tensor(")
    assert cause.root.raised.frame == "keras/models.py:_clone_functional_model"
    assert clones["multi_gpu/fixed"].verdict is Verdict.FAITHFUL


@pytest.mark.parametrize("release", ["keras==2.2.5", LAST])
def test_the_reported_bug_is_gone_after_it(release: str, warm: Warm) -> None:
    clones = tried(warm(release), REPORTED, [1], "multi_gpu", "multi_gpu/fixed")
    assert not checks(clones["multi_gpu"]) & {"made", "outputs", "weights", "sharing"}
    assert clones["multi_gpu/fixed"].verdict is Verdict.FAITHFUL


@pytest.mark.parametrize("release", ["keras==2.2.4", LAST])
def test_running_the_replicas_is_not_held_against_the_clone(release: str, warm: Warm) -> None:
    clones = tried(warm(release), MASKED, [3, 4], "multi_gpu/fixed")
    assert clones["multi_gpu/fixed"].differences == ()


def test_without_two_gpus_it_says_that_the_placement_is_simulated(warm: Warm) -> None:
    process = warm("keras==2.2.4")
    assert not [device for device in process.ready.devices if device.startswith("gpu")]
    clones = tried(process, REPORTED, [1], "multi_gpu", "upstream")
    assert clones["multi_gpu"].notes == (SIMULATED,)
    assert clones["upstream"].notes == ()


def test_what_multi_gpu_model_cannot_replicate_at_all_accuses_no_clone(warm: Warm) -> None:
    source = """\
import keras
from keras import layers

inputs = keras.Input(batch_shape=(2, 3, 4))
model = keras.Model(inputs, layers.Dense(4)(inputs))
"""
    case = Case(source, ({"shape": [3, 4], "dtype": "float32", "batch": 2},))
    clones = run(case, warm("keras==2.2.5"), ("multi_gpu", "multi_gpu/fixed")).clones
    assert "made" not in checks(clones["multi_gpu"])
    assert clones["multi_gpu"].notes == (SIMULATED, ITS_OWN % "ValueError")
    assert clones["multi_gpu/fixed"].verdict is Verdict.FAITHFUL


def accused(process: SubjectProcess, known: KnownIssues) -> Hit:
    """What trials has to say of `multi_gpu_model` on the graph of the reported bug: one thing."""
    reported = load()["keras2-two-outputs"]
    trials = GraphTrials(process, known, cloners=("multi_gpu", "multi_gpu/fixed"), rate=0)
    (hit,) = trials.try_graph(from_json(reported.example or "", reported.id)).hits
    assert hit.cloner == "multi_gpu"
    return hit


@pytest.mark.parametrize(("cloner", "explains"), [("upstream", True), ("fixed", False), ("multi_gpu", False)])
def test_it_has_the_known_issues_of_what_it_clones_with(cloner: str, explains: bool, warm: Warm) -> None:
    issue = replace(load()["keras2-two-outputs"], cloner=cloner)
    hit = accused(warm("keras==2.2.4"), KnownIssues((issue,)))
    assert hit.known == (issue if explains else None)


def test_check_knows_those_issues_too(warm: Warm, tmp_path: Path) -> None:
    (tmp_path / "reported.py").write_text(f"def make():\n{textwrap.indent(REPORTED, '    ')}    return model\n")
    wanted = CheckWanted(cloners=("multi_gpu",), checks=())
    checked = look(parse(f"{tmp_path / 'reported.py'}:make"), warm("keras==2.2.4"), wanted, load())
    assert [each.known for each in checked.breaks] == ["keras2-two-outputs"], checked


def test_an_hit_says_that_the_placement_is_simulated(warm: Warm) -> None:
    assert accused(warm("keras==2.2.4"), load()).notes == (SIMULATED,)


def test_its_script_fails_alone(warm: Warm, release_place: Callable[[str], ReleasePlace]) -> None:
    process = warm("keras==2.2.4")
    script = script_of(accused(process, KnownIssues()), process.subject.dialect, process.versions)
    assert "multi_gpu_model(model, gpus=2, cpu_relocation=True)" in script.text
    assert script.raises == "AssertionError"
    assert tried_alone(script, process.subject, release_place("keras==2.2.4"))[0] is True


@pytest.mark.parametrize("cloner", ["multi_gpu", "multi_gpu/fixed", "proposed/000", "upstream"])
def test_keras_2_is_able_to_clone_with_each(cloner: str, warm: Warm) -> None:
    assert unsupported_cloner(cloner, warm("keras==2.2.4")) == ""
