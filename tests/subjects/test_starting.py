"""What only reads, or only says how it is called, waits for nothing that searching or Keras needs."""

from __future__ import annotations

import pytest

from clonediff import strategies
from clonediff.strategies import asking, clone_arguments, graph, graphs
from tests.command_line import imported_by

SLOW = {"hypothesis", "dask", "distributed", "tensorflow", "keras", "tf_keras", "jax", "torch"}


@pytest.mark.parametrize(
    ("code", "brings"),
    [
        pytest.param(
            "import clonediff.reports.reading, clonediff.reports.writing",
            "clonediff.reports",
            id="reading a run and writing its reports",
        ),
        pytest.param(
            "import clonediff.reports.known",
            "clonediff.reports",
            id="known issues and past bugs",
        ),
        pytest.param("import clonediff", "clonediff", id="clonediff"),
        pytest.param(
            "from clonediff.strategies import from_json, to_json", "clonediff.strategies", id="reading a graph"
        ),
    ],
)
def test_importing_what_reads_is_quick(code: str, brings: str) -> None:
    modules = imported_by(code=code)
    assert brings in modules
    assert not modules & SLOW


@pytest.mark.parametrize("command", ["", "replay", "repro"])
def test_help_is_quick(command: str) -> None:
    modules = imported_by(*command.split(), "--help")
    assert "click" in modules
    assert not modules & SLOW


def test_each_public_name_of_strategies_is_that_of_its_module() -> None:
    for name in strategies.__all__:
        homes = [module for module in (graph, graphs, asking, clone_arguments) if name in vars(module)]
        assert homes
        assert getattr(strategies, name) is vars(homes[0])[name]
    assert set(strategies.__all__) <= set(dir(strategies))


def test_a_name_that_strategies_lacks_is_told() -> None:
    with pytest.raises(AttributeError, match="module 'clonediff.strategies' has no attribute 'functional_graph'"):
        strategies.functional_graph  # noqa: B018
