"""How far a trial has come, as its child says it."""

from __future__ import annotations

from typing import Any

import pytest

from clonediff.harness.inside.frameworks import framework
from clonediff.harness.inside.progress import units
from clonediff.harness.inside.trial import run_trial

SOURCE = "import keras\n\nmodel = keras.Sequential([keras.Input((2,)), keras.layers.Dense(2)])\n"


@pytest.mark.parametrize("costly", [False, True], ids=["cheap", "all"])
def test_a_trial_tells_how_far_it_has_come(costly: bool) -> None:
    told: list[dict[str, Any]] = []
    request = {"source": SOURCE, "cloners": ["upstream", "fixed"], "costly": costly}
    run_trial(request, framework("keras"), tell=told.append)
    done = [each["done"] for each in told]
    assert done == sorted(done)
    assert done[0] == 0
    assert 0.8 <= done[-1] < 1, "the last part begins and is not over"
    assert {"building the model", "cloning with upstream", "calling the clone of fixed"} <= {
        each["doing"] for each in told
    }


def test_what_a_trial_takes_grows_with_its_cloners_and_its_checks() -> None:
    assert units(0, False) < units(1, False) < units(1, True) < units(2, True)
