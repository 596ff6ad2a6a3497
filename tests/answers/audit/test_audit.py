"""Audits of classes that lose an argument, and of classes that only seem to lose one."""

from __future__ import annotations

import importlib.util
import re
import warnings
from operator import attrgetter
from pathlib import Path
from types import ModuleType

import keras
import pytest
import tf_keras

from clonediff import IncompleteConfig, assert_config_is_complete
from tests.helpers.command_line import interrupt, start_clonediff
from tests.helpers.waiting import wait_until

FILE = Path(__file__).with_name("planted.py")
HANGING_CLASS = "import os\nimport keras\n\n\nclass Hangs(keras.layers.Layer):\n    def __init__(self):\n        {}\n"


@pytest.fixture(scope="module")
def planted() -> ModuleType:
    spec = importlib.util.spec_from_file_location("planted", FILE)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("target", "lost"),
    [
        pytest.param("planted.LossyLayer", {"factor", "note", "seed"}, id="left out of the config"),
        pytest.param("planted.BrokenConfig", {"sizes", "width"}, id="a config that the constructor refuses"),
        pytest.param("planted.RequiredArgument", {"any"}, id="a required argument"),
        pytest.param("planted.ClipConstraint", {"low"}, id="a constraint"),
        pytest.param("planted.NormalizedArguments", set(), id="normalized arguments"),
        pytest.param("planted.RandomOffset", set(), id="a random attribute"),
        pytest.param("keras.layers.SpatialDropout1D", {"dtype"}, id="SpatialDropout1D"),
        pytest.param("keras.layers.SimpleRNN", {"seed"}, id="SimpleRNN"),
        pytest.param("keras.optimizers.SGD", set(), id="optimizer"),
        pytest.param("keras.metrics.AUC", {"label_weights"}, id="lost in JSON"),
        pytest.param("keras.losses.Huber", {"delta", "dtype"}, id="Huber"),
        pytest.param("tf_keras.layers.Dense", set(), id="tf_keras"),
    ],
)
def test_audit_names_the_arguments_that_a_config_loses(target: str, lost: set[str], planted: ModuleType) -> None:
    package, _, name = target.partition(".")
    kind = attrgetter(name)({"planted": planted, "keras": keras, "tf_keras": tf_keras}[package])
    names: set[str] = set()
    try:
        assert_config_is_complete(kind)
    except IncompleteConfig as error:
        names = set(re.findall(r"(?m)^  (\w*)", str(error)))
    assert names == lost if package != "keras" or keras.__version__ == "3.15.1" else names <= lost


def test_assert_config_is_complete_names_lost_arguments(planted: ModuleType) -> None:
    assert_config_is_complete(planted.NormalizedArguments)
    assert_config_is_complete(planted.ClipConstraint, ignore=["low"])
    with pytest.raises(IncompleteConfig, match=r"the config of ClipConstraint loses .*:\n  low=.*: _low is 0.0, not"):
        assert_config_is_complete(planted.ClipConstraint)
    with pytest.raises(IncompleteConfig, match="note='louder'|note=\"louder\""):
        assert_config_is_complete(planted.LossyLayer, values={"note": ["louder"]}, ignore=["factor", "seed"])
    with pytest.raises(ValueError, match="NoConfig: it cannot be made, or has no config"):
        assert_config_is_complete(planted.NoConfig)
    with pytest.raises(ValueError, match="UnusableConfig: no constructor arguments were found that work: .*wrong"):
        assert_config_is_complete(planted.UnusableConfig)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(IncompleteConfig, match=r"factor=.*: factor is 1\.0"):
            assert_config_is_complete(planted.WarningProperty)


def test_an_interrupt_ends_an_audit_at_once(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(
        HANGING_CLASS.format(f'open("{tmp_path}/waits", "w").close(); __import__("time").sleep(600)')
    )
    with start_clonediff("audit", "mine.py", cwd=tmp_path) as process:
        wait_until((tmp_path / "waits").exists, process)
        _, stderr = interrupt(process)
    assert process.returncode == 130, stderr
