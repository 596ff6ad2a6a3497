"""What only reads, or only says how it is called, waits for nothing that searching or Keras needs."""

from __future__ import annotations

import pytest

from tests.command_line import imported_by

SLOW = {"hypothesis", "dask", "distributed", "tensorflow", "keras", "tf_keras", "jax", "torch"}


@pytest.mark.parametrize(
    "code", ["import clonediff.reports.reading", "import clonediff.reports.known", "import clonediff"]
)
def test_importing_what_reads_is_quick(code: str) -> None:
    modules = imported_by(code=code)
    assert code.split()[1] in modules
    assert not modules & SLOW


@pytest.mark.parametrize("command", ["", "replay", "repro"])
def test_help_is_quick(command: str) -> None:
    modules = imported_by(*command.split(), "--help")
    assert "click" in modules
    assert not modules & SLOW
