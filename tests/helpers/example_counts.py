"""How many examples a property is tried on: what shows it, and under --all as many as a night has time for."""

from __future__ import annotations

import os

ALL = "CLONEDIFF_ALL"
"""The variable of the environment that asks for everything; --all sets it, for whatever the tests start."""

GRAPHS = 16
"""The graphs of a subject that the property tests draw by day, where no option says how many."""

OF_BACKENDS = 30
"""As many of each further backend that is installed."""

MANY_GRAPHS = 200
"""As many where everything is asked for."""

SHARDS = 4
"""The tests into which the graphs of a subject are split, so that workers share them."""


def everything() -> bool:
    """Whether slow tests run, too."""
    return os.environ.get(ALL, "") not in ("", "0")


def examples(few: int, many: int) -> int:
    """Few, and many where everything is asked for."""
    return many if everything() else few
