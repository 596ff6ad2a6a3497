"""Which tests a run leaves out, that each of them says why, and which run together."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from tests.worker_groups import APART, LONGEST, TOGETHER, group

TESTS = Path(__file__).parent
SLOW = "tests/search/reducing/test_real.py"
"""A module of slow tests alone: three of them."""
NAMED = f"{SLOW}::test_what_cannot_be_built_is_not_taken_for_what_cannot_be_cloned"


@pytest.mark.parametrize(
    ("arguments", "everything", "collected"),
    [
        pytest.param((SLOW,), "0", 0, id="unless it is asked for"),
        pytest.param((SLOW, "--all"), "0", 3, id="all by an option"),
        pytest.param((SLOW,), "1", 3, id="all by the environment"),
        pytest.param((NAMED,), "0", 1, id="one that is named"),
    ],
)
def test_a_slow_test_is_left_out(arguments: tuple[str, ...], everything: str, collected: int) -> None:
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "--assert=plain", *arguments]
    environment = {**os.environ, "CLONEDIFF_ALL": everything, "PYTEST_ADDOPTS": ""}
    done = subprocess.run(command, cwd=TESTS.parent, env=environment, capture_output=True, text=True, check=False)
    assert sum("::" in line for line in done.stdout.splitlines()) == collected, done.stdout
    assert ("3 slow tests were left out; --all runs them, too" in done.stdout) == (not collected)


@cache
def parsed() -> dict[Path, ast.Module]:
    return {path: ast.parse(path.read_text(encoding="utf-8")) for path in sorted(TESTS.rglob("*.py"))}


OF_THEIR_OWN = {"tests/subjects/test_process.py"}
"""Modules whose subject no other has."""


def test_modules_that_share_a_warm_subject_run_in_one_worker() -> None:
    """Each worker that a subject is asked of starts one."""
    asking = {
        path.relative_to(TESTS.parent).as_posix()
        for path, tree in parsed().items()
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef)
        and path.name.startswith("test_")
        and {"warm", "keras", "warm_commands"} & {each.arg for each in node.args.args}
    }
    assert len(asking) > 20
    assert asking - TOGETHER.keys() == OF_THEIR_OWN


def test_each_slow_test_says_why() -> None:
    silent = []
    for path, tree in parsed().items():
        given = {
            id(node.func)
            for node in ast.walk(tree)
            if isinstance(node, ast.Call) and [each.arg for each in node.keywords] == ["reason"]
        }
        silent += [
            f"{path}:{node.lineno}"
            for node in ast.walk(tree)
            if isinstance(node, ast.Attribute) and ast.unparse(node) == "pytest.mark.slow" and id(node) not in given
        ]
    assert silent == [], "write pytest.mark.slow(reason=...)"


@pytest.mark.parametrize(
    ("nodeid", "its"),
    [
        ("tests/property/test_clone_model.py::test_every_clone[tf_keras-shard0]", "tf_keras"),
        ("tests/property/test_clone_model.py::test_a_known_issue_still_breaks[lambda-refused]", "keras"),
        ("tests/source/test_reproducer.py::test_a_script[keras]", "tests/source/test_reproducer.py"),
        ("tests/search/reducing/test_reduce.py::test_a_graph_fits[keras]", "drawn graphs"),
        ("tests/search/reducing/test_reduce.py::test_a_graph_fits[tf_keras]", "tf_keras"),
        ("tests/cloners/test_models.py::test_a_clone[keras-a dropout]", "tests/cloners/test_models.py of keras"),
    ],
)
def test_tests_of_one_subject_run_together(nodeid: str, its: str) -> None:
    assert group(nodeid) == its


def test_the_modules_that_are_named_are_there() -> None:
    named = [each for each in (*TOGETHER, *APART, *LONGEST) if each.endswith(".py")]
    assert [each for each in named if not (TESTS.parent / each).is_file()] == []
