"""What only reads, or only says how it is called, waits for nothing that searching or Keras needs."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import strategies
from strategies import graph, graphs, typing, ways
from tests.reports.making import finding, run_folder
from tests.waiting import PATIENCE

SLOW = {"hypothesis", "dask", "distributed", "tensorflow", "keras", "tf_keras", "jax", "torch"}
CLONEDIFF = "from harness.cli import main; main()"


def imported(code: str, *arguments: str | Path) -> set[str]:
    """The packages that a fresh process has imported by its end."""
    command = [sys.executable, "-X", "importtime", "-c", code, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert "Traceback" not in done.stderr, done.stderr[-2000:]
    modules = [line.rpartition("|")[2].strip() for line in done.stderr.splitlines()]
    return {module.partition(".")[0] for module in modules}


@pytest.mark.parametrize(
    ("code", "brings"),
    [
        pytest.param("import reports.store, reports.writing", "reports", id="reading a run and writing its reports"),
        pytest.param("import reports.known, reports.corpus", "reports", id="known issues and past bugs"),
        pytest.param("import harness", "harness", id="harness"),
        pytest.param("from strategies import read_example, to_json", "strategies", id="reading a graph"),
    ],
)
def test_importing_what_reads_is_quick(code: str, brings: str) -> None:
    names = imported(code)
    assert brings in names
    assert not names & SLOW


@pytest.mark.parametrize("arguments", [("--help",), ("report", "--help"), ("subjects", "--help")], ids=" ".join)
def test_help_is_quick(arguments: tuple[str, ...]) -> None:
    names = imported(CLONEDIFF, *arguments)
    assert "click" in names
    assert not names & SLOW


def test_a_report_is_drawn_without_what_searching_needs(tmp_path: Path) -> None:
    run_folder(tmp_path, [finding(0)])
    assert not imported(CLONEDIFF, "report", tmp_path) & SLOW
    assert (tmp_path / "report.html").is_file()


def test_each_public_name_of_strategies_is_that_of_its_module() -> None:
    for name in strategies.__all__:
        homes = [module for module in (graph, graphs, typing, ways) if name in vars(module)]
        assert homes
        assert getattr(strategies, name) is vars(homes[0])[name]
    assert set(strategies.__all__) <= set(dir(strategies))


def test_a_name_that_strategies_lacks_is_told() -> None:
    with pytest.raises(AttributeError, match="module 'strategies' has no attribute 'functional_graph'"):
        strategies.functional_graph  # noqa: B018
