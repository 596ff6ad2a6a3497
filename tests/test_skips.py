"""A run leaves out slow tests, and each slow test has a reason."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from _pytest.outcomes import Failed, Skipped

from tests.helpers.required_releases import skip_or_fail

pytestmark = pytest.mark.no_keras

TESTS = Path(__file__).parent
MODULE = "tests/cli/test_own_cloner.py"
"""A test module with one slow test."""
TEST = f"{MODULE}::test_a_custom_cloner_is_tried_and_replayed_if_the_command_names_it"


@pytest.mark.parametrize(
    ("arguments", "collected"), [((MODULE,), 0), ((MODULE, "--all"), 1), ((TEST,), 1)], ids=["default", "all", "named"]
)
def test_slow_tests_are_left_out_unless_asked_for(arguments: tuple[str, ...], collected: int) -> None:
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "--assert=plain", *arguments]
    environment = {**os.environ, "CLONEDIFF_ALL": "0", "PYTEST_ADDOPTS": ""}
    result = subprocess.run(command, cwd=TESTS.parent, env=environment, capture_output=True, text=True, check=False)
    assert sum("::" in line for line in result.stdout.splitlines()) == collected, result.stdout
    assert ("slow tests are left out; --all runs them, too" in result.stdout) == (not collected)


def test_each_slow_test_has_a_reason() -> None:
    without_reason = [
        f"{path}:{number}"
        for path in sorted(TESTS.rglob("*.py"))
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1)
        if re.search(r"\bmark\.slow\b(?!\(reason=)", line)
    ]
    assert without_reason == [], "write pytest.mark.slow(reason=...)"


@pytest.mark.parametrize(("required", "outcome"), [("0", Skipped), ("1", Failed)])
def test_a_missing_release_skips_a_test_or_fails_it(
    required: str, outcome: type[BaseException], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLONEDIFF_REQUIRE_RELEASES", required)
    with pytest.raises((Failed, Skipped), match="no such release") as caught:
        skip_or_fail("no such release")
    assert caught.type is outcome
