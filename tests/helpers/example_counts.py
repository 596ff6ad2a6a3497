"""The number of examples for a property: few by day, many with --all."""

from __future__ import annotations

import os

ALL = "CLONEDIFF_ALL"
"""The environment variable that runs all tests; --all sets it for the processes of tests."""

GRAPHS = 16
"""The graphs that the property tests draw of each subject, without an option."""

OF_BACKENDS = 30
"""The graphs of each further backend that is installed."""

MANY_GRAPHS = 200
"""The graphs of each subject with --all."""

SHARDS = 4
"""The tests into which the graphs of a subject are split, so that workers share them."""


def everything() -> bool:
    """Whether slow tests run, too."""
    return os.environ.get(ALL, "") not in ("", "0")


def examples(few: int, many: int) -> int:
    """The first number, or the second with --all."""
    return many if everything() else few
