"""The Hypothesis profiles: what each says, also where CI has another one loaded, and that none is loaded."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.database import DirectoryBasedExampleDatabase

from clonediff.harness.pytest_plugin import PROFILES
from clonediff.strategies.profiles import profile

SAID = """
import json
from hypothesis import settings
before = settings.default
from clonediff.strategies.profiles import profile
said = {"loaded": settings.default is before}
for name in ("dev", "ci", "nightly"):
    its = settings.get_profile(f"clonediff-{name}")
    assert its is profile(name).settings
    said[name] = [its.max_examples, its.derandomize, its.database and str(its.database.path), its.print_blob]
print(json.dumps(said))
"""


@pytest.mark.parametrize("environment", [{}, {"CI": "true"}, {"CI": "true", "GITHUB_ACTIONS": "true"}], ids=str)
def test_a_profile_is_the_same_wherever_it_is_used_and_is_not_loaded(environment: dict[str, str]) -> None:
    root = Path(__file__).parents[2]
    clean = {key: value for key, value in os.environ.items() if key not in ("CI", "GITHUB_ACTIONS")}
    done = subprocess.run(
        [sys.executable, "-c", SAID], cwd=root, env={**clean, **environment}, capture_output=True, text=True, check=True
    )
    said: dict[str, Any] = json.loads(done.stdout)
    assert said == {
        "loaded": True,
        "dev": [200, False, ".hypothesis/clonediff-dev", True],
        "ci": [200, True, None, True],
        "nightly": [2000, False, ".hypothesis/clonediff-nightly", True],
    }


def test_the_plugin_knows_the_names() -> None:
    assert {profile(name).settings.max_examples for name in PROFILES} == {200, 2000}  # type: ignore[arg-type]


def test_only_nightly_has_another_seed_each_time() -> None:
    assert profile("dev").some_seed() == profile("ci").some_seed() == profile("dev").some_seed()
    assert len({profile("nightly").some_seed() for _ in range(4)}) == 4


def drawn(settings_: settings) -> list[int]:
    found: list[int] = []

    @settings(settings_, max_examples=20)
    @given(st.integers())
    def collect(number: int) -> None:
        found.append(number)

    collect()
    return found


def test_a_profile_decorates_a_test_of_any_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert drawn(profile("ci").settings) == drawn(profile("ci").settings)
    assert drawn(profile("nightly").settings) != drawn(profile("nightly").settings)


def test_the_databases_are_beside_the_tests_that_are_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    database = profile("dev").settings.database
    assert isinstance(database, DirectoryBasedExampleDatabase)
    database.save(b"key", b"value")
    assert (tmp_path / ".hypothesis" / "clonediff-dev").is_dir()
    assert list(profile("nightly").settings.database.fetch(b"key")) == []  # type: ignore[union-attr]  # it has one
