"""What an audit says of classes that lose an argument, and of those that only look as if they did."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from clonediff.harness.answers.audit.jobs import classes_of
from clonediff.harness.answers.audit.one_class import Auditor
from clonediff.harness.answers.audit.record import ClassAudited
from clonediff.harness.inside.audit import Audit
from clonediff.harness.inside.frameworks import framework
from clonediff.harness.source import DIALECTS

FILE = str(Path(__file__).with_name("planted.py"))


@cache
def audited(target: str) -> ClassAudited:
    """What came of a class."""
    generation, (kind,) = classes_of(target)
    with framework(generation).scratch():
        return Auditor(Audit(framework(generation)), DIALECTS[generation]).audit(kind)


def answers(kind: str) -> dict[str, str]:
    return {argument.name: argument.answer for argument in audited(f"{FILE}:{kind}").arguments}


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        pytest.param(f"{FILE}:Loses", {"factor", "note", "seed"}, id="left out of the config"),
        pytest.param(f"{FILE}:Crashes", {"sizes", "width"}, id="a config that is not taken"),
        pytest.param(f"{FILE}:Needs", {""}, id="needed"),
        pytest.param(f"{FILE}:Clips", {"low"}, id="a constraint"),
        pytest.param(f"{FILE}:Warns", {"factor"}, id="a property that warns"),
        pytest.param(f"{FILE}:Normalises", set(), id="written in another form"),
        pytest.param(f"{FILE}:Draws", set(), id="drawn"),
        pytest.param("keras.layers.Dense", set(), id="Dense"),
        pytest.param("keras.layers.Conv1D", set(), id="Conv1D"),
        pytest.param("keras.layers.SpatialDropout1D", {"dtype"}, id="SpatialDropout1D"),
        pytest.param("keras.layers.SimpleRNN", {"seed"}, id="SimpleRNN"),
        pytest.param("keras.optimizers.SGD", set(), id="SGD"),
        pytest.param("keras.metrics.MeanSquaredError", set(), id="metric"),
        pytest.param("keras.metrics.AUC", {"label_weights"}, id="lost in JSON"),
        pytest.param("keras.initializers.VarianceScaling", set(), id="initializer"),
        pytest.param("keras.regularizers.L1L2", set(), id="regularizer"),
        pytest.param("keras.constraints.MaxNorm", set(), id="constraint"),
        pytest.param("keras.optimizers.schedules.CosineDecay", set(), id="schedule"),
        pytest.param("keras.losses.Huber", {"delta", "dtype"}, id="Huber"),
        pytest.param("tf_keras.layers.Dense", set(), id="tf_keras"),
    ],
)
def test_what_is_lost(target: str, expected: set[str]) -> None:
    found = audited(target)
    assert not found.reason
    lost = {argument.name for argument in found.lost}
    if target.startswith("keras.") and framework("keras").versions()["keras"] != "3.15.1":
        assert lost <= expected
    else:
        assert lost == expected


def test_what_is_kept_is_said_to_be() -> None:
    kept = {name for name, answer in answers("Normalises").items() if answer == "kept"}
    assert kept >= {"sizes", "mode", "name"}
    assert answers("Loses")["units"] == "kept"
    assert answers("Normalises")["autocast"] == "cannot tell"


def test_a_class_without_a_config_is_not_audited() -> None:
    assert audited(f"{FILE}:NoConfig").reason.endswith(": NotImplementedError: it has no config")


def test_each_class_of_a_file_is_found_once() -> None:
    names = [kind.name.rpartition(":")[2] for kind in classes_of(FILE)[1]]
    assert len(set(names)) == len(names)
    assert set(names) >= {"Clips", "Crashes", "Draws"} and "Layer" not in names
