"""What an audit says of classes that lose an argument, and of those that only look as if they did."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from clonediff.harness.answers.audit.asking import Auditing
from clonediff.harness.answers.audit.record import ArgumentAudited, ClassAudited
from clonediff.harness.source import DIALECTS
from tests.warm_keras import process_of

FILE = str(Path(__file__).with_name("planted.py"))


@cache
def audited(target: str) -> dict[str, ClassAudited]:
    """What came of the classes of a target, by their own names."""
    process = process_of("keras")
    auditing = Auditing(process.audited, DIALECTS["keras"])
    found = map(auditing.audit, process.auditable(target))
    return {each.name.replace(":", ".").rpartition(".")[2]: each for each in found}


def planted(kind: str) -> ClassAudited:
    return audited(f"{FILE}:{kind}")[kind]


def of(kind: ClassAudited, name: str) -> ArgumentAudited:
    return next(each for each in kind.arguments if each.name == name)


def lost(kind: ClassAudited) -> dict[str, str]:
    return {each.name: each.worst.how for each in kind.lost}


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        pytest.param("Loses", {"factor": "computes", "note": "holds", "seed": "holds"}, id="left out of the config"),
        pytest.param("Crashes", {"sizes": "crashes", "width": "weights"}, id="a config that is not taken"),
        pytest.param("NeedsBoth", {"mean": "computes", "variance": "computes"}, id="refused alone"),
        pytest.param("Needs", {"how_many": "crashes"}, id="needed"),
        pytest.param("Clips", {"low": "computes"}, id="a constraint"),
        pytest.param("Normalises", {}, id="written in another form"),
        pytest.param("Draws", {}, id="drawn"),
        pytest.param("Shuffles", {}, id="drawn by a metric"),
        pytest.param("Annotated", {}, id="of a type of which nobody knows a value"),
    ],
)
def test_what_is_lost(kind: str, expected: dict[str, str]) -> None:
    assert lost(planted(kind)) == expected


def test_what_is_kept_is_said_to_be() -> None:
    assert {each.name for each in planted("Normalises").arguments if each.answer == "kept"} >= {"sizes", "mode", "name"}
    assert of(planted("Loses"), "units").answer == "kept"


def test_what_a_base_loses_is_no_fault_of_the_class() -> None:
    autocast = of(planted("Normalises"), "autocast")
    assert (autocast.answer, autocast.reason) == ("cannot tell", "Layer loses it")


def test_a_class_without_a_config_is_not_audited() -> None:
    assert planted("NoConfig").reason == "it has no config: NotImplementedError: it has no config"


def test_each_class_of_a_file_is_found_once() -> None:
    names = [each.name.rpartition(":")[2] for each in process_of("keras").auditable(FILE)]
    assert len(set(names)) == len(names)
    assert set(names) >= {"Clips", "Crashes", "Shuffles"} and not {"Layer", "Table"} & set(names)


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        pytest.param("keras.layers.Dense", {}, id="Dense"),
        pytest.param("keras.layers.Conv1D", {}, id="Conv1D"),
        pytest.param("keras.layers.Dropout", {}, id="Dropout"),
        pytest.param("keras.optimizers.SGD", {}, id="SGD"),
        pytest.param("keras.metrics.MeanSquaredError", {}, id="metric"),
        pytest.param("keras.initializers.VarianceScaling", {}, id="initializer"),
        pytest.param("keras.regularizers.L1L2", {}, id="regularizer"),
        pytest.param("keras.constraints.MaxNorm", {}, id="constraint"),
        pytest.param("keras.optimizers.schedules.CosineDecay", {}, id="schedule"),
        pytest.param("keras.losses.Huber", {"delta": "computes", "dtype": "computes"}, id="Huber"),
        pytest.param(
            "keras.layers.SimpleRNN",
            {"seed": "holds"},
            id="SimpleRNN",
            marks=pytest.mark.slow(reason="the longest of these; a planted layer loses its seed, too"),
        ),
    ],
)
def test_of_keras(kind: str, expected: dict[str, str]) -> None:
    (found,) = audited(kind).values()
    assert not found.reason
    assert set(lost(found).items()) <= set(expected.items())
    if process_of("keras").ready.keras == "3.15.1":
        assert lost(found) == expected
