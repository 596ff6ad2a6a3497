"""Delete statements of the packages, one at a time, and print those that no test notices. It runs at night.

`python -m tests.deleted_statements [COUNT] [SEED]` works on a clone of the last commit.
"""

from __future__ import annotations

import ast
import os
import random
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
PACKAGES = ("harness", "reports", "strategies")
MAX_UNNOTICED = 5
TIMEOUT = 900
NO_TESTS_CODE = 5


class Statement(NamedTuple):
    """A statement that is deleted: its file, and its first and last line."""

    path: Path
    first_line: int
    last_line: int


def statements() -> Iterator[Statement]:
    """Yield every statement in a function, except docstrings, `pass` and an empty `return`."""
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            if "known" in path.parts:
                continue
            for function in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(function, ast.FunctionDef):
                    yield from (
                        Statement(path.relative_to(ROOT), node.lineno, node.end_lineno or node.lineno)
                        for node in ast.walk(function)
                        if isinstance(node, ast.stmt) and _does_something(node)
                    )


def _does_something(node: ast.stmt) -> bool:
    if isinstance(node, ast.Pass | ast.FunctionDef | ast.ClassDef | ast.Import | ast.ImportFrom | ast.Try):
        return False
    return not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))


def delete(text: str, statement: Statement) -> str:
    """Return the text of a file with `pass` instead of a statement."""
    lines = text.splitlines(keepends=True)
    indent = lines[statement.first_line - 1][: -len(lines[statement.first_line - 1].lstrip())]
    return "".join([*lines[: statement.first_line - 1], f"{indent}pass\n", *lines[statement.last_line :]])


def fails(checkout: Path, tests: str, *options: str) -> bool:
    """Whether a test in a folder fails or hangs; False if there is no such folder."""
    pytest = [sys.executable, "-m", "pytest", "-x", "-q", "-n", "auto", "-p", "no:cacheprovider"]
    environment = {**os.environ, "PYTHONPATH": str(checkout)}
    if not (checkout / tests).is_dir():
        return False
    try:
        result = subprocess.run(
            [*pytest, tests, *options], cwd=checkout, env=environment, capture_output=True, timeout=TIMEOUT, check=False
        )
    except subprocess.TimeoutExpired:
        return True
    return result.returncode not in (0, NO_TESTS_CODE)


def is_noticed(checkout: Path, statement: Statement) -> bool:
    """Whether any test of its package, or any test that is not slow, fails without a statement."""
    path = checkout / statement.path
    text = path.read_text(encoding="utf-8")
    path.write_text(delete(text, statement), encoding="utf-8")
    package = statement.path.parts[1] if statement.path.parts[0] == "harness" else statement.path.parts[0]
    noticed = fails(checkout, f"tests/{package}", "--all") or fails(checkout, "tests")
    path.write_text(text, encoding="utf-8")
    return noticed


def main(count: int = 30, seed: int = 0) -> int:
    """Print each statement that no test notices; return 1 if there are too many, else 0."""
    chosen = random.Random(seed).sample(sorted(set(statements())), count)
    unnoticed = 0
    with tempfile.TemporaryDirectory() as folder:
        checkout = Path(folder) / "checkout"
        subprocess.run(["git", "clone", "-q", str(ROOT), str(checkout)], check=True)
        if fails(checkout, "tests"):
            print("a test fails even if no statement is deleted: run pytest -n auto and fix it first", file=sys.stderr)
            return 2
        for statement in chosen:
            noticed = is_noticed(checkout, statement)
            unnoticed += not noticed
            place = f"{statement.path}:{statement.first_line}"
            print(place if noticed else f"{place}: no test notices that it is deleted", flush=True)
    print(f"{unnoticed} of {count} deletions are noticed by no test")
    return int(unnoticed > MAX_UNNOTICED)


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
