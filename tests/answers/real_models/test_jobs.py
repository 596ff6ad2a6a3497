"""Recipes tried in processes with limits: one that fails costs itself."""

from __future__ import annotations

import pytest

from clonediff.harness.answers.checked_model.looking import CheckWanted
from clonediff.harness.answers.checked_model.record import Status
from clonediff.harness.answers.real_models.jobs import limits_of, try_all
from clonediff.harness.answers.real_models.recipes import Recipe
from clonediff.harness.answers.real_models.results import CloneOutcome, RealModel, made
from clonediff.harness.subjects.warm_child import GIB
from clonediff.reports.known import KnownIssues
from tests.waiting import PATIENCE

SMALL = "import keras\n\nmodel = keras.Sequential([keras.Input((2,)), keras.layers.Dense(2)])\n"
SUBJECT = "keras"


def _tried(*recipes: Recipe, jobs: int = 1, seconds: float = PATIENCE) -> dict[str, RealModel]:
    wanted = CheckWanted(costly=False, seconds=seconds, processes=1)
    limits = limits_of(wanted, 4 * GIB)
    return {
        each.name: each for each in try_all(recipes, wanted, limits, KnownIssues(()), lambda where: None, jobs=jobs)
    }


def test_a_model_that_ends_its_process_or_cannot_be_built_costs_itself() -> None:
    tried = _tried(
        Recipe("a:dies", SUBJECT, "import os\n\nos._exit(3)\n"),
        Recipe("a:raises", SUBJECT, "model = 1 / 0\n"),
        Recipe("a:none", SUBJECT, unable="nobody says what it is to get"),
        Recipe("a:small", SUBJECT, SMALL),
    )
    assert {name: each.checked.status for name, each in tried.items()} == {
        "a:dies": Status.LOST,
        "a:raises": Status.NOT_LOADED,
        "a:none": Status.NO_SUBJECT,
        "a:small": Status.CHECKED,
    }
    assert "ZeroDivisionError" in tried["a:raises"].checked.reason
    small = tried["a:small"]
    assert [made(each) for each in small.checked.clones] == [CloneOutcome.FAITHFUL, CloneOutcome.FAITHFUL]
    assert small.source == SMALL


@pytest.mark.slow(reason="a Keras of its own; one whose time is over is lost in test_check_command, too")
def test_a_model_that_hangs_is_ended() -> None:
    (tried,) = _tried(Recipe("a:hangs", SUBJECT, "while True:\n    pass\n"), seconds=1.0).values()
    assert tried.checked.status is Status.LOST
    assert "took more than 1 s" in tried.checked.reason


@pytest.mark.slow(reason="two Keras of its own; the test above has each recipe tried once, one after another")
def test_several_at_once_try_each_once() -> None:
    recipes = [Recipe(f"a:{number}", SUBJECT, SMALL) for number in range(3)]
    assert set(_tried(*recipes, jobs=2)) == {"a:0", "a:1", "a:2"}
