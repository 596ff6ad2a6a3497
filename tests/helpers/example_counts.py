"""The numbers of examples: few by day, many with --all."""

from __future__ import annotations

import os

ALL_VARIABLE = "CLONEDIFF_ALL"
"""The environment variable that selects all tests; --all sets it for the processes of tests."""

GRAPHS = 16
"""The number of graphs that the property tests draw for each subject by default."""

BACKEND_GRAPHS = 30
"""The number of graphs for each further backend that is installed."""

MANY_GRAPHS = 200
"""The number of graphs for each subject with --all."""

SHARDS = 4
"""The number of tests over which the graphs of a subject are spread, for several workers."""


def runs_all_tests() -> bool:
    """Whether slow tests run, too."""
    return os.environ.get(ALL_VARIABLE, "") not in ("", "0")


def example_count(few: int, many: int) -> int:
    """Return `few`, or `many` with --all."""
    return many if runs_all_tests() else few
