"""`functional_graphs` in a user's test: graphs contain the user's layers, can run, and shrink."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.helpers.waiting import PATIENCE

TEST = """
import os
import keras
import pytest
from hypothesis import Phase, given, settings
from clonediff import check_clone, clone_model, functional_graphs


@keras.saving.register_keras_serializable()
class Halve(keras.layers.Layer):
    def __init__(self, by, **kwargs):
        super().__init__(**kwargs)
        self.by = by

    def call(self, x):
        return x / self.by

    def get_config(self):
        return {**super().get_config(), "by": self.by}


seen = []


@settings(deadline=None, max_examples=12, database=None, derandomize=True)
@given(functional_graphs(layers=[Halve], values={"by": [2.0]}))
def test_clones_are_faithful(graph):
    seen.append(graph.source)
    check_clone(graph, clone_model)


def test_the_layer_was_drawn():
    assert any("Halve(" in source for source in seen)


@settings(deadline=None, max_examples=20, database=None, derandomize=True)
@given(functional_graphs(kinds=["EinsumDense"]))
def test_every_drawn_model_can_run(graph):
    names = {}
    exec(graph.source, names)
    names["model"]([keras.ops.ones([size or 2 for size in spec.shape]) for spec in names["model"].inputs])


def test_a_layer_defined_in_a_function_is_refused():
    with pytest.raises(ValueError, match="T is defined in a function"):
        functional_graphs(layers=[type("T", (), {"__qualname__": "f.<locals>.T"})])


@settings(deadline=None, max_examples=60, database=None, derandomize=True)
@given(functional_graphs(kinds=["Dense", "Dropout", "Add"]))
def test_no_graph_has_a_dropout(graph):
    assert "Dropout" not in graph.source
"""


def test_functional_graphs_are_drawn_in_a_child_process_and_shrink(tmp_path: Path) -> None:
    (tmp_path / "test_mine.py").write_text(TEST)
    result = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_mine.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert "4 passed" in result.stdout and "1 failed" in result.stdout, result.stdout + result.stderr
    shrunk = result.stdout.partition("graph = # a drawn model")[2].partition("@settings")[0]
    assert "layers.Dropout(0.5)(inputs)" in shrunk and shrunk.count("layers.") == 1, shrunk
