"""docs/mini.py runs, and finds differences with the installed Keras."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

from tests.helpers.waiting import PATIENCE

MINI = Path(__file__).parent.parent / "docs" / "mini.py"


def test_mini_prints_small_scripts_that_show_differences() -> None:
    result = subprocess.run(
        [sys.executable, "-W", "ignore", str(MINI), "10"], capture_output=True, text=True, check=True, timeout=PATIENCE
    )
    *scripts, last = result.stdout.split("\nclone = keras.models.clone_model(model)\n\n\n")
    assert len(scripts) >= 2
    assert last == f"# Keras {version('keras')}: {len(scripts)} differences in 10 models\n"
    assert len({script.partition("\n")[0] for script in scripts}) == len(scripts), "each difference is printed once"
    for script in scripts:
        ast.parse(script)
        assert script.count("= layers.") <= 3, script
    subprocess.run([sys.executable, "-c", scripts[0]], check=True, timeout=PATIENCE)


@pytest.mark.no_keras
def test_mini_is_short_and_imports_nothing_of_clonediff() -> None:
    text = MINI.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 300
    names = {*re.findall(r"(?m)^ *(?:import|from) (\w+)", text)} - sys.stdlib_module_names
    assert names == {"hypothesis", "keras", "numpy"}
    parts = re.findall(r"\b((?:harness|strategies)/[\w/.]+\w)", text)
    assert parts and [path for path in parts if not (MINI.parent.parent / path).exists()] == []
