"""What the room beside Keras may be made of: no import of anything else of ours."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import pytest

from clonediff import harness

ROOM = Path(harness.__file__).parent / "inside"
# The fixed cloners keep to it too; the packages of Keras they may import by name.
KERAS = {"keras", "tf_keras", "tensorflow"}
MODULES = sorted(ROOM.rglob("*.py"))


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOM)))
def test_module_imports_nothing_else_of_ours(path: Path) -> None:
    tree = ast.parse(path.read_text())
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names = [alias.name.split(".")[0] for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            names = [(node.module or "").split(".")[0]]
        else:
            continue
        for name in names:
            assert name in sys.stdlib_module_names | {"numpy"} | KERAS, f"{path}:{node.lineno}: imports {name}"


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOM)))
def test_module_is_short(path: Path) -> None:
    assert len(path.read_text().splitlines()) <= 500
