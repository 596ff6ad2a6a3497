"""The audit as a test of one's own package."""

from __future__ import annotations

import importlib.util
import warnings
from pathlib import Path
from types import ModuleType

import pytest

from clonediff import IncompleteConfig, assert_config_is_complete, classes_with_config


@pytest.fixture(scope="module")
def planted() -> ModuleType:
    spec = importlib.util.spec_from_file_location("planted", Path(__file__).with_name("planted.py"))
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_complete_config_passes(planted: ModuleType) -> None:
    assert_config_is_complete(planted.Normalises)


def test_what_is_lost_is_named(planted: ModuleType) -> None:
    with pytest.raises(IncompleteConfig, match=r"the config of Clips loses .*:\n  low=.*: _low is 0.0, not"):
        assert_config_is_complete(planted.Clips)


def test_what_is_lost_is_named_where_reading_it_warns_and_warnings_are_errors(planted: ModuleType) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(
            IncompleteConfig,
            match=r"the config of Warns loses .*:\n  factor=.*: factor is 1\.0",
        ):
            assert_config_is_complete(planted.Warns)


def test_what_is_ignored_may_be_lost(planted: ModuleType) -> None:
    assert_config_is_complete(planted.Clips, ignore=["low"])


def test_a_value_that_is_given_is_tried(planted: ModuleType) -> None:
    with pytest.raises(IncompleteConfig, match="note='louder'|note=\"louder\""):
        assert_config_is_complete(planted.Loses, values={"note": ["louder"]}, ignore=["factor", "seed"])


def test_a_class_that_cannot_be_audited_is_an_error(planted: ModuleType) -> None:
    with pytest.raises(ValueError, match="NoConfig: it cannot be made, or has no config"):
        assert_config_is_complete(planted.NoConfig)


def test_the_classes_of_a_module_are_its_own(planted: ModuleType) -> None:
    names = [each.__name__ for each in classes_with_config(planted)]
    assert names == sorted(names) and "Loses" in names and "Layer" not in names
