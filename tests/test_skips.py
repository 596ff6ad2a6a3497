"""Which tests a run leaves out, and that each of them says why."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
SLOW = "tests/cli/test_own_cloner.py"
"""A module of slow tests alone: two of them."""
NAMED = f"{SLOW}::test_a_cloner_that_cannot_be_called_is_named"


@pytest.mark.parametrize(
    ("arguments", "everything", "collected"),
    [
        pytest.param((SLOW,), "0", 0, id="unless it is asked for"),
        pytest.param((SLOW, "--all"), "0", 2, id="all by an option"),
        pytest.param((SLOW,), "1", 2, id="all by the environment"),
        pytest.param((NAMED,), "0", 1, id="one that is named"),
    ],
)
def test_a_slow_test_is_left_out(arguments: tuple[str, ...], everything: str, collected: int) -> None:
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "--assert=plain", *arguments]
    environment = {**os.environ, "CLONEDIFF_ALL": everything, "PYTEST_ADDOPTS": ""}
    done = subprocess.run(command, cwd=TESTS.parent, env=environment, capture_output=True, text=True, check=False)
    assert sum("::" in line for line in done.stdout.splitlines()) == collected, done.stdout
    assert ("2 slow tests were left out; --all runs them, too" in done.stdout) == (not collected)


def test_each_slow_test_says_why() -> None:
    silent = [
        f"{path}:{number}"
        for path in sorted(TESTS.rglob("*.py"))
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1)
        if re.search(r"\bmark\.slow\b(?!\(reason=)", line)
    ]
    assert silent == [], "write pytest.mark.slow(reason=...)"
